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
        Row { fixed: !crate::table::field_bits(self.fields), ..self }
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
