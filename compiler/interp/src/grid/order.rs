//! Which block runs when: they begin in their order, and one has ended before the next one begins, unless
//! it takes long. Then it may wait for others, which begin as far as there is room for their state, and
//! all that have begun take turns.

use std::collections::VecDeque;

use super::{BlockRun, FaultKind, GridMemory, Limits};

/// Steps of a block before others have their turn: many, so that most end before.
const BLOCK_TURN: u64 = 1 << 22;

/// The blocks of a grid at their begins, in their order.
fn positions([x, y, z]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])))
}

/// Runs all blocks of a grid; `begin` makes the one at a position.
///
/// # Errors
/// The block whose thread of that number could not go on, and why.
pub(super) fn run<'a>(
    begin: impl Fn([u32; 3]) -> BlockRun<'a>,
    grid: [u32; 3],
    memory: &mut GridMemory,
    limits: &Limits,
    print: &mut dyn FnMut(&[u8]),
) -> Result<(), (Box<BlockRun<'a>>, usize, FaultKind)> {
    let mut steps = limits.steps;
    let mut coming = positions(grid);
    let mut begun: VecDeque<Box<BlockRun<'a>>> = VecDeque::new();
    // Bytes of the largest block so far, which another one may grow to.
    let mut largest = 0u64;
    loop {
        let others_wait = !begun.is_empty();
        let room = largest.saturating_mul(begun.len() as u64 + 1) <= limits.running_bytes;
        let next = if !others_wait || room { coming.next() } else { None };
        let block = next.map(|position| Box::new(begin(position))).or_else(|| begun.pop_front());
        let Some(mut block) = block else { return Ok(()) };
        let turn = (BLOCK_TURN, others_wait);
        match block.run(memory, &mut steps, limits.steps, turn, print) {
            Ok(true) => {}
            Ok(false) => {
                largest = largest.max(block.bytes());
                begun.push_back(block);
            }
            Err((number, kind)) => return Err((block, number, kind)),
        }
    }
}
