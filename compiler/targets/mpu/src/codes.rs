//! The diagnostic codes of this target.

use nbcc_base::CodeInfo;

/// Calls that cannot be inlined.
pub const CALLS: CodeInfo = CodeInfo {
    code: "E2201",
    title: "calls cannot be inlined",
    explanation: "MPU has no call instruction: every call is inlined. A kernel may have 1048576 \
instructions then, and a function may not call itself. Call less in one kernel, or replace \
recursion by a loop.",
    example: "",
    by_test: Some("mpu_refuses_calls_that_cannot_be_inlined"),
};

/// An operation that the machine has not.
pub const UNSUPPORTED: CodeInfo = CodeInfo {
    code: "E2202",
    title: "operation without an instruction",
    explanation: "The program uses an operation for which MPU has no instruction.",
    example: "",
    by_test: Some("mpu_refuses_what_it_has_no_instruction_for"),
};

/// A machine description or `--set` that cannot be used.
pub const BAD_MACHINE: CodeInfo = CodeInfo {
    code: "E2203",
    title: "the machine description is at fault",
    explanation: "A machine description is a TOML file with every key of a built-in machine; \
unknown keys, missing keys and values out of range are errors. `nbcc targets --machine NAME` lists \
the keys.",
    example: "",
    by_test: Some("mpu_refuses_machines"),
};

/// A program of another kind.
pub const NOT_GRIDS: CodeInfo = CodeInfo {
    code: "E2204",
    title: "not a program of grids",
    explanation: "MPU compiles kernels that grids of threads run, as PTX describes them. This is \
an image pipeline, or has no kernel.",
    example: "",
    by_test: Some("mpu_compiles_kernels_only"),
};

/// A kernel that needs more than the machine has.
pub const TOO_LARGE: CodeInfo = CodeInfo {
    code: "E2205",
    title: "the kernel does not fit the machine",
    explanation: "A block has as much shared memory as a core, a thread as much local memory and \
as many bytes of parameters as the machine says; data may only hold addresses of data in global \
memory.",
    example: "",
    by_test: Some("mpu_refuses_kernels_that_do_not_fit"),
};

/// Every code of this crate.
pub const ALL: &[&CodeInfo] = &[&CALLS, &UNSUPPORTED, &BAD_MACHINE, &NOT_GRIDS, &TOO_LARGE];
