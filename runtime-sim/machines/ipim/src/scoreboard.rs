//! When registers and scratchpads can be used: what issued instructions that have not
//! retired read and write (section IV.B of the iPIM paper).

use nbcc_sim_engine::Cycle;

use crate::plan::{Access, Port};

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

/// As a register, for a scratchpad: a control core sees no addresses.
///
/// Where engines have one port to read and another one to write, each serves what comes to it in the
/// order of issue, at a time that is known but for loads from banks. A write then waits for nothing
/// but to come to its port after what it may overwrite has been read or written at another one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scratchpad {
    written: Cycle,
    /// When all readers have retired or, with ports, have read.
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
    pub fn ready(&self, access: Access, opcode: u8, port: Option<Port>) -> Cycle {
        match access {
            Access::None => 0,
            Access::Read => self.written,
            Access::Write => {
                let others = if self.opcode == opcode { 0 } else { self.written };
                let before = port.map_or(0, |port| Cycle::from(port.begins));
                self.read.max(others).saturating_sub(before)
            }
        }
    }

    /// Enters an access that issues in cycle `issue`, with its retirement if known.
    pub fn issue(
        &mut self,
        access: Access,
        opcode: u8,
        issue: Cycle,
        port: Option<Port>,
        retire: Option<Cycle>,
    ) {
        let (time, count, over) = match access {
            Access::None => return,
            Access::Read => {
                let read = port.map(|port| issue + Cycle::from(port.ends));
                (&mut self.read, &mut self.readers, read.or(retire))
            }
            Access::Write => {
                self.opcode = opcode;
                (&mut self.written, &mut self.writers, retire)
            }
        };
        match over {
            Some(over) => *time = (*time).max(over),
            None => *count += 1,
        }
    }

    /// The retirement of an access that was entered without is known.
    pub fn retire(&mut self, access: Access, port: Option<Port>, retire: Cycle) {
        let (time, count) = match access {
            Access::None => return,
            Access::Read if port.is_some() => return,
            Access::Read => (&mut self.read, &mut self.readers),
            Access::Write => (&mut self.written, &mut self.writers),
        };
        *time = (*time).max(retire);
        *count -= 1;
    }
}
