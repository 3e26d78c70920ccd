//! Coordinates that run through an arithmetic progression as one variable of a domain does.

use crate::bounds::{AffineVar, affine_of};
use crate::{Expr, Pipeline, RDom};

/// No number of such a coordinate exceeds this, so that none overflows.
pub(crate) const MAX_COORDINATE: i64 = 1 << 28;

/// A coordinate: `factor`, which is not zero, times a variable of a domain, plus `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progression {
    /// The number of the variable in its domain.
    pub variable: u32,
    /// What it is multiplied by.
    pub factor: i64,
    /// What is added.
    pub offset: i64,
}

impl Progression {
    /// The form of a coordinate in variables of `rdom`, if it has one.
    pub fn of(pipeline: &Pipeline, rdom: RDom, coordinate: Expr) -> Option<Progression> {
        let form = affine_of(pipeline, coordinate)?;
        let affine = form.as_affine()?;
        let mut terms = affine.terms.iter();
        let (Some((&AffineVar::RVar(of, variable), &factor)), None) = (terms.next(), terms.next())
        else {
            return None;
        };
        let offset = affine.constant;
        let is_small = [factor, offset].iter().all(|n| n.abs() <= MAX_COORDINATE);
        (of == rdom && is_small).then_some(Progression { variable, factor, offset })
    }
}
