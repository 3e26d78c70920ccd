//! The diagnostic codes of this target.

use nbcc_base::CodeInfo;

/// A pipeline that needs more than the machine has.
pub const TOO_LARGE: CodeInfo = CodeInfo {
    code: "E1001",
    title: "the pipeline does not fit the machine",
    explanation: "Every bank of iPIM holds 16 MB, every group has a scratchpad of 8 KB, and a \
program has at most half of a vault's scratchpad. A pipeline whose images, windows or code need \
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
    example: "// nbcc run example.halide --size 16x16 --set dram.tRCDD=16\n\
ImageParam in(Float(32), 2);\nFunc out(x, y) = in(x, y);\n",
    by_test: None,
};

/// A choice of `-X` that does not exist.
pub const BAD_CHOICE: CodeInfo = CodeInfo {
    code: "E1003",
    title: "no such choice",
    explanation: "`-X KEY=VALUE` sets a choice of the target. `nbcc targets` lists the keys and \
their values.",
    example: "// nbcc run example.halide --size 16x16 -X regalloc=most\n\
ImageParam in(Float(32), 2);\nFunc out(x, y) = in(x, y);\n",
    by_test: None,
};

/// A register file that is too small.
pub const TOO_FEW_REGISTERS: CodeInfo = CodeInfo {
    code: "E1004",
    title: "a register file is too small",
    explanation: "Values that find no register are kept in the bank, but the operands of one \
instruction, and the loop counters of the control core, must be in registers. Give the register \
file more entries with `--set registers.ctrl=N` (or `addr`, `data`).",
    example: "// nbcc run example.halide --size 16x16 --set registers.data=1\n\
ImageParam in(Float(32), 2);\nFunc out(x, y) = in(x, y) + in(x, y) * 2.0f;\n",
    by_test: None,
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

/// Every code of this target.
pub const ALL: &[&CodeInfo] =
    &[&TOO_LARGE, &BAD_MACHINE, &BAD_CHOICE, &TOO_FEW_REGISTERS, &NOT_STAGES];
