//! When registers and scratchpads can be used: what issued instructions that have not
//! retired read and write (section IV.B of the iPIM paper).

use nbcc_sim_engine::Cycle;

use crate::plan::Access;

/// A scoreboard entry: when the instructions that use a register retire.
#[derive(Clone, Copy, Debug, Default)]
pub struct Register {
    /// When all known writers have retired.
    pub written: Cycle,
    /// When all known readers have retired.
    pub read: Cycle,
    /// Issued instructions of unknown retirement that write it: one at most.
    pub writers: u16,
    /// Issued instructions of unknown retirement that read it.
    pub readers: u16,
}

/// As a register, for a scratchpad.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scratchpad {
    written: Cycle,
    read: Cycle,
    writers: u16,
    readers: u16,
    /// Opcode of the last writers.
    opcode: u8,
}

impl Scratchpad {
    /// Whether an access has to wait for instructions of unknown retirement.
    pub fn is_blocked(&self, access: Access, opcode: u8) -> bool {
        match access {
            Access::None => false,
            Access::Read => self.writers > 0,
            Access::Write => self.readers > 0 || (self.writers > 0 && self.opcode != opcode),
        }
    }

    /// The first cycle at which an access may issue.
    pub fn ready(&self, access: Access, opcode: u8) -> Cycle {
        match access {
            Access::None => 0,
            Access::Read => self.written,
            Access::Write if self.opcode == opcode => self.read,
            Access::Write => self.read.max(self.written),
        }
    }

    /// Enters an access, with its retirement if known.
    pub fn issue(&mut self, access: Access, opcode: u8, retire: Option<Cycle>) {
        let (time, count) = match access {
            Access::None => return,
            Access::Read => (&mut self.read, &mut self.readers),
            Access::Write => {
                self.opcode = opcode;
                (&mut self.written, &mut self.writers)
            }
        };
        match retire {
            Some(retire) => *time = (*time).max(retire),
            None => *count += 1,
        }
    }

    /// The retirement of an access that was entered without is known.
    pub fn retire(&mut self, access: Access, retire: Cycle) {
        let (time, count) = match access {
            Access::None => return,
            Access::Read => (&mut self.read, &mut self.readers),
            Access::Write => (&mut self.written, &mut self.writers),
        };
        *time = (*time).max(retire);
        *count -= 1;
    }
}
