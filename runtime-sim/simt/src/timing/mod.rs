//! What models of time of SIMT machines share: which registers are on their way, which pieces of
//! memory a warp touches, how often shared memory is asked for one bank, which warp goes next, which
//! block a core takes next and how many it holds, and calendars of what is busy when. A machine puts
//! them together; instructions are executed by [`crate::machine`] at the cycle of their issue.

pub mod cache;
pub mod calendar;
pub mod coalesce;
pub mod conflicts;
pub mod dispatch;
pub mod occupancy;
pub mod operands;
pub mod pool;
pub mod schedule;
pub mod scoreboard;
