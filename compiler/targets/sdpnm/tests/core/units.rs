//! Single properties of code for the core.

use std::path::Path;

use nbcc_ir::{Block, Builder, ExecutionModel, Function, Interface, Module, Op, UnaryOp};
use nbcc_isa::{Imm, Instruction};
use nbcc_isa_sdpnm::core::{CoreProgram, Inst, asm};
use nbcc_pipeline::{Artifact, Emit, OptLevel};
use nbcc_sim_sdpnm::{Fault, Stopped};
use nbcc_testing::Rng;

use crate::common::runs;
use crate::generator::function;
use crate::machine::{LEVELS, compile, compile_for, run};
use crate::{common, machine};

/// Calls a function of a source on arguments as a run has them.
fn called(source: &str, args: &str, level: OptLevel) -> Result<Option<u64>, Fault> {
    let (module, func) =
        common::compile(Path::new("f.c"), source, Some("f")).expect("a source without errors");
    let interface = module.functions[func].interface.as_ref().expect("an interface");
    let (scalars, arrays) = runs::given(interface, 1, args);
    let program = compile(&module, func, level).expect("a program");
    run(&program, &scalars, &arrays).map(|ran| ran.returned.result)
}

fn stopped(source: &str, args: &str) -> Vec<Stopped> {
    let stops = LEVELS.map(|level| match called(source, args, level) {
        Err(Fault::Trap { what, .. }) => what,
        other => panic!("{other:?}"),
    });
    stops.to_vec()
}

#[test]
fn an_access_outside_names_the_array() {
    let source = "int f(int n, const int a[n], int i) { int t[4] = {0}; t[i & 3] = n; return a[i] + t[i - 1]; }";
    let outside = |name: &str, at, extent| Stopped::Outside {
        name: name.into(),
        subscripts: vec![at],
        extents: vec![extent],
    };
    assert_eq!(stopped(source, "n=3, a=int32[3], i=3"), [outside("a", 3, 3), outside("a", 3, 3)]);
    assert_eq!(stopped(source, "n=3, a=int32[3], i=-1"), vec![outside("a", -1, 3); 2]);
    assert_eq!(stopped(source, "n=9, a=int32[9], i=8"), vec![outside("t", 7, 4); 2]);
    assert_eq!(stopped(source, "n=0, a=int32[0], i=0"), vec![outside("a", 0, 0); 2]);
}

/// Nobody reads what is loaded, under a condition that always holds.
#[test]
fn an_access_that_nobody_reads_ends_the_run() {
    let source = "int f(int n, const int l[n]) { unsigned i = 0; int r = 0; \
        do { if (i <= -32768u) r = l[i]; } while (++i < 20); return 1; }";
    let outside = Stopped::Outside { name: "l".into(), subscripts: vec![19], extents: vec![19] };
    assert_eq!(stopped(source, "n=19, l=int32[19]"), vec![outside; 2]);
}

#[test]
fn a_division_by_zero_ends_the_run() {
    for ty in ["int", "unsigned", "long", "unsigned long", "short"] {
        for op in ["/", "%"] {
            let source = format!("long f({ty} a, {ty} b) {{ return a {op} b; }}");
            assert_eq!(stopped(&source, "a=5, b=0"), [Stopped::Division, Stopped::Division]);
        }
    }
}

#[test]
fn assertions_say_what_failed() {
    let source = "#include <assert.h>\nint f(int a) { assert(a > 2); return a; }";
    let said = Stopped::Message("the assertion `a > 2` fails".into());
    assert_eq!(stopped(source, "a=2"), [said.clone(), said]);
    assert_eq!(called(source, "a=3", OptLevel::O2), Ok(Some(3)));
}

/// 64-bit division against the host's, at the ends of every range.
#[test]
fn divisions_of_64_bits_are_exact() {
    let edges: Vec<u64> = (0..64)
        .flat_map(|bit| [1_u64 << bit, (1 << bit) - 1, (1_u64 << bit).wrapping_neg()])
        .collect();
    let mut rng = Rng::new(7);
    let source = "int f(int n, const long a[n], const long b[n], long q[n], long r[n],\
                  unsigned long uq[n], unsigned long ur[n]) {\
                  for (int i = 0; i < n; i++) { q[i] = a[i] / b[i]; r[i] = a[i] % b[i];\
                  uq[i] = (unsigned long)a[i] / (unsigned long)b[i];\
                  ur[i] = (unsigned long)a[i] % (unsigned long)b[i]; } return n; }";
    let (module, func) = common::compile(Path::new("f.c"), source, Some("f")).expect("no errors");
    let mut pairs: Vec<(u64, u64)> = Vec::new();
    for _ in 0..600 {
        let (a, b) = (*rng.pick(&edges), *rng.pick(&edges));
        let noise =
            |rng: &mut Rng| rng.bits() >> rng.below(64) & if rng.one_in(2) { u64::MAX } else { 0 };
        pairs.push((a ^ noise(&mut rng), (b ^ noise(&mut rng)).max(1)));
    }
    let bytes =
        |words: Vec<u64>| -> Vec<u8> { words.iter().flat_map(|w| w.to_le_bytes()).collect() };
    let of = |f: &dyn Fn(u64, u64) -> u64| bytes(pairs.iter().map(|&(a, b)| f(a, b)).collect());
    let n = pairs.len() as u32;
    let array = |name: &str, bytes: Vec<u8>| runs::Array {
        name: name.into(),
        ty: nbcc_ir::IntType::S64,
        extents: vec![n],
        bytes,
    };
    let zeros = || vec![0; 8 * n as usize];
    let arrays = [
        array("a", of(&|a, _| a)),
        array("b", of(&|_, b| b)),
        array("q", zeros()),
        array("r", zeros()),
        array("uq", zeros()),
        array("ur", zeros()),
    ];
    for level in LEVELS {
        let program = compile(&module, func, level).expect("a program");
        let ran = run(&program, &[n.into()], &arrays).expect("the run ends");
        let left = &ran.returned.arrays;
        assert!(left[2] == of(&|a, b| (a as i64).wrapping_div(b as i64) as u64), "{level:?}");
        assert!(left[3] == of(&|a, b| (a as i64).wrapping_rem(b as i64) as u64), "{level:?}");
        assert!(left[4] == of(&|a, b| a / b), "{level:?}");
        assert!(left[5] == of(&|a, b| a % b), "{level:?}");
    }
}

/// A loop whose body is longer than a branch reaches, and values enough that some are spilled.
#[test]
fn branches_reach_far() {
    let mut source = String::from("unsigned f(unsigned n) {\n");
    for k in 0..40 {
        source.push_str(&format!("unsigned v{k} = n * {}u + {k};\n", 2 * k + 3));
    }
    source.push_str("for (unsigned i = 0; i < n; i++) { if (i & 1) {\n");
    for k in 0..1500 {
        source.push_str(&format!("v{} ^= v{} * (i + {k}u);\n", k % 40, (k * 7 + 1) % 40));
    }
    source.push_str("} }\nreturn ");
    source.push_str(&(0..40).map(|k| format!("v{k}")).collect::<Vec<_>>().join(" ^ "));
    source.push_str(";\n}\n");
    let mut v: Vec<u32> = (0..40).map(|k| 5 * (2 * k + 3) + k).collect();
    for i in [1, 3] {
        for k in 0..1500 {
            v[k % 40] ^= v[(k * 7 + 1) % 40].wrapping_mul(i + k as u32);
        }
    }
    let expected = u64::from(v.iter().fold(0, |all, v| all ^ v));
    for level in LEVELS {
        assert_eq!(called(&source, "n=5", level), Ok(Some(expected)), "{level:?}");
    }
}

/// More values are kept in the frame than offsets reach.
#[test]
fn frames_are_large() {
    let mut source = String::from("unsigned f(unsigned n) {\n");
    for k in 0..1200 {
        source.push_str(&format!("unsigned v{k} = n * {}u + {k};\n", 2 * k + 3));
    }
    for k in 0..1500 {
        source.push_str(&format!("v{} ^= v{} * (n + {k}u);\n", k % 1200, (k * 7 + 1) % 1200));
    }
    source.push_str("return ");
    source.push_str(&(0..1200).map(|k| format!("v{k}")).collect::<Vec<_>>().join(" ^ "));
    source.push_str(";\n}\n");
    let mut v: Vec<u32> = (0..1200).map(|k| 5 * (2 * k + 3) + k).collect();
    for k in 0..1500 {
        v[k % 1200] ^= v[(k * 7 + 1) % 1200].wrapping_mul(5 + k as u32);
    }
    let expected = u64::from(v.iter().fold(0, |all, v| all ^ v));
    for level in LEVELS {
        let (module, func) =
            common::compile(Path::new("f.c"), &source, Some("f")).expect("no errors");
        let program = compile(&module, func, level).expect("a program");
        assert!(program.frame.frame.bytes > 4096, "{level:?}");
        let ran = run(&program, &[5], &[]).expect("the run ends");
        assert_eq!(ran.returned.result, Some(expected), "{level:?}");
    }
}

#[test]
fn binaries_and_assembly_say_the_same() {
    for seed in 0..10 {
        let source = function(&mut Rng::new(seed));
        let (module, func) =
            common::compile(Path::new("f.c"), &source, Some("f")).expect("no errors");
        let made = compile_for(&module, func, OptLevel::O2, Emit::Binary).expect("a program");
        let Artifact::Binary(binary) = made else { panic!("a text") };
        let text = asm::disassemble_elf(&binary).expect("a text");
        let again = asm::assemble_elf(&text).expect("a program");
        let [program, read] = [&binary, &again].map(|file| CoreProgram::from_elf(file).unwrap());
        assert_eq!(program.code.text, read.code.text);
        assert_eq!((&program.traps, program.frame), (&read.traps, read.frame));
        assert_eq!(asm::disassemble_elf(&again).expect("a text"), text);
    }
}

#[test]
fn what_the_core_lacks_is_refused() {
    let mut func = Function::new("f", ExecutionModel::Sequential);
    func.interface = Some(Interface::default());
    let entry: Block = func.entry();
    let mut builder = Builder::at(&mut func, entry);
    let one = builder.f32(1.0);
    builder.op(Op::Unary(UnaryOp::Sqrt, one));
    builder.terminate(nbcc_ir::Terminator::Return(vec![]));
    let mut module = Module::default();
    let func = module.functions.push(func);
    let said = compile(&module, func, OptLevel::O0).unwrap_err();
    assert!(
        said.starts_with("E5101: the core has no instructions for values of type f32"),
        "{said}"
    );
}

#[test]
fn machines_at_fault_are_refused() {
    let source = "int f(int n) { return n; }";
    let (module, func) = common::compile(Path::new("f.c"), source, Some("f")).expect("no errors");
    let text = nbcc_isa_sdpnm::machine::BUILT_IN[0].1;
    for (from, to) in [("load_cycles = 2", "load_cycles = 0"), ("[core]", "[kore]")] {
        let machine = text.replace(from, to);
        let said =
            machine::compile_on(&machine, &module, func, OptLevel::O0, Emit::Binary).unwrap_err();
        assert!(said.starts_with("E5103"), "{said}");
    }
}

/// Branches lead to instructions, and traps are calls of the environment, in damaged binaries too.
#[test]
fn programs_that_lead_nowhere_are_refused() {
    let source = "int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * s; return s; }";
    let (module, func) = common::compile(Path::new("f.c"), source, Some("f")).expect("no errors");
    let program = compile(&module, func, OptLevel::O2).expect("a program");
    let branch = program.code.text.iter().position(|inst| inst.is_relative()).expect("a branch");
    let mut wrong = program.clone();
    wrong.code.relocations.clear();
    if let Some(imm) = wrong.code.text[branch].symbolic_mut() {
        *imm = Imm::Value(2048);
    }
    assert!(wrong.to_elf().is_err());
    let mut wrong = program.clone();
    wrong.frame.frame.address = 8;
    assert!(wrong.to_elf().is_err());
    let mut wrong = program;
    wrong
        .traps
        .push(nbcc_isa_sdpnm::core::Trap { at: 0, kind: nbcc_isa_sdpnm::core::TrapKind::Division });
    assert_ne!(wrong.code.text[0], Inst::Ecall {});
    assert!(wrong.to_elf().is_err());
}

#[test]
fn an_endless_loop_is_ended() {
    let source = "int f(int n) { while (n) n |= 1; return n; }";
    let (module, func) = common::compile(Path::new("f.c"), source, Some("f")).expect("no errors");
    let program = compile(&module, func, OptLevel::O2).expect("a program");
    let ended = machine::run_for(&program, &[1], &[], 1000);
    assert!(matches!(ended, Err(Fault::Cycles { limit: 1000, .. })), "{ended:?}");
}
