//! The rows of an instruction table as data.

/// What is known of a row without an instruction at hand.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The bits of the encoding that are always the same, where `fixed` says.
    pub opcode: u32,
    /// The first word of the text.
    pub mnemonic: &'static str,
    /// What it does, a line an element.
    pub doc: &'static [&'static str],
    /// The category, as its name.
    pub category: &'static str,
    /// The unit, as its name.
    pub unit: &'static str,
    /// The latency class, as written in the table.
    pub latency: &'static str,
    /// The memories that it reads, as their names.
    pub memory_reads: &'static [&'static str],
    /// The memories that it writes, as their names.
    pub memory_writes: &'static [&'static str],
    /// The fields, in the order of the text.
    pub fields: &'static [FieldRow],
    /// The bits that no field covers.
    pub fixed: u128,
}

impl Row {
    /// The row with the bits that no field covers worked out.
    pub const fn with_fixed(self) -> Row {
        Row { fixed: !field_bits(self.fields), ..self }
    }
}

/// A field of a row.
#[derive(Clone, Copy, Debug)]
pub struct FieldRow {
    /// Its name.
    pub name: &'static str,
    /// `reads`, `writes`, `updates`, `role`, `either`, `base`, `immediate`, `symbolic`, `relative` or
    /// `suffix`.
    pub kind: &'static str,
    /// The register class of the kinds that have one.
    pub class: Option<&'static str>,
    /// The bit that tells a register from a number, of `either`.
    pub flag: Option<u32>,
    /// The type of the field.
    pub ty: &'static str,
    /// The lowest bit.
    pub low: u32,
    /// One past the highest bit.
    pub high: u32,
    /// The lowest bit, and one past the highest, of the second place where it lies, if in two.
    pub rest: Option<(u32, u32)>,
}

/// The bits `low..high`.
pub const fn bit_mask(low: u32, high: u32) -> u128 {
    assert!(low < high && high <= 128);
    (u128::MAX >> (128 - (high - low))) << low
}

/// The bits of a field, its flag aside.
pub(crate) const fn bits_of(field: &FieldRow) -> u128 {
    let bits = bit_mask(field.low, field.high);
    match field.rest {
        Some((low, high)) => bits | bit_mask(low, high),
        None => bits,
    }
}

/// The bits that fields cover.
pub const fn field_bits(fields: &[FieldRow]) -> u128 {
    let mut covered = 0;
    let mut i = 0;
    while i < fields.len() {
        covered |= bits_of(&fields[i]);
        if let Some(flag) = fields[i].flag {
            covered |= bit_mask(flag, flag + 1);
        }
        i += 1;
    }
    covered
}
