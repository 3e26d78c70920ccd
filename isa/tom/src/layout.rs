//! Which stack, vault and bank hold a line of memory.
//!
//! A mapping chooses the stack. The baseline (section 5.1, after Chatterjee et al.) takes the lowest bits
//! of the line's number, so that consecutive lines are in different stacks, and XORs higher ones into
//! them; others take bits of the address as they are. The bits that are left over count the lines of a
//! stack: the lowest of them, with higher ones, choose the vault, then come the columns of a row, banks
//! (permuted by the row: Zhang et al., MICRO 2000) and rows.

use crate::Machine;
use crate::address::StackBits;

/// How addresses are mapped to stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// Consecutive lines to different stacks, higher bits XORed.
    Baseline,
    /// By these bits.
    Bits(StackBits),
}

/// Where a line lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// The stack.
    pub stack: u32,
    /// The vault of the stack.
    pub vault: u32,
    /// The bank of the vault.
    pub bank: u32,
    /// The row of the bank.
    pub row: u32,
    /// The line in the row.
    pub column: u32,
}

/// What of a machine decides where lines lie.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    line_bits: u32,
    stack_bits: u32,
    vault_bits: u32,
    bank_bits: u32,
    columns: u64,
    rows: u64,
}

fn field(value: u64, at: u32, bits: u32) -> u64 {
    value.checked_shr(at).unwrap_or(0) & ((1 << bits) - 1)
}

impl Layout {
    /// The layout of a machine.
    pub fn new(machine: &Machine) -> Layout {
        let row_bytes = u64::from(machine.dram.row_bytes);
        Layout {
            line_bits: machine.cache.line_bytes.trailing_zeros(),
            stack_bits: machine.stack.count.trailing_zeros(),
            vault_bits: machine.stack.vaults.trailing_zeros(),
            bank_bits: machine.stack.banks.trailing_zeros(),
            columns: row_bytes / u64::from(machine.cache.line_bytes),
            rows: machine.bank_bytes() / row_bytes,
        }
    }

    /// The number of the line of an address.
    #[inline]
    pub fn line(&self, address: u64) -> u64 {
        address >> self.line_bits
    }

    /// The first address of a line.
    #[inline]
    pub fn address(&self, line: u64) -> u64 {
        line << self.line_bits
    }

    /// The stack of a line under a mapping.
    #[inline]
    pub fn stack(&self, mapping: Mapping, line: u64) -> u32 {
        let s = self.stack_bits;
        match mapping {
            Mapping::Baseline => {
                let above = s + self.vault_bits;
                (field(line, 0, s) ^ field(line, above, s) ^ field(line, 2 * above, s)) as u32
            }
            Mapping::Bits(bits) => bits.stack(line << self.line_bits),
        }
    }

    /// Where a line lies under a mapping. Lines beyond the machine's memory lie where others do.
    pub fn place(&self, mapping: Mapping, line: u64) -> Place {
        let s = self.stack_bits;
        let low = match mapping {
            Mapping::Baseline => 0,
            Mapping::Bits(bits) => bits.low.saturating_sub(self.line_bits),
        };
        // The number of the line in its stack: its own without the bits that choose the stack.
        let rest = field(line, 0, low) | line.checked_shr(low + s).unwrap_or(0) << low;
        let v = self.vault_bits;
        let vault = field(rest, 0, v) ^ field(rest, v + s, v);
        let inside = rest >> v;
        let (column, above) = (inside % self.columns, inside / self.columns);
        let row = above >> self.bank_bits;
        let bank = field(above, 0, self.bank_bits) ^ field(row, 0, self.bank_bits);
        Place {
            stack: self.stack(mapping, line),
            vault: vault as u32,
            bank: bank as u32,
            row: (row % self.rows) as u32,
            column: column as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn mappings(machine: &Machine) -> Vec<Mapping> {
        let pairs = machine.mappings().into_iter().map(Mapping::Bits);
        [Mapping::Baseline].into_iter().chain(pairs).collect()
    }

    /// stack = a[8:7] ^ a[14:13] ^ a[20:19], vault = a[12:9] ^ a[18:15].
    #[test]
    fn the_baseline_xors_higher_bits() {
        let machine = Machine::built_in("tom");
        let layout = Layout::new(&machine);
        let bits = |a: u64, high: u32, low: u32| a >> low & ((1 << (high - low + 1)) - 1);
        let mut a = 1_u64;
        for _ in 0..10_000 {
            a = a.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let at = a >> 32;
            let place = layout.place(Mapping::Baseline, layout.line(at));
            let stack = bits(at, 8, 7) ^ bits(at, 14, 13) ^ bits(at, 20, 19);
            let vault = bits(at, 12, 9) ^ bits(at, 18, 15);
            assert_eq!((u64::from(place.stack), u64::from(place.vault)), (stack, vault));
        }
    }

    /// No two lines lie in one place, and none lies nowhere.
    #[test]
    fn every_mapping_is_a_bijection() {
        for changes in [
            &[][..],
            &[("stack.count", "1")],
            &[("stack.vaults", "1"), ("stack.banks", "2")],
            &[("cache.line_bytes", "32")],
            &[("cache.line_bytes", "64")],
            &[("cache.line_bytes", "256"), ("map.lowest_bit", "8")],
            &[("cache.line_bytes", "1024"), ("map.lowest_bit", "10")],
        ] {
            let changes: Vec<_> = changes
                .iter()
                .map(|(key, value)| nbcc_isa::machine::Override {
                    key: (*key).into(),
                    value: (*value).into(),
                })
                .chain([nbcc_isa::machine::Override {
                    key: "stack.bytes".into(),
                    value: "2097152".into(),
                }])
                .collect();
            let text = Machine::built_in_text("tom").unwrap();
            let machine = Machine::from_toml(text, &changes).unwrap();
            let layout = Layout::new(&machine);
            let lines = u64::from(machine.stack.count) * machine.stack.bytes
                / u64::from(machine.cache.line_bytes);
            for mapping in mappings(&machine) {
                let places: HashSet<Place> = (0..lines).map(|l| layout.place(mapping, l)).collect();
                assert_eq!(places.len() as u64, lines, "{mapping:?}");
                let most = |of: fn(&Place) -> u32| places.iter().map(of).max();
                assert_eq!(most(|p| p.stack), Some(machine.stack.count - 1));
                assert_eq!(most(|p| p.vault), Some(machine.stack.vaults - 1));
                assert_eq!(most(|p| p.bank), Some(machine.stack.banks - 1));
            }
        }
    }

    #[test]
    fn bits_choose_the_stack_as_they_are() {
        let machine = Machine::built_in("tom");
        let layout = Layout::new(&machine);
        for bits in machine.mappings() {
            for address in [0, 0x12345680, 0xffff_ff80_u64] {
                let place = layout.place(Mapping::Bits(bits), layout.line(address));
                assert_eq!(place.stack, bits.stack(address));
            }
        }
    }
}
