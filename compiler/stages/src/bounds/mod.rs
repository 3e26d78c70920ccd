//! Regions: how large images are, where each Func must be computed, what an index can be.
//!
//! [`resolve_extents`] fixes the extents of inputs and outputs, [`infer`] finds the region of each
//! Func, [`not_whole`] those that can have none, [`Evaluator`] the range of an expression,
//! [`affine_of`] the form of an index.

mod affine;
mod env;
mod eval;
mod extents;
mod forms;
mod infer;
mod interval;
mod narrow;
mod values;

pub use affine::{Affine, AffineVar, IndexForm, Linear, affine_of, index_forms};
pub use env::Env;
pub use eval::{Evaluator, ParamValues, default_params};
pub use extents::{Extents, resolve_extents};
pub use infer::{Bounds, FuncBounds, StageLoops, infer, not_whole, without_limitless};
pub use interval::{Interval, MAX_COORDINATE, MAX_POINTS, Range, Region, points, region_text};
pub use values::Values;
