//! The diagnostic codes of PTX: E2001 to E2049 for syntax and declarations; those of instructions,
//! E2050 to E2199, stand beside their checks. Each has an example that triggers it.

nbcc_base::codes! {
    /// Every code of syntax and declarations.
    ALL, examples "// nbcc example.ptx\n" .. "";

    CHARACTER = "E2001", "unexpected character",
    "The file has a character that starts no token. PTX is ASCII outside comments and texts; control \
     characters mostly mean that the file is not PTX at all (a cubin, say).",
    ".version 8.0\n.target sm_80\n.address_size 64\n`\n";

    COMMENT = "E2002", "comment that does not end",
    "A comment that starts with `/*` ends at the next `*/`. Without one the rest of the file would be \
     a comment.",
    ".version 8.0\n.target sm_80\n.address_size 64\n/* the end\n";

    TEXT = "E2003", "text that does not end",
    "A text in double quotes ends on the line on which it starts.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"a.cu\n";

    NUMBER = "E2004", "malformed number",
    "Integers are decimal (`12`), hexadecimal (`0x1f`), octal (`017`) or binary (`0b101`), have up to \
     64 bits and may end in `U`. Floats are decimal (`1.5`), or `0f` with the 8 and `0d` with the 16 \
     hexadecimal digits of their bits.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n.reg .f32 f;\nmov.f32 f, 0f3F80;\nret;\n}\n";

    PREPROCESSOR = "E2005", "preprocessor line",
    "PTX is read after preprocessing: of the lines that start with `#` only line markers (`# 1 \
     \"a.cu\"`, `#line 1`) are left, and skipped.",
    ".version 8.0\n.target sm_80\n.address_size 64\n#define N 3\n";

    NESTING = "E2006", "nested too deep",
    "Blocks nest up to 256 deep, and so do parentheses, unary operators and `?:` in a constant \
     expression.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n.reg .b32 a;\nmov.b32 a, \
     - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - \
     - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - \
     - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - \
     - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - \
     - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - \
     - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -  1;\nret;\n}\n";

    BRACKETS = "E2007", "braces that do not match",
    "Each `{` needs its `}`.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\nret;\n";

    SYNTAX = "E2008", "syntax error",
    "The statement does not follow the grammar of PTX. The place is the first token at which it \
     cannot go on; the mistake is there or just before it, as with a missing `;`.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n.reg .b32 a;\nadd.s32 a a, 1;\nret;\n}\n";

    DIRECTIVE = "E2010", "unknown directive",
    "No directive has that name.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.golbal .b32 x;\n";

    MISPLACED = "E2011", "misplaced directive",
    "The directive exists but may not stand in this place: `.entry`, `.func`, `.file` and linkage \
     (`.visible`, `.extern`) stand outside functions, `.loc` stands in them, performance directives \
     (`.maxntid`) between the parameters and the body of an `.entry`.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n.visible .shared .b32 s;\nret;\n}\n";

    HEADER = "E2012", "header that is missing",
    "A file starts with `.version` and `.target`, in this order, then `.address_size`.",
    ".target sm_80\n";

    VERSION = "E2013", "version of PTX that is not supported",
    "Versions 3.0 (CUDA 4.2) to 8.8 (CUDA 12.9) are supported, and what files of version 9 have \
     of these.",
    ".version 2.3\n.target sm_20\n";

    TARGET = "E2014", "target that is not supported",
    "`.target` names `sm_30` or later, perhaps with the suffix `a` or `f` where it exists, and then \
     options: `debug`, `texmode_unified`, `texmode_independent`.",
    ".version 8.0\n.target sm_20\n";

    ADDRESS_SIZE = "E2015", "address size that is not supported",
    "Addresses have 64 bits. A file without `.address_size` is read as if it said 64.",
    ".version 8.0\n.target sm_80\n.address_size 32\n";

    UNSUPPORTED = "E2016", "not supported",
    "This is part of PTX, or once was, but not supported. The message names it.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.global .texref t;\n";

    FEATURE = "E2017", "feature of a later version or target",
    "The directive or type came with a later version of PTX, or with a later architecture, than the \
     file names at its start.",
    ".version 3.0\n.target sm_30\n.address_size 64\n.func f() {\nret;\n}\n.func g();\n.alias g, f;\n";

    NEWER = "W2018", "version of PTX that is newer",
    "Files of CUDA 13 are read like those of version 8.8, of which most of them use nothing newer. An \
     instruction that came later is an error of its own.",
    ".version 9.0\n.target sm_80\n.address_size 64\n.entry k() {\nret;\n}\n";

    UNKNOWN_NAME = "E2020", "name that is not declared",
    "Registers and variables are declared before they are used, in the same block or one around it; a \
     label stands in the same block or one around it. `.reg .b32 %r<5>;` declares `%r0` to `%r4`.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n.reg .b32 a;\nadd.s32 a, b, 1;\nret;\n}\n";

    REDEFINED = "E2021", "name that is declared twice",
    "A name is declared once in a block. Names of functions, variables of the module and kernels are \
     in one block; a function may be declared several times, but defined once.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n.reg .b32 a;\n.reg .f32 a;\nret;\n}\n";

    INCONSISTENT = "E2022", "declarations that differ",
    "What is declared several times must be declared alike: a function with the same results and \
     parameters (types, sizes, alignment), a variable with the same space and type.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.func f(.param .b32 a);\n.func f(.param .b64 a) {\nret;\n}\n";

    WRONG_KIND = "E2023", "name of another kind",
    "The name exists, but not as what is needed here: a label where a register is needed, a variable \
     where a function is needed.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n.reg .b32 a;\nL:\nadd.s32 a, L, 1;\nret;\n}\n";

    UNDEFINED = "E2024", "declared but not defined",
    "The file uses something that it only declares. A file is a whole program: nothing is linked to \
     it.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.extern .global .b32 x[];\n";

    TYPE = "E2025", "type that cannot stand here",
    "Predicates exist in registers only; vectors have two or four elements and at most 128 bits; \
     `.f16x2` exists in registers and module variables only; formats such as `.bf16` or `.e4m3` are \
     no types of variables (declare `.b16` or `.b8`).",
    ".version 8.0\n.target sm_80\n.address_size 64\n.global .pred p;\n";

    ALIGNMENT = "E2026", "alignment that does not exist",
    "Alignments are powers of two; those of parameters of functions are at most 128.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.global .align 3 .b8 a[4];\n";

    ARRAY = "E2027", "array without a size, or of an impossible one",
    "The first dimension may be left out where an initialiser tells it, in `.extern` declarations and \
     for the last parameter of a function. Registers are never arrays. A variable has at most 2^40 \
     bytes.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.global .b32 a[];\n";

    INITIALIZER = "E2028", "initial value that is not allowed",
    "Variables in `.global` and `.const` may have initial values, unless they are `.extern` or of \
     type `.f16`.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.shared .b32 a = 3;\n";

    INITIALIZER_SHAPE = "E2029", "initial value of another shape",
    "An array takes values in braces, one pair of braces a dimension and one for a vector, with at \
     most as many values as there are elements; a vector takes exactly as many.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.global .b32 a[2] = {1, 2, 3};\n";

    INITIALIZER_VALUE = "E2030", "initial value of another type",
    "Integers cannot start as floats (`.b` types can), floats not as integers; addresses need a `.b`, \
     `.u` or `.s` type of 32 or 64 bits, or a mask such as `0xFF00(name)` that takes a byte out of \
     them.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 a = 1.5;\n";

    INITIALIZER_NAME = "E2031", "initial value that is no address",
    "Initial values may name variables in `.global` and `.const` and functions, all declared before. \
     `generic(name)` is the generic address of a variable.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.global .u64 a = b;\n";

    PARAMETER = "E2032", "parameter that is not possible",
    "Parameters of kernels are in `.param`, have a size and are not vectors. Parameters of functions \
     are in `.param` or `.reg`; several results are possible in registers only.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.reg .b32 a) {\nret;\n}\n";

    LAUNCH_BOUNDS = "E2033", "performance directives that contradict",
    "`.maxntid` and `.reqntid` exclude each other, and sizes are at least 1.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() .maxntid 32 .reqntid 32 {\nret;\n}\n";

    LINKAGE = "E2034", "linkage that is not possible",
    "`.common` is for variables in `.global`; what is declared `.extern` cannot be defined in the \
     same file without `.visible` or `.weak`.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.common .const .b32 a;\n";

    SPACE = "E2035", "state space that is not possible",
    "Outside functions variables are in `.global`, `.const` or `.shared`; registers, `.local` and \
     `.param` variables belong to functions.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.local .b32 a;\n";

    TOO_LARGE = "E2036", "more than the space holds",
    "`.const` holds 65536 bytes; the parameters of a kernel 4352, or 32764 from version 8.1 on; the \
     initial values of a file 256 MiB.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.const .b8 a[65537];\n";

    TABLE = "E2037", "wrong use of a table or prototype",
    "`.callprototype`, `.calltargets` and `.branchtargets` stand before the instructions that name \
     them, in the same block or one around it, and are no targets of branches.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n.reg .b32 a;\nbrx.idx a, T;\nT: .branchtargets L;\nL:\nret;\n}\n";

    CONSTANT = "E2038", "constant expression without a value",
    "Constant expressions have C's operators over 64-bit integers, and over floats those that are not \
     about bits. Integers and floats do not mix, and integers are not divided by zero.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n.reg .b32 a;\nmov.b32 a, 1 / 0;\nret;\n}\n";

    COMPONENT = "E2039", "component that does not exist",
    "Vector registers have `.x .y .z .w` (or `.r .g .b .a`), as many as elements, and so have `%tid`, \
     `%ntid`, `%ctaid`, `%nctaid`. Scalar registers have selectors of bytes (`.b0`) and halves \
     (`.h1`), for video instructions only.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n.reg .v2 .f32 v;\n.reg .f32 f;\nmov.f32 f, v.z;\nret;\n}\n";

    CALL = "E2040", "malformed call",
    "A call is written `call (result), function, (arguments);` where results and arguments are left \
     out if there are none. A call through a register names a prototype or a list of targets behind \
     the arguments.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\ncall k2, 3;\nret;\n}\n";

    FILE_NUMBER = "E2041", "file number that is taken",
    "Each `.file` has a number of its own.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"a.cu\"\n.file 1 \"b.cu\"\n";

    ALIAS = "E2042", "alias that is not possible",
    "`.alias new, old;` gives the body of the function `old`, which is defined in the file, to the \
     function `new`, which is declared with the same results and parameters and has no body.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.func f() {\nret;\n}\n.func g();\n.alias f, g;\n";

    INLINED_AT = "E2043", "inlined call at a place that no `.loc` names",
    "The place behind `inlined_at` is that of a call, which a `.loc` before it names.",
    ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"a.cu\"\n.entry k() {\n.loc 1 2 3, \
     function_name $s, inlined_at 1 5 3\nret;\n}\n.section .debug_str {\n$s:\n.b8 102,0\n}\n";

    FILE_SIZE = "E2009", "a file that is too large",
    "A source file may have up to 256 MiB.",
    by test "a_ptx_file_that_is_too_large";
}
