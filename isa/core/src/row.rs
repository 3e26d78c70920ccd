//! The rows of an instruction table as data.

/// What is known of a row without an instruction at hand.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The low 8 bits of the encoding.
    pub opcode: u8,
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
}

/// A field of a row.
#[derive(Clone, Copy, Debug)]
pub struct FieldRow {
    /// Its name.
    pub name: &'static str,
    /// `reads`, `writes`, `updates`, `role`, `either`, `immediate`, `symbolic` or `suffix`.
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
}
