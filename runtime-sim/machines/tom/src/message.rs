//! What multiprocessors and memory tell each other.

use nbcc_sim_engine::Cycle;

use crate::clock::Time;

/// What is asked of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A line.
    Load,
    /// Bytes of a line are written.
    Store,
    /// Bytes of a line are read, changed and written.
    Atomic,
    /// A block is to run in a stack. `line` is the stack, `token` the task.
    Offload,
    /// It has run, and goes back to the multiprocessor `sm`. `line` and `token` as before.
    Return,
}

/// A request for a line.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// When it leaves the multiprocessor.
    pub time: Time,
    /// The multiprocessor.
    pub sm: u32,
    /// What it is called there.
    pub token: u32,
    /// What is asked.
    pub ask: Ask,
    /// The line's number.
    pub line: u64,
    /// Bytes that it brings along.
    pub bytes: u32,
    /// Bytes that an atomic operation answers, none where its old value is not wanted.
    pub answer: u32,
    /// Lanes of an atomic operation, which are served one after another.
    pub lanes: u32,
    /// The parts of the line that it touches, each an access of the banks, the first one in the lowest bit.
    pub bursts: u32,
}

impl Request {
    /// A block goes to a stack or comes back: bytes that the request brings along, and bytes of its answer.
    pub fn of_block(
        (time, sm): (Time, u32),
        token: u32,
        ask: Ask,
        stack: u32,
        [bytes, answer]: [u32; 2],
    ) -> Request {
        let line = u64::from(stack);
        Request { time, sm, token, ask, line, bytes, answer, lanes: 0, bursts: 0 }
    }
}

/// The answer to a request, as its multiprocessor gets it.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The multiprocessor.
    pub sm: u32,
    /// The cycle of its clock.
    pub cycle: Cycle,
    /// What was asked.
    pub ask: Ask,
    /// What the request is called there.
    pub token: u32,
}
