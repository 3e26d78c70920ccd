//! The diagnostic codes of this crate: bounds and schedules.

use nbcc_base::CodeInfo;

/// A declared input is read outside its extent.
pub const INPUT_OUTSIDE: CodeInfo = CodeInfo {
    code: "E0401",
    title: "input read outside its extent",
    explanation: "\
A declared input has no boundary condition, so every element that the pipeline reads of it must \
exist. Bounds inference found a read, directly or through other stages, of coordinates that the \
input does not have. The message gives the region that all reads together need.

Read the input through a boundary condition, as in `Func clamped = \
BoundaryConditions::repeat_edge(in);`, clamp the coordinates, or compute a smaller output with \
`bound` or `--size`.",
    example: "\
// nbcc interp example.halide --size 64x64
ImageParam in(Float(32), 2);
Func out(x, y) = in(x - 1, y) + in(x + 1, y);
",
    by_test: None,
};

/// A Func is read or written at a coordinate that can have any value.
pub const UNBOUNDED: CodeInfo = CodeInfo {
    code: "E0402",
    title: "coordinate without a limit",
    explanation: "\
A Func is read or written at a coordinate that depends on data and may have any value, so the \
region over which the Func must be computed has no limit. The type of the data counts as a limit: \
an index of type `uint8_t` lies between 0 and 255.

Limit the coordinate with `clamp(index, low, high)`.",
    example: "\
// nbcc interp example.halide --size 64x64
ImageParam in(Int(32), 2);
Func table(i) = i * i;
table.compute_root();
Func out(x, y) = table(in(x, y));
",
    by_test: None,
};

/// A region is larger than any machine could hold.
pub const REGION_TOO_LARGE: CodeInfo = CodeInfo {
    code: "E0403",
    title: "region too large",
    explanation: "\
The region over which a Func must be computed has more elements than can be stored. It follows \
from the extents of the outputs and from what the stages read; the place shown is the access that \
needs the most.

Limit the coordinates of that access with `clamp`, or compute a smaller output.",
    example: "\
// nbcc interp example.halide --size 64x64
ImageParam in(UInt(16), 2);
Func table(i, j) = i + j;
table.compute_root();
Func out(x, y) = table(in(x, y), in(y, x));
",
    by_test: None,
};

/// The extent of a reduction domain depends on what is not known.
pub const RDOM_EXTENT: CodeInfo = CodeInfo {
    code: "E0404",
    title: "reduction domain of unknown extent",
    explanation: "\
The bounds of a reduction domain must be known when the pipeline is compiled: they may consist of \
constants, extents of inputs, and parameters that have a default or a value on the command line.",
    example: "",
    by_test: Some("a_domain_needs_a_known_extent"),
};

/// An output has no extent along a dimension.
pub const OUTPUT_EXTENT: CodeInfo = CodeInfo {
    code: "E0405",
    title: "extent of an output unknown",
    explanation: "\
The extent of an output along each dimension is what `bound` says, else what `--size` says, else \
that of the first input where that has the dimension, else what `set_estimate` says. For the \
dimension named here none of these gives one, or gives zero.",
    example: "\
// nbcc interp example.halide
Func out(x, y) = x + y;
",
    by_test: None,
};

/// A `bound` is not constant, or smaller than what is read.
pub const BOUND: CodeInfo = CodeInfo {
    code: "E0406",
    title: "bound not constant or too small",
    explanation: "\
`f.bound(x, min, extent)` fixes the coordinates over which `f` is computed. Both values must be \
known when the pipeline is compiled, and every stage that reads `f` must stay within them.",
    example: "\
// nbcc interp example.halide --size 64x64
Func f(x, y) = x + y;
f.bound(x, 0, 32).compute_root();
Func out(x, y) = f(x, y);
",
    by_test: None,
};

/// An input has no extent, or data of another number of dimensions.
pub const INPUT_EXTENT: CodeInfo = CodeInfo {
    code: "E0407",
    title: "extent of an input unknown",
    explanation: "\
An input's extents are those of its data; where no data is given, its `set_estimate`; else those \
of the first output that has the dimension; else `--size`. The data must have as many dimensions \
as the input is declared with.",
    example: "",
    by_test: Some("an_input_of_more_dimensions_needs_data"),
};

/// Inlining would make expressions too many.
pub const INLINE_TOO_LARGE: CodeInfo = CodeInfo {
    code: "E0408",
    title: "too much inlined",
    explanation: "\
A Func without `compute_root` or `compute_at` is computed anew wherever it is read, as in Halide. \
With many stages that each read the one before at many places, what has to be computed for one \
element becomes too much.

Give some of the stages a `compute_root()`.",
    example: "",
    by_test: Some("inlining_has_a_limit"),
};

/// Every code of this crate.
pub const ALL: &[&CodeInfo] = &[
    &INPUT_OUTSIDE,
    &UNBOUNDED,
    &REGION_TOO_LARGE,
    &RDOM_EXTENT,
    &OUTPUT_EXTENT,
    &BOUND,
    &INPUT_EXTENT,
    &INLINE_TOO_LARGE,
];
