//! A small instruction set of 64 bits, with what no single target's has: other classes,
//! an updated operand, two register files in one word.

mod sections;

use std::fmt;

use nbcc_isa::asm::{Dialect, TextType, assemble, print};
use nbcc_isa::container::{Data, TEXT};
use nbcc_isa::program::decode_text;
use nbcc_isa::text::Cursor;
use nbcc_isa::{
    Container, Field, Imm, Instruction, LabelNames, MachineInstruction, RegisterClass, Role,
    SourceLine, SyntaxError,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Class {
    Near,
    Far,
}

impl RegisterClass for Class {
    const ALL: &'static [Class] = &[Class::Near, Class::Far];
    fn name(self) -> &'static str {
        if self == Class::Near { "near registers" } else { "far registers" }
    }
    fn prefix(self) -> &'static str {
        if self == Class::Near { "n" } else { "f" }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Alu,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Time {
    Short,
    Long,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    Shared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Category {
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Width(u8);

impl Field for Width {
    fn to_bits(&self) -> Option<u64> {
        Some(self.0.into())
    }
    fn from_bits(bits: u64) -> Option<Self> {
        (1..=2).contains(&bits).then_some(Width(bits as u8))
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn LabelNames) -> fmt::Result {
        write!(f, "w{}", self.0)
    }
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, SyntaxError> {
        match cursor.expect_suffix("a width")? {
            "w1" => Ok(Width(1)),
            "w2" => Ok(Width(2)),
            _ => Err(cursor.error_here("unknown width")),
        }
    }
}

nbcc_isa::reg_or_imm! {
    /// A number or a register.
    enum Value<R> in ["", ""] {
        Number(u32),
        Reg(R),
    }
}

nbcc_isa::isa! {
    /// A toy.
    pub(crate) enum Inst<R>;
    bits 64;
    class Class;
    unit Unit;
    latency Time;
    memory Memory;
    category Category;

    /// Adds.
    0x01 Add "add" [Any, Alu, if width.0 == 1 { Time::Short } else { Time::Long }]
    reads [] writes [] {
        width: Width = suffix() @ 8..10,
        dst: R = updates(Near) @ 16..22,
        src: Value<R> = either(Far, 10) @ 32..48,
    }

    /// Stores and goes on elsewhere.
    0x02 Go "go" [Any, Alu, Time::Long] reads [] writes [Shared] {
        src: R = reads(Far) @ 8..16,
        to: Imm = symbolic() @ 32..64,
    }
}

type PhysReg = nbcc_isa::PhysReg<Class>;

fn dialect() -> Dialect {
    Dialect {
        name: "toy",
        isa: 9,
        version: 3,
        machines: vec![("small", "a = 1\n".into())],
        text: vec![TextType::of::<Inst<PhysReg>>(TEXT)],
    }
}

#[test]
fn words_of_64_bits() {
    let near = PhysReg::new(Class::Near, 63);
    let far = PhysReg::new(Class::Far, 5);
    let add = Inst::Add { width: Width(2), dst: near, src: Value::Reg(far) };
    // Width 2 in bits 8 and 9, the flag in bit 10, 63 at 16, 5 at 32.
    assert_eq!(add.encode().unwrap(), 0x0000_0005_003f_0601);
    assert_eq!(Inst::decode(0x0000_0005_003f_0601).unwrap(), add);
    assert_eq!(<Inst<PhysReg> as MachineInstruction>::BYTES, 8);
    assert_eq!(add.to_string(), "add.w2 n63, f5");
    assert_eq!((add.latency(), add.unit(), add.category()), (Time::Long, Unit::Alu, Category::Any));
    let mut roles = Vec::new();
    add.for_each_operand(|operand| roles.push((operand.role, operand.class)));
    assert_eq!(roles, [(Role::UseDef, Class::Near), (Role::Use, Class::Far)]);
    // A width of 0 has no meaning; bit 64 is beyond the word.
    assert!(Inst::<PhysReg>::decode(1).is_err());
    assert!(Inst::<PhysReg>::decode(0x0101 | 1 << 64).is_err());
    let wide = Inst::Add { width: Width(1), dst: near, src: Value::Number(0x10000) };
    assert!(wide.encode().is_err());
    let go = Inst::Go { src: far, to: Imm::Value(-8) };
    assert_eq!(go.memory_writes(), [Memory::Shared]);
    assert_eq!(go.memory_reads(), []);
    assert_eq!(go.symbolic(), Some(Imm::Value(-8)));
    assert_eq!(add.symbolic(), None);
}

const PROGRAM: &str = "\
.isa toy 3
.machine small

.section .text
.file 1 \"a.c\"
.file 2 \"b \\\"c\\\".c\"
start:
.loc 2 7 9
    add.w1 n0, 65535
.loc 1 0 0
    go f1, start

.type tail, @function
.size tail, 8
tail:
.loc 1 1 0
    go f1, tail

.section .rodata 0x1000
    .word 0x00000001, 0xffffffff
    .byte 0x07

.section .nbcc.things
    .ascii \"a\\tb\\n\"
    .ascii \"\\x00#\"
";

#[test]
fn programs_round_trip() {
    let assembled = assemble(PROGRAM, &dialect()).unwrap();
    let container = &assembled.container;
    assert_eq!(container.text[0].relocations, [8, 16]);
    assert_eq!(
        container.data,
        [Data {
            name: ".rodata".into(),
            address: 0x1000,
            bytes: vec![1, 0, 0, 0, 255, 255, 255, 255, 7],
        }]
    );
    assert_eq!(container.metadata, [(".nbcc.things".to_owned(), b"a\tb\n\0#".to_vec())]);
    assert_eq!(
        container.text[0].rows,
        [
            Some(SourceLine { file: 1, line: 7, column: 9 }),
            None,
            Some(SourceLine { file: 0, line: 1, column: 0 }),
        ]
    );
    assert_eq!(&PROGRAM[assembled.spans[0][1].clone()], "go f1, start");
    assert_eq!(container.files, ["a.c", "b \"c\".c"]);
    let text: Vec<Inst<PhysReg>> = decode_text(&container.text[0]).unwrap();
    let far = PhysReg::new(Class::Far, 1);
    assert_eq!(text[2], Inst::Go { src: far, to: Imm::Value(16) });

    let file = container.to_elf().unwrap();
    assert_eq!(&Container::from_elf(&file, 9, 3, &[(TEXT, 8)]).unwrap(), container);
    let printed = print(container, &dialect()).unwrap();
    // Without the addresses, what was read.
    let strip = |line: &str| line.split("    # 0x").next().unwrap_or("").trim_end().to_owned();
    let stripped: Vec<String> = printed
        .lines()
        .map(|line| match line.find("# 0x") {
            Some(at) => line[..at].trim_end().to_owned(),
            None => strip(line),
        })
        .collect();
    assert_eq!(stripped.join("\n") + "\n", PROGRAM);
}

#[test]
fn text_that_is_no_whole_instructions_is_an_error() {
    let mut container = assemble(PROGRAM, &dialect()).unwrap().container;
    container.text[0].relocations = vec![0];
    // The first instruction has no immediate that could be an address.
    assert_eq!(print(&container, &dialect()).unwrap_err().section, ".text");
    container.text[0].relocations = vec![12];
    assert_eq!(print(&container, &dialect()).unwrap_err().offset, 12);
    container.text[0].relocations.clear();
    container.text[0].bytes[9] = 1;
    container.text[0].bytes[8] = 0;
    assert_eq!(print(&container, &dialect()).unwrap_err().offset, 8);
    container.text[0].bytes.pop();
    container.text[0].rows.clear();
    container.text[0].symbols.clear();
    container.files.clear();
    let file = container.to_elf().unwrap();
    assert_eq!(Container::from_elf(&file, 9, 3, &[(TEXT, 8)]).unwrap_err().section, ".text");
    assert!(decode_text::<Inst<PhysReg>>(&container.text[0]).is_err());
}

#[test]
fn what_elf_cannot_hold_is_refused() {
    let container = assemble(PROGRAM, &dialect()).unwrap().container;
    let refused = |change: fn(&mut Container)| {
        let mut container = container.clone();
        change(&mut container);
        assert!(container.to_elf().is_err());
    };
    refused(|c| c.metadata[0].0 = ".text".into());
    refused(|c| c.metadata[0].0 = ".nbcc.relocations".into());
    refused(|c| c.data[0].name = ".bss".into());
    refused(|c| c.text[0].symbols[0].name = "a\0b".into());
    refused(|c| c.text[0].rows.truncate(2));
    refused(|c| c.files.truncate(1));
    refused(|c| c.files[0].clear());
    refused(|c| c.text[0].relocations.push(24));
}
