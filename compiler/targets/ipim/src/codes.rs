//! The diagnostic codes of this target.

use nbcc_base::CodeInfo;

/// A pipeline that needs more than the machine has.
pub const TOO_LARGE: CodeInfo = CodeInfo {
    code: "E1001",
    title: "the pipeline does not fit the machine",
    explanation: "Every bank of iPIM holds 16 MB, every group has a scratchpad of 8 KB, and a \
program has at most what a vault's scratchpad holds beside 32 KB of data. A pipeline whose images, windows or code need \
more is refused. Use a machine with more vaults, smaller tiles, or a smaller image.",
    example: "// nbcc run example.halide --size 16x16 --set memory.bank_bytes=65536\n\
ImageParam in(Float(32), 2);\nFunc out(x, y) = in(x, y);\n",
    by_test: None,
};

/// A machine description or `--set` that cannot be used.
pub const BAD_MACHINE: CodeInfo = CodeInfo {
    code: "E1002",
    title: "the machine description is at fault",
    explanation: "A machine description is a TOML file with every key of a built-in machine; \
unknown keys, missing keys and values out of range are errors. `nbcc targets --machine NAME` lists \
the keys.",
    example: "",
    by_test: Some("ipim_refuses_machines"),
};

/// A choice of `-X` that does not exist.
pub const BAD_CHOICE: CodeInfo = CodeInfo {
    code: "E1003",
    title: "no such choice",
    explanation: "`-X KEY=VALUE` sets a choice of the target. `nbcc targets` lists the keys and \
their values.",
    example: "",
    by_test: Some("ipim_refuses_choices"),
};

/// A register file that is too small.
pub const TOO_FEW_REGISTERS: CodeInfo = CodeInfo {
    code: "E1004",
    title: "a register file is too small",
    explanation: "Values that find no register are kept in the bank, but the operands of one \
instruction, and the loop counters of the control core, must be in registers. Give the register \
file more entries with `--set registers.ctrl=N` (or `addr`, `data`).",
    example: "",
    by_test: Some("ipim_refuses_register_files"),
};

/// A program of another kind.
pub const NOT_STAGES: CodeInfo = CodeInfo {
    code: "E1005",
    title: "iPIM runs image pipelines",
    explanation: "The iPIM target compiles pipelines of the image language (`.halide`). Kernels \
and C programs are for other targets.",
    example: "",
    by_test: Some("ipim_refuses_ir"),
};

/// A `compute_at` that does not enclose every use.
pub const ILLEGAL_PLACE: CodeInfo = CodeInfo {
    code: "E1010",
    title: "a Func cannot be computed at that loop",
    explanation: "`f.compute_at(g, y)` computes what is needed of `f` in each round of loop `y` of \
`g`. The loop must enclose every use of `f`, those by Funcs that are computed at each use included; \
two definitions of one Func, as the pure one and an update, are two loop nests. The message shows \
the loops that use `f` and marks where it can be computed.",
    example: "// nbcc run example.halide --size 16x16\n\
Func f(x, y) = in(x, y) * 2.0f;\nFunc g(x, y) = f(x, y) + 1.0f;\n\
Func out(x, y) = g(x, y) + f(x, y);\ng.compute_root();\nf.compute_at(g, y);\n",
    by_test: None,
};

/// A `compute_at` or `store_at` that names a loop that is not there.
pub const NO_SUCH_LOOP: CodeInfo = CodeInfo {
    code: "E1011",
    title: "no such loop",
    explanation: "`compute_at` and `store_at` name a loop that the other Func has when all its \
directives are applied: `split` and `fuse` replace loops. A Func that is computed at each use has \
none.",
    example: "// nbcc run example.halide --size 16x16\n\
Func f(x, y) = in(x, y) * 2.0f;\nFunc out(x, y) = f(x, y) + f(x + 1, y);\n\
out.split(y, yo, yi, 8);\nf.compute_at(out, y);\n",
    by_test: None,
};

/// A `store_at` that does not enclose the `compute_at`.
pub const ILLEGAL_STORE: CodeInfo = CodeInfo {
    code: "E1012",
    title: "a Func cannot be stored at that loop",
    explanation: "Where a Func is stored encloses where it is computed: `f.store_at(g, y)` needs \
`f.compute_at` at that loop or inside it. A Func that is computed at each use is not stored at all.",
    example: "// nbcc run example.halide --size 16x16\n\
Func f(x, y) = in(x, y) * 2.0f;\nFunc out(x, y) = f(x, y) + f(x + 1, y);\n\
f.store_at(out, x).compute_at(out, y);\n",
    by_test: None,
};

/// Rounds of a reduction in parallel or in vectors.
pub const CARRIED: CodeInfo = CodeInfo {
    code: "E1013",
    title: "rounds that depend on each other",
    explanation: "A loop over a reduction variable whose rounds read what earlier rounds wrote \
cannot run in parallel or in vectors. An associative reduction can be split with `rfactor` into \
parts that can.",
    example: "// nbcc run example.halide --size 16\n\
RDom r(0, 16);\nFunc out(x) = 0.0f;\nout(x) += in(x, r);\nout.update().parallel(r);\n",
    by_test: None,
};

/// An order of loops that changes the result.
pub const REORDERED: CodeInfo = CodeInfo {
    code: "E1014",
    title: "an order of loops that changes the result",
    explanation: "A reduction runs over its domain in order, the first variable fastest. Two loops \
that both carry values from round to round cannot change places, unless the update is an \
associative and commutative reduction.",
    example: "// nbcc run example.halide --size 16x16\n\
RDom r(1, 15, 1, 15);\nFunc out(x, y) = in(x, y);\n\
out(r.x, r.y) = out(r.x - 1, r.y) * 0.5f + out(r.x, r.y - 1);\nout.update().reorder(r.y, r.x);\n",
    by_test: None,
};

/// Every code of this target.
pub const ALL: &[&CodeInfo] = &[
    &TOO_LARGE,
    &BAD_MACHINE,
    &BAD_CHOICE,
    &TOO_FEW_REGISTERS,
    &NOT_STAGES,
    &ILLEGAL_PLACE,
    &NO_SUCH_LOOP,
    &ILLEGAL_STORE,
    &CARRIED,
    &REORDERED,
];
