//! The register track table: on which side of the pipeline a register of a warp is valid (section
//! IV-B1). A write makes it valid on its side alone, a move on both. One that was never written is
//! nowhere, and needs no move.

use nbcc_isa_mpu::location::Side;

/// Registers that a table has room for: 256 of 32 bits, and predicates.
const REGISTERS: usize = 320;

/// The table of a warp.
#[derive(Clone, Debug, Default)]
pub struct Tracks {
    valid: [[u64; REGISTERS / 64]; 2],
}

impl Tracks {
    /// Whether a register is valid there.
    #[inline]
    pub fn holds(&self, side: Side, register: u16) -> bool {
        self.valid[side as usize][usize::from(register) / 64] >> (register % 64) & 1 != 0
    }

    /// Whether a register has to be moved to be read there.
    #[inline]
    pub fn is_elsewhere(&self, side: Side, register: u16) -> bool {
        !self.holds(side, register) && self.holds(side.other(), register)
    }

    /// A register is written there.
    #[inline]
    pub fn write(&mut self, side: Side, register: u16) {
        let (word, bit) = (usize::from(register) / 64, 1 << (register % 64));
        self.valid[side as usize][word] |= bit;
        self.valid[side.other() as usize][word] &= !bit;
    }

    /// A register is moved there.
    #[inline]
    pub fn copy(&mut self, side: Side, register: u16) {
        self.valid[side as usize][usize::from(register) / 64] |= 1 << (register % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_and_moves() {
        let mut tracks = Tracks::default();
        assert!(!tracks.is_elsewhere(Side::Near, 100));
        tracks.write(Side::Far, 100);
        assert!(tracks.is_elsewhere(Side::Near, 100) && !tracks.is_elsewhere(Side::Far, 100));
        tracks.copy(Side::Near, 100);
        assert!(tracks.holds(Side::Near, 100) && tracks.holds(Side::Far, 100));
        tracks.write(Side::Near, 100);
        assert!(tracks.is_elsewhere(Side::Far, 100));
    }
}
