//! The interpreter of IR functions, on functions written as text.

use nbcc_analysis::Lanes;
use nbcc_base::{Diagnostics, SourceId};
use nbcc_interp::function::{
    Answer, Array, Execution, IntrinsicContext, Memory, Options, Program, Step, Trap, TrapKind,
    eval, run,
};
use nbcc_ir::{Func, Module, Space, Type, parse_module, verify_module};
use nbcc_testing::{INTRINSICS, structured_function};

fn read(text: &str) -> Module {
    let mut diagnostics = Diagnostics::default();
    let module = parse_module(SourceId(0), text, INTRINSICS, &mut diagnostics);
    let module = module.unwrap_or_else(|_| panic!("{diagnostics:?}\n{text}"));
    assert_eq!(verify_module(&module), []);
    module
}

fn first(module: &Module) -> Program<'_> {
    Program::of_module(module, Func::from_u32(0))
}

fn no_intrinsic(context: &mut IntrinsicContext<'_>) -> Result<Answer, String> {
    Err(format!("{} is unknown", context.call.name))
}

fn run_text(text: &str, args: &[Lanes], memory: &mut Memory) -> Result<Vec<Lanes>, TrapKind> {
    let module = read(text);
    let options = Options { step_limit: 10_000, trap_uninitialised: true, ..Options::default() };
    run(first(&module), args, memory, &mut no_intrinsic, &options).map_err(|trap| *trap.kind)
}

#[test]
fn a_straight_line_is_evaluated() {
    let module = read(
        "define engines @f(v0: f32x4, v1: f32) -> (f32x4, f32) {
block0:
  v2: f32x4 = splat v1
  v3: f32x4 = muladd v0, v2, v2
  v4: f32 = extract v3, 3
  return v3, v4
}",
    );
    let args = [Lanes::f32s(&[1.0, 2.0, 3.0, 4.0]), Lanes::f32(0.5)];
    let results = eval(&module.functions[Func::from_u32(0)], &args).unwrap();
    assert_eq!(results[0].as_f32s(), [1.0, 1.5, 2.0, 2.5]);
    assert_eq!(results[1], Lanes::f32(2.5));
}

const SUM: &str = "define sequential @sum(v0: i32) -> i32 {
  mem %a: i32[4, 3] shared
block0:
  v1: i32 = const 0
  jump block1(v1, v1)
block1(v2: i32, v3: i32): loop y, 3 trips
  v4: i32x4 = load %a[v1, v2]
  v5: i32 = extract v4, 1
  v6: i32 = iadd v3, v5
  store %a[v0, v2], v6
  v7: i32 = const 1
  v8: i32 = iadd v2, v7
  v9: i32 = const 3
  v10: i1 = icmp slt v8, v9
  branch v10, block1(v8, v6), block2
block2:
  return v6
}";

#[test]
fn loops_load_and_store() {
    let mut memory = Memory::new();
    memory.insert("a", Array::i32s(&[4, 3], &[0, 10, 0, 0, 0, 20, 0, 0, 0, 30, 0, 0]));
    let results = run_text(SUM, &[Lanes::i32(3)], &mut memory).unwrap();
    assert_eq!(results, [Lanes::i32(60)]);
    assert_eq!(memory.get("a").unwrap().data, [0, 10, 0, 10, 0, 20, 0, 30, 0, 30, 0, 60]);
}

#[test]
fn what_has_no_meaning_is_a_trap() {
    let with = |elements: &[i32]| {
        let mut memory = Memory::new();
        memory.insert("a", Array::i32s(&[4, 3], elements));
        memory
    };
    let zeros = with(&[0; 12]);
    assert_eq!(
        run_text(SUM, &[Lanes::i32(4)], &mut zeros.clone()),
        Err(TrapKind::OutOfBounds {
            mem: "a".to_string(),
            subscripts: vec![4, 0],
            extents: vec![4, 3]
        })
    );
    assert_eq!(
        run_text(SUM, &[Lanes::i32(0)], &mut Memory::new()),
        Err(TrapKind::NoObject("a".to_string()))
    );
    assert_eq!(run_text(SUM, &[], &mut zeros.clone()), Err(TrapKind::Arguments));
    let mut wrong = Memory::new();
    wrong.insert("a", Array::i32s(&[3, 4], &[0; 12]));
    assert_eq!(
        run_text(SUM, &[Lanes::i32(0)], &mut wrong),
        Err(TrapKind::WrongObject("a".to_string()))
    );

    let body = |lines: &str| {
        format!(
            "define grid @f(v0: i32) {{\n  mem %t: i32[2] local\nblock0:\n{lines}\n  return\n}}"
        )
    };
    let trap = |lines: &str, arg: i32| {
        run_text(&body(lines), &[Lanes::i32(arg)], &mut Memory::new()).map(drop).unwrap_err()
    };
    assert_eq!(trap("  v1: i32 = sdiv v0, v0", 0), TrapKind::Division);
    assert_eq!(
        trap("  v1: i32 = load %t[v0]", 1),
        TrapKind::Uninitialised { mem: "t".to_string(), subscripts: vec![1] }
    );
    assert!(matches!(trap("  v1: i32x2 = load %t[v0]", 1), TrapKind::OutOfBounds { .. }));
    assert!(matches!(trap("  v1: i32 = load %t[v0]", -1), TrapKind::OutOfBounds { .. }));
    assert_eq!(
        trap("  jump block1\nblock1:\n  trap \"no\"\nblock2:", 0),
        TrapKind::Explicit("no".to_string())
    );
    assert_eq!(
        trap("  jump block1\nblock1:\n  jump block1\nblock2:", 0),
        TrapKind::StepLimit(10_000)
    );
    assert_eq!(trap("  call @f(v0)", 0), TrapKind::CallDepth(256));
    assert!(matches!(trap("  intrinsic \"test.log\"(v0) write", 0), TrapKind::Intrinsic { .. }));
    assert!(matches!(trap("  store global [v0], v0", 0), TrapKind::OutOfSpace { .. }));
}

#[test]
fn a_trap_says_where_it_happened() {
    let module =
        read("define grid @f(v0: i32) {\nblock0:\n  v1: i32 = udiv v0, v0 !0:3..9\n  return\n}");
    let trap: Trap = run(
        first(&module),
        &[Lanes::i32(0)],
        &mut Memory::new(),
        &mut no_intrinsic,
        &Options::default(),
    )
    .unwrap_err();
    assert_eq!(trap.span.map(|span| (span.start, span.end)), Some((3, 9)));
    assert_eq!(trap.to_string(), "@f: a division has no result");
}

#[test]
fn raw_memory_is_little_endian_bytes() {
    let text = "define grid @f(v0: i64) -> i32 {
block0:
  v1: i32 = load global [v0 + 4]
  v2: f32x2 = load param [v0 - 8]
  store global [v0 - 7], v2
  return v1
}";
    let mut memory = Memory::new();
    memory.raw.insert(Space::Global, (0..16).collect());
    memory.raw.insert(Space::Param, [1.0f32, -2.0].map(f32::to_le_bytes).concat());
    let arg = Lanes::splat(Type::I64, 8);
    assert_eq!(run_text(text, &[arg], &mut memory), Ok(vec![Lanes::i32(0x0f0e_0d0c)]));
    assert_eq!(memory.raw[&Space::Global][1..9], memory.raw[&Space::Param][..]);
    assert!(matches!(
        run_text(text, &[Lanes::splat(Type::I64, 9)], &mut memory),
        Err(TrapKind::OutOfSpace { .. })
    ));
}

#[test]
fn calls_have_local_objects_of_their_own() {
    let text = "define sequential @f(v0: i32) -> (i32, i32) {
  mem %t: i32[1] local
block0:
  v1: i32 = const 0
  store %t[v1], v0
  v2: i32, v3: i32 = call @g(v0)
  v4: i32 = load %t[v1]
  v5: i32 = iadd v2, v3
  return v4, v5
}
define sequential @g(v0: i32) -> (i32, i32) {
  mem %t: i32[1] local
block0:
  v1: i32 = const 0
  v2: i32 = ineg v0
  store %t[v1], v2
  v3: i32 = load %t[v1]
  return v3, v0
}";
    let results = run_text(text, &[Lanes::i32(7)], &mut Memory::new());
    assert_eq!(results, Ok(vec![Lanes::i32(7), Lanes::i32(0)]));
}

#[test]
fn intrinsics_answer_write_and_pause() {
    let text = "define grid @f(v0: i32) -> i32 {
  mem %t: i32[2] local
block0:
  intrinsic \"test.log\"(v0) mems(%t) write
  v1: i32 = intrinsic \"test.id\"() pure
  v2: i32 = load %t[v1]
  return v2
}";
    let module = read(text);
    let mut memory = Memory::new();
    let mut execution =
        Execution::start(first(&module), &[Lanes::i32(42)], &mut memory, &Options::default())
            .unwrap();
    let mut intrinsics = |context: &mut IntrinsicContext<'_>| match context.call.name {
        "test.log" => {
            let value = context.args[0].lane(0);
            context.array(context.call.mems[0]).data[1] = value;
            Ok(Answer::Pause(None))
        }
        _ => Ok(Answer::Done(Some(Lanes::i32(1)))),
    };
    let mut steps = Vec::new();
    loop {
        let step = execution.step(&mut memory, &mut intrinsics).unwrap();
        steps.push(step.clone());
        if let Step::Returned(values) = step {
            assert_eq!(values, [Lanes::i32(42)]);
            break;
        }
    }
    assert_eq!(steps[..3], [Step::Paused, Step::Ran, Step::Ran]);
    assert_eq!(steps.len(), 4);
}

#[test]
fn random_functions_run_the_same_from_their_text() {
    let mut ended = 0;
    for seed in 0..300 {
        let mut module = Module::default();
        module.functions.push(structured_function(seed));
        let again = read(&module.to_string());
        let run_one = |module: &Module| {
            let mut memory = Memory::for_function(first(module).func);
            let mut intrinsics = |context: &mut IntrinsicContext<'_>| {
                let sum = context.args.iter().fold(3, |sum, arg| sum + arg.lane(0));
                Ok(Answer::Done(context.call.result.map(|ty| Lanes::splat(ty, sum))))
            };
            let vector = Lanes::f32s(&[1.0, -2.0, 0.25, 1e20]);
            let args = [Lanes::i32(5), Lanes::i32(-9), Lanes::f32(1.5), vector];
            let options = Options { step_limit: 100_000, ..Options::default() };
            let result = run(first(module), &args, &mut memory, &mut intrinsics, &options);
            (result.map_err(|trap| *trap.kind), memory)
        };
        let result = run_one(&module);
        ended += usize::from(result.0.is_ok());
        assert_eq!(result, run_one(&again), "seed {seed}");
    }
    assert!(ended > 200, "only {ended} of 300 functions ended without a trap");
}
