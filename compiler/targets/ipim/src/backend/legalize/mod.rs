//! Expresses what Table I has not by what it has.

use nbcc_ir::Function;

/// Named extensions of the instruction set; none is on by default.
#[derive(Clone, Debug, Default)]
pub struct Features {}

/// Makes every operation on data one that SIMB has.
pub fn run(_func: &mut Function, _features: &Features) {}
