//! The schedule directives of the language, for checking names, for suggestions and for the docs.

/// A directive: how it is written and what it does.
#[derive(Debug)]
pub struct DirectiveHelp {
    /// Its name.
    pub name: &'static str,
    /// How it is written.
    pub usage: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
}

macro_rules! directives {
    ($($name:literal, $usage:literal, $about:literal;)*) => {
        /// The directives of the language. A target may add its own.
        pub const DIRECTIVES: &[DirectiveHelp] =
            &[$(DirectiveHelp { name: $name, usage: $usage, about: $about }),*];
    };
}

directives! {
    "compute_root", "f.compute_root()",
        "Computes the Func whole, before any of its consumers.";
    "compute_inline", "f.compute_inline()",
        "Computes the Func anew at each use; what happens without a directive, but for Funcs with updates.";
    "compute_at", "f.compute_at(g, y)",
        "Computes what is needed of the Func inside loop `y` of Func `g`.";
    "store_root", "f.store_root()",
        "Keeps the values of the Func outside every loop.";
    "store_at", "f.store_at(g, y)",
        "Keeps the values of the Func inside loop `y` of Func `g`.";
    "split", "f.split(x, xo, xi, 8)",
        "Splits loop `x` into `xo` over blocks and `xi` over the 8 elements of a block.";
    "tile", "f.tile(x, y, xi, yi, 8, 8)",
        "Splits two loops and brings the inner ones inside: `x`, `y` run over tiles. With eight arguments the outer loops get names of their own. Of more loops as lists: `f.tile({x, y, c}, {xi, yi, ci}, {8, 8, 2})`.";
    "fuse", "f.fuse(x, y, xy)",
        "Joins loops `x` (inner) and `y` (outer) into one, `xy`.";
    "reorder", "f.reorder(x, y, c)",
        "Orders loops, innermost first.";
    "vectorize", "f.vectorize(x, 4)",
        "Computes 4 elements along `x` at once; without a number, the whole loop.";
    "unroll", "f.unroll(x, 2)",
        "Repeats the body of loop `x` twice a round; without a number, for every element.";
    "parallel", "f.parallel(y)",
        "Runs the rounds of loop `y` in parallel; with a number, in blocks of as many.";
    "bound", "f.bound(x, 0, 256)",
        "Fixes the range of dimension `x`: minimum and extent.";
    "set_estimate", "f.set_estimate(x, 0, 1024)",
        "Says what range of dimension `x` is likely, where nothing else gives one.";
    "set_estimates", "f.set_estimates({{0, 1024}, {0, 768}})",
        "The same for all dimensions.";
    "update", "f.update(0)",
        "Names an update of the Func (the first one without a number): the directives that follow schedule it.";
    "rfactor", "f.update().rfactor(r.y, v)",
        "Splits an associative reduction: the result is a Func of partial results over the new Var `v`, which the update then combines.";
}

/// Directives of Halide that this language does not have, and what is written instead.
pub(crate) const HALIDE_ONLY: [(&str, &str); 18] = [
    ("apply_autoscheduler", "leave it out: a pipeline without a schedule gets one by itself"),
    ("compile_to_file", "leave it out: `nbcc FILE` writes a binary"),
    ("compile_to_lowered_stmt", "leave it out: `nbcc FILE --emit stages` prints the stages"),
    ("define_extern", "define the Func by an expression: `f(x, y) = ...;`"),
    ("gpu", GPU),
    ("gpu_blocks", GPU),
    ("gpu_lanes", GPU),
    ("gpu_max_registers", GPU),
    ("gpu_single_thread", GPU),
    ("gpu_threads", GPU),
    ("gpu_tile", GPU),
    ("infer_input_bounds", "leave it out: regions that stages need are found out"),
    ("output_buffer", "write `bound` of the Func for extents; the rest can be left out"),
    ("output_buffers", "write `bound` of the Func for extents; the rest can be left out"),
    ("store_with", "leave it out: each Func has memory of its own"),
    ("realize", "leave it out: `nbcc run` computes the output, of the extent that `--size` gives"),
    ("rename", "the second and later arguments of `split` and `tile` name loops"),
    ("compile_jit", "leave it out: `nbcc run` compiles and runs the file"),
];

const GPU: &str = "write `tile` or `split` with `vectorize` and `parallel`, or put it under \
                   `if (get_target().has_gpu_feature())`, which is false";

/// Halide's tail strategies; edges are always guarded, so they change nothing.
pub(crate) const TAIL_STRATEGIES: [&str; 9] = [
    "Auto",
    "GuardWithIf",
    "Predicate",
    "PredicateLoads",
    "PredicateStores",
    "RoundUp",
    "RoundUpAndBlend",
    "ShiftInwards",
    "ShiftInwardsAndBlend",
];
