//! The table of candidates in a binary: text and ELF both ways, what is refused and why, and sums that
//! do not follow from the instructions.

use nbcc_isa_simt::asm::{assemble, disassemble, disassemble_elf};
use nbcc_isa_simt::{PhysReg, Program, RegClass};
use nbcc_isa_tom::ISA;
use nbcc_isa_tom::offload::{self, Entry, Held, OffloadTable, RegisterSet, SECTION, Term};

/// LIBOR's loop (TOM paper, section 3.1.5) with two registers of 64 bits and a sum: five registers in
/// besides a constant, and two back that are read behind it.
const TEXT: &str = r#"
.isa tom 1
.machine tom
.section .text
.type k, @function
.size k, 272
k:
    ld64.param.weak D0, [0x0], 0
    ld64.param.weak D2, [0x0], 8
    ld.param.b32.weak R4, [0x0], 16
    ld.param.b32.weak R5, [0x0], 20
    mov R7, 0x3f800000
    mov R8, 0
    region 0
loop:
    ld.global.b32.weak R6, [D2], 0
    fma.f32.rn R6, R5, R6, R7
    int.add R8, R8, R6
    st.global.b32.weak [D0], 0, R6
    int64.add D0, D0, 4
    int64.add D2, D2, 4
    int.sub R4, R4, 1
    cmp.ne P0, R4, 0
    if P0 bra loop, end
end:
    st.global.b32.weak [D0], 0, R8
    exit
.section .nbcc.kernels
    .ascii "[{\"name\":\"k\",\"entry\":0,\"instructions\":18,\"registers\":10,"
    .ascii "\"shared_bytes\":0,\"local_bytes\":0,\"param_bytes\":24,\"params\":[]}]"
.section .nbcc.offload
    .ascii "[\n{\"kernel\":\"k\",\"begin\":\"0x70\",\"end\":\"0x100\","
    .ascii "\"live_in\":{\"registers\":\"0x13f\",\"predicates\":\"0x0\"},"
    .ascii "\"live_out\":{\"registers\":\"0x103\",\"predicates\":\"0x0\"},"
    .ascii "\"constants\":[{\"register\":\"R7\",\"bits\":\"0x3f800000\"}],"
    .ascii "\"inputs\":0,\"tag\":{\"tx\":true,\"rx\":true},\"trips\":5,"
    .ascii "\"condition\":{\"initial\":\"R4\",\"step\":1,\"subtracts\":true,\"stepped\":true,"
    .ascii "\"relation\":\"ne\",\"bound\":0,\"threshold\":5}}\n]\n"
"#;

fn program() -> Program {
    assemble(&ISA, TEXT).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn entry() -> Entry {
    OffloadTable::of(&program()).unwrap().entries[0].clone()
}

fn reg(class: RegClass, index: u16) -> PhysReg {
    PhysReg::new(class, index)
}

/// The program with another entry.
fn with(change: impl Fn(&mut Entry)) -> Program {
    let mut program = program();
    let mut table = OffloadTable::of(&program).unwrap();
    change(&mut table.entries[0]);
    program.sections = vec![offload::section(&table, &["k"])];
    program
}

fn refusal(program: &Program) -> String {
    program.validate().expect_err("it is refused").to_string()
}

#[test]
fn the_table_is_kept_by_elf_and_assembly() {
    let program = program();
    let elf = program.to_elf().unwrap();
    assert_eq!(Program::from_elf(&ISA, &elf).unwrap(), program);
    let text = disassemble_elf(&ISA, &elf).unwrap();
    assert!(text.contains("region 0") && text.contains(".section .nbcc.offload"), "{text}");
    assert_eq!(assemble(&ISA, &text).unwrap(), program);
    assert_eq!(with(|_| {}), program, "the table is written as it was read");
    let entry = entry();
    assert_eq!((entry.begin, entry.end, entry.marker()), (7, 16, 6));
    assert_eq!((entry.live_in.count(), entry.live_out.count()), (7, 3));
    assert_eq!(entry.constants[0].held, Held::Bits(0x3f80_0000));
    let condition = entry.condition.unwrap();
    assert_eq!((condition.initial, condition.step), (reg(RegClass::Word, 4), Term::Number(1)));
    assert!(condition.holds(|_| 5) && !condition.holds(|_| 4));
    assert_eq!(condition.trips(|_| 6), Some(6));
    // The register wraps.
    assert!(condition.holds(|_| 0) && condition.trips(|_| 0).is_none());
}

#[test]
fn entries_are_where_they_say() {
    let no_such = [
        (with(|entry| entry.begin = 0), "no `region 0`"),
        (with(|entry| entry.end = 19), "not those of the kernel"),
        (with(|entry| entry.end = 0x0fff_ffff), "not those of the kernel"),
        (with(|entry| entry.end = entry.begin), "not those of the kernel"),
        (with(|entry| entry.begin = 8), "no entry of the table begins behind it"),
        (with(|entry| entry.live_in.insert(reg(RegClass::Word, 10))), "no register R10"),
        (with(|entry| entry.live_out.insert(reg(RegClass::Pred, 7))), "no register P7"),
    ];
    for (program, reason) in no_such {
        let refused = refusal(&program);
        assert!(refused.contains(reason) || refused.contains("no entry of the table"), "{refused}");
    }
    let mut twice = program();
    let mut table = OffloadTable::of(&twice).unwrap();
    table.entries.push(table.entries[0].clone());
    twice.sections = vec![offload::section(&table, &["k"])];
    assert!(refusal(&twice).contains("it overlaps entry 0"), "{}", refusal(&twice));

    let mut none = program();
    none.sections.clear();
    assert!(refusal(&none).contains("no entry of the table begins behind it"));
    let mut unmarked = program();
    unmarked.code.text[6] = unmarked.code.text[5];
    assert!(refusal(&unmarked).contains("no `region 0` stands before its begin"));
}

#[test]
fn sections_that_are_no_table_are_refused() {
    for (from, to, reason) in [
        ("\\\"kernel\\\":\\\"k\\\"", "\\\"kernel\\\":\\\"other\\\"", "there is no kernel `other`"),
        ("0x70", "0x71", "no address of an instruction"),
        ("0x70", "0x70000000000000000", "no hexadecimal number"),
        ("0x13f", "0x+13f", "no vector of 256 bits"),
        ("\\\"R4\\\"", "\\\"Q4\\\"", "no register"),
        ("\\\"R4\\\"", "\\\"R+4\\\"", "no register"),
        ("\\\"ne\\\"", "\\\"almost\\\"", "no comparison"),
        ("\\\"inputs\\\":0,", "", "missing field `inputs`"),
        ("\\\"inputs\\\":0,", "\\\"inputs\\\":-1,", "invalid value"),
        ("\\\"tx\\\":true", "\\\"tx\\\":2", "expected a boolean"),
    ] {
        assert!(TEXT.contains(from), "{from}");
        let errors = assemble(&ISA, &TEXT.replace(from, to)).expect_err(to);
        assert!(format!("{errors:?}").contains(reason), "{errors:?}");
    }
}

/// Faults planted in the entry or in the instructions of its range.
#[test]
fn what_the_instructions_do_not_prove_is_refused() {
    let without = |set: &mut RegisterSet, register: PhysReg| {
        let mut one = RegisterSet::default();
        one.insert(register);
        *set = set.without(&one);
    };
    for index in [0, 1, 2, 3, 4, 5, 8] {
        let program = with(|entry| without(&mut entry.live_in, reg(RegClass::Word, index)));
        assert!(refusal(&program).contains(&format!("it needs R{index}, which")));
    }
    for index in [0, 1, 8] {
        let program = with(|entry| without(&mut entry.live_out, reg(RegClass::Word, index)));
        assert!(refusal(&program).contains("does not come back"), "{}", refusal(&program));
    }
    let reasons = [
        (with(|entry| entry.constants.clear()), "it needs R7, which is not sent"),
        (with(|entry| entry.constants[0].held = Held::Bits(0)), "R7 may hold something else"),
        (with(|entry| entry.constants[0].reg.index = 5), "R5 may hold something else"),
        (with(|entry| entry.constants[0].reg.index = 6), "R6 may hold something else"),
        (with(|entry| entry.constants.push(entry.constants[0])), "what R7 holds is said twice"),
        (with(|entry| entry.condition.as_mut().unwrap().threshold = 1), "a threshold of 1"),
        (with(|entry| entry.condition.as_mut().unwrap().step = Term::Number(2)), "not that of its"),
        (
            with(|entry| entry.condition.as_mut().unwrap().bound = Term::Number(1)),
            "not that of its",
        ),
        (with(|entry| entry.condition.as_mut().unwrap().initial.index = 5), "not that of its"),
        (
            with(|entry| (entry.end, entry.live_out) = (17, RegisterSet::default())),
            "no loop that counts",
        ),
        (
            with(|entry| entry.condition.as_mut().unwrap().threshold = 8),
            "it pays from 5 trips on, not from 8",
        ),
        (with(|entry| entry.condition = None), "it pays from 5 trips on, not from 1"),
    ];
    for (program, reason) in reasons {
        let refused = refusal(&program);
        assert!(refused.contains(reason), "{refused} for {reason}");
    }
    for (line, reason) in [
        ("bar.aligned 0, 0", "synchronisation"),
        ("st.shared.b32.weak [D0], 0, R6", "an access of shared memory"),
        ("st.global.b32.relaxed [D0], 0, R6", "an access with an order of its own"),
        ("red.add.u32.global.relaxed [D0], 0, R6", "an atomic operation"),
        ("sreg.smid R6", "a register of the multiprocessor"),
        ("if P0 exit", "what ends a thread"),
        ("if P0 bra end, end", "it needs P0, which is not sent"),
        ("if P0 bra k, end", "leaves it elsewhere"),
        ("region 0", "no entry of the table begins behind it"),
    ] {
        let text = TEXT.replace("fma.f32.rn R6, R5, R6, R7", line);
        match assemble(&ISA, &text) {
            Ok(_) => panic!("`{line}` is accepted"),
            Err(errors) => {
                let errors = format!("{errors:?}");
                assert!(errors.contains(reason), "{line}: {errors}");
            }
        }
    }
    // From outside, past the marker.
    let text = TEXT.replace("mov R8, 0", "if P0 bra loop, loop");
    let errors = format!("{:?}", assemble(&ISA, &text).unwrap_err());
    assert!(errors.contains("enters it elsewhere"), "{errors}");
}

/// What an entry says too much or counts otherwise.
#[test]
fn an_entry_says_what_follows_from_the_instructions_and_no_more() {
    let reasons = [
        (
            with(|entry| entry.live_in.insert(reg(RegClass::Word, 6))),
            "R6 is sent, though it is not",
        ),
        (
            with(|entry| entry.live_in.insert(reg(RegClass::Pred, 0))),
            "P0 is sent, though it is not",
        ),
        (with(|entry| entry.live_in.insert(reg(RegClass::Word, 7))), "R7 is sent, though it holds"),
        (
            with(|entry| {
                entry.live_in.insert(reg(RegClass::Word, 7));
                entry.constants.clear();
            }),
            "R7 is sent, though it holds a constant",
        ),
        (with(|entry| entry.live_out.insert(reg(RegClass::Word, 4))), "R4 comes back, though"),
        (with(|entry| entry.live_out.insert(reg(RegClass::Word, 5))), "R5 comes back, though"),
        (with(|entry| entry.inputs = 1), "it reads 0 parameters and special registers, not 1"),
        (with(|entry| entry.inputs = 7), "it reads 0 parameters and special registers, not 7"),
        (with(|entry| entry.trips = 8), "it is made for 5 trips, not 8"),
        (with(|entry| entry.trips = 0), "it is made for 5 trips, not 0"),
        (with(|entry| entry.trips = u64::MAX), "it is made for 5 trips"),
        (with(|entry| entry.tag.tx = false), "its tag does not follow"),
        (with(|entry| entry.tag.rx = false), "its tag does not follow"),
    ];
    for (program, reason) in reasons {
        let refused = refusal(&program);
        assert!(refused.contains(reason), "{refused} for {reason}");
        let (_, bytes) = &program.sections[0];
        let begin = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let place = format!("in `{SECTION}` at offset {begin:#x}: entry 0, of kernel `k`");
        assert!(refused.starts_with(&place), "{refused}");
    }
}

/// A loop whose trips are known, which reads a parameter twice and a special register, keeps a constant of
/// 64 bits, and writes a register that holds a constant where it begins.
#[test]
fn static_loops_have_no_condition() {
    let text = TEXT
        .replace("ld.param.b32.weak R4, [0x0], 16", "mov R4, 9")
        .replace("ld.param.b32.weak R5, [0x0], 20", "movi64 D10, x123456789")
        .replace("R6, R5, R6, R7", "R6, R11, R6, R10")
        .replace("int.add R8, R8, R6", "ld.param.b32.weak R8, [0x0], 16")
        .replace("int64.add D2, D2, 4", "sreg.tid_x R8")
        .replace(r#"\"registers\":10"#, r#"\"registers\":12"#)
        .replace("0x13f", "0x1f")
        .replace(r#"{\"register\":\"R7\",\"bits\":\"0x3f800000\"}"#, &constants(&[10, 11]))
        .replace(r#"\"inputs\":0"#, r#"\"inputs\":2"#)
        .replace(r#"\"trips\":5"#, r#"\"trips\":9"#);
    let from = text.find(r#"\"condition\""#).unwrap();
    let condition = &text[from..text.rfind(r"}\n").unwrap()];
    let none = text.replace(condition, r#"\"condition\":null"#);
    assemble(&ISA, &none).unwrap_or_else(|errors| panic!("{errors:?}"));
    for (text, reason) in [
        (text.clone(), "it has a condition, but always makes 9 trips"),
        (none.replace(r#"\"trips\":9"#, r#"\"trips\":8"#), "it is made for 9 trips, not 8"),
        (none.replace(r#"\"inputs\":2"#, r#"\"inputs\":3"#), "it reads 2 parameters"),
        (none.replace("0x1f", "0xc1f"), "R10 is sent, though it holds a constant"),
        (none.replace(&constants(&[10, 11]), &constants(&[10])), "it needs R11, which is not sent"),
        (none.replace("0x103", "0x3"), "R8 is written in it and read behind it"),
        (
            none.replace("0x1f", "0xf").replace(
                &constants(&[10, 11]),
                &format!(r#"{},{{\"register\":\"R4\",\"bits\":\"0x9\"}}"#, constants(&[10, 11])),
            ),
            "R4 may hold something else than the entry says",
        ),
    ] {
        let errors = format!("{:?}", assemble(&ISA, &text).expect_err(reason));
        assert!(errors.contains(reason), "{errors} for {reason}");
    }
}

/// The halves of 0x123456789 in registers of those numbers.
fn constants(numbers: &[u32]) -> String {
    let bits = |number: &u32| if number.is_multiple_of(2) { "0x23456789" } else { "0x1" };
    let one = |number| format!(r#"{{\"register\":\"R{number}\",\"bits\":\"{}\"}}"#, bits(number));
    numbers.iter().map(one).collect::<Vec<_>>().join(",")
}

/// What does not pay is no entry, whatever its tag says.
#[test]
fn entries_pay() {
    // No loop any more, of which a load and a sum are the candidate.
    let text = TEXT.replace("if P0 bra loop, end", "mov R7, 0");
    let text =
        text.replace("0x100\\\"", "0x90\\\"").replace("0x13f", "0x2c").replace("0x103", "0x40");
    let text = text.replace(r#"\"trips\":5"#, r#"\"trips\":1"#);
    let from = text.find(r#"\"condition\""#).unwrap();
    let condition = &text[from..text.rfind(r"}\n").unwrap()];
    let text = text.replace(condition, r#"\"condition\":null"#);
    let errors = format!("{:?}", assemble(&ISA, &text).expect_err("it does not pay"));
    assert!(errors.contains("it does not pay: 79.5 words more are moved"), "{errors}");
}

/// What is said of the table is said of the line that it stands in.
#[test]
fn errors_of_the_table_are_at_its_lines() {
    let line = |needle: &str| TEXT[..TEXT.find(needle).unwrap()].matches('\n').count() as u32 + 1;
    let begin = line("[\\n{\\\"kernel");
    for (from, to, at, column) in [
        ("\\\"tx\\\":true", "\\\"tx\\\":false", begin, 5),
        ("0x103", "0x133", begin, 5),
        ("0x70", "0x71", begin, 5),
        ("\\\"tx\\\":true", "\\\"tx\\\":2", line("\\\"tx\\\""), 5),
        ("\\\"subtracts", "\\\"adds", line("\\\"subtracts"), 5),
        (".ascii \"[{", ".ascii \"{", line(".ascii \"[{"), 5),
    ] {
        let errors = assemble(&ISA, &TEXT.replace(from, to)).expect_err(to);
        assert_eq!((errors[0].line, errors[0].column), (at, column), "{errors:?}");
        let span = errors[0].span.clone();
        assert!(TEXT[span.start..].starts_with(".ascii") && span.len() > 40, "{errors:?}");
    }
}

/// No bytes of the section make the loader panic.
#[test]
fn damaged_tables_are_read_or_refused() {
    let program = program();
    let (name, bytes) = &program.sections[0];
    let mut refused = 0;
    for at in 0..bytes.len() {
        for byte in [b'0', b'9', b'f', b'"', b'}', b'-', 0xff] {
            let mut damaged = program.clone();
            let mut bytes = bytes.clone();
            bytes[at] = byte;
            damaged.sections = vec![(name.clone(), bytes)];
            refused += usize::from(damaged.validate().is_err());
        }
    }
    assert!(refused > bytes.len(), "{refused}");
    assert!(disassemble(&program).is_ok());
}
