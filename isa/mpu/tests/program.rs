//! Whole programs: assembly and ELF files both ways, what is refused, hostile files.

use nbcc_isa::load::seal;
use nbcc_isa::{SourceLine, TextSymbol, resolve_labels};
use nbcc_isa_mpu::files::{self, Files};
use nbcc_isa_mpu::location::{Near, Side};
use nbcc_isa_mpu::{ISA, Machine};
use nbcc_isa_simt::asm::{assemble, disassemble, disassemble_elf};
use nbcc_isa_simt::{ObjectSpace, Op, ParamType, Program};

const TEXT: &str = r#"
.isa mpu 1
.machine mpu
.section .text
.file 1 "scale.cu"
.type scale, @function
.size scale, 160
scale:
.loc 1 3 7
    sreg.tid_x R0
    ld.param.b32.weak R1, [0x0], 8
    cmp.ge_u P0, R0, R1
    if P0 bra done, done
.loc 1 4 1
    addr D2, 0, 0
    mad_wide.u D4, R0, 4, D2
    ld.global.b32.weak R6, [D4], 0
    far int.add R6, R6, 1
    st.global.b32.weak [D4], 0, R6
done:
    exit
.section .data 0x100000000
    .word 1, 2, 3, 4
.section .nbcc.kernels
    .ascii "[{\"name\":\"scale\",\"entry\":0,\"instructions\":10,\"registers\":8,"
    .ascii "\"shared_bytes\":0,\"local_bytes\":0,\"param_bytes\":12,\"params\":["
    .ascii "{\"name\":\"p\",\"offset\":0,\"size\":8,\"align\":8,\"type\":\"u64\"},"
    .ascii "{\"name\":\"n\",\"offset\":8,\"size\":4,\"align\":4,\"type\":\"u32\"}]}]"
.section .nbcc.objects
    .ascii "[{\"name\":\"table\",\"space\":\"global\",\"align\":4,\"size\":64,\"at\":0,\"initial\":16}]"
.section .nbcc.messages
    .ascii "[\"a trap\"]"
"#;

fn program() -> Program {
    assemble(&ISA, TEXT).unwrap_or_else(|errors| panic!("{errors:?}"))
}

#[test]
fn assembly_and_elf_round_trip() {
    let program = program();
    assert_eq!(program.kernels[0].params[1].ty, ParamType::U32);
    assert_eq!(program.objects[0].space, ObjectSpace::Global);
    assert_eq!(program.objects[0].initial.len(), 16);
    let place = SourceLine { file: 0, line: 4, column: 1 };
    assert_eq!(program.code.lines.line(4), Some(("scale.cu", place)));
    assert_eq!(program.code.relocations, [3]);

    let elf = program.to_elf().unwrap();
    assert_eq!(Program::from_elf(&ISA, &elf).unwrap(), program);
    let text = disassemble(&program).unwrap();
    assert_eq!(disassemble_elf(&ISA, &elf).unwrap(), text);
    assert!(text.contains("if P0 bra done, done"), "{text}");
    assert_eq!(assemble(&ISA, &text).unwrap(), program);
}

/// Compilers of C++ and of Python write the types of arguments into names.
#[test]
fn names_may_be_long() {
    let long = format!("_ZN{}", "7nothing".repeat(2000));
    let text = TEXT.replace("scale", &long).replace("done", &format!("{long}_end"));
    let program = assemble(&ISA, &text).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(program.kernels[0].name, long);
    assert_eq!(Program::from_elf(&ISA, &program.to_elf().unwrap()).unwrap(), program);
}

/// Symbols share the bytes of names that end alike: a small file may hold gigabytes of names.
#[test]
fn names_are_not_much_longer_than_the_file() {
    let mut program = program();
    for length in 1..6000 {
        let symbol = program.code.symbols[0].clone();
        program.code.symbols.push(TextSymbol { name: "a".repeat(length), ..symbol });
    }
    let elf = program.to_elf().unwrap();
    assert!(elf.len() < 1 << 18, "{}", elf.len());
    let error = Program::from_elf(&ISA, &elf).unwrap_err().to_string();
    assert!(error.contains("together are too long"), "{error}");
}

#[test]
fn labels_resolve_in_both_immediates() {
    let mut text = program().code.text;
    let Op::Bra { target, reconverge } = &mut text[3].op else { panic!() };
    *target = nbcc_isa::Imm::Label(0);
    *reconverge = nbcc_isa::Imm::Label(1);
    assert_eq!(resolve_labels(&mut text.clone(), |l| (l == 0).then_some(9)), Err(1));
    assert_eq!(resolve_labels(&mut text, |l| Some(8 + l)), Ok(vec![3]));
    assert_eq!(text[3].to_string(), "if P0 bra 128, 144");
}

#[test]
fn what_is_refused() {
    type Change = fn(&mut Program);
    let changes: &[(Change, &str)] = &[
        (|p| p.kernels[0].registers = 6, "R6 is beyond the 6 registers"),
        (|p| p.kernels[0].registers = 129, "more registers than a thread"),
        (|p| p.kernels[0].instructions = 9, "goes on behind it"),
        (|p| p.kernels[0].instructions = 11, "not in .text"),
        (|p| p.kernels[0].shared_bytes = 65552, "shared memory"),
        (|p| p.kernels[0].local_bytes = 8, "local memory"),
        (|p| p.kernels[0].params[1].offset = 4, "parameter `n`"),
        (|p| p.kernels[0].params[1].ty = ParamType::U64, "parameter `n`"),
        (|p| p.kernels[0].name.clear(), "the name"),
        (|p| p.kernels.push(p.kernels[0].clone()), "another's as well"),
        (|p| p.objects[0].size = 15, "more contents than bytes"),
        (|p| p.objects[0].align = 3, "power of two"),
        (|p| p.objects.push(p.objects[0].clone()), "two objects"),
        (|p| p.objects.clear(), "there is no data object 0"),
        (|p| p.code.relocations = vec![2], "no address of an instruction"),
    ];
    for (change, message) in changes {
        let mut changed = program();
        change(&mut changed);
        let error = changed.validate().unwrap_err().to_string();
        assert!(error.contains(message), "{error}: expected {message}");
        assert!(changed.to_elf().is_err());
    }
    for (from, to, message) in [
        ("far int.add R6, R6, 1", "cvt.u64.f32.rzi R6, R6", "another width"),
        ("far int.add R6, R6, 1", "mov64 D5, D2", "its number is odd"),
        ("far int.add R6, R6, 1", "trap 1", "there is no message 1"),
        ("far int.add R6, R6, 1", "region 0", "MPU has no such instruction"),
        ("st.global.b32", "st.const.b32", "cannot be written"),
        ("if P0 bra done, done", "if P0 bra 160, done", "outside of its kernel"),
        (".section .data 0x100000000", ".section .rodata 0x100000000", "no such section"),
        ("\\\"initial\\\":16", "\\\"initial\\\":17", "not in .data"),
    ] {
        let text = TEXT.replace(from, to);
        assert_ne!(text, TEXT);
        let errors = assemble(&ISA, &text).unwrap_err();
        assert!(errors[0].message.contains(message), "{}: expected {message}", errors[0]);
    }
}

/// Every byte of a file changed, with a right digest: a program or an error, never a panic.
#[test]
fn hostile_files_end_in_errors() {
    let elf = program().to_elf().unwrap();
    let mut refused = 0;
    for at in 0..elf.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut file = elf.clone();
            file[at] ^= change;
            assert!(Program::from_elf(&ISA, &file).is_err(), "the digest covers byte {at:#x}");
            if seal(&mut file).is_ok() && Program::from_elf(&ISA, &file).is_err() {
                refused += 1;
            }
        }
    }
    assert!(refused > elf.len() / 4, "{refused} of {} changes refused", elf.len() * 3);
    for length in (0..elf.len()).step_by(7) {
        assert!(Program::from_elf(&ISA, &elf[..length]).is_err());
    }
}

/// The machine in a file is checked as one that is described is.
#[test]
fn a_machine_in_a_file_is_bounded() {
    let mut program = program();
    program.machine.toml = program
        .machine
        .toml
        .replace("remote_cache_bytes = 32768", "remote_cache_bytes = 16777216")
        .replace("processors = 8", "processors = 64")
        .replace("\ncores = 16", "\ncores = 64");
    let elf = program.to_elf().unwrap();
    let error = Program::from_elf(&ISA, &elf).unwrap_err().to_string();
    assert!(error.contains("of them of `network.remote_cache_bytes`"), "{error}");
}

#[test]
fn registers_have_entries_where_they_are_used() {
    let mut program = program();
    let machine = Machine::from_toml(&program.machine.toml, &[]).unwrap();
    let found = files::of_program(&program, Near::of(&machine)).unwrap();
    let registers = |files: &Files, side| -> Vec<u16> {
        (0..256).filter(|&register| files.contains(side, register)).collect()
    };
    // What is loaded is near, and moved for the addition; addresses and the condition are far.
    assert_eq!(registers(&found[0], Side::Near), [6]);
    assert_eq!(registers(&found[0], Side::Far), [0, 1, 2, 3, 4, 5, 6]);
    // 256 lines of 128 bytes far are 36 warps of 7 registers: all that a subcore holds.
    assert_eq!(found[0].warps(&machine), machine.core.subcore_warps);

    program.sections = vec![files::section(&found)];
    let elf = program.to_elf().unwrap();
    assert_eq!(Program::from_elf(&ISA, &elf).unwrap(), program);
    let mut less = found[0];
    less.near = Files::default().near;
    program.sections = vec![files::section(&[less])];
    let error = program.validate().unwrap_err().to_string();
    assert!(error.contains("R6 of `scale` is used near, where it has no entry"), "{error}");
    for bytes in ["[]", "[{}]", "{", "[{\"near\":[[9,65535]],\"far\":[[5,1]]},1]"] {
        program.sections = vec![(files::SECTION.to_string(), bytes.as_bytes().to_vec())];
        assert!(program.validate().is_err(), "{bytes}");
    }
}
