//! By what a loop is built: what is asked of its body, and what is known of the function around it.

use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;
use nbcc_analysis::{AffineForms, ValueRanges};
use nbcc_ir::{Cfg, Function, Mem, Value};
use nbcc_isa_sdpnm::Array;

use super::body::Body;
use crate::narrow::signed_loads;

/// How a loop is built.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    /// Global registers of an array.
    pub globals: usize,
    /// Whether what finds no global register may be spilled.
    pub spills: bool,
    /// Objects of which nobody knows the contents behind the function.
    pub own: &'a BTreeSet<Mem>,
    /// How many loads take the value of one; `None` where all accesses stay.
    pub reuse: Option<usize>,
    /// Iterations that it runs at a time, about.
    pub iterations: u32,
    /// The array for which recurrences are reassociated; `None` where they stay as they are.
    pub array: Option<&'a Array>,
    /// Through how many groups of readers values go; `None` where they do not.
    pub groups: Option<usize>,
    /// The least interval of a body.
    pub interval: &'a dyn Fn(&Body) -> u32,
    /// Whether a value is computed each time the loop is entered.
    pub is_fresh: &'a dyn Fn(Value) -> bool,
    /// Whether so many elements of an object, from one on at a distance, are zero at the start of the
    /// function, and the loop is entered once.
    pub is_zero: &'a dyn Fn(Mem, i32, i32, u32) -> bool,
}

/// What is known of a function whichever of its loops is built, and however.
pub struct Facts<'a> {
    /// Words as sums of others.
    pub forms: AffineForms,
    pub(super) ranges: ValueRanges<'a>,
    pub(super) signed_loads: SecondaryMap<Value, bool>,
}

impl<'a> Facts<'a> {
    /// What is known of it.
    pub fn new(func: &'a Function) -> Facts<'a> {
        let forms = AffineForms::new(func, &Cfg::new(func));
        Facts { forms, ranges: ValueRanges::new(func), signed_loads: signed_loads(func) }
    }
}
