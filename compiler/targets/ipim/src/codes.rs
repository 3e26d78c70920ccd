//! The diagnostic codes of this target.

nbcc_base::codes! {
    /// Every code of this target.
    ALL;

    TOO_LARGE = "E1001", "the pipeline does not fit the machine",
    "Every bank of iPIM holds 16 MB, every group has a scratchpad of 8 KB, and a program has at \
     most what a vault's scratchpad holds beside 32 KB of data. A pipeline whose images, windows \
     or code need more is refused, and so is an image of more than 8 dimensions or of more than \
     2^28 elements along one. Use a machine with more vaults, smaller tiles, or a smaller \
     image.",
    "\
// nbcc run example.halide --size 16x16 --set memory.bank_bytes=65536
ImageParam in(Float(32), 2);
Func out(x, y) = in(x, y);
";

    BAD_MACHINE = "E1002", "the machine description is at fault",
    "A machine description is a TOML file with every key of a built-in machine; unknown keys, \
     missing keys and values out of range are errors. `nbcc targets --machine NAME` lists the \
     keys.",
    by test "ipim_refuses_machines";

    BAD_CHOICE = "E1003", "no such choice",
    "`-X KEY=VALUE` sets a choice of the target. `nbcc targets` lists the keys and their values.",
    by test "ipim_refuses_choices";

    TOO_FEW_REGISTERS = "E1004", "a register file is too small",
    "Values that find no register are kept in the bank, but the operands of one instruction, and \
     the loop counters of the control core, must be in registers. Give the register file more \
     entries with `--set registers.ctrl=N` (or `addr`, `data`).",
    by test "ipim_refuses_register_files";

    ILLEGAL_PLACE = "E1010", "a Func cannot be computed at that loop",
    "`f.compute_at(g, y)` computes what is needed of `f` in each round of loop `y` of `g`. The \
     loop must enclose every use of `f`, those by Funcs that are computed at each use included; \
     where several definitions of `g` use `f`, each needs a loop of this name. The message shows \
     the loops that use `f` and marks where it can be computed.",
    "\
// nbcc run example.halide --size 16x16
Func f(x, y) = in(x, y) * 2.0f;
Func g(x, y) = f(x, y) + 1.0f;
Func out(x, y) = g(x, y) + f(x, y);
g.compute_root();
f.compute_at(g, y);
";

    NO_SUCH_LOOP = "E1011", "no such loop",
    "`compute_at` and `store_at` name a loop that the other Func has when all its directives are \
     applied: `split` and `fuse` replace loops. A Func that is computed at each use has none.",
    "\
// nbcc run example.halide --size 16x16
Func f(x, y) = in(x, y) * 2.0f;
Func out(x, y) = f(x, y) + f(x + 1, y);
out.split(y, yo, yi, 8);
f.compute_at(out, y);
";

    ILLEGAL_STORE = "E1012", "a Func cannot be stored at that loop",
    "Where a Func is stored encloses where it is computed: `f.store_at(g, y)` needs \
     `f.compute_at` at that loop or inside it, and no loop between the two may run in parallel or \
     in vectors. A Func that is computed at each use is not stored at all.",
    "\
// nbcc run example.halide --size 16x16
Func f(x, y) = in(x, y) * 2.0f;
Func out(x, y) = f(x, y) + f(x + 1, y);
f.store_at(out, x).compute_at(out, y);
";

    CARRIED = "E1013", "rounds that depend on each other",
    "A loop over a reduction variable whose rounds read what earlier rounds wrote cannot run in \
     parallel or in vectors. An associative reduction can be split with `rfactor` into parts that \
     can.",
    "\
// nbcc run example.halide --size 16
RDom r(0, 16);
Func out(x) = 0.0f;
out(x) += in(x, r);
out.update().parallel(r);
";

    REORDERED = "E1014", "an order of loops that changes the result",
    "A reduction runs over its domain in order, the first variable fastest. Two loops that both \
     carry values from round to round cannot change places, unless the update is an associative \
     and commutative reduction.",
    "\
// nbcc run example.halide --size 16x16
RDom r(1, 15, 1, 15);
Func out(x, y) = in(x, y);
out(r.x, r.y) = out(r.x - 1, r.y) * 0.5f + out(r.x, r.y - 1);
out.update().reorder(r.y, r.x);
";
}
