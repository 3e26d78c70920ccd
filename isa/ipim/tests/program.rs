//! Whole programs: the ELF file, the assembly file, and both against damage.

use nbcc_isa::container::TEXT;
use nbcc_isa::load::{identify, seal};
use nbcc_isa::{Code, Container, Imm, LineTable, SourceLine, TextSymbol, resolve_labels};
use nbcc_isa_ipim::asm::{assemble, assemble_elf, disassemble, disassemble_elf};
use nbcc_isa_ipim::layout::Role;
use nbcc_isa_ipim::program::{ISA, VERSION};
use nbcc_isa_ipim::{
    Addr, Buffer, CompOp, Coordinate, Element, FloatOp, Grid, INSTRUCTION_BYTES, Inst, Layout,
    Machine, Mode, Param, Patch, PhysReg, Program, RegClass, Rodata, SimbMask, Tiled, VecMask,
};

fn d(index: u16) -> PhysReg {
    PhysReg::new(RegClass::Data, index)
}

fn a(index: u16) -> PhysReg {
    PhysReg::new(RegClass::Addr, index)
}

fn c(index: u16) -> PhysReg {
    PhysReg::new(RegClass::Ctrl, index)
}

/// A small program with some of everything.
fn sample() -> Program {
    let all = SimbMask(u32::MAX);
    let add = CompOp::Float(FloatOp::Add);
    let mut text = vec![
        Inst::SetiCrf { dst: c(0), imm: Imm::Value(0) },
        Inst::SetiCrf { dst: c(2), imm: Imm::Value(0) },
        Inst::SetiCrf { dst: c(5), imm: Imm::Label(7) },
        Inst::LdRf { dram: Addr::Indirect(a(4)), drf: d(0), simb_mask: all },
        Inst::Comp {
            op: add,
            mode: Mode::Vv,
            dst: d(1),
            src1: d(0),
            src2: d(0),
            vec_mask: VecMask::ALL,
            simb_mask: all,
        },
        Inst::StRf { dram: Addr::Direct(0x200), drf: d(1), simb_mask: all },
        Inst::CJump { cond: c(4), target: c(5) },
        Inst::SetiCrf { dst: c(6), imm: Imm::Label(9) },
        Inst::Sync { phase: 1 },
    ];
    let relocations = resolve_labels(&mut text, |label| match label {
        7 => Some(3),
        9 => Some(8),
        _ => None,
    });
    let at = |line, column| Some(SourceLine { file: 0, line, column });
    let rows = vec![
        None,
        None,
        at(3, 5),
        at(3, 5),
        at(4, 300),
        at(2, 0),
        Some(SourceLine { file: 1, line: 70_000, column: 1 }),
        None,
        at(4, 1),
    ];
    Program {
        machine: Machine::built_in("ipim-vault"),
        code: Code {
            text,
            symbols: vec![
                TextSymbol { name: "main".into(), index: 0, function: Some(9) },
                TextSymbol { name: "loop".into(), index: 3, function: None },
            ],
            relocations: relocations.unwrap(),
            lines: LineTable { files: vec!["blur \"1\".halide".into(), "é.h".into()], rows },
            ..Code::default()
        },
        prologue: vec![
            Patch { index: 0, coordinate: Coordinate::Chip },
            Patch { index: 1, coordinate: Coordinate::Column },
        ],
        rodata: Rodata { address: 0x40, bytes: (0..32).collect() },
        buffers: vec![
            Buffer {
                name: "in".into(),
                role: Role::Input,
                element: Element::U8,
                min: vec![0, -1],
                extent: vec![100, 20],
                part_of: vec![],
                order: vec![],
                backwards: vec![],
                layout: Layout::Tiled(Tiled {
                    grid: Grid {
                        cubes: [1, 1],
                        vaults: [1, 1],
                        groups: [2, 4],
                        engines: 4,
                        strips: 2,
                        rows: 1,
                    },
                    tile: [8, 8],
                    origin: [0, -8],
                    ghost_columns: [1, 1],
                    ghost_rows: [1, 1],
                    beside: 0,
                }),
                base: 0x1000,
            },
            Buffer {
                name: "out".into(),
                role: Role::Output,
                element: Element::F32,
                min: vec![],
                extent: vec![],
                part_of: vec![],
                order: vec![],
                backwards: vec![],
                layout: Layout::Single { cube: 0, vault: 0, pg: 7, pe: 3 },
                base: 0x200,
            },
        ],
        params: vec![Param {
            name: "alpha".into(),
            element: Element::F32,
            address: 0x100,
            default: Some(1.5_f32.to_bits()),
        }],
    }
}

#[test]
fn elf_round_trip() {
    let program = sample();
    let file = program.to_elf().unwrap();
    assert_eq!(identify(&file).unwrap(), (ISA, VERSION));
    assert_eq!(Program::from_elf(&file).unwrap(), program);
    // Bytes that the format fixes: the magic number, 64-bit little endian, ET_EXEC,
    // e_machine, and e_flags.
    assert_eq!(&file[..7], b"\x7fELF\x02\x01\x01");
    assert_eq!(file[16..20], [2, 0, 0x42, 0x4e]);
    assert_eq!(file[0x30..0x34], [1, 0, 1, 0]);
    assert_eq!(program.to_elf().unwrap(), file);
}

#[test]
fn empty_programs_are_programs() {
    let empty = Program {
        code: Code::default(),
        prologue: vec![],
        rodata: Rodata::default(),
        buffers: vec![],
        params: vec![],
        ..sample()
    };
    assert_eq!(Program::from_elf(&empty.to_elf().unwrap()).unwrap(), empty);
    assert_eq!(assemble(&disassemble(&empty).unwrap()).unwrap(), empty);
}

#[test]
fn assembly_round_trip() {
    let program = sample();
    let file = program.to_elf().unwrap();
    let text = disassemble_elf(&file).unwrap();
    let expected = [
        ".isa simb 1",
        ".machine ipim-vault",
        ".file 1 \"blur \\\"1\\\".halide\"",
        ".file 2 \"\\xc3\\xa9.h\"",
        ".type main, @function\n.size main, 144\nmain:",
        "    seti_crf C5, loop ",
        "loop:",
        ".loc 1 4 300",
        "    comp.add.f32.vv D1, D0, D0, vec=0xf, simb=0xffffffff ",
        "    seti_crf C6, L0080 ",
        "L0080:",
        ".section .rodata 0x100000040",
        "    .word 0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c ",
    ];
    for line in expected {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
    let again = assemble(&text).unwrap();
    // The label that had no name has one now.
    let mut with_label = program.clone();
    with_label.code.symbols.push(TextSymbol { name: "L0080".into(), index: 8, function: None });
    assert_eq!(again, with_label);
    assert_eq!(disassemble_elf(&assemble_elf(&text).unwrap()).unwrap(), text);
}

/// A machine that is not built in, and texts that need escapes.
#[test]
fn assembly_keeps_other_machines() {
    let mut program = sample();
    program.machine.name = "my \"own\" \\ machine".into();
    program.machine.dram.t_rcd = 15;
    program.code.symbols.push(TextSymbol { name: "L0080".into(), index: 0, function: None });
    let text = disassemble(&program).unwrap();
    assert!(text.contains("L0080_:"));
    let again = assemble(&text).unwrap();
    assert_eq!(again.machine, program.machine);
    assert_eq!((again.code.text, again.rodata), (program.code.text, program.rodata));
}

#[test]
fn assembly_errors_have_places() {
    let check = |body: &str, line: u32, column: u32, message: &str| {
        let text = format!(".isa simb 1\n.machine ipim-vault\n{body}");
        let errors = assemble(&text).unwrap_err();
        assert_eq!(
            (errors[0].line, errors[0].column, errors[0].message.as_str()),
            (line, column, message)
        );
        assert!(text.get(errors[0].span.clone()).is_some());
    };
    check("  seti_crf C1, nowhere", 3, 3, "unknown label `nowhere`");
    check("a:\n b: a:", 4, 5, "`a` is defined twice");
    check(".section .bss", 3, 10, "unknown section `.bss`");
    check(".sektion .text", 3, 1, "unknown directive `.sektion`");
    check(".loc 1 2 3", 3, 6, "file 1 is not declared");
    check(
        ".section .rodata 0\nreset D0, simb=1",
        4,
        1,
        "instructions and labels stand in `.section .text`",
    );
    check(".word 1", 3, 1, "there is no data in `.section .text`");
    check(".section .nbcc.buffers\n.ascii \"[", 4, 8, "the text has no closing quote");
    check(".section .nbcc.buffers\n.ascii \"\\é\"", 4, 9, "unknown escape");
    check(
        "reset D64, simb=1",
        3,
        1,
        "`reset D64, simb=0x1`: D64 is beyond the 64 entries of its register file",
    );
    check(
        "sync 1\nmov_arf A3, D0, simb=1",
        4,
        1,
        "`mov_arf A3, D0, simb=0x1`: A3 holds an id and cannot be written",
    );
    check("reset D0, simb=1 simb=1", 3, 18, "expected the end of the line, found `simb`");
    check(".type f, @function\n.size f, 16\nf:", 5, 1, "`f` reaches beyond the end of .text");
    check(".machine ipim", 3, 1, "the machine is given twice");
    check(".isa simb 2", 3, 6, "`simb` version 2 is not assembled here");
    assert_eq!(
        assemble("").unwrap_err()[0].message,
        "the file does not say for which machine it is"
    );
    assert_eq!(assemble("a\n".repeat(100).as_str()).unwrap_err().len(), 20);
    let near = assemble(".machine ipim\nhere: seti_crf C1, her").unwrap_err();
    assert_eq!(near[0].help.as_deref(), Some("did you mean `here`?"));
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |change: fn(&mut Program), section: &str| {
        let mut program = sample();
        change(&mut program);
        assert_eq!(program.validate().unwrap_err().section, section, "{program:?}");
        assert!(program.to_elf().is_err());
    };
    refused(|p| p.code.text[3] = Inst::Reset { drf: d(64), simb_mask: SimbMask(1) }, ".text");
    refused(|p| p.code.text[3] = Inst::Jump { target: d(1) }, ".text");
    refused(|p| p.code.text[3] = Inst::SetiCrf { dst: c(0), imm: Imm::Label(0) }, ".text");
    refused(|p| p.machine.hierarchy.pgs = 4, ".text");
    refused(|p| p.machine.hierarchy.pgs = 0, ".note.nbcc.target");
    refused(|p| p.code.relocations = vec![7, 2], ".text");
    refused(|p| p.code.relocations = vec![4], ".text");
    refused(|p| p.code.relocations = vec![9], ".text");
    refused(|p| p.prologue[0].index = 3, ".nbcc.prologue");
    refused(|p| p.prologue[0].index = 2, ".nbcc.prologue");
    refused(|p| p.prologue[0].index = 99, ".nbcc.prologue");
    refused(|p| p.code.symbols[0].index = 1, ".symtab");
    refused(|p| p.code.symbols[1].name = "main".into(), ".symtab");
    refused(|p| p.code.symbols[1].name = "a b".into(), ".symtab");
    refused(|p| p.rodata.address = 8, ".rodata");
    refused(|p| p.rodata.bytes.truncate(20), ".rodata");
    refused(|p| p.buffers[1].name = "in".into(), ".nbcc.buffers");
    refused(|p| p.buffers[0].base = 4, ".nbcc.buffers");
    refused(|p| p.params[0].address = 0xffff_fff0, ".nbcc.params");
    refused(|p| p.params[0].name = "out".into(), ".nbcc.buffers");
    refused(|p| p.code.lines.rows.truncate(8), ".debug_line");
}

#[test]
fn prologue_gives_each_vault_its_coordinates() {
    let mut program = sample();
    program.machine = Machine::built_in("ipim");
    program.prologue[0].coordinate = Coordinate::Row;
    // Cube 6 is at column 2, row 1 of 4 x 2; vault 9 at column 1, row 2 of 4 x 4.
    let text = program.text_for(6, 9);
    assert_eq!(text[0], Inst::SetiCrf { dst: c(0), imm: Imm::Value(4 + 2) });
    assert_eq!(text[1], Inst::SetiCrf { dst: c(2), imm: Imm::Value(2 * 4 + 1) });
    assert_eq!(text[2..], program.code.text[2..]);
}

/// The digest covers every byte.
#[test]
fn damaged_files_are_errors() {
    let file = sample().to_elf().unwrap();
    for at in 0..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 0xff;
        let error = Program::from_elf(&damaged).unwrap_err();
        assert!(!error.section.is_empty() && !error.message.is_empty());
    }
    for length in 0..file.len() {
        assert!(Program::from_elf(&file[..length]).is_err());
    }
}

/// Behind a right digest, too: an error, or a program that can be worked with.
#[test]
fn forged_files_are_errors_or_programs() {
    let file = sample().to_elf().unwrap();
    let (mut errors, mut programs) = (0, 0);
    for at in 0..file.len() {
        for flip in [0xff, 0x01] {
            let mut forged = file.clone();
            forged[at] ^= flip;
            if seal(&mut forged).is_err() {
                errors += 1;
                continue;
            }
            let Ok(program) = Program::from_elf(&forged) else {
                errors += 1;
                continue;
            };
            programs += 1;
            program.validate().unwrap();
            program.text_for(0, 0);
            for buffer in &program.buffers {
                let last: Vec<i32> = buffer
                    .min
                    .iter()
                    .zip(&buffer.extent)
                    .map(|(m, e)| m + (*e - 1) as i32)
                    .collect();
                let end = u64::from(buffer.base) + buffer.size_bytes();
                for coords in [&buffer.min, &last] {
                    assert!(u64::from(buffer.locate(coords).unwrap().address) < end);
                }
            }
            assert_eq!(Program::from_elf(&program.to_elf().unwrap()).unwrap(), program);
            let text = disassemble_elf(&forged).unwrap();
            assert_eq!(assemble(&text).unwrap().code.text, program.code.text);
        }
    }
    assert!(errors > 1000 && programs > 100, "{errors} errors, {programs} programs");
}

/// Metadata that is long for what it says, and sections that share their bytes.
#[test]
fn containers_with_odd_sections_are_errors() {
    let with = |change: fn(&mut Container)| {
        let mut container = sample().to_container().unwrap();
        change(&mut container);
        let file = container.to_elf().unwrap();
        Program::from_elf(&file).unwrap_err()
    };
    let error = with(|c| c.metadata[0].1 = b"[\n{\"name\": 3}]".to_vec());
    assert_eq!((error.section.as_str(), error.offset), (".nbcc.buffers", 11));
    assert_eq!(with(|c| c.metadata[0].1 = vec![b'['; 100_000]).section, ".nbcc.buffers");
    assert_eq!(with(|c| c.metadata.push((".nbcc.other".into(), vec![]))).section, ".nbcc.other");
    assert_eq!(with(|c| c.machine = "name = 3".into()).section, ".note.nbcc.target");
    assert_eq!(with(|c| c.data[0].address = 0).section, ".rodata");
    assert_eq!(with(|c| c.data[0].name = ".data".into()).section, ".data");
    assert_eq!(with(|c| c.text[0].bytes[16] = 0).section, ".text");
    assert_eq!(with(|c| c.isa = 2).section, "ELF header");
    assert_eq!(with(|c| c.text[0].symbols[1].address = 8).section, ".text");
    let error = with(|c| c.text[0].relocations.reverse());
    assert_eq!((error.section.as_str(), error.offset), (".nbcc.relocations", 4));

    // No constants are no constants, wherever they are not.
    let mut container = sample().to_container().unwrap();
    container.data[0].bytes.clear();
    let program = Program::from_elf(&container.to_elf().unwrap()).unwrap();
    assert_eq!(program.rodata, Rodata::default());

    let file = sample().to_elf().unwrap();
    let known = [(TEXT, INSTRUCTION_BYTES)];
    assert!(Container::from_elf(&file, ISA, VERSION, &known).is_ok());
    assert!(Container::from_elf(&file, ISA, VERSION + 1, &known).is_err());
}
