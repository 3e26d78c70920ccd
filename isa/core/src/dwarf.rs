//! The DWARF 4 line table of a program: one sequence a text section.

use gimli::write::{
    Address, AttributeValue, DwarfUnit, EndianVec, LineProgram, LineString, Range, RangeList,
    Sections,
};
use gimli::{Encoding, Format, LineEncoding, LittleEndian};

use crate::container::TextSection;
use crate::error::{LoadError, WriteError};
use crate::lines::SourceLine;

const ENCODING: Encoding = Encoding { format: Format::Dwarf32, version: 4, address_size: 8 };

/// The debug sections by name; none where no text section has lines.
pub(crate) fn write(
    names: &[String],
    text: &[TextSection],
) -> Result<Vec<(&'static str, Vec<u8>)>, WriteError> {
    let fail = |message: &str| Err(WriteError(message.into()));
    let lined: Vec<&TextSection> = text.iter().filter(|text| !text.rows.is_empty()).collect();
    if lined.is_empty() {
        return Ok(Vec::new());
    }
    let lengths = |text: &&TextSection| {
        text.rows.len() as u64 * u64::from(text.instruction_bytes) == text.bytes.len() as u64
    };
    if !lined.iter().all(lengths) {
        return fail("the line table has another length than the text");
    }
    if names.iter().any(|name| name.is_empty() || name.contains('\0')) {
        return fail("a source file has no proper name");
    }
    let unused = "unknown".to_owned();
    let first = names.first().unwrap_or(&unused);
    let mut dwarf = DwarfUnit::new(ENCODING);
    let step = lined.iter().fold(0, |step, text| common_divisor(step, text.instruction_bytes));
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
    for name in names {
        let name = LineString::String(name.clone().into_bytes());
        files.push(program.add_file(name, folder, None));
    }
    for text in &lined {
        program.begin_sequence(Some(Address::Constant(text.address)));
        let mut last = None;
        for (index, row) in text.rows.iter().enumerate() {
            if last == Some(*row) {
                continue;
            }
            last = Some(*row);
            let out = program.row();
            out.address_offset = index as u64 * u64::from(text.instruction_bytes);
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
        program.end_sequence(text.bytes.len() as u64);
    }
    dwarf.unit.line_program = program;
    let ranges = match lined[..] {
        [_] => None,
        _ => {
            let range = |text: &&TextSection| Range::StartLength {
                begin: Address::Constant(text.address),
                length: text.bytes.len() as u64,
            };
            Some(dwarf.unit.ranges.add(RangeList(lined.iter().map(range).collect())))
        }
    };
    let root = dwarf.unit.get_mut(dwarf.unit.root());
    root.set(gimli::DW_AT_producer, AttributeValue::String(b"nbcc".to_vec()));
    root.set(gimli::DW_AT_name, AttributeValue::String(first.clone().into_bytes()));
    root.set(gimli::DW_AT_comp_dir, AttributeValue::String(b".".to_vec()));
    match ranges {
        Some(ranges) => {
            // Ranges are relative to it.
            root.set(gimli::DW_AT_low_pc, AttributeValue::Address(Address::Constant(0)));
            root.set(gimli::DW_AT_ranges, AttributeValue::RangeListRef(ranges));
        }
        None => {
            let (low, bytes) = (lined[0].address, lined[0].bytes.len() as u64);
            root.set(gimli::DW_AT_low_pc, AttributeValue::Address(Address::Constant(low)));
            root.set(gimli::DW_AT_high_pc, AttributeValue::Udata(bytes));
        }
    }

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

fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// A row that holds until the next one.
struct Row {
    /// The number of its text section.
    text: usize,
    /// Its offset there.
    offset: u64,
    place: Option<SourceLine>,
}

/// Reads `.debug_line` into the rows of the text sections that it has sequences for, and returns
/// the source files.
pub(crate) fn read(section: &[u8], text: &mut [TextSection]) -> Result<Vec<String>, LoadError> {
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
    let mut current: Option<Row> = None;
    // The first offset of each text section that is not yet passed.
    let mut passed = vec![0; text.len()];
    let mut rows = program.rows();
    while let Some((_, row)) = rows.next_row().map_err(broken)? {
        let address = row.address();
        let found = match &current {
            Some(before) => Some(before.text),
            None => section_of(text, address),
        };
        let proper = |&index: &usize| {
            text[index].range().is_place(address) && address - text[index].address >= passed[index]
        };
        let Some(index) = found.filter(proper) else {
            return fail(format!(
                "the line of address {address:#x} is out of order or outside of its section"
            ));
        };
        let section = &mut text[index];
        let step = u64::from(section.instruction_bytes);
        if section.rows.is_empty() {
            section.rows = vec![None; section.bytes.len() / step as usize];
        }
        let offset = address - section.address;
        if let Some(before) = current {
            section.rows[(before.offset / step) as usize..(offset / step) as usize]
                .fill(before.place);
        }
        passed[index] = offset;
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
        current = Some(Row { text: index, offset, place });
    }
    if text.iter().all(|text| text.rows.is_empty()) {
        files.clear();
    }
    Ok(files)
}

/// The text section that holds the address, or ends there.
fn section_of(text: &[TextSection], address: u64) -> Option<usize> {
    let end = |text: &TextSection| text.address + text.bytes.len() as u64;
    let holds = |text: &TextSection| (text.address..end(text)).contains(&address);
    text.iter().position(holds).or_else(|| text.iter().position(|t| end(t) == address))
}
