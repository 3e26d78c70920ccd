//! Rows of a loop that was made of a nest: the iterations that are one of the loop around. What goes from
//! iteration to iteration begins anew with each row, so that several arrays may take some rows each; what
//! is stored behind the inner loop is stored once a row.

use nbcc_ir::{Block, Cfg, Function, IntCond, Op, Terminator, Value};

use super::evolution::{Evolution, Evolutions};
use super::shape::Shape;

/// In which iteration of each row a block runs, where that is one, the same in all rows of so many
/// iterations.
pub fn turn(
    func: &Function,
    shape: &Shape,
    evolutions: &Evolutions<'_>,
    block: Block,
    period: u32,
) -> Option<u32> {
    let cfg = Cfg::new(func);
    shape.blocks.iter().find_map(|&from| {
        let Terminator::Branch(cond, then, other) = func.terminator(from) else { return None };
        let is_way = from != shape.latch
            && then.block != other.block
            && cfg.predecessors(then.block) == [from]
            && shape.is_passed(func, shape.header, from)
            && shape.contains(then.block)
            && shape.is_passed(func, then.block, block)
            && !shape.leads(func, other.block, block, from);
        if is_way { column(func, evolutions, *cond, period) } else { None }
    })
}

/// In which iteration of a row a truth value holds, where that is one.
fn column(func: &Function, evolutions: &Evolutions<'_>, cond: Value, period: u32) -> Option<u32> {
    let Some(&Op::Icmp(IntCond::Eq, word, by)) = func.def_op(cond) else { return None };
    let by = u32::try_from(func.splat_constant(by)?).ok().filter(|&by| by < period)?;
    let of = evolutions.in_nest(word)?;
    let trips = evolutions.trips()?;
    let counts = |iteration: u32| at(&of, iteration) == Some((iteration % period) as i32);
    ((0..trips).all(counts) && of.start.as_constant().is_some()).then_some(by)
}

/// What a word is in an iteration, but for values from before the loop.
pub fn at(of: &Evolution, iteration: u32) -> Option<i32> {
    let step = of.step.as_constant()?;
    let linear = step.wrapping_mul(iteration as i32).wrapping_add(of.start.constant);
    let add = |sum: i32, (&period, &factor): (&u32, &i32)| {
        sum.wrapping_add(factor.wrapping_mul((iteration / period) as i32))
    };
    Some(of.quotients.iter().fold(linear, add))
}
