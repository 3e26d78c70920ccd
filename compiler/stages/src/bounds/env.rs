//! Where the variables of expressions lie.

use std::collections::BTreeMap;

use crate::RDom;

use super::affine::AffineVar;
use super::interval::{Interval, Region};

/// Where the variables of an expression lie. What is not given may be any `I32`.
#[derive(Clone, Debug, Default)]
pub struct Env {
    /// The interval of each dimension of the Func being defined.
    pub dims: Region,
    /// The interval of variables of reduction domains.
    pub rvars: BTreeMap<(RDom, u32), Interval>,
}

impl Env {
    /// Over a region, without reduction variables.
    pub fn over(dims: &[Interval]) -> Env {
        Env { dims: dims.to_vec(), rvars: BTreeMap::new() }
    }

    /// Whether some variable has no value.
    pub(super) fn is_empty(&self) -> bool {
        self.dims.iter().chain(self.rvars.values()).any(|i| i.is_empty())
    }

    /// The interval of a variable.
    pub fn interval(&self, var: AffineVar) -> Interval {
        let given = match var {
            AffineVar::Dim(n) => self.dims.get(n as usize),
            AffineVar::RVar(rdom, n) => self.rvars.get(&(rdom, n)),
        };
        given.copied().unwrap_or(Interval { min: i32::MIN, max: i32::MAX })
    }
}
