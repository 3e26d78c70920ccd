//! Small kernels through the whole pipeline, with every check after each pass.

use nbcc_base::{Diagnostics, SourceFile, SourceId, SourceMap};
use nbcc_ir::{Module, parse_module, verify_module};
use nbcc_isa::Override;
use nbcc_isa_mpu::{ISA, machine::BUILT_IN};
use nbcc_isa_simt::{Op, Program};
use nbcc_pipeline::{
    Artifact, Context, Emit, NoObserver, OptLevel, PassOptions, Program as Source, Request, Target,
};
use nbcc_target_mpu::MPU;

fn read(text: &str) -> Module {
    let mut diagnostics = Diagnostics::default();
    let module = parse_module(SourceId(0), text, &[], &mut diagnostics);
    let module = module.unwrap_or_else(|_| panic!("{diagnostics:?}\n{text}"));
    assert_eq!(verify_module(&module), []);
    module
}

fn compile_as(text: &str, level: OptLevel, emit: Emit) -> Result<Artifact, Vec<String>> {
    compile_with(text, level, emit, &[])
}

fn compile_with(
    text: &str,
    level: OptLevel,
    emit: Emit,
    overrides: &[(&str, &str)],
) -> Result<Artifact, Vec<String>> {
    let mut sources = SourceMap::default();
    sources.add(SourceFile::new("kernel.ptx", text));
    let mut diagnostics = Diagnostics::default();
    let passes = PassOptions { level, disabled: vec![], verify_each: true };
    let mut cx = Context {
        sources: &sources,
        diagnostics: &mut diagnostics,
        remarks: &mut vec![],
        passes: &passes,
        observer: &mut NoObserver,
    };
    let request = Request {
        machine: BUILT_IN[0].1.to_string(),
        machine_name: BUILT_IN[0].0.to_string(),
        emit,
        overrides: overrides
            .iter()
            .map(|(key, value)| Override { key: key.to_string(), value: value.to_string() })
            .collect(),
        ..Request::default()
    };
    let done = MPU.compile(Source::Grids(read(text).into()), &request, &mut cx);
    done.map_err(|_| {
        diagnostics.iter().map(|d| format!("{}: {}", d.code.code, d.message)).collect()
    })
}

fn compile(text: &str, level: OptLevel) -> Program {
    match compile_as(text, level, Emit::Binary) {
        Ok(Artifact::Binary(bytes)) => Program::from_elf(&ISA, &bytes).unwrap(),
        other => panic!("{other:?}"),
    }
}

const LEVELS: [OptLevel; 3] = [OptLevel::O0, OptLevel::O1, OptLevel::O2];

const SAXPY: &str = "\
object @tile: shared size 100 align 4
object @table: global size 16 align 8 data \"01\" generic(@table + 4, 0, 8, 8)
define grid @saxpy() {
  kernel max(256, 1, 1)
  param %n: u32 size 4 align 4 at 0
  param %a: f32 size 4 align 4 at 4
  param %x: u64 size 8 align 8 at 8
block0:
  v0: i64 = const 0
  v1: i32 = load param [v0]
  v2: f32 = load param [v0 + 4]
  v3: i64 = load param [v0 + 8]
  v4: i32 = simt \"special.tid_x\"()
  v5: i1 = icmp ult v4, v1
  branch v5, block1(v2, v4), block2
block1(v6: f32, v7: i32): loop i
  v8: i64 = zero_extend v7
  v9: i64 = const 4
  v10: i64 = imul v8, v9
  v11: i64 = iadd v3, v10
  v12: f32 = load global [v11]
  v13: f32 = call @step(v12, v6)
  store global [v11], v13
  v14: i64 = address @tile
  store shared [v14 + 8], v13
  v15: i32 = const 32
  v16: i32 = iadd v7, v15
  v17: i1 = icmp ult v16, v1
  branch v17, block1(v12, v16), block2
block2:
  return
}

define grid @step(v0: f32, v1: f32) -> f32 {
block0:
  v2: f32 = simt \"fma.rn.f32\"(v0, v1, v1)
  v3: i1 = simt \"setp.lt.f32\"(v2, v0)
  branch v3, block1, block2
block1:
  return v0
block2:
  return v2
}
";

#[test]
fn a_kernel_becomes_a_program_at_every_level() {
    for level in LEVELS {
        let program = compile(SAXPY, level);
        let kernel = program.kernel("saxpy").unwrap();
        assert_eq!((kernel.shared_bytes, kernel.local_bytes, kernel.param_bytes), (112, 0, 16));
        assert_eq!(kernel.max_block, Some([256, 1, 1]));
        assert_eq!(program.objects.len(), 1);
        assert_eq!(program.objects[0].relocations[0].addend, 4);
        assert!(kernel.registers < 30, "{}", kernel.registers);
        let branches: Vec<_> = program
            .code
            .text
            .iter()
            .filter(|inst| inst.guard.is_some())
            .filter_map(|inst| match inst.op {
                Op::Bra { reconverge, .. } => Some(reconverge),
                _ => None,
            })
            .collect();
        // Every branch is on data of a thread: threads meet again.
        assert!(!branches.is_empty());
        let text = compile_as(SAXPY, level, Emit::Asm);
        let Ok(Artifact::Text(text)) = text else { panic!("{text:?}") };
        let parted = branches.iter().all(|meet| *meet != nbcc_isa::Imm::Value(-1));
        assert!(parted, "{branches:?}\n{text}");
        for emit in [Emit::Asm, Emit::Ir, Emit::MachineIr] {
            let text = compile_as(SAXPY, level, emit);
            assert!(matches!(text, Ok(Artifact::Text(text)) if text.contains("saxpy")));
        }
    }
}

/// A kernel that keeps many values alive at once: `count` loads, then a sum in reverse order.
fn crowded(count: usize, ty: &str) -> String {
    let mut text = format!(
        "define grid @many() {{\n  kernel max(128, 1, 1)\n  param %x: u64 size 8 align 8 at 0\nblock0:\n  v0: i64 = const 0\n  v1: i64 = load param [v0]\n  v2: {ty} = const 1\n"
    );
    let at = |n: usize| 3 + n;
    for n in 0..count {
        text += &format!("  v{}: {ty} = load global [v1 + {}]\n", at(n), 8 * n);
    }
    let mut sum = 2;
    for n in (0..count).rev() {
        let next = at(count) + (count - n);
        text += &format!("  v{next}: {ty} = iadd v{sum}, v{}\n", at(n));
        sum = next;
    }
    text + &format!("  store global [v1], v{sum}\n  return\n}}\n")
}

#[test]
fn what_finds_no_register_is_kept_in_local_memory() {
    for level in LEVELS {
        for (ty, count) in [("i32", 400), ("i64", 200)] {
            let program = compile(&crowded(count, ty), level);
            let kernel = &program.kernels[0];
            assert!(kernel.registers <= 128 && kernel.local_bytes > 0, "{kernel:?}");
        }
        let program = compile(&crowded(100, "i32"), level);
        assert_eq!(program.kernels[0].local_bytes, 0);
    }
}

#[test]
fn predicates_beyond_the_seventh_are_kept_in_registers() {
    let mut text = String::from(
        "define grid @preds() {\n  kernel\n  param %x: u64 size 8 align 8 at 0\nblock0:\n  v0: i64 = const 0\n  v1: i64 = load param [v0]\n  v2: i32 = load global [v1]\n",
    );
    for n in 0..20 {
        text += &format!("  v{}: i32 = const {n}\n", 100 + n);
        text += &format!("  v{}: i1 = icmp slt v2, v{}\n", 200 + n, 100 + n);
    }
    text += "  v300: i1 = icmp eq v2, v100\n";
    for n in 0..20 {
        text += &format!("  v{}: i1 = xor v{}, v{}\n", 301 + n, 300 + n, 219 - n);
    }
    text += "  v400: i32 = zero_extend v320\n  store global [v1], v400\n  return\n}\n";
    for level in LEVELS {
        assert!(compile(&text, level).kernels[0].registers > 10);
    }
}

/// A kernel of so many words that are loaded, doubled and stored through one pointer.
fn doubled(words: usize) -> String {
    let mut text = String::from(
        "define grid @doubled() {\n  kernel\n  param %x: u64 size 8 align 8 at 0\nblock0:\n  \
         v0: i64 = const 0\n  v1: i64 = load param [v0]\n",
    );
    for word in 0..words {
        let [loaded, sum, at] = [2 * word + 2, 2 * word + 3, 4 * word];
        text += &format!("  v{loaded}: i32 = load global [v1 + {at}]\n");
        text += &format!("  v{sum}: i32 = iadd v{loaded}, v{loaded}\n");
        text += &format!("  store global [v1 + {at}], v{sum}\n");
    }
    text + "  return\n}\n"
}

#[test]
fn large_kernels_take_time_in_proportion() {
    // No clock is asked. A quadratic step shows in how long this takes: minutes for values that are live at
    // once, some ten seconds for uses of one register.
    for text in [crowded(20_000, "i32"), doubled(50_000)] {
        assert!(compile_as(&text, OptLevel::O2, Emit::Binary).is_ok());
    }
}

#[test]
fn calls_that_cannot_be_inlined_are_refused() {
    let text = SAXPY
        .replace("block1:\n  return v0", "block1:\n  v4: f32 = call @step(v0, v1)\n  return v4");
    let errors = compile_as(&text, OptLevel::O0, Emit::Binary).unwrap_err();
    assert_eq!(errors, ["E2201: `step` calls itself"]);
}

#[test]
fn operations_without_an_instruction_are_refused() {
    let text = SAXPY.replace("simt \"fma.rn.f32\"(v0, v1, v1)", "pow v0, v1");
    let errors = compile_as(&text, OptLevel::O0, Emit::Binary).unwrap_err();
    assert_eq!(errors, ["E2202: MPU has no instruction for pow of f32"]);
}

#[test]
fn machines_at_fault_are_refused() {
    let errors =
        compile_with(SAXPY, OptLevel::O0, Emit::Binary, &[("registers.none", "1")]).unwrap_err();
    assert!(errors[0].starts_with("E2203"), "{errors:?}");
}

#[test]
fn programs_without_kernels_are_refused() {
    let text = "define grid @f() {\nblock0:\n  return\n}\n";
    let errors = compile_as(text, OptLevel::O0, Emit::Binary).unwrap_err();
    assert_eq!(errors, ["E2204: there is no kernel"]);
}

#[test]
fn kernels_that_do_not_fit_are_refused() {
    let text = SAXPY.replace("shared size 100", "shared size 1000000");
    let errors = compile_as(&text, OptLevel::O0, Emit::Binary).unwrap_err();
    assert!(errors[0].starts_with("E2205: `saxpy` has 1000000 bytes of shared"), "{errors:?}");
    let errors =
        compile_with(&crowded(40, "i64"), OptLevel::O0, Emit::Binary, &[("registers.words", "4")]);
    assert!(errors.is_err(), "four registers are too few");
}
