//! The diagnostic codes of SIMT targets.

nbcc_base::codes! {
    /// Every code that they share.
    ALL;

    CALLS = "E2201", "calls cannot be inlined",
    "A SIMT machine has no call instruction: every call is inlined. A kernel may have 1048576 \
     instructions then, and a function may not call itself. Call less in one kernel, or replace \
     recursion by a loop.",
    by test "calls_that_cannot_be_inlined_are_refused";

    UNSUPPORTED = "E2202", "operation without an instruction",
    "The program uses an operation for which the machine has no instruction.",
    by test "operations_without_an_instruction_are_refused";

    BAD_MACHINE = "E2203", "the machine description is at fault",
    "A machine description is a TOML file with every key of a built-in machine; unknown keys, \
     missing keys and values out of range are errors. `nbcc targets --machine NAME` lists the \
     keys.",
    by test "machines_at_fault_are_refused";

    NOT_GRIDS = "E2204", "not a program of grids",
    "The target compiles kernels that grids of threads run, as PTX describes them. This has no \
     kernel, or is asked for a form that grids do not have.",
    by test "programs_without_kernels_are_refused";

    TOO_LARGE = "E2205", "the kernel does not fit the machine",
    "A block has as much shared memory as a core, a thread as much local memory and as many bytes \
     of parameters as the machine says; data may only hold addresses of data in global memory.",
    by test "kernels_that_do_not_fit_are_refused";
}
