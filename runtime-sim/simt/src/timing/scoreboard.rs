//! Which registers of a warp are on their way: an instruction issues once what it reads is written,
//! and what it writes is neither to be read nor to be written by one before it.

use nbcc_sim_engine::{Cycle, NEVER};

/// Cycles of a register.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// From when it can be read; [`NEVER`] while that is not known.
    written: Cycle,
    /// Until when it is still read.
    read: Cycle,
}

/// Cycles of the registers of a warp.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    uses: Box<[Use]>,
}

impl Scoreboard {
    /// All there.
    pub fn new(registers: usize) -> Scoreboard {
        Scoreboard { uses: vec![Use::default(); registers].into() }
    }

    /// The first cycle at which an instruction with these sources and destinations may issue, and the
    /// register that decides it.
    #[inline]
    pub fn ready(&self, sources: &[u16], destinations: &[u16]) -> (Cycle, Option<u16>) {
        let mut at = 0;
        let mut by = None;
        for &register in sources {
            let written = self.uses[usize::from(register)].written;
            if written > at {
                (at, by) = (written, Some(register));
            }
        }
        for &register in destinations {
            let Use { written, read } = self.uses[usize::from(register)];
            let free = written.max(read);
            if free > at {
                (at, by) = (free, Some(register));
            }
        }
        (at, by)
    }

    /// A register will be there at a cycle.
    #[inline]
    pub fn write(&mut self, register: u16, at: Cycle) {
        self.uses[usize::from(register)].written = at;
    }

    /// A register will be there at a cycle, if not later.
    #[inline]
    pub fn delay(&mut self, register: u16, at: Cycle) {
        let written = &mut self.uses[usize::from(register)].written;
        *written = (*written).max(at);
    }

    /// A register is read until a cycle.
    #[inline]
    pub fn read(&mut self, register: u16, until: Cycle) {
        let read = &mut self.uses[usize::from(register)].read;
        *read = (*read).max(until);
    }

    /// Whether a register's value is on its way without a known end.
    pub fn is_unknown(&self, register: u16) -> bool {
        self.uses[usize::from(register)].written == NEVER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hazards() {
        let mut board = Scoreboard::new(4);
        board.write(1, 10);
        board.read(2, 7);
        assert_eq!(board.ready(&[0], &[3]), (0, None));
        assert_eq!(board.ready(&[1], &[3]), (10, Some(1)));
        assert_eq!(board.ready(&[0], &[1]), (10, Some(1)));
        assert_eq!(board.ready(&[2], &[0]), (0, None));
        assert_eq!(board.ready(&[0], &[2]), (7, Some(2)));
        board.write(1, NEVER);
        assert!(board.is_unknown(1));
        board.delay(0, 5);
        board.delay(0, 3);
        assert_eq!(board.ready(&[0], &[]), (5, Some(0)));
    }
}
