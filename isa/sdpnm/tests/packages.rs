//! Packages to files and to text and back; files and texts that are damaged.

use nbcc_isa::machine::Override;
use nbcc_isa::{Code, Imm, LineTable, SourceLine, load};
use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::config::encode::{BYTES, decode, encode};
use nbcc_isa_sdpnm::config::{
    ArrayKind, Bit, Context, Control, Memory, Opcode, Options, Package, Part, Placed, Source, Width,
};
use nbcc_isa_sdpnm::core::{Area, CoreProgram, Frame, Home, Homed, Inst, asm};
use proptest::prelude::*;

fn offset() -> impl Strategy<Value = (i8, i8)> {
    prop_oneof![
        Just((0, 0)),
        Just((0, 1)),
        Just((1, 0)),
        Just((-1, 1)),
        Just((0, -2)),
        Just((2, 0))
    ]
}

fn source() -> impl Strategy<Value = Source> {
    prop_oneof![
        Just(Source::None),
        offset().prop_map(|(r, c)| Source::Output(r, c)),
        (0..2_u8, 0..2_u8).prop_map(|(ring, ago)| Source::Register { ring, ago }),
        (0..16_u8).prop_map(Source::Global),
        any::<i32>().prop_map(Source::Immediate),
    ]
}

fn bit() -> impl Strategy<Value = Bit> {
    prop_oneof![
        Just(Bit::None),
        offset().prop_map(|(r, c)| Bit::Output(r, c)),
        (0..2_u8, 0..2_u8).prop_map(|(ring, ago)| Bit::Register { ring, ago }),
    ]
}

fn options() -> impl Strategy<Value = Options> {
    let part = prop_oneof![Just(Part::Packed), Just(Part::Real), Just(Part::Imaginary)];
    (0..32_u8, any::<[bool; 7]>(), part, any::<u32>()).prop_map(
        |(scale, flags, part, coefficient)| {
            let [high1, high2, unsigned1, unsigned2, larger, halves, begin] = flags;
            Options {
                scale,
                high1,
                high2,
                unsigned1,
                unsigned2,
                larger,
                halves,
                begin,
                part,
                coefficient,
            }
        },
    )
}

fn memory() -> impl Strategy<Value = Memory> {
    let width = (0..5_usize).prop_map(|index| Width::ALL[index].1);
    (width, any::<i32>(), any::<i32>()).prop_map(|(width, offset, stride)| Memory {
        width,
        offset,
        stride,
    })
}

fn control() -> impl Strategy<Value = Control> {
    let global = || proptest::option::of(0..16_u8);
    (0..9_u16, 0..9_u16, global(), bit()).prop_map(|(stage, ahead, initial, condition)| Control {
        stage,
        ahead: ahead.min(stage),
        initial,
        keep: None,
        export: None,
        condition,
    })
}

/// A context in the middle of an FPEA, where all offsets are inside.
fn context() -> impl Strategy<Value = Context> {
    let op = (0..Opcode::ALL.len())
        .prop_map(|index| Opcode::ALL[index])
        .prop_filter("an operation of FPEA", |op| op.on_fpea());
    (op, options(), source(), source(), bit(), memory(), control()).prop_map(
        |(op, options, in1, in2, in3, memory, control)| Context {
            op,
            options: op.used(&options),
            in1,
            in2: if op.has_in2() { in2 } else { Source::None },
            in3: if op.has_in3() { in3 } else { Bit::None },
            memory: if op.is_memory() { memory } else { Memory::default() },
            control,
        },
    )
}

/// Two packages on FPEAs, each with rings in the PEs that it uses.
fn packages() -> impl Strategy<Value = Vec<Package>> {
    let line = || proptest::option::of((0..2_u32, 1..99_u32));
    let placed = (2..6_u16, 2..6_u16, 0..3_u16, context(), line());
    let contexts = proptest::collection::vec(placed, 1..12);
    let one = contexts.prop_map(|list| {
        let mut contexts: Vec<Placed> = list
            .into_iter()
            .map(|(row, column, slot, context, line)| Placed {
                pe: 8 * row + column,
                slot,
                context,
                line: line.map(|(file, line)| SourceLine { file, line, column: 7 }),
            })
            .collect();
        contexts.sort_by_key(|placed| (placed.pe, placed.slot));
        contexts.dedup_by_key(|placed| (placed.pe, placed.slot));
        let mut rings: Vec<(u16, Vec<u8>)> = Vec::new();
        for placed in &mut contexts {
            if rings.last().is_none_or(|(pe, _)| *pe != placed.pe) {
                rings.push((placed.pe, vec![3, 2, 2]));
                placed.context.control.keep = Some(2);
            }
        }
        Package { name: "f:12".into(), array: 1, ii: 3, mii: 2, rings, contexts }
    });
    proptest::collection::vec(one, 0..3)
}

fn program(packages: Vec<Package>) -> CoreProgram {
    let text = vec![Inst::Jal {
        dst: nbcc_isa::PhysReg::new(nbcc_isa_sdpnm::core::Class::X, 0),
        to: Imm::Value(0),
    }];
    let lines = packages.iter().flat_map(|package| &package.contexts).any(|p| p.line.is_some());
    let files = if lines { vec!["a.c".to_string(), "b.c".to_string()] } else { Vec::new() };
    CoreProgram {
        machine: Machine::built_in("sdpnm"),
        code: Code { text, lines: LineTable { files, rows: Vec::new() }, ..Code::default() },
        data: Vec::new(),
        signature: None,
        frame: Frame::default(),
        traps: Vec::new(),
        packages,
        homes: vec![Home {
            array: 1,
            what: Homed::Object { from: Area { address: 0x100_0000, bytes: 24 }, at: 8 },
        }],
    }
}

proptest! {
    #[test]
    fn packages_come_back_from_files_and_texts(packages in packages()) {
        let program = program(packages);
        let file = program.to_elf().unwrap();
        let back = CoreProgram::from_elf(&file).unwrap();
        prop_assert_eq!(&back.packages, &program.packages);
        prop_assert_eq!(&back, &program);
        let text = asm::disassemble_elf(&file).unwrap();
        let again = CoreProgram::from_elf(&asm::assemble_elf(&text).unwrap()).unwrap();
        prop_assert_eq!(again, program);
    }

    #[test]
    fn any_bytes_are_a_context_or_refused(bytes in any::<[u8; BYTES]>()) {
        if let Ok(placed) = decode(&bytes) {
            prop_assert_eq!(encode(&placed).unwrap(), bytes);
        }
    }

    /// A byte of a file is another one, behind a right digest.
    #[test]
    fn damaged_files_are_read_or_refused(packages in packages(), at in any::<usize>(), by in 1..=255_u8) {
        let mut file = program(packages).to_elf().unwrap();
        let at = at % file.len();
        file[at] ^= by;
        if load::seal(&mut file).is_ok()
            && let Ok(program) = CoreProgram::from_elf(&file)
        {
            for package in &program.packages {
                prop_assert_eq!(package.check(&program.machine), Ok(()));
            }
            // What was read can be written.
            prop_assert!(program.to_elf().is_ok());
        }
    }
}

fn add() -> Placed {
    let context = Context {
        op: Opcode::Add,
        options: Options::default(),
        in1: Source::Output(0, -1),
        in2: Source::Register { ring: 0, ago: 1 },
        in3: Bit::None,
        memory: Memory::default(),
        control: Control { stage: 1, keep: Some(0), ..Control::default() },
    };
    Placed { pe: 9, slot: 0, context, line: None }
}

fn package(contexts: Vec<Placed>) -> Package {
    Package { name: "f:1".into(), array: 1, ii: 2, mii: 1, rings: vec![(9, vec![2, 6])], contexts }
}

/// Each fault by itself, in a package that is right without it.
#[test]
fn faults_are_found() {
    let machine = Machine::built_in("sdpnm");
    let fault = |package: Package| package.check(&machine).map_err(|fault| fault.message);
    assert_eq!(fault(package(vec![add()])), Ok(()));
    let said = |change: &dyn Fn(&mut Package)| {
        let mut changed = package(vec![add()]);
        change(&mut changed);
        fault(changed).expect_err("a fault")
    };
    let context = |change: &dyn Fn(&mut Context)| said(&|p| change(&mut p.contexts[0].context));
    assert_eq!(said(&|p| p.array = 5), "there is no array 5");
    assert_eq!(said(&|p| p.ii = 0), "the interval is 0, not one of 1 to 64");
    assert_eq!(said(&|p| p.ii = 65), "the interval is 65, not one of 1 to 64");
    assert!(said(&|p| p.rings[0].1.push(1)).contains("take 9 registers"));
    assert!(said(&|p| p.rings[0].1 = vec![2, 0]).contains("are empty"));
    assert!(said(&|p| p.rings.push((9, vec![1]))).contains("ascending"));
    assert!(said(&|p| p.contexts[0].pe = 64).contains("out of range"));
    assert!(said(&|p| p.contexts[0].slot = 2).contains("out of range"));
    assert!(said(&|p| p.contexts.push(add())).contains("ascending"));
    assert!(context(&|c| c.in1 = Source::Output(-2, 0)).contains("not in reach"));
    assert!(context(&|c| c.in1 = Source::Output(2, 1)).contains("not in reach"));
    assert!(context(&|c| c.in2 = Source::Register { ring: 0, ago: 2 }).contains("has 2 registers"));
    assert!(context(&|c| c.in2 = Source::Register { ring: 2, ago: 0 }).contains("no ring 2"));
    assert!(context(&|c| c.in2 = Source::Global(16)).contains("no global register 16"));
    assert!(context(&|c| c.in3 = Bit::Output(3, 0)).contains("not in reach"));
    assert!(context(&|c| c.control.export = Some(16)).contains("no global register 16"));
    assert!(context(&|c| c.control.initial = Some(99)).contains("no global register 99"));
    assert!(context(&|c| c.control.keep = Some(2)).contains("no ring 2"));
    assert!(context(&|c| c.control.ahead = 2).contains("before the array starts"));
    assert!(context(&|c| c.options.scale = 1).contains("does not use"));
    assert!(context(&|c| c.memory.stride = 1).contains("does not use"));
    assert!(context(&|c| c.op = Opcode::Diff).contains("fpea has no `diff`"));
    let second = |slot: u16, change: &dyn Fn(&mut Placed)| {
        let mut placed = Placed { slot, ..add() };
        change(&mut placed);
        fault(package(vec![add(), placed]))
    };
    assert!(second(1, &|_| {}).unwrap_err().contains("two operations keep"));
    assert_eq!(second(1, &|placed| placed.context.control.keep = Some(1)), Ok(()));
}

/// What a slot has but once, or so many times as the machine says.
#[test]
fn slots_have_ports_multipliers_and_a_write_of_globals() {
    let fill = |kind: ArrayKind, count: u16, op: Opcode, export: bool| {
        let machine = Machine::built_in("sdpnm");
        let array = machine.arrays.kinds.iter().position(|other| *other == kind).unwrap() as u8;
        let placed = |pe: u16| {
            let control = Control { export: export.then_some(0), ..Control::default() };
            let context = Context {
                op,
                in1: Source::None,
                in2: Source::None,
                memory: Memory::default(),
                control,
                ..add().context
            };
            Placed { pe, slot: 0, context, line: None }
        };
        let contexts = (0..count).map(placed).collect();
        let package =
            Package { name: String::new(), array, ii: 1, mii: 1, rings: Vec::new(), contexts };
        package.check(&machine).is_ok()
    };
    assert!(fill(ArrayKind::Fpea, 16, Opcode::Load, false));
    assert!(!fill(ArrayKind::Fpea, 17, Opcode::Load, false));
    assert!(fill(ArrayKind::Npea, 2, Opcode::Sine, false));
    assert!(!fill(ArrayKind::Npea, 3, Opcode::Sine, false));
    assert!(fill(ArrayKind::Spea, 1, Opcode::Pass, true));
    assert!(!fill(ArrayKind::Spea, 2, Opcode::Pass, true));
}

#[test]
fn homes_are_checked() {
    let machine = Machine::built_in("sdpnm");
    let said = |homes: Vec<Home>| {
        let program = CoreProgram { machine: machine.clone(), homes, ..program(Vec::new()) };
        program.to_elf().map(drop).map_err(|error| error.to_string())
    };
    let object = |array: u8, address: u32, bytes: u32, at: u32| Home {
        array,
        what: Homed::Object { from: Area { address, bytes }, at },
    };
    let data = 0x100_0000;
    assert_eq!(
        said(vec![object(1, data, 16, 0), object(1, data, 8, 16), object(2, data, 8, 0)]),
        Ok(())
    );
    assert!(said(vec![object(1, data, 16, 0), object(1, data, 8, 8)]).is_err());
    assert!(said(vec![object(5, data, 16, 0)]).is_err());
    assert!(said(vec![object(1, data - 8, 16, 0)]).is_err());
    assert!(said(vec![object(1, data, 16, 65536 - 8)]).is_err());
    assert!(said(vec![object(1, data, 16, u32::MAX - 7)]).is_err());
    assert!(said(vec![object(1, data, 16, 4)]).is_err());
    assert!(said(vec![Home { array: 1, what: Homed::Parameter(0) }]).is_err());
    assert!(said(vec![object(1, data, 0, 0); 257]).is_err());
    let twin = |array: u8, of: u32| Home { array, what: Homed::Twin { of, filled: true } };
    let homes = [object(1, data, 16, 0), object(1, data, 8, 16)];
    let with = |more: &[Home]| said([homes.as_slice(), more].concat());
    assert_eq!(with(&[twin(2, 0), twin(2, 1), twin(4, 1)]), Ok(()));
    // Of itself, of a twin, of none, beside another home or twins of another array's.
    assert!(with(&[twin(1, 0)]).is_err());
    assert!(with(&[twin(2, 0), twin(3, 2)]).is_err());
    assert!(with(&[twin(2, 9)]).is_err());
    assert!(with(&[twin(5, 0)]).is_err());
    assert!(with(&[twin(2, 0), object(2, data, 8, 32)]).is_err());
    assert!(with(&[object(3, data, 8, 0), twin(2, 0), twin(2, 2)]).is_err());
}

#[test]
fn texts_that_mean_nothing_are_refused() {
    let line = "add pe 9, slot 0, stage 1, in1 out[0,-1], in2 r0[1], keep r0";
    assert_eq!(add().to_string(), line);
    let packages = vec![package(vec![add()])];
    let text = asm::disassemble_elf(&program(packages).to_elf().unwrap()).unwrap();
    assert!(text.contains(line), "{text}");
    let said = |new: &str| {
        let errors = asm::assemble_elf(&text.replace(line, new)).expect_err(new);
        errors[0].message.clone()
    };
    assert_eq!(said("abb pe 9, slot 0"), "unknown operation `abb`");
    assert_eq!(said("add slot 0"), "the context does not say its `pe`");
    assert_eq!(said("add pe 9, slot 0, pe 9"), "`pe` is said twice");
    assert_eq!(said("add pe 9, slot 0, in1"), "expected a number, found the end of the line");
    assert_eq!(said("add pe 9, slot 0, in3 5"), "a bit comes from an output or an own register");
    assert_eq!(said("add pe 300, slot 0"), "pe 300 is out of range");
    assert_eq!(said("add pe 9, slot 0, wide"), "unknown word `wide`");
    assert_eq!(said("add pe 9, slot 0, in1 x"), "expected an operand");
    assert!(said("add pe 9, slot 0, in1 out[5,0]").contains("the PE at (5, 0) is not in reach"));
    assert!(said("add pe 9, slot 0, in2 r300").contains("there is no ring 300"));
    assert!(said("cmult pe 9, slot 0, part whole").contains("unknown part `whole`"));
}

/// Machines of other sizes have other limits.
#[test]
fn limits_are_the_machines() {
    let text = nbcc_isa_sdpnm::machine::BUILT_IN[0].1;
    let set = |change: &str| {
        let machine = Machine::from_toml(text, &[Override::parse(change).unwrap()]).unwrap();
        package(vec![add()]).check(&machine).is_ok()
    };
    assert!(set("array.registers=9"));
    assert!(!set("array.registers=7"));
    assert!(set("array.contexts=2"));
    assert!(!set("array.contexts=1"));
}
