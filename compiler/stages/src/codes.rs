//! The diagnostic codes of this crate: bounds and schedules.

nbcc_base::codes! {
    /// Every code of this crate.
    ALL;

    INPUT_OUTSIDE = "E0401", "input read outside its extent",
    "A declared input has no boundary condition, so every element that the pipeline reads of it must \
     exist. Bounds inference found a read, directly or through other stages, of coordinates that the \
     input does not have. The message gives the region that all reads together need.

Read the input through a boundary condition, as in `Func clamped = \
     BoundaryConditions::repeat_edge(in);`, clamp the coordinates, or compute a smaller output with \
     `bound` or `--size`.",
    "\
// nbcc interp example.halide --size 64x64
ImageParam in(Float(32), 2);
Func out(x, y) = in(x - 1, y) + in(x + 1, y);
";

    UNBOUNDED = "E0402", "coordinate without a limit",
    "A Func is read or written at a coordinate that depends on data and may have any value, so the \
     region over which the Func must be computed has no limit. The type of the data counts as a limit: \
     an index of type `uint8_t` lies between 0 and 255.

Limit the coordinate with `clamp(index, low, high)`.",
    "\
// nbcc interp example.halide --size 64x64
ImageParam in(Int(32), 2);
Func table(i) = i * i;
table.compute_root();
Func out(x, y) = table(in(x, y));
";

    REGION_TOO_LARGE = "E0403", "region too large",
    "An image, or the region over which a Func must be computed, has more elements than can be stored. \
     The region follows from the extents of the outputs and from what the stages read; the place shown \
     is the access that needs the most.

Limit the coordinates of that access with `clamp`, or compute a smaller output.",
    "\
// nbcc interp example.halide --size 64x64
ImageParam in(UInt(16), 2);
Func table(i, j) = i + j;
table.compute_root();
Func out(x, y) = table(in(x, y), in(y, x));
";

    RDOM_EXTENT = "E0404", "reduction domain of unknown extent",
    "The bounds of a reduction domain must be known when the pipeline is compiled: they may consist of \
     constants, extents of inputs, and parameters that have a default or a value on the command line.",
    "\
// nbcc example.halide --size 64x64
Param<int> n;
RDom r(0, n);
Func out(x, y) = 0;
out(x, y) += r;
";

    OUTPUT_EXTENT = "E0405", "extent of an output unknown",
    "The extent of an output along each dimension is what `bound` says, else what `--size` says, else \
     that of the first input where that has the dimension, else what `set_estimate` says. For the \
     dimension named here none of these gives one, or gives zero.",
    "\
// nbcc interp example.halide
Func out(x, y) = x + y;
";

    BOUND = "E0406", "bound not constant, too small or too far",
    "`f.bound(x, min, extent)` fixes the coordinates over which `f` is computed. Both values must be \
     known when the pipeline is compiled, and every stage that reads `f` must stay within them. \
     Coordinates may be 2^30 at most, and as much below zero.",
    "\
// nbcc interp example.halide --size 64x64
Func f(x, y) = x + y;
f.bound(x, 0, 32).compute_root();
Func out(x, y) = f(x, y);
";

    INPUT_EXTENT = "E0407", "extent of an input unknown",
    "An input's extents are those of its data; where no data is given, its `set_estimate`; else those \
     of the first output that has the dimension; else `--size`. The data must have as many dimensions \
     as the input is declared with.",
    by test "an_input_of_more_dimensions_needs_data";

    INLINE_TOO_LARGE = "E0408", "too much inlined",
    "A Func without `compute_root` or `compute_at` is computed anew wherever it is read, as in Halide. \
     With many stages that each read the one before at many places, what has to be computed for one \
     element becomes too much.

A target may compute some of the stages whole then, but not those that are read at coordinates \
     without a limit.

Limit the coordinates with `clamp`, and give some of the stages a `compute_root()`.",
    "\
// nbcc example.halide --size 8
Func f[25];
f[0](x) = in(x);
for (int i = 1; i < 25; i++) {
    f[i](x) = f[i - 1](2 * x) + f[i - 1](2 * x + 1);
}
Func out(x) = f[24](cast<int>(in(x) * 1000.0f));
out.compute_root();
";
}
