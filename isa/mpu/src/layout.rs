//! Which bank holds which byte: addresses are interleaved over banks, near-bank units, cores and
//! processors, lowest first, and what is left counts columns and rows (the authors' model, with the
//! bank access of Table II). So a warp's access to 32 consecutive words that begins at a multiple of
//! 128 bytes takes a word of each bank of one near-bank unit.

use crate::Machine;

/// Where a word of a bank lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The core, from 0 over all processors.
    pub core: u32,
    /// The near-bank unit of the core.
    pub unit: u32,
    /// The bank of the unit.
    pub bank: u32,
    /// The row.
    pub row: u32,
    /// The word of the row.
    pub column: u32,
}

/// A number to divide by, mostly a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Divisor {
    value: u64,
    /// Of a power of two.
    shift: Option<u32>,
}

impl Divisor {
    fn new(value: u32) -> Divisor {
        let shift = value.is_power_of_two().then(|| value.trailing_zeros());
        Divisor { value: value.into(), shift }
    }

    /// Quotient and remainder.
    #[inline]
    fn split(self, number: u64) -> (u64, u64) {
        match self.shift {
            Some(shift) => (number >> shift, number & (self.value - 1)),
            None => (number / self.value, number % self.value),
        }
    }
}

/// The sizes that decide it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    banks: Divisor,
    units: Divisor,
    cores: Divisor,
    columns: Divisor,
    rows: Divisor,
}

impl Layout {
    /// That of a machine.
    pub fn new(machine: &Machine) -> Layout {
        let (h, m) = (&machine.hierarchy, &machine.memory);
        Layout {
            banks: Divisor::new(h.banks),
            units: Divisor::new(h.subcores),
            cores: Divisor::new(machine.cores()),
            columns: Divisor::new(machine.dram.row_bytes / m.bank_io_bytes),
            rows: Divisor::new(m.bank_bytes / machine.dram.row_bytes),
        }
    }

    /// Where the bank word of that number (its byte address over the bytes of a bank access) lies.
    /// Numbers beyond the last row begin again.
    #[inline]
    pub fn place(&self, word: u64) -> Place {
        let (rest, bank) = self.banks.split(word);
        let (rest, unit) = self.units.split(rest);
        let (rest, core) = self.cores.split(rest);
        let (rest, column) = self.columns.split(rest);
        Place {
            core: core as u32,
            unit: unit as u32,
            bank: bank as u32,
            row: self.rows.split(rest).1 as u32,
            column: column as u32,
        }
    }

    /// Where a word of the local memories of a unit's warps lies, counted from the end of its banks.
    #[inline]
    pub fn local(&self, core: u32, unit: u32, word: u64) -> Place {
        let (rest, bank) = self.banks.split(word);
        let (rest, column) = self.columns.split(rest);
        let row = self.rows.value - 1 - self.rows.split(rest).1;
        Place { core, unit, bank: bank as u32, row: row as u32, column: column as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits of an address: byte 5, bank 2, unit 2, core 4, processor 3, column 5, row.
    #[test]
    fn fields_of_an_address() {
        let layout = Layout::new(&Machine::built_in("mpu"));
        let place = |address: u64| layout.place(address / 32);
        assert_eq!(place(0x20).bank, 1);
        assert_eq!(place(0x80), Place { unit: 1, ..Place::default() });
        assert_eq!(place(0x200), Place { core: 1, ..Place::default() });
        assert_eq!(place(0x2000), Place { core: 16, ..Place::default() });
        assert_eq!(place(0x10000), Place { column: 1, ..Place::default() });
        assert_eq!(place(0x20_0000), Place { row: 1, ..Place::default() });
        let last = place((32 << 30) - 1);
        assert_eq!(last, Place { core: 127, unit: 3, bank: 3, row: 16383, column: 31 });
        assert_eq!(place(32 << 30), Place::default());
    }

    /// Different words lie at different places.
    #[test]
    fn places_are_different() {
        let layout = Layout::new(&Machine::built_in("mpu-quad"));
        let mut seen = std::collections::BTreeSet::new();
        assert!((0..10_000).all(|word| seen.insert(layout.place(word))));
        let local: Vec<Place> = (0..1000).map(|word| layout.local(2, 3, word)).collect();
        assert!(local.iter().all(|place| seen.insert(*place)));
        assert_eq!(local[0], Place { core: 2, unit: 3, bank: 0, row: 16383, column: 0 });
    }
}
