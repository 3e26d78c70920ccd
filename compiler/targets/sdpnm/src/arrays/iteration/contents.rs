//! What the memory objects of a function hold before a loop, and which of them nobody reads.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_analysis::LoopForest;
use nbcc_ir::{Cfg, Dominators, Function, Inst, Mem, Op};
use nbcc_opt::promote;

use super::build::Builder;
use super::reuse::Reuse;
use super::terms::Terms;
use crate::arrays::facts::access::{Access, Subscript};
use crate::arrays::facts::shape::Shape;

/// Whether so many elements of an object, from one on at a distance, are zero at the start of a function
/// that is called once, of which a loop is entered once.
pub fn zeros(
    func: &Function,
    shape: &Shape,
    contents: promote::Contents,
) -> impl Fn(Mem, i32, i32, u32) -> bool + use<> {
    let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    let l = forest.headed_by(shape.header);
    let is_once = l.is_some_and(|l| forest.loops[l].parent.is_none());
    let sizes: BTreeMap<Mem, i64> =
        contents.keys().map(|&mem| (mem, func.mems[mem].element.bytes().into())).collect();
    move |mem, first, step, count| {
        let (Some(bytes), true) = (contents.get(&mem), is_once) else { return false };
        let is_zero = |number: u32| {
            let element = i64::from(first) + i64::from(step) * i64::from(number);
            let from = element.saturating_mul(sizes[&mem]);
            (from..from + sizes[&mem]).all(|at| {
                usize::try_from(at).is_ok_and(|at| bytes.get(at).is_none_or(|byte| *byte == 0))
            })
        };
        (0..count).all(is_zero)
    }
}

impl Builder<'_> {
    /// Whether what an access takes in the first iterations is zero, unless the loop stores there: nobody
    /// else stores to its object, which is zero at the start.
    pub(super) fn is_zero(&self, access: &Access, iterations: u32, terms: Terms<'_>) -> bool {
        let Subscript::Linear(evolution) = &access.subscript else { return false };
        let (start, step) = (evolution.start.as_constant(), evolution.step.as_constant());
        let (Some(start), Some(step), true) = (start, step, evolution.is_linear()) else {
            return false;
        };
        let is_known = (terms.is_zero)(access.mem, start, step, iterations);
        let touches = |inst: &Inst| match &self.func.insts[*inst].op {
            Op::Store(mem, ..) => {
                *mem == access.mem && !self.accesses.iter().any(|own| own.inst == *inst)
            }
            Op::Intrinsic(call) => call.mems.contains(&access.mem),
            _ => false,
        };
        let mut insts = self.func.layout.iter().flat_map(|&block| &self.func.blocks[block].insts);
        is_known && !insts.any(touches)
    }

    /// The objects among those of which the function forgets the contents that are loaded nowhere but
    /// where a load takes what a store of its iteration stored.
    pub(super) fn unread(&self, own: &BTreeSet<Mem>) -> BTreeSet<Mem> {
        let is_handed = |inst: &Inst| {
            let words = self.accesses.iter().enumerate().filter(|(_, own)| own.inst == *inst);
            let mut reuses = words.map(|(number, _)| self.reuses.get(&number)).peekable();
            reuses.peek().is_some()
                && reuses.all(|reuse| match reuse {
                    Some(&Reuse::Stored { distance, is_zero, .. }) => distance == 0 || is_zero,
                    _ => false,
                })
        };
        let mut unread = own.clone();
        for inst in self.func.layout.iter().flat_map(|&block| &self.func.blocks[block].insts) {
            match &self.func.insts[*inst].op {
                Op::Load(_, mem, _) if !is_handed(inst) => {
                    unread.remove(mem);
                }
                Op::Intrinsic(call) => call.mems.iter().for_each(|mem| {
                    unread.remove(mem);
                }),
                _ => {}
            }
        }
        unread
    }
}
