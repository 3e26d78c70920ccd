//! The diagnostic codes of C: E3001 to E3019 for text and preprocessor, E3020 to E3049 for what the
//! language does not have, E3050 and on for what is wrong in any C.

nbcc_base::codes! {
    /// Every code of this crate.
    ALL, examples "// nbcc interp example.c\n" .. "";

    CHARACTER = "E3001", "unexpected character",
    "The source has a character that starts no token. Names are made of ASCII letters, digits and `_`; \
     other characters may stand in comments and texts.",
    "int f(void) { return 1 @ 2; }\n";

    COMMENT = "E3002", "comment that does not end",
    "A comment that starts with `/*` ends at the next `*/`. Without one the rest of the file would be a \
     comment.",
    "int f(void) { return 1; }\n/* the end\n";

    LITERAL = "E3003", "malformed literal",
    "Numbers are decimal, hexadecimal (`0x1f`), octal (`017`) or binary (`0b101`), fit 64 bits and may \
     end in `u`, `l` and `ll`. Characters and texts end on their line and have the escapes of C.",
    "int f(void) { return 08; }\n";

    DIRECTIVE = "E3004", "malformed preprocessor line",
    "There are `#define #undef #include #if #ifdef #ifndef #elif #else #endif #error #warning #line \
     #pragma`, in the form that C gives them. A condition is an expression of integers.",
    "#if 1 +\n#endif\nint f(void) { return 1; }\n";

    MACRO = "E3005", "wrong use of a macro",
    "A use of a macro gives an argument for each parameter and ends in `)`. `##` joins tokens to what is \
     one token again.",
    "#define ADD(a, b) ((a) + (b))\nint f(void) { return ADD(1); }\n";

    USER_ERROR = "E3006", "#error",
    "The source stops the compilation here, mostly because something that it needs is not defined.",
    "#error set a size with -D\n";

    USER_WARNING = "W3007", "#warning",
    "The source says that something is to be looked at.",
    "#warning a slow way\nint f(void) { return 1; }\n";

    REDEFINED = "W3008", "macro defined again",
    "A macro is defined again with another text. From here on the new one holds.",
    "#define N 1\n#define N 2\nint f(void) { return N; }\n";

    NO_HEADER = "E3009", "unknown header",
    "Of the C library there are <stdint.h>, <stdbool.h>, <stddef.h>, <limits.h>, <stdlib.h>, <string.h> \
     and <assert.h>, with what the language has of them. Programs read and write arrays, not files.",
    "#include <stdio.h>\nint f(void) { return 1; }\n";

    NO_FILE = "E3010", "file that cannot be included",
    "`#include \"file\"` names a file beside the including one, or in a folder given with `-I`.",
    "#include \"missing.h\"\nint f(void) { return 1; }\n";

    IGNORED = "W3011", "ignored",
    "Pragmas of other compilers, and attributes for them, change nothing here. Those of \
     nbcc stand before a loop: `#pragma nbcc unroll(4)`. Nor does what stands behind the name of a file \
     that is included.",
    "#pragma GCC unroll 4\nint f(void) { return 1; }\n";

    LIMIT = "E3012", "more than the compiler takes",
    "Brackets, conditions and macros nest 256 deep, files 64; macros become up to 10^6 tokens; a \
     program has up to 16 MiB of source, 4 million tokens, 1 GiB of static variables, and 500000 \
     instructions and 100000 calls with all calls inlined.",
    "#include \"example.c\"\nint f(void) { return 1; }\n";

    PRAGMA = "E3013", "unknown or misplaced pragma",
    "`#pragma nbcc array(NPEA|FPEA|SPEA|none)`, `unroll(k)` and `ii(k)` stand before a loop.",
    "void f(int a[4]) {\n#pragma nbcc fast\nfor (int i = 0; i < 4; i++) a[i] = i;\n}\n";

    BLANKS = "W3014", "blanks behind a backslash",
    "A backslash at the end of a line joins it with the next one, also where blanks stand behind it, \
     which nobody sees.",
    "#define NEXT(n) \\ \n    ((n) + 1)\nint f(int n) { return NEXT(n); }\n";

    FLOAT = "E3020", "floating point",
    "The language has integers only: the machines that it is for have no floating-point operations. \
     Numbers with a fraction are kept as integers with a fixed number of fraction bits.",
    "float f(void) { return 1; }\n";

    UNION = "E3021", "union",
    "Memory has one type of elements. Take words apart with shifts and masks.",
    "union u { int a; char b; };\nint f(void) { return 1; }\n";

    BIT_FIELD = "E3022", "bit-field",
    "Members of structures have whole types.",
    "struct s { int a : 3; };\nint f(void) { return 1; }\n";

    GOTO = "E3023", "goto or label",
    "Control flow is that of loops, `if`, `switch`, `break`, `continue` and `return`.",
    "int f(int n) { again: if (n > 10) goto again; return n; }\n";

    FUNCTION_POINTER = "E3024", "function pointer",
    "A function is called by its name, so that it can be inlined.",
    "int g(int a) { return a; }\nint f(void) { int (*p)(int) = g; return p(1); }\n";

    RECURSION = "E3025", "recursion",
    "Every call is inlined: there is no stack of calls. The message names the cycle.",
    "int f(int n) { return n < 2 ? 1 : n * f(n - 1); }\n";

    VLA = "E3026", "variable-length array",
    "The length of a local array is a constant. Array parameters may have any extent, which prototypes may \
     leave out as `[*]`, and so may the rows that local pointers point to.",
    "int f(int n) { int a[n]; a[0] = n; return a[0]; }\n";

    LIBRARY = "E3027", "function of the library",
    "Of the C library `abs labs llabs memcpy memmove memset memcmp` are provided.",
    "int f(void) { printf(\"hello\"); return 1; }\n";

    VARIADIC = "E3028", "variadic function",
    "A function has as many parameters as it names.",
    "int f(int n, ...) { return n; }\n";

    THREADS = "E3029", "threads and atomics",
    "One thread runs the function.",
    "_Atomic int a;\nint f(void) { return 1; }\n";

    VOLATILE = "E3030", "volatile",
    "Nothing but the program changes its memory.",
    "int f(void) { volatile int a = 1; return a; }\n";

    GENERIC = "E3031", "_Generic",
    "A function is called by its own name, whatever the types of its arguments are.",
    "int f(int a) { return _Generic(a, int: 1, default: 2); }\n";

    ASM = "E3032", "inline assembly",
    "Operations of the machine are found in plain C.",
    "int f(void) { asm(\"nop\"); return 1; }\n";

    ALIGNAS = "E3033", "_Alignas",
    "Where objects lie is the compiler's choice.",
    "int f(void) { _Alignas(16) int a = 1; return a; }\n";

    INT128 = "E3034", "128-bit integer",
    "Integers have up to 64 bits.",
    "__int128 f(void) { return 1; }\n";

    TYPEOF = "E3035", "typeof",
    "Types are written out.",
    "int f(int a) { typeof(a) b = a; return b; }\n";

    POINTER_CAST = "E3036", "cast of a pointer",
    "Pointers are to the elements of their arrays; they are neither integers nor pointers to other types.",
    "int f(int a[4]) { return *(char *)a; }\n";

    POINTER_POINTER = "E3037", "pointer to a pointer",
    "Pointers point to numbers and structures.",
    "int f(int a[4]) { int *p = a; int **q = &p; return **q; }\n";

    POINTER_MEMBER = "E3038", "pointer in an array or structure",
    "Arrays and structures hold numbers. An index into an array says as much as a pointer to its element.",
    "struct s { int *p; };\nint f(void) { return 1; }\n";

    FLEXIBLE = "E3039", "flexible array member",
    "Every array in a structure has a length.",
    "struct s { int n; int a[]; };\nint f(void) { return 1; }\n";

    KNR = "E3040", "definition without parameter types",
    "The types of parameters stand in the parentheses.",
    "int f(a, b) int a, b; { return a + b; }\n";

    ENTRY = "E3041", "no entry function",
    "The function that is called is the one that `--entry` names; without it the only one that is not \
     `static`, or that with the name of the file.",
    "int f(void) { return 1; }\nint g(void) { return 2; }\n";

    ENTRY_TYPE = "E3042", "parameter that hosts do not give",
    "A function that hosts call takes integers and arrays, and gives an integer or nothing. Extents of \
     arrays are expressions of constants and of the scalars before them.",
    "struct s { int a, b; };\nint f(struct s a) { return a.a; }\n";

    MEMORY_FUNCTION = "E3043", "bytes of several types",
    "`memcmp` works on elements of one size, as all of these functions do where structures have members \
     of several types.",
    "#include <string.h>\nint f(int a[4], short b[8]) { return memcmp(a, b, 16); }\n";

    ATTRIBUTE = "E3044", "attribute",
    "Attributes that say how to compile, or what to warn of, are ignored. Others may change sizes, \
     places or what is called, and are refused.",
    "struct __attribute__((packed)) s { char a; int b; };\nint f(void) { return sizeof(struct s); }\n";

    EXTENSION = "E3045", "construct that is not taken",
    "Texts of wide characters, `__func__`, and what compilers have beyond C11: ranges of cases and \
     elements, statements in expressions, functions in functions, a condition without its middle. There is a way to write each in plain C.",
    "int f(int a) { return a ?: 1; }\n";

    SYNTAX = "E3050", "syntax error",
    "The source is no C here. The help says what may be missing.",
    "int f(void) { return 1 }\n";

    UNKNOWN = "E3051", "unknown name",
    "A name is declared before it is used. The help names the nearest one that is.",
    "int f(int count) { return cuont; }\n";

    UNKNOWN_TYPE = "E3052", "unknown type",
    "A type is declared with `typedef` before it is used, or by a header.",
    "int16_t f(void) { return 1; }\n";

    TYPE = "E3053", "wrong type",
    "An operator or an object takes another type than it is given.",
    "struct s { int a; };\nint f(void) { struct s x = { 1 }; return x + 1; }\n";

    ARGUMENTS = "E3054", "wrong number of arguments",
    "A call gives an argument for each parameter.",
    "static int g(int a, int b) { return a + b; }\nint f(void) { return g(1); }\n";

    CONST = "E3055", "const is written",
    "What is `const` is not written, and pointers to it stay pointers to `const`.",
    "void f(const int a[4]) { a[0] = 1; }\n";

    RETURN = "E3056", "wrong return",
    "A function with a type returns a value of it, one of type `void` returns none.",
    "int f(void) { return; }\n";

    CASE = "E3057", "case that is there twice",
    "Each value has one case in a switch, and there is one default.",
    "int f(int n) { switch (n) { case 1: return 1; case 1: return 2; } return 0; }\n";

    DUPLICATE = "E3058", "defined twice",
    "A name has one definition in each block, and its declarations agree.",
    "int f(void) { int a = 1; int a = 2; return a; }\n";

    MISPLACED = "E3059", "misplaced statement",
    "`case` and `default` stand in a switch, `continue` in a loop, `break` in either.",
    "int f(int n) { case 1: return n; }\n";

    INCOMPLETE = "E3060", "incomplete type",
    "A type whose members or length are not known has no values.",
    "struct s;\nint f(void) { struct s a; return 1; }\n";

    ARRAY_SIZE = "E3061", "array of no elements",
    "An array has at least one element.",
    "int f(void) { int a[0]; return 1; }\n";

    DIVISION = "E3062", "division by zero",
    "A constant divisor is not zero.",
    "int f(int n) { return n / 0; }\n";

    INDEX = "E3063", "index out of range",
    "A constant index is within its array.",
    "int f(void) { int a[4] = { 0 }; return a[4]; }\n";

    CONSTANT = "E3064", "not constant",
    "Lengths of arrays, cases, enumerations and initialisers of static variables are constants.",
    "int n = 4;\nint m = n;\nint f(void) { return m; }\n";

    INITIALISER = "E3065", "wrong initialiser",
    "An initialiser has the shape of its object, and no more values than it has elements.",
    "int f(void) { int a[2] = { 1, 2, 3 }; return a[0]; }\n";

    LVALUE = "E3066", "not a place",
    "What is assigned, or has an address, is a variable, an element or a member.",
    "int f(int a) { a + 1 = 2; return a; }\n";

    MEMBER = "E3067", "no such member",
    "`.` and `->` name members of structures.",
    "struct s { int re, im; };\nint f(void) { struct s a = { 1, 2 }; return a.rea; }\n";

    SPECIFIERS = "E3068", "words that make no type",
    "Types are made of the words that C puts together: `unsigned long`, but not `short long`.",
    "short long f(void) { return 1; }\n";

    STATIC_ASSERT = "E3069", "static assertion fails",
    "The condition of `_Static_assert` is zero.",
    "_Static_assert(sizeof(int) == 8, \"wide\");\nint f(void) { return 1; }\n";

    POINTER_TYPE = "E3070", "pointer to another type",
    "A pointer is given where one to another type is expected.",
    "static int g(short *p) { return *p; }\nint f(int a[4]) { return g(a); }\n";

    UNREACHABLE = "W3071", "unreachable code",
    "What stands behind `return`, `break` or `continue` is never reached.",
    "int f(int n) { return n; n = 2; return n; }\n";

    UNDEFINED = "E3072", "declared and never defined",
    "A run has nothing but the file and what it includes: each function that is called has its body \
     there, and each `extern` variable that is used its definition.",
    "int g(int a);\nint f(int n) { return g(n); }\n";

    NO_VALUE = "W3073", "a way without a value",
    "A function with a type has a way to the end of its body on which it returns nothing. A run that uses \
     the value then ends there (C11, 6.9.1).",
    "int f(int n) { if (n > 0) return 1; }\n";
}
