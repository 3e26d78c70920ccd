//! A set of the registers of a thread as a bit vector: 32-bit registers and predicates. A register of
//! 64 bits is the two that it is made of.

use nbcc_isa_simt::{PREDICATES, PhysReg, RegClass};

/// 32-bit registers that instructions can name.
const WORDS: u16 = 256;

/// A bit for each 32-bit register and each predicate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterSet {
    bits: [u64; 5],
}

/// The places of a set: 32-bit registers, then predicates.
pub(super) const SLOTS: u16 = WORDS + PREDICATES;

/// The places of a register.
pub(super) fn slots(reg: PhysReg) -> std::ops::Range<u16> {
    let (first, count) = match reg.class {
        RegClass::Word => (reg.index, 1),
        RegClass::Wide => (reg.index, 2),
        RegClass::Pred => (WORDS + reg.index, 1),
    };
    first..first + count
}

impl RegisterSet {
    /// The set of these 32-bit registers, 64 a word, R0 in the lowest bit of the first, and of these
    /// predicates, P0 in the lowest bit.
    pub fn from_bits(words: [u64; 4], predicates: u64) -> RegisterSet {
        let [a, b, c, d] = words;
        RegisterSet { bits: [a, b, c, d, predicates] }
    }

    /// The bits of the 32-bit registers.
    pub fn words(&self) -> [u64; 4] {
        [self.bits[0], self.bits[1], self.bits[2], self.bits[3]]
    }

    /// The bits of the predicates.
    pub fn predicates(&self) -> u64 {
        self.bits[4]
    }

    /// Whether a place is in it.
    pub(super) fn has_slot(&self, slot: u16) -> bool {
        self.bits.get(usize::from(slot / 64)).is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    /// Adds a place.
    pub(super) fn insert_slot(&mut self, slot: u16) {
        if let Some(word) = self.bits.get_mut(usize::from(slot / 64)) {
            *word |= 1 << (slot % 64);
        }
    }

    /// Adds a register with all of its parts.
    pub fn insert(&mut self, reg: PhysReg) {
        slots(reg).for_each(|slot| self.insert_slot(slot));
    }

    /// Whether all parts of a register are in it.
    pub fn contains(&self, reg: PhysReg) -> bool {
        slots(reg).all(|slot| self.has_slot(slot))
    }

    /// Whether a part of a register is in it.
    pub fn touches(&self, reg: PhysReg) -> bool {
        let mut parts = RegisterSet::default();
        parts.insert(reg);
        !self.and(&parts).is_empty()
    }

    /// What is in either.
    #[must_use]
    pub fn or(&self, other: &RegisterSet) -> RegisterSet {
        RegisterSet { bits: std::array::from_fn(|at| self.bits[at] | other.bits[at]) }
    }

    /// What is in both.
    #[must_use]
    pub fn and(&self, other: &RegisterSet) -> RegisterSet {
        RegisterSet { bits: std::array::from_fn(|at| self.bits[at] & other.bits[at]) }
    }

    /// What is in this one only.
    #[must_use]
    pub fn without(&self, other: &RegisterSet) -> RegisterSet {
        RegisterSet { bits: std::array::from_fn(|at| self.bits[at] & !other.bits[at]) }
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.bits == [0; 5]
    }

    /// How many 32-bit registers and predicates are in it.
    pub fn count(&self) -> u32 {
        self.bits.iter().map(|word| word.count_ones()).sum()
    }

    /// Its registers: words by number, then predicates.
    pub fn iter(&self) -> impl Iterator<Item = PhysReg> + use<> {
        let mut left = self.bits;
        std::iter::from_fn(move || {
            let at = left.iter().position(|word| *word != 0)?;
            let slot = at as u16 * 64 + left[at].trailing_zeros() as u16;
            left[at] &= left[at] - 1;
            Some(match slot.checked_sub(WORDS) {
                Some(index) => PhysReg::new(RegClass::Pred, index),
                None => PhysReg::new(RegClass::Word, slot),
            })
        })
    }

    /// The first register that a thread with so many 32-bit registers does not have.
    pub fn beyond(&self, words: u32) -> Option<PhysReg> {
        self.iter().find(|reg| match reg.class {
            RegClass::Pred => reg.index >= PREDICATES,
            _ => u32::from(reg.index) >= words,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_two_words_and_predicates_lie_apart() {
        let mut set = RegisterSet::default();
        set.insert(PhysReg::new(RegClass::Wide, 62));
        set.insert(PhysReg::new(RegClass::Wide, 64));
        set.insert(PhysReg::new(RegClass::Pred, 6));
        assert_eq!(set.words(), [3 << 62, 3, 0, 0]);
        assert_eq!((set.predicates(), set.count()), (1 << 6, 5));
        assert!(set.contains(PhysReg::new(RegClass::Word, 63)));
        assert!(!set.contains(PhysReg::new(RegClass::Word, 6)));
        assert_eq!(set.beyond(66), None);
        assert_eq!(set.beyond(64), Some(PhysReg::new(RegClass::Word, 64)));
        let names: Vec<String> = set.iter().map(|reg| reg.to_string()).collect();
        assert_eq!(names, ["R62", "R63", "R64", "R65", "P6"]);
    }
}
