//! Loads and stores of a loop: which elements they touch, and at which distances the same ones.

use nbcc_ir::{Block, Inst, Mem, Value};

use super::evolution::Evolution;

/// A load or a store.
#[derive(Clone, Debug)]
pub struct Access {
    /// The instruction.
    pub inst: Inst,
    /// Its block.
    pub block: Block,
    /// The memory object.
    pub mem: Mem,
    /// The element.
    pub subscript: Subscript,
    /// Bytes of an element.
    pub bytes: u32,
    /// Whether it is a store.
    pub is_store: bool,
    /// The operation that it became.
    pub node: Option<usize>,
}

/// The number of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subscript {
    /// It grows by as much in each iteration.
    Linear(Evolution),
    /// It is never outside, whatever it is.
    Inside(Value),
}

/// In which iterations two accesses touch the same element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// In none.
    Never,
    /// In any.
    Any,
    /// In all, since both stay where they are.
    Always,
    /// The second as many iterations after the first.
    After(i64),
}

/// Where two accesses to one memory object meet, of which the elements are inside in each iteration,
/// so that differences of subscripts are less than 2^31.
pub fn distance_between(a: &Subscript, b: &Subscript) -> Distance {
    let (Subscript::Linear(a), Subscript::Linear(b)) = (a, b) else { return Distance::Any };
    let apart = b.start.plus(&a.start, -1).as_constant();
    let (Some(apart), true) = (apart, a.step == b.step) else { return Distance::Any };
    match a.step.as_constant() {
        None => Distance::Any,
        Some(0) if apart == 0 => Distance::Always,
        Some(0) => Distance::Never,
        Some(step) => {
            let (apart, step) = (i64::from(apart), i64::from(step));
            // b at iteration j is where a is at i: apart + step * j = step * i.
            match apart % step {
                0 => Distance::After(-apart / step),
                _ => Distance::Never,
            }
        }
    }
}
