//! Source lines of instructions, and their DWARF 4 line table.

use gimli::write::{
    Address, AttributeValue, DwarfUnit, EndianVec, LineProgram, LineString, Sections,
};
use gimli::{Encoding, Format, LineEncoding, LittleEndian};

use crate::container::WriteError;
use crate::load::LoadError;

/// A place in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLine {
    /// The index in [`LineTable::files`].
    pub file: u32,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 where it is not known.
    pub column: u32,
}

/// The source line of each instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineTable {
    /// The source files.
    pub files: Vec<String>,
    /// One an instruction, `None` where it has no line; empty where nothing is known.
    pub rows: Vec<Option<SourceLine>>,
}

impl LineTable {
    /// The source file and line of an instruction, where they are known.
    pub fn line(&self, instruction: usize) -> Option<(&str, SourceLine)> {
        let place = self.rows.get(instruction).copied().flatten()?;
        Some((self.files.get(place.file as usize)?, place))
    }
}

const ENCODING: Encoding = Encoding { format: Format::Dwarf32, version: 4, address_size: 8 };

/// The debug sections by name.
pub(crate) fn to_dwarf(
    table: &LineTable,
    text_bytes: usize,
    instruction_bytes: u32,
) -> Result<Vec<(&'static str, Vec<u8>)>, WriteError> {
    let fail = |message: &str| Err(WriteError(message.into()));
    if table.rows.is_empty() {
        return Ok(Vec::new());
    }
    let step = instruction_bytes as usize;
    if table.rows.len() * step != text_bytes {
        return fail("the line table has another length than the text");
    }
    if table.files.iter().any(|name| name.is_empty() || name.contains('\0')) {
        return fail("a source file has no proper name");
    }
    let unused = "unknown".to_owned();
    let first = table.files.first().unwrap_or(&unused);
    let mut dwarf = DwarfUnit::new(ENCODING);
    let line_encoding = LineEncoding {
        minimum_instruction_length: u8::try_from(step)
            .map_err(|_| WriteError("instructions are too long for a line table".into()))?,
        ..LineEncoding::default()
    };
    let here = LineString::String(b".".to_vec());
    let name = LineString::String(first.clone().into_bytes());
    let mut program = LineProgram::new(ENCODING, line_encoding, here, None, name, None);
    let folder = program.default_directory();
    let mut files = Vec::new();
    for name in &table.files {
        let name = LineString::String(name.clone().into_bytes());
        files.push(program.add_file(name, folder, None));
    }
    program.begin_sequence(Some(Address::Constant(0)));
    let mut last = None;
    for (index, row) in table.rows.iter().enumerate() {
        if last == Some(*row) {
            continue;
        }
        last = Some(*row);
        let out = program.row();
        out.address_offset = (index * step) as u64;
        match row {
            Some(place) => {
                let Some(file) = files.get(place.file as usize) else {
                    return fail("the line table names a file that is not there");
                };
                out.file = *file;
                out.line = place.line.into();
                out.column = place.column.into();
            }
            // Line 0: no line.
            None => {
                if let Some(file) = files.first() {
                    out.file = *file;
                }
                out.line = 0;
                out.column = 0;
            }
        }
        program.generate_row();
    }
    program.end_sequence(text_bytes as u64);
    dwarf.unit.line_program = program;
    let root = dwarf.unit.get_mut(dwarf.unit.root());
    root.set(gimli::DW_AT_producer, AttributeValue::String(b"nbcc".to_vec()));
    root.set(gimli::DW_AT_name, AttributeValue::String(first.clone().into_bytes()));
    root.set(gimli::DW_AT_comp_dir, AttributeValue::String(b".".to_vec()));
    root.set(gimli::DW_AT_low_pc, AttributeValue::Address(Address::Constant(0)));
    root.set(gimli::DW_AT_high_pc, AttributeValue::Udata(text_bytes as u64));

    let mut sections = Sections::new(EndianVec::new(LittleEndian));
    dwarf.write(&mut sections).map_err(|error| WriteError(error.to_string()))?;
    let mut out = Vec::new();
    let _ = sections.for_each(|id, data| -> Result<(), ()> {
        if !data.slice().is_empty() {
            out.push((id.name(), data.slice().to_vec()));
        }
        Ok(())
    });
    Ok(out)
}

/// Reads `.debug_line` back.
pub(crate) fn from_dwarf(
    section: &[u8],
    text_bytes: usize,
    instruction_bytes: u32,
) -> Result<LineTable, LoadError> {
    let fail = |message: String| Err(LoadError::new(".debug_line", 0, message));
    // Other versions have tables whose size is not bounded by that of the section.
    if section.len() < 6 || section[4..6] != [4, 0] {
        return fail("the line table is not of DWARF version 4".into());
    }
    let broken = |error: gimli::Error| LoadError::new(".debug_line", 0, error.to_string());
    let program = gimli::read::DebugLine::new(section, LittleEndian)
        .program(gimli::DebugLineOffset(0), 8, None, None)
        .map_err(broken)?;
    let mut files = Vec::new();
    for entry in program.header().file_names() {
        let name = match entry.path_name() {
            gimli::read::AttributeValue::String(name) => name.slice(),
            _ => return fail("the name of a source file is not given in place".into()),
        };
        match std::str::from_utf8(name) {
            Ok(name) if !name.is_empty() => files.push(name.to_owned()),
            _ => return fail("the name of a source file is not UTF-8".into()),
        }
    }
    let step = u64::from(instruction_bytes);
    let mut table = vec![None; text_bytes / instruction_bytes as usize];
    // The row that holds until the next one, and the first address not yet passed.
    let mut current: Option<(u64, Option<SourceLine>)> = None;
    let mut passed = 0;
    let mut rows = program.rows();
    while let Some((_, row)) = rows.next_row().map_err(broken)? {
        let address = row.address();
        if address < passed || address > text_bytes as u64 || !address.is_multiple_of(step) {
            return fail(format!(
                "the line of address {address:#x} is out of order or outside of .text"
            ));
        }
        if let Some((start, place)) = current {
            table[(start / step) as usize..(address / step) as usize].fill(place);
        }
        passed = address;
        current = None;
        if row.end_sequence() {
            continue;
        }
        let column = match row.column() {
            gimli::ColumnType::LeftEdge => 0,
            gimli::ColumnType::Column(column) => column.get(),
        };
        let place = match row.line() {
            None => None,
            Some(line) => {
                let file = row.file_index().wrapping_sub(1);
                if file >= files.len() as u64 {
                    return fail(format!("the line of address {address:#x} is in no source file"));
                }
                match (u32::try_from(line.get()), u32::try_from(column)) {
                    (Ok(line), Ok(column)) => Some(SourceLine { file: file as u32, line, column }),
                    _ => return fail(format!("the line of address {address:#x} is absurd")),
                }
            }
        };
        current = Some((address, place));
    }
    Ok(LineTable { files, rows: table })
}
