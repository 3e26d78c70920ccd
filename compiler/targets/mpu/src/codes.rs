//! The diagnostic codes of this target.

nbcc_base::codes! {
    /// Every code of this target.
    ALL;

    CALLS = "E2201", "calls cannot be inlined",
    "MPU has no call instruction: every call is inlined. A kernel may have 1048576 instructions \
     then, and a function may not call itself. Call less in one kernel, or replace recursion by a \
     loop.",
    by test "mpu_refuses_calls_that_cannot_be_inlined";

    UNSUPPORTED = "E2202", "operation without an instruction",
    "The program uses an operation for which MPU has no instruction.",
    by test "mpu_refuses_what_it_has_no_instruction_for";

    BAD_MACHINE = "E2203", "the machine description is at fault",
    "A machine description is a TOML file with every key of a built-in machine; unknown keys, \
     missing keys and values out of range are errors. `nbcc targets --machine NAME` lists the \
     keys.",
    by test "mpu_refuses_machines";

    NOT_GRIDS = "E2204", "not a program of grids",
    "MPU compiles kernels that grids of threads run, as PTX describes them. This has no kernel, or \
     is asked for a form that grids do not have.",
    by test "mpu_compiles_kernels_only";

    TOO_LARGE = "E2205", "the kernel does not fit the machine",
    "A block has as much shared memory as a core, a thread as much local memory and as many bytes \
     of parameters as the machine says; data may only hold addresses of data in global memory.",
    by test "mpu_refuses_kernels_that_do_not_fit";
}
