//! The diagnostic codes of the language: E0100 to E0399, warnings and notes W0300 to W0399. Each has an
//! example that triggers it.

nbcc_base::codes! {
    /// Every code of this crate.
    ALL, examples "// nbcc run example.halide\n" .. "";

    CHARACTER = "E0100", "unexpected character",
    "The source has a character that starts no token: a stray `@` or `$`, a control character, a NUL \
     byte. Control characters mostly mean that the file is not a source file at all.",
    "Func out(x, y) = in(x, y) @ 2.0f;\n";

    NON_ASCII = "E0101", "name with letters outside ASCII",
    "Names consist of the letters A to Z in both cases, digits and `_`. Letters of other alphabets look \
     alike too easily, and file names and other tools see the names too.",
    "Func größe(x, y) = in(x, y);\n";

    COMMENT = "E0102", "comment that does not end",
    "A comment that starts with `/*` ends at the next `*/`. Without one the rest of the file would be \
     a comment.",
    "Func out(x, y) = in(x, y); /* the end\n";

    TEXT = "E0103", "text that does not end",
    "A text in double quotes ends on the line on which it starts.",
    "Func out(\"out);\nout(x, y) = in(x, y);\n";

    NUMBER = "E0104", "malformed number",
    "Integers are written in decimal (`12`) or hexadecimal (`0x1f`) and have no suffix; floats end in \
     `f` (`1.5f`, `1e-3f`). A leading zero would mean an octal number in C and is refused. An int \
     holds up to 2147483647.",
    "Func out(x, y) = in(x, y) * 12kg;\n";

    PREPROCESSOR = "E0105", "preprocessor line",
    "There is no preprocessor: `#include` and `#pragma` are skipped, and other lines of its are \
     refused. Use `const int` instead of `#define`, and `if` instead of `#if`.",
    "#define N 3\nFunc out(x, y) = in(x, y) * N;\n";

    NESTING = "E0106", "nested too deep",
    "Brackets nest up to 256 deep; statements, expressions and the functions that they call up to 1000. \
     Long sums and chains of calls do not count: only what stands inside something else.",
    "Func f(Func g) { return f(g); }\nFunc out(x, y) = f(out)(x, y);\n";

    BRACKETS = "E0107", "brackets that do not match",
    "Each `(`, `[` and `{` needs its partner of the same kind.",
    "Func out(x, y) = (in(x, y) + 1.0f;\n";

    SYNTAX = "E0110", "syntax error",
    "The statement does not follow the grammar in docs/language-halide.md. The place is the first \
     token at which no statement can go on; the mistake is there or just before it, as with a \
     missing `;`.",
    "Func out(x, y) = in(x, y) +;\n";

    FOREIGN = "E0111", "part of C++ that is not supported",
    "The compile-time language has constants, variables, loops, `if`, `switch`, arrays and functions. \
     Other statements and declarations of C++ are not part of it. `break` and `continue` stand in loops, \
     `break` in a `switch` too.",
    "do {} while (false);\nFunc out(x, y) = in(x, y);\n";

    UNSUPPORTED = "E0112", "not supported",
    "This exists in Halide or C++ but not in this language. The message names it, and the help says \
     what to write instead.",
    "Func out(x, y) = popcount(cast<int32_t>(in(x, y)));\n";

    TYPE_SIZE = "E0113", "type that is not supported",
    "Elements of images and expressions are `float`, `bool`, and signed and unsigned integers of 8, \
     16 and 32 bits. There are no 64-bit types and no 16-bit floats.",
    "ImageParam in(Float(64), 2);\nFunc out(x, y) = in(x, y);\n";

    UNKNOWN_NAME = "E0120", "name that is not declared",
    "A name must be declared before it is used. Only arguments of definitions and directives may be \
     new: they are Vars. And a file that declares no input may leave its images undeclared (W0300).",
    "Func out(x, y) = in(x, y) * gain;\n";

    UNKNOWN_FUNCTION = "E0121", "function that is not defined",
    "What is called must be a Func, an input, a function of the file or one of the language. A file \
     that declares an input must declare all of them; one that declares none may leave its images \
     undeclared (W0300), up to 16.",
    "ImageParam in(Float(32), 2);\nFunc out(x, y) = inn(x, y);\n";

    REDECLARED = "E0122", "name that is declared twice",
    "A name is declared once in a scope. To give a Func an update, or a variable a new value, leave \
     out the type.",
    "Func out(x, y) = in(x, y);\nFunc out(x, y) = in(x, y) + 1.0f;\n";

    UNKNOWN_MEMBER = "E0123", "unknown member",
    "The object has no member of that name. An RDom has `x`, `y`, `z` and `w`, as many as it has \
     dimensions, and `where`; an input has `width()`, `height()`, `channels()` and `dim(k)`.",
    "RDom r(0, 3);\nFunc out(x, y) = sum(in(x + r.x, y + r.y));\n";

    NOT_CALLED = "E0124", "value that cannot be called",
    "Only Funcs, inputs and functions can be called.",
    "const int n = 3;\nFunc out(x, y) = in(x, y) + n(x);\n";

    NOT_INDEXED = "E0125", "value that cannot be indexed",
    "Arrays, Tuples and calls of Funcs of several values can be indexed, and an RDom by dimension.",
    "Func f(x, y) = in(x, y);\nFunc out(x, y) = f(x, y)[0];\n";

    NOT_ASSIGNABLE = "E0126", "target that cannot be assigned to",
    "Variables, elements of arrays and Funcs at some coordinates stand on the left of `=`. Constants, \
     Vars and inputs have the value they were declared with.",
    "const int n = 3;\nn = 4;\nFunc out(x, y) = in(x, y) * n;\n";

    DECLARATION = "E0127", "malformed declaration",
    "The declaration's arguments do not fit its type. Examples: `ImageParam in(Float(32), 2);`, \
     `Input<Buffer<float, 2>> in;`, `Param<float> p = 1.5f;`, `RDom r(0, 3, 0, 3);`, `Var x(\"x\");`, \
     `Func f(\"f\");`.",
    "RDom r(0, 3, 0);\nFunc out(x, y) = sum(in(x + r.x, y));\n";

    DIMENSIONS = "E0128", "number of dimensions that is not supported",
    "Images and Funcs have up to 16 dimensions, RDoms up to 4; inputs and RDoms have at least 1.",
    "RDom r(0, 2, 0, 2, 0, 2, 0, 2, 0, 2);\nFunc out(x) = sum(r, in(x));\n";

    STEPS = "E0130", "too many steps",
    "The compile-time language runs for at most 1000000 steps (rounds of loops, calls, elements of arrays, \
     statements inside loops and functions), and builds a limited number of expressions. It only \
     builds the pipeline: loops over pixels are written as Funcs over Vars or RDoms.",
    "Expr e = 0;\nfor (int i = 0; i < 2000000000; i++) e += 1;\nFunc out(x) = e;\n";

    NOT_CONSTANT = "E0131", "value that is not known at compile time",
    "Conditions of `if` and `for`, lengths and indices of arrays, sizes of directives and the like \
     are numbers of the compile-time language. A value that differs between pixels is an Expr: \
     choose with `select`.",
    "Func out(x, y) = in(x, y);\nif (in(0, 0) > 0.5f) out.compute_root();\n";

    OVERFLOW = "E0132", "integer overflow at compile time",
    "A constant expression leaves the range of `int`, -2147483648 to 2147483647, or shifts by less than 0 or \
     more than 31.",
    "const int big = 65536 * 65536;\nFunc out(x, y) = in(x, y) * big;\n";

    DIVISION_BY_ZERO = "E0133", "division by the constant zero",
    "A divisor that turns out to be zero when the program runs gives zero, as in Halide. A divisor that \
     is the constant zero is a mistake.",
    "Func out(x, y) = in(x / 0, y);\n";

    ARRAY_LENGTH = "E0134", "array of a wrong length",
    "An array has at least one element and as many values as elements at most.",
    "Func f[0];\nFunc out(x, y) = in(x, y);\n";

    INDEX_RANGE = "E0135", "index out of range",
    "An index of an array, a Tuple or an RDom counts from 0 and is less than the number of elements.",
    "Func f[2];\nf[2](x, y) = in(x, y);\n";

    ARGUMENT_COUNT = "E0136", "wrong number of arguments",
    "The function, directive or conversion takes another number of arguments.",
    "Func out(x, y) = clamp(in(x, y), 1.0f);\n";

    ARGUMENT_TYPE = "E0137", "argument of a wrong kind",
    "The argument is not of the kind that is needed: a Func, a loop, a list.",
    "Func out(x, y) = in(x, y);\nout.compute_at(x, y);\n";

    CONVERSION = "E0138", "value that cannot be converted",
    "A variable, parameter or result of one kind is given a value of another: an Expr where a Func is \
     needed, say. Expressions are converted between types of elements with `cast<T>(e)`.",
    "Func f = 3;\nFunc out(x, y) = in(x, y);\n";

    RETURN = "E0139", "missing or misplaced return",
    "A function that is not void ends with `return` and a value; `return` stands in functions only.",
    "Func blur(Func f) { Func b; b(x, y) = f(x, y); }\nFunc g(x, y) = in(x, y);\nFunc out(x, y) = blur(g)(x, y);\n";

    FUNCTION_TYPE = "E0140", "function of a wrong type",
    "A function returns a Func, an Expr, a Tuple, a number or nothing.",
    "Param<float> f() { return 1; }\nFunc out(x, y) = in(x, y) * f();\n";

    ASSERTION = "E0141", "assertion that fails",
    "What `assert` asks for does not hold with the constants that the file and the command line give.",
    "GeneratorParam<int> n{\"n\", 1};\nassert(n > 1);\nFunc out(x, y) = in(x, y) * n;\n";

    NOT_AN_EXPR = "E0150", "value that is not an expression",
    "An expression of the pipeline is needed: a number, a Var, a call of a Func or an input, and what is \
     computed from them. A Func or an input without coordinates is no expression, nor is an Expr \
     that was declared but has no value yet.",
    "Func f(x, y) = in(x, y);\nFunc out(x, y) = f + 1.0f;\n";

    DOUBLE = "E0151", "double in the pipeline",
    "A floating-point literal without `f` is a double, and 64-bit types are not supported in the \
     pipeline. Write `3.0f`. Doubles are fine among compile-time numbers.",
    "Func out(x, y) = in(x, y) / 3.0;\n";

    LITERAL_RANGE = "E0152", "literal that does not fit",
    "An integer literal takes the type of the operand beside it, as in Halide, and must fit that type. \
     Otherwise its value would change.",
    "ImageParam in(UInt(8), 2);\nFunc out(x, y) = in(x, y) + 300;\n";

    OPERAND_TYPES = "E0153", "operands of a wrong type",
    "The operator or function is not defined on these types: bit operations need integers that are \
     both signed or both unsigned, the bounds of `clamp` must fit its first argument.",
    "Func out(x, y) = in(x, y) << 1;\n";

    VALUE_TYPES = "E0154", "values of different types",
    "The values of `select`, and the ends of `lerp`, must have one type. Only an integer literal adapts; \
     others are converted with `cast<T>(e)`.",
    "Func out(x, y) = select(in(x, y) > 0.5f, in(x, y), x);\n";

    CONDITION = "E0155", "value that is not a condition",
    "`&&`, `||`, `!`, the conditions of `select` and of `where` need values of type bool: \
     comparisons and what is combined from them.",
    "Func out(x, y) = select(in(x, y), 1.0f, 0.0f);\n";

    COORDINATE = "E0156", "coordinate that is not an int",
    "Coordinates are ints; narrower integers are converted, floats and uint32_t are not.",
    "Func out(x, y) = in(in(x, y), y);\n";

    COORDINATE_COUNT = "E0157", "wrong number of coordinates",
    "A Func or an input is called with one coordinate for each of its dimensions. `_` stands for \
     all that are left.",
    "Func f(x, y) = in(x, y);\nFunc out(x, y) = f(x);\n";

    UNDEFINED_FUNC = "E0160", "Func that is not defined yet",
    "A Func is defined before it is called, scheduled or given to a boundary condition.",
    "Func f;\nFunc out(x, y) = f(x, y);\n";

    SELF_CALL = "E0161", "pure definition that calls itself",
    "A pure definition gives the value at each point by itself, in no order, so it cannot refer to \
     other points of the same Func. Give the Func a first value, then write an update over an RDom: \
     `f(r.x) = f(r.x - 1) + ...`.",
    "Func out(x) = out(x - 1) + in(x);\n";

    LEFT_SIDE = "E0162", "left side that is not made of Vars",
    "The first definition of a Func has a Var of its own for each dimension: it gives a value to \
     every point. Updates that follow may have any coordinates.",
    "Func out(x, 0) = in(x);\n";

    FREE_VAR = "E0163", "Var that does not stand on the left side",
    "Every Var on the right side of a definition is a coordinate of the point that is defined, so it \
     stands on the left side too; in an update, at the place of that dimension.",
    "Func f(x, y) = in(x, y);\nFunc out(x) = f(x, y);\n";

    RDOM_IN_PURE = "E0164", "reduction variable in a pure definition",
    "A pure definition has one value for each point; a reduction variable takes many. Reduce over it \
     with `sum` or its like, or write an update.",
    "RDom r(0, 3);\nFunc out(x) = in(x + r.x);\n";

    VALUE_COUNT = "E0165", "wrong number of values",
    "A definition gives at least one value, and an update as many as the Func has.",
    "Func f(x, y) = Tuple(in(x, y), 1.0f);\nf(x, 0) = 3.0f;\nFunc out(x, y) = f(x, y)[0];\n";

    UPDATE_TYPE = "E0166", "update of another type",
    "An update gives values of the types that the pure definition has. A literal adapts; others are \
     converted with `cast<T>(e)`.",
    "Func out(x, y) = cast<uint8_t>(0);\nout(x, y) += in(x, y);\n";

    FROZEN = "E0167", "update after use",
    "A Func takes no updates after another Func was defined with it: that one would see only a part \
     of it.",
    "Func f(x, y) = in(x, y);\nFunc out(x, y) = f(x, y);\nf(x, 0) = 0.0f;\n";

    SELF_REFERENCE = "E0168", "update that refers to other points without an order",
    "An update over Vars has no order of points, so where it refers to the Func itself it must have the \
     same Vars at the same places as the left side. Run over an RDom where the order matters.",
    "Func out(x, y) = in(x, y);\nout(x, 0) = out(x - 1, 0) + 1.0f;\n";

    TWO_RDOMS = "E0169", "two RDoms in one definition",
    "An update, or an inline reduction, runs over one RDom. Make one RDom of more dimensions.",
    "RDom r(0, 3), s(0, 3);\nFunc out(x) = 0.0f;\nout(r.x) += in(s.x);\n";

    LATE_WHERE = "E0170", "condition on an RDom after its use",
    "The conditions of an RDom are given before it is used in a definition.",
    "RDom r(0, 10);\nFunc out(x) = 0.0f;\nout(r.x) += in(r.x);\nr.where(r.x < 5);\n";

    NO_RDOM = "E0171", "reduction without an RDom",
    "`sum`, `product`, `maximum` and `minimum` run over the RDom whose variables stand in their \
     argument, or over the one named first: `sum(r, e)`.",
    "Func out(x, y) = sum(in(x, y));\n";

    NEGATIVE_EXTENT = "E0172", "RDom with a negative extent",
    "An RDom takes a minimum and an extent for each dimension; the extent is at least 0.",
    "RDom r(0, -3);\nFunc out(x) = sum(in(x + r.x));\n";

    BOUND_DEPENDS = "E0173", "bound that depends on pixels",
    "Bounds of RDoms, of dimensions and of boundary conditions are the same for all pixels: they may \
     depend on constants, parameters and the extents of inputs.",
    "RDom r(0, cast<int32_t>(in(0)));\nFunc out(x) = sum(in(x + r.x));\n";

    BOUNDS_LIST = "E0174", "missing or malformed bounds",
    "Bounds are a list of pairs of minimum and extent: `{{0, w}, {0, h}}`. A boundary condition of an \
     input takes them from the input; of a Func they must be given.",
    "Func f(x, y) = in(x, y);\nFunc g = BoundaryConditions::repeat_edge(f);\nFunc out(x, y) = g(x, y);\n";

    UNKNOWN_DIRECTIVE = "E0180", "unknown directive",
    "The schedule directives are listed in docs/language-halide.md; a target may add its own.",
    "Func out(x, y) = in(x, y);\nout.compute_rot();\n";

    UNKNOWN_LOOP = "E0181", "unknown loop",
    "A directive names a loop that the Func does not have at that point of its schedule: a `split` or \
     `fuse` before it may have replaced it. The loops of an update are the Vars of its left side and \
     the variables of its RDom.",
    "Func out(x, y) = in(x, y);\nout.vectorize(z, 4);\n";

    LOOP_TAKEN = "E0182", "loop name that is taken",
    "A new loop needs a name that no other loop of the Func has, and a loop stands once in a \
     directive.",
    "Func out(x, y) = in(x, y);\nout.split(x, xo, y, 8);\n";

    DIRECTIVE_SIZE = "E0183", "size below 1",
    "Tiles, factors, widths and extents in a schedule are at least 1.",
    "Func out(x, y) = in(x, y);\nout.split(x, xo, xi, 0);\n";

    UPDATE_NUMBER = "E0184", "update that does not exist",
    "Updates are counted from 0 in the order in which they stand.",
    "Func out(x, y) = in(x, y);\nout.update(0).vectorize(x, 4);\n";

    NOT_FOR_UPDATES = "E0185", "directive that applies to whole Funcs",
    "Where a Func is computed and stored, and its bounds, hold for all of its definitions: such \
     directives do not follow `update`.",
    "Func out(x, y) = in(x, y);\nout(x, 0) = 0.0f;\nout.update(0).compute_root();\n";

    NOT_REDUCTION = "E0186", "rfactor of something that is not an associative update",
    "`rfactor` splits the reduction of an update over an RDom into partial results that are combined \
     later. That needs an associative update: a sum, a product, `min`, `max`, `&`, `|` or `^` of the \
     Func and a value that does not refer to it, or a choice of the best as `argmax` makes it.",
    "RDom r(0, 8);\nFunc out(x) = 0.0f;\nout(x) = in(x + r.x) - out(x);\nout.update().rfactor(r.x, u);\n";

    OUTPUT_TYPE = "E0190", "output of another type",
    "The definition of an output has the type and the number of dimensions with which it is declared.",
    "Output<Buffer<uint8_t, 2>> out;\nout(x, y) = in(x, y);\n";

    UNDEFINED_OUTPUT = "E0191", "output that is not defined",
    "A Func declared as an output needs a definition.",
    "Output<Buffer<float, 2>> out;\n";

    NO_OUTPUT = "E0192", "file without a Func",
    "A pipeline has an output: the Funcs declared as `Output`, else the Func named `out` or \
     `output`, else the last one defined that no other Func calls.",
    "const int n = 3;\n";

    UNREACHED_LEVEL = "E0193", "place in a Func that is not computed",
    "`compute_at` and `store_at` name a Func that is not part of the pipeline: no output depends on \
     it.",
    "Func f(x, y) = in(x, y);\nFunc g(x, y) = f(x, y);\nFunc out(x, y) = f(x, y);\nf.compute_at(g, x);\n";

    IMPLICIT_INPUT = "W0300", "input that is not declared",
    "In a file that declares no input, the one name that is called with coordinates, never defined and \
     not close to a known name is an input image of float with as many dimensions as its calls. \
     Reading outside it reads the nearest edge. A declared image has no edges of its own: the help \
     declares it together with `repeat_edge`.",
    "Func out(x, y) = in(x, y) * 2.0f;\n";

    UNUSED_VALUE = "W0301", "value that is not used",
    "The statement computes a value and drops it.",
    "Func out(x, y) = in(x, y);\n1 + 2;\n";

    UNUSED_FUNC = "W0302", "Func that is not used",
    "No output depends on the Func, so it is not computed.",
    "Func f(x, y) = in(x, y);\nFunc out(x, y) = in(x, y);\n";

    HIDDEN_DEFINITION = "W0303", "definition that is hidden",
    "A further definition of a Func is an update. This one replaces every value and does not use the \
     earlier ones, so they are of no use.",
    "Func out(x, y) = in(x, y);\nout(x, y) = 2.0f;\n";

    FLOAT_DIVISION_BY_ZERO = "W0304", "float division by zero",
    "Dividing a float by zero gives infinity or not-a-number.",
    "Func out(x, y) = in(x, y) / 0.0f;\n";

    NO_EFFECT = "W0305", "request that is not followed",
    "The language accepts this as Halide does, but it changes nothing here: no value depends on it, \
     and these machines have nothing that corresponds.",
    "Func out(x, y) = in(x, y);\nout.split(x, xo, xi, 8, TailStrategy::RoundUp);\n";

    SEVERAL_GENERATORS = "W0306", "several generators in a file",
    "A file is one pipeline. Of several generators the one is compiled that `--param generator=NAME` \
     names, by what it is registered as or by its class; without that, the last class of the file, and \
     of a template the first registration.",
    "struct A : Generator<A> { Output<Func> a{\"a\", Float(32), 1};\n    void generate() { a(x) = 1.0f; } };\n\
     struct B : Generator<B> { Output<Func> b{\"b\", Float(32), 1};\n    void generate() { b(x) = 2.0f; } };\n";

    FILE_SIZE = "E0109", "a file that is too large",
    "A source file may have up to 64 MiB and 4000000 tokens (names, numbers, operators).",
    by test "every_file_is_diagnosed_as_it_says";
}
