//! The diagnostic codes of instructions: E2050 to E2199.

nbcc_base::codes! {
    /// Every code of instructions.
    ALL, examples "\
// nbcc example.ptx
.version 8.0
.target sm_80
.address_size 64
.global .u32 g;
.shared .u32 s;
.const .u32 c = 7;
.func (.param .b32 r) f(.param .b32 a)
{
	ret;
}
.entry k(.param .u64 p)
{
	.reg .pred %p<3>;
	.reg .b32 %r<5>;
	.reg .f32 %f<5>;
	.reg .b64 %rd<5>;
	.param .b32 x;
" .. "\tret;\n}\n";

    OPCODE = "E2050", "unknown instruction",
    "PTX has no instruction of this name.",
    "\tadt.u32 %r1, %r2, %r3;\n";

    MODIFIER = "E2051", "unknown modifier",
    "The instruction has no such modifier in any of its forms.",
    "\tadd.foo.u32 %r1, %r2, %r3;\n";

    UNEXPECTED_MODIFIER = "E2052", "modifier that does not fit",
    "The instruction has this modifier, but not together with the others that stand here: a type that it \
     does not take, rounding where nothing is rounded, `.ftz` on a type that is never flushed.",
    "\tadd.sat.u32 %r1, %r2, %r3;\n";

    MISSING_MODIFIER = "E2053", "missing modifier",
    "The instruction needs a further modifier: its type, a rounding mode where the result is rounded, \
     `.approx` where only an approximation exists.",
    "\tfma.f32 %f1, %f2, %f3, %f4;\n";

    UNSUPPORTED = "E2054", "instruction that is not supported yet",
    "The instruction exists in PTX, but nbcc does not compile it yet: textures and surfaces, \
     products of sparse matrices, bulk copies, clusters, 8-bit floats, 128-bit operands and the like.",
    "\tcp.async.mbarrier.arrive.shared.b64 [%rd1];\n";

    VERSION = "E2055", "instruction of a later PTX version",
    "The instruction, or this form of it, came into PTX after the version that the file states with \
     `.version`.",
    "\tlop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x80, %p2;\n";

    ARCHITECTURE = "E2056", "instruction of a later architecture",
    "The instruction, or this form of it, needs a later architecture than the file states with \
     `.target`.",
    "\tadd.bf16x2 %r1, %r2, %r3;\n";

    OPERAND_COUNT = "E2057", "wrong number of operands",
    "The instruction takes another number of operands.",
    "\tadd.u32 %r1, %r2;\n";

    OPERAND_KIND = "E2058", "operand of a wrong kind",
    "Another kind of operand must stand here: a register where a result goes, an address in brackets \
     where memory is accessed, a label where control goes.",
    "\tadd.u32 %r1, %r2, [%rd1];\n";

    OPERAND_TYPE = "E2059", "operand of a wrong type",
    "Registers of `.bX` fit every type of their size; those of `.uX` and `.sX` fit each other; floats fit \
     themselves and `.bX`. Only loads, stores and conversions take wider registers.",
    "\tadd.u32 %r1, %f2, %r3;\n";

    CONSTANT_TYPE = "E2060", "number of a wrong kind",
    "Integer operands take integers, float operands numbers with a point, an exponent or the `0f` and \
     `0d` notation. Operands of type `.b32` take integers and `0f`, those of `.b64` integers and all other \
     floats, which stand for their bits. Types of 16-bit floats take no numbers at all.",
    "\tadd.f32 %f1, %f2, 1;\n";

    VECTOR = "E2061", "vector of a wrong length",
    "The operand has another number of elements than the instruction says, or its elements together \
     have another size.",
    "\tld.global.v2.u32 {%r1, %r2, %r3, %r4}, [%rd1];\n";

    SPACE = "E2063", "address in another state space",
    "The variable is not in the state space that the instruction accesses. Without a state space, an \
     instruction takes generic addresses, and variables of `.global`, `.shared` and `.local`.",
    "\tld.shared.u32 %r1, [g];\n";

    READ_ONLY = "E2064", "write to a parameter",
    "The parameters of a function or kernel are only read inside it; results are only written.",
    "\tst.param.u64 [p], %rd1;\n";

    SPECIAL = "E2065", "special register out of place",
    "Special registers are read with `mov` (and `cvt`) only, by element where they are vectors \
     (`%tid.x`), and never written. `%clock64` and the like are 64 bits wide.",
    "\tadd.u32 %r1, %tid.x, %r2;\n";

    GUARD = "E2066", "guard that is not a predicate",
    "What stands behind `@` is a register of type `.pred`.",
    "\t@%r1 add.u32 %r1, %r2, %r3;\n";

    SINK = "E2067", "result that cannot be discarded",
    "`_` stands only for results that the instruction may drop.",
    "\tadd.f32 _, %f1, %f2;\n";

    CALL = "E2068", "call that does not fit its function",
    "A call gives the arguments and takes the results that the function, or its prototype, declares, in \
     number, type and size.",
    "\tcall f, (%r1);\n";

    CALLEE = "E2069", "name that is defined nowhere",
    "A function that is called, and a variable that is used, is defined in this file. There is no \
     linking: only `vprintf`, `__assertfail` and a few more of CUDA's runtime come with the machine.",
    "\tret;\n}\n.extern .func ext();\n.entry k2()\n{\n\tcall ext;\n";

    RECURSION = "E2070", "recursion",
    "Functions are expanded where they are called, so none may call itself, also not through others.",
    "\tret;\n}\n.func g1()\n{\n\tcall g1;\n";

    CONDITION = "E2072", "condition that is not complete",
    "A comparison combined with a further predicate has both the operation (`.and`, `.or`, `.xor`) and \
     the predicate, or neither.",
    "\tsetp.eq.u32 %p1, %r1, %r2, %p2;\n";

    RANGE = "E2073", "number out of range",
    "Barriers are numbered from 0 to 15, and the number of threads at a barrier is a multiple of the warp \
     size, 32.",
    "\tbar.sync 16;\n";

    ABSOLUTE = "E2074", "number as an address",
    "Only local memory has addresses that can be written as numbers; elsewhere name a variable or use a \
     register.",
    "\tld.global.u32 %r1, [16];\n";

    LEGACY = "E2075", "warp instruction without `.sync`",
    "From PTX 6.4 and sm_70 on, `shfl` and `vote` name the lanes that take part: `shfl.sync`, \
     `vote.sync`.",
    "\tvote.all.pred %p1, %p2;\n";

    TARGET = "E2076", "function whose address is not known",
    "The address of a function can be taken only where the function has a body in this file.",
    "\tret;\n}\n.extern .func ext();\n.entry k2()\n{\n\t.reg .b64 %t;\n\tmov.u64 %t, ext;\n";

    HEAP = "W2077", "call of the heap",
    "There is no heap on the device: a run that reaches a call of `malloc` or `free` ends there. Classes \
     with a virtual destructor call `free` in code that may never run.",
    "\tret;\n}\n.extern .func free(.param .b64 a);\n.entry k2()\n{\n\t.param .b64 a;\n\tst.param.b64 [a], 0;\n\tcall free, (a);\n";

    GRID_BARRIER = "W2078", "barrier of a whole grid",
    "`grid.sync()` of cooperative groups waits at a barrier whose address is in `%envreg1` and `%envreg2`, \
     and traps where it is 0. Grids are not launched cooperatively here: both are 0, and a kernel that comes \
     to such a wait ends the run. What else a grid group tells (ranks, sizes) is right.",
    "\tmov.u32 %r1, %envreg2;\n\tsetp.ne.u32 %p1, %r1, 0;\n\t@!%p1 trap;\n";

    TOO_LARGE = "E2099", "function that is too large",
    "The function has so many registers that live across so many blocks that its SSA form would not \
     fit in memory. Split it, or use fewer registers at a time.",
    by test "functions_that_are_too_large_are_refused";
}
