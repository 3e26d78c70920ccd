//! The verifier finds each breach of the contract: what can be written as text is given as text,
//! the rest is done to a function by hand.

use nbcc_base::{Diagnostics, SourceId};
use nbcc_ir::{
    Block, Constant, Func, Inst, Module, Op, Type, Value, ValueDef, parse_module, verify_function,
    verify_module,
};
use nbcc_testing::INTRINSICS;

fn read(text: &str) -> Module {
    let mut diagnostics = Diagnostics::default();
    let module = parse_module(SourceId(0), text, INTRINSICS, &mut diagnostics);
    module.unwrap_or_else(|_| panic!("{diagnostics:?}\n{text}"))
}

fn messages(text: &str) -> Vec<String> {
    verify_module(&read(text)).iter().map(|e| format!("{}: {}", e.entity, e.message)).collect()
}

/// A function with values of each kind, to which lines are added.
fn with_lines(lines: &str) -> String {
    format!(
        "define engines @f(v0: i32, v1: f32, v2: f32x4, v3: i1, v4: i64, v5: i32x4) -> i32 {{
  mem %a: f32[8, 4] shared
  mem %k: f32[4] const
block0:
{lines}
  return v0
}}
define grid @callee(v0: f32) -> (f32, i32) {{
block0:
  v1: i32 = const 1
  return v0, v1
}}
"
    )
}

#[test]
fn one_line_that_breaks_the_contract_gives_one_message() {
    assert_eq!(messages(&with_lines("")), [""; 0]);
    let cases = [
        ("v9: i32 = iadd v0, v4", "v9: v0: i32 and v4: i64 differ"),
        ("v9: i64 = iadd v0, v0", "v9: has results [i64], not [i32]"),
        ("v9: f32 = iadd v1, v1", "v9: v1: f32 is no integer"),
        ("v9: i32 = fadd v0, v0", "v9: v0: i32 is no float"),
        ("v9: i32 = fneg v0", "v9: v0: i32 is no float"),
        ("v9: f32 = ineg v1", "v9: v1: f32 is no integer"),
        ("v9: f32 = fma v1, v1, v2", "v9: v1: f32 and v2: f32x4 differ"),
        ("v9: i32 = muladd v0, v0, v0", "v9: v0: i32 is no float"),
        ("v9: i32 = icmp eq v0, v0", "v9: has results [i32], not [i1]"),
        ("v9: i1 = icmp eq v1, v1", "v9: v1: f32 is no integer"),
        ("v9: i1 = fcmp lt v0, v0", "v9: v0: i32 is no float"),
        ("v9: i1 = fcmp lt v2, v2", "v9: has results [i1], not [i1x4]"),
        ("v9: f32x4 = select v3, v2, v2", "v9: v3: i1 is no i1x4"),
        ("v9: i32 = truncate v0", "v9: truncate does not lead from i32 to i32"),
        ("v9: i32 = sign_extend v4", "v9: sign_extend does not lead from i64 to i32"),
        ("v9: f32 = float_to_signed v1", "v9: float_to_signed does not lead from f32 to f32"),
        ("v9: f32 = signed_to_float v5", "v9: signed_to_float does not lead from i32x4 to f32"),
        ("v9: f32 = bitcast v4", "v9: bitcast does not lead from i64 to f32"),
        ("v9: f32x8 = splat v2", "v9: v2: f32x4 is no scalar"),
        ("v9: f32 = extract v2, 4", "v9: names lane 4 of 4"),
        ("v9: f32x4 = extract v2, 0", "v9: has results [f32x4], not [f32]"),
        ("v9: f32x4 = insert v2, v0, 0", "v9: v0: i32 is no element of v2: f32x4"),
        ("v9: f32x4 = shuffle v2, v5, [0, 1, 2, 3]", "v9: v2: f32x4 and v5: i32x4 differ"),
        ("v9: f32x2 = shuffle v2, v2, [0, 8]", "v9: names lane 8 of 8"),
        ("v9: f32x17 = const 1.0", "v9: has 17 lanes, not 1 to 16"),
        ("v9: f32x4 = const [1.0, 2.0]", "v9: is a constant of 2 lanes for f32x4"),
        ("v9: f32 = load %a[v0]", "v9: has 1 subscripts for the 2 dimensions of %a"),
        ("v9: f32 = load %a[v0, v4]", "v9: has the subscript v4: i64, no i32"),
        ("v9: i32 = load %a[v0, v0]", "v9: accesses %a, of f32, as i32"),
        ("store %a[v0, v0], v0", "inst0: accesses %a, of f32, as i32"),
        ("store %k[v0], v1", "inst0: writes to const"),
        ("v9: f32 = load global [v1]", "v9: has an address of type f32"),
        ("store param [v0 + 4], v1", "inst0: writes to param"),
        ("v9: f32, v10: i32 = call @callee(v0)", "v9: gives [i32] for [f32]"),
        ("v9: f32 = call @callee(v1)", "v9: takes [f32], not [f32, i32]"),
        (
            "v9: i32 = iadd v10, v0\n  v10: i32 = const 1",
            "v9: uses v10, whose definition does not dominate it",
        ),
        ("branch v0, block1, block1\nblock1:", "block0: branches on v0: i32"),
        ("switch v1, [block1], block1\nblock1:", "block0: switches on v1: f32"),
        ("return v0, v0\nblock1:", "block0: returns [i32, i32], not [i32]"),
        ("jump block1(v1)\nblock1:", "block0: gives 1 arguments for the 0 parameters of block1"),
        ("jump block1(v1)\nblock1(v9: i32):", "block0: gives v1: f32 for v9: i32"),
        ("jump block0", "block0: goes on in the entry"),
        ("jump block1\nblock1: loop x, 4 trips", "block1: has loop information but heads no loop"),
        (
            "branch v3, block1, block2\nblock1:\n  v9: i32 = const 1\n  jump block2\nblock2:\n  v10: i32 = ineg v9",
            "v10: uses v9, whose definition does not dominate it",
        ),
    ];
    for (lines, message) in cases {
        let text = with_lines(&format!("  {lines}"));
        // A terminator of its own ends the block: what follows belongs to the next one.
        let text =
            if lines == "jump block0" { text.replacen("  return v0\n", "", 1) } else { text };
        assert_eq!(messages(&text), [message], "{text}");
    }
}

#[test]
fn memory_objects_and_functions_are_checked() {
    let mems = |mems: &str| format!("define grid @f() {{\n{mems}\nblock0:\n  return\n}}\n");
    assert_eq!(
        messages(&mems("  mem %a: f32[0] local")),
        ["mem0: has an extent that is not between 1 and 2147483647"]
    );
    assert_eq!(
        messages(&mems("  mem %a: f32[2147483647, 2147483647, 4] local")),
        ["mem0: has 2^63 elements or more"]
    );
    let mut module = read(&mems("  mem %a: f32[1] local\n  mem %b: f32[] local"));
    module.functions[Func::from_u32(0)].mems[nbcc_ir::Mem::from_u32(1)].name = "a".to_string();
    assert_eq!(verify_module(&module)[0].message, "has the name %a of mem0");

    let mut module = read(
        "define grid @f() {\nblock0:\n  return\n}\ndefine grid @g() {\nblock0:\n  return\n}\n",
    );
    module.functions[Func::from_u32(1)].name = "f".to_string();
    assert_eq!(verify_module(&module)[0].to_string(), "@f: fn1: has the name of fn0");
}

#[test]
fn what_cannot_be_written_is_found_too() {
    let text = with_lines("  v9: i32 = const 1\n  jump block1\nblock1:\n  v10: i32 = ineg v9");
    let module = read(&text);
    let func = &module.functions[Func::from_u32(0)];
    assert_eq!(verify_function(func, None), []);
    let entry = func.entry();
    let (constant, other) = (Inst::from_u32(0), Block::from_u32(1));
    let broken = |change: &dyn Fn(&mut nbcc_ir::Function)| {
        let mut func = func.clone();
        change(&mut func);
        let errors = verify_function(&func, None);
        let _ = func.to_string();
        errors.iter().map(|e| format!("{}: {}", e.entity, e.message)).collect::<Vec<_>>()
    };

    assert_eq!(broken(&|f| f.blocks[other].terminator = None), ["block1: has no terminator"]);
    assert_eq!(
        broken(&|f| f.layout.push(entry)),
        ["block0: stands in the layout twice", "v9: stands in the blocks twice"]
    );
    assert_eq!(
        broken(&|f| {
            f.layout.pop();
        }),
        ["block0: goes on in block1, not in the layout"]
    );
    assert_eq!(
        broken(&|f| f.blocks[entry].insts.push(constant)),
        ["v9: stands in the blocks twice"]
    );
    assert_eq!(
        broken(&|f| f.blocks[entry].insts.clear()),
        ["v10: uses v9, which no block defines"]
    );
    assert_eq!(
        broken(&|f| f.values[Value::from_u32(9)].def = ValueDef::Param(entry, 0)),
        ["v9: is defined by inst0 but names another origin"]
    );
    assert_eq!(
        broken(&|f| f.insts[constant].op = Op::Const(Type::I32, Constant::Splat(1 << 40))),
        ["v9: is the constant 0x10000000000, too wide for i32"]
    );
    assert_eq!(
        broken(&|f| f.insts[constant].op = Op::Splat(Value::from_u32(99), 1)),
        ["inst0: uses v99, which does not exist"]
    );
    assert_eq!(broken(&|f| f.layout.clear()), ["layout: has no entry"]);
}
