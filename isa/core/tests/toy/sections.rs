//! Programs of two text sections: instructions of 8 bytes, and contexts of 32 that an array of
//! processing elements goes through.

use std::fmt;

use nbcc_isa::asm::{
    BoxedInstruction, Dialect, TextInstruction, TextType, assemble, assemble_program, print,
};
use nbcc_isa::container::TEXT;
use nbcc_isa::load::seal;
use nbcc_isa::text::Cursor;
use nbcc_isa::{
    Code, Container, EncodeError, Field, Imm, LabelNames, LoadError, SourceLine, SyntaxError,
    TextSection,
};
use object::{Object, ObjectSection};

use super::{Inst, PhysReg};

const ARRAY: &str = ".text.array";
const KNOWN: [(&str, u32); 2] = [(TEXT, 8), (ARRAY, 32)];

/// What each processing element does, and the context after this one.
#[derive(Clone, Debug, PartialEq)]
struct Context {
    elements: [u32; 7],
    next: Imm,
}

impl TextInstruction for Context {
    fn write_text(&self, f: &mut dyn fmt::Write, labels: &dyn LabelNames) -> fmt::Result {
        f.write_str("context ")?;
        for element in &self.elements {
            write!(f, "{element}, ")?;
        }
        self.next.write(f, labels)
    }

    fn for_each_symbolic_mut(&mut self, f: &mut dyn FnMut(&mut Imm)) {
        f(&mut self.next);
    }

    fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let unresolved = EncodeError::Unresolved { mnemonic: "context", field: "next" };
        let next = self.next.to_bits().ok_or(unresolved)? as u32;
        Ok(self.elements.iter().chain([&next]).flat_map(|word| word.to_le_bytes()).collect())
    }
}

fn decode(bytes: &[u8]) -> Result<BoxedInstruction, String> {
    let (words, _) = bytes.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let elements: [u32; 7] = words[..7].try_into().expect("32 bytes");
    match elements.iter().find(|element| **element > 99) {
        Some(element) => Err(format!("no element does {element}")),
        None => Ok(Box::new(Context { elements, next: Imm::Value(words[7] as i32) })),
    }
}

fn parse(cursor: &mut Cursor<'_>) -> Result<BoxedInstruction, SyntaxError> {
    cursor.expect("context")?;
    let mut elements = [0; 7];
    for element in &mut elements {
        *element = cursor.number_in("the element", 0, 99)? as u32;
        cursor.expect(",")?;
    }
    Ok(Box::new(Context { elements, next: Imm::parse(cursor)? }))
}

fn dialect() -> Dialect {
    let array = TextType { section: ARRAY, instruction_bytes: 32, decode, parse };
    Dialect { text: vec![TextType::of::<Inst<PhysReg>>(TEXT), array], ..super::dialect() }
}

const PROGRAM: &str = "\
.isa toy 3
.machine small

.section .text
.file 1 \"host.c\"
.file 2 \"array.c\"

.type main, @function
.size main, 24
main:
.loc 1 3 5
    add.w1 n0, 65535
    go f1, filter
.loc 1 4 0
    go f2, main

.section .text.array 0x40

.type filter, @function
.size filter, 64
filter:
.loc 2 7 1
    context 1, 2, 3, 4, 5, 6, 7, again
again:
.loc 1 0 0
    context 0, 0, 0, 0, 0, 0, 99, filter
.loc 2 8 1
    context 0, 0, 0, 0, 0, 0, 0, main

.section .rodata 0x1000
    .byte 0x07
";

fn program() -> Container {
    assemble(PROGRAM, &dialect()).unwrap().container
}

/// Without the addresses.
fn strip(text: &str) -> String {
    text.lines()
        .map(|line| line.split("# 0x").next().unwrap_or("").trim_end().to_owned() + "\n")
        .collect()
}

#[test]
fn two_sections_round_trip() {
    let container = program();
    let [text, array] = &container.text[..] else { panic!("two text sections") };
    assert_eq!((text.address, text.instruction_bytes, text.bytes.len()), (0, 8, 24));
    assert_eq!((array.address, array.instruction_bytes, array.bytes.len()), (0x40, 32, 96));
    assert_eq!((&text.relocations[..], &array.relocations[..]), (&[8, 16][..], &[0, 32, 64][..]));
    let places = |section: &TextSection| -> Vec<(String, u64)> {
        section.symbols.iter().map(|symbol| (symbol.name.clone(), symbol.address)).collect()
    };
    assert_eq!(places(text), [("main".into(), 0)]);
    assert_eq!(places(array), [("filter".into(), 0x40), ("again".into(), 0x60)]);
    // The address of `filter` in `go`, of `again` at the end of the first context.
    assert_eq!(text.bytes[12..16], [0x40, 0, 0, 0]);
    assert_eq!(array.bytes[28..32], [0x60, 0, 0, 0]);
    assert_eq!(container.files, ["host.c", "array.c"]);
    let at = |file, line, column| Some(SourceLine { file, line, column });
    assert_eq!(text.rows, [at(0, 3, 5), at(0, 3, 5), at(0, 4, 0)]);
    assert_eq!(array.rows, [at(1, 7, 1), None, at(1, 8, 1)]);

    let file = container.to_elf().unwrap();
    let mut read = Container::from_elf(&file, 9, 3, &KNOWN).unwrap();
    assert_eq!(strip(&print(&read, &dialect()).unwrap()), PROGRAM);
    let again = assemble(&print(&read, &dialect()).unwrap(), &dialect()).unwrap();
    assert_eq!(again.container.to_elf().unwrap(), file);
    // ELF puts labels before functions.
    read.text[1].symbols.reverse();
    assert_eq!(read, container);
}

#[test]
fn lines_of_one_section_only() {
    for section in 0..2 {
        let mut container = program();
        container.text[section].rows.clear();
        let read = Container::from_elf(&container.to_elf().unwrap(), 9, 3, &KNOWN).unwrap();
        assert_eq!(read.files, container.files);
        for (read, written) in read.text.iter().zip(&container.text) {
            assert_eq!(read.rows, written.rows);
        }
        let text = print(&read, &dialect()).unwrap();
        let again = assemble(&text, &dialect()).unwrap().container;
        assert_eq!(again.text[section].rows, []);
        assert_eq!(again.text[1 - section].rows, container.text[1 - section].rows);
    }
}

#[test]
fn code_of_a_section() {
    let container = program();
    let code: Code<Inst<PhysReg>> = Code::from_container(&container).unwrap();
    // `filter` is an address of the other section.
    assert_eq!(code.validate(&[]).unwrap_err().offset, 8);
    code.validate(&[container.text[1].range()]).unwrap();
    assert_eq!(code.to_section().unwrap(), container.text[0]);

    let other = "\
.isa toy 3
.machine small
.section .text.array 0x40
there: context 0, 0, 0, 0, 0, 0, 0, there
";
    let other = assemble(other, &dialect()).unwrap().container;
    let code: Code<Inst<PhysReg>> = Code::from_container(&other).unwrap();
    assert!(code.text.is_empty());
    let missing = Code::<Inst<PhysReg>>::from_section(&other, ".text.other").unwrap_err();
    assert_eq!(missing.section, ".text.other");
    let mut moved = container;
    moved.text[0].address = 0x400;
    moved.text[0].symbols[0].address = 0x400;
    let code: Code<Inst<PhysReg>> = Code::from_container(&moved).unwrap();
    assert_eq!((code.address, code.symbols[0].index), (0x400, 0));
    assert_eq!(code.to_section().unwrap(), moved.text[0]);
}

/// A target without a name, where one text section ends and another begins.
#[test]
fn sections_side_by_side() {
    let text = "\
.isa toy 3
.machine small
.section .text
    go f1, there
    go f1, there
.section .text.array 0x10
there: context 0, 0, 0, 0, 0, 0, 0, there
";
    let mut container = assemble(text, &dialect()).unwrap().container;
    container.text[1].symbols.clear();
    let printed = print(&container, &dialect()).unwrap();
    assert_eq!(printed.matches("L0010:").count(), 1, "{printed}");
    let again = assemble(&printed, &dialect()).unwrap().container;
    for (again, first) in again.text.iter().zip(&container.text) {
        assert_eq!((&again.bytes, &again.relocations), (&first.bytes, &first.relocations));
    }
}

#[test]
fn assembly_that_is_wrong() {
    let check = |from: &str, to: &str, line: u32, message: &str| {
        assert!(PROGRAM.contains(from), "{from}");
        let errors = assemble(&PROGRAM.replacen(from, to, 1), &dialect()).unwrap_err();
        let found = (errors[0].line, errors[0].message.as_str());
        assert_eq!(found, (line, message), "{errors:?}");
    };
    let array = ".section .text.array 0x40";
    check(array, ".section .text.other 0x40", 17, "unknown section `.text.other`");
    check(array, ".section .text.array", 17, "expected a number, found the end of the line");
    check(array, ".section .text.array 0x44", 17, "the address is no multiple of 16");
    check(array, ".section .text.array 0x10", 17, "its addresses are also those of .text");
    check(array, ".section .text.array 0xfffffff0", 17, ".text.array reaches beyond 4 GiB");
    check(".section .rodata 0x1000", array, 30, "there are two sections `.text.array`");
    check("again:", "main:", 24, "`main` is defined twice");
    check("context 1, 2", "go f1, filter", 23, "expected `context`, found `go`");
    check("go f2, main", "context 0", 15, "unknown instruction `context`");
    check(", again", ", nowhere", 23, "unknown label `nowhere`");
    check(
        ".size filter, 64",
        ".size filter, 128",
        21,
        "`filter` reaches beyond the end of .text.array",
    );
    check("again:", ".word 1", 24, "there is no data in `.section .text.array`");
    // What the reader of a program finds stands at the instruction.
    let fault = |_: &Container| Err::<(), _>(LoadError::new(ARRAY, 64, "why"));
    let errors = assemble_program(PROGRAM, &dialect(), fault).unwrap_err();
    assert_eq!((errors[0].line, errors[0].column), (28, 5));
}

#[test]
fn what_elf_cannot_hold_is_refused() {
    let refused = |change: fn(&mut Container), message: &str| {
        let mut container = program();
        change(&mut container);
        let error = container.to_elf().unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    };
    refused(|c| c.text.clear(), "no .text");
    refused(|c| c.text.reverse(), "no proper text section");
    refused(|c| c.text[0].address = 16, "no proper text section");
    refused(|c| c.text[1].address = 0x48, "no proper text section");
    refused(|c| c.text[1].address = u64::from(u32::MAX) - 15, "no proper text section");
    refused(|c| c.text[1].name = ".text".into(), "no proper text section");
    refused(|c| c.text[1].name = ".text.".into(), "no proper text section");
    refused(|c| c.text[1].name = ".texture".into(), "no proper text section");
    refused(|c| c.text[1].address = 0x10, "the addresses of .text and .text.array overlap");
    refused(|c| c.text[1].relocations.push(96), "beyond the end of .text.array");
    refused(|c| c.text[1].rows.truncate(2), "another length than the text");
    refused(|c| c.metadata.push((".nbcc.relocations.array".into(), vec![])), "metadata section");
    refused(|c| c.objects = c.text[0].symbols.clone(), "a symbol of another kind");
}

/// The file with a number changed, behind a right digest: `at` is an offset in the header of the
/// section of that name.
fn with_header(section: &str, at: usize, value: u64) -> Vec<u8> {
    let mut file = program().to_elf().unwrap();
    let elf = object::File::parse(&*file).unwrap();
    let index = elf.section_by_name(section).expect("a section").index().0;
    let headers = u64::from_le_bytes(file[40..48].try_into().unwrap()) as usize;
    let place = headers + index * 64 + at;
    file[place..place + 8].copy_from_slice(&value.to_le_bytes());
    seal(&mut file).unwrap();
    file
}

/// The file with a byte changed in the contents of that section.
fn with_byte(section: &str, at: usize, value: u8) -> Vec<u8> {
    let mut file = program().to_elf().unwrap();
    let elf = object::File::parse(&*file).unwrap();
    let (start, _) = elf.section_by_name(section).unwrap().file_range().expect("contents");
    file[start as usize + at] = value;
    seal(&mut file).unwrap();
    file
}

#[test]
fn damaged_files_are_errors() {
    let check = |file: &[u8], section: &str, offset: u64, message: &str| {
        let error = Container::from_elf(file, 9, 3, &KNOWN).unwrap_err();
        assert_eq!((error.section.as_str(), error.offset), (section, offset), "{error}");
        assert!(error.message.contains(message), "{error}");
    };
    const ADDRESS: usize = 16;
    const SIZE: usize = 32;
    check(&with_header(ARRAY, ADDRESS, 0x10), ARRAY, 0, "also those of .text");
    check(&with_header(".rodata", ADDRESS, 0x50), ".rodata", 0, "also those of .text.array");
    check(&with_header(ARRAY, ADDRESS, 0x44), ARRAY, 0, "absurd");
    check(&with_header(ARRAY, ADDRESS, u64::from(u32::MAX) - 15), ARRAY, 0, "absurd");
    check(&with_header(ARRAY, ADDRESS, u64::MAX - 15), ARRAY, 0, "absurd");
    check(&with_header(TEXT, ADDRESS, 0x10), TEXT, 0, "not at address 0");
    check(&with_header(ARRAY, SIZE, 88), ARRAY, 88, "no multiple of 32");
    check(&with_header(TEXT, SIZE, 12), TEXT, 12, "no multiple of 8");
    check(&with_header(ARRAY, 8, 2), ARRAY, 0, "not a text section");
    check(&with_header(ARRAY, SIZE, 64), ".nbcc.relocations.array", 8, "the end of .text.array");
    check(&with_header(ARRAY, ADDRESS, 0x80), ".debug_line", 0, "0x40 is out of order or outside");
    check(&with_byte(".nbcc.relocations.array", 4, 0), ".nbcc.relocations.array", 4, "ascending");
    check(&with_byte(".nbcc.relocations.array", 9, 1), ".nbcc.relocations.array", 8, "the end of");
    // The second symbol is `again`, the third and fourth the functions.
    check(&with_byte(".symtab", 24 + 8, 0x3f), ".symtab", 24, "outside of .text.array");
    check(&with_byte(".symtab", 24 + 8, 0xa1), ".symtab", 24, "outside of .text.array");
    check(&with_byte(".symtab", 72 + 16, 0x61), ".symtab", 72, "outside of .text.array");
    check(&with_byte(".symtab", 48 + 16, 0x19), ".symtab", 48, "outside of .text");
    // A target that has no such section.
    let file = program().to_elf().unwrap();
    let error = Container::from_elf(&file, 9, 3, &KNOWN[..1]).unwrap_err();
    assert_eq!((error.section.as_str(), &*error.message), (ARRAY, "unknown section"));
}

#[test]
fn every_byte_changed_is_no_panic() {
    let file = program().to_elf().unwrap();
    let (mut errors, mut programs) = (0, 0);
    for at in 0..file.len() {
        for flip in [0x01, 0x10, 0x80, 0xff] {
            let mut forged = file.clone();
            forged[at] ^= flip;
            assert!(Container::from_elf(&forged, 9, 3, &KNOWN).is_err(), "byte {at:#x}");
            let read = seal(&mut forged).and_then(|()| Container::from_elf(&forged, 9, 3, &KNOWN));
            let Ok(container) = read else {
                errors += 1;
                continue;
            };
            programs += 1;
            // Numbers of assembly are signed.
            let far = container.data.iter().any(|data| i64::try_from(data.address).is_err());
            let Ok(text) = print(&container, &dialect()) else { continue };
            if far {
                continue;
            }
            let again = assemble(&text, &dialect()).unwrap().container;
            for (again, first) in again.text.iter().zip(&container.text) {
                assert_eq!(again.bytes, first.bytes, "byte {at:#x} by {flip:#x}");
            }
        }
    }
    for length in 0..file.len() {
        assert!(Container::from_elf(&file[..length], 9, 3, &KNOWN).is_err());
    }
    assert!(errors > 1000 && programs > 100, "{errors} errors, {programs} programs");
}
