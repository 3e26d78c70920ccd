//! Placements of small functions: what is printed, counted and refused.

use std::fmt;

use nbcc_base::{Diagnostics, SourceId};
use nbcc_ir::testing::structured_function;
use nbcc_ir::{Func, Function, Inst, Op, PrintOptions, Value, parse_module, print_function};
use nbcc_placement::{
    MoveCount, Placement, Use, count, moved_values, moves, uses, verify_placement,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Near,
    Far,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Near => "near",
            Side::Far => "far",
        })
    }
}

const TEXT: &str = "define grid @f(v0: i32, v1: f32) -> f32 {
  mem %a: f32[8] global
block0:
  v2: f32 = load %a[v0]
  jump block1(v2)
block1(v3: f32):
  v4: f32 = fadd v3, v1
  v5: f32 = fmul v4, v1
  store %a[v0], v5
  v6: f32 = load %a[v0]
  v7: i32 = const 4
  v8: i1 = icmp slt v0, v7
  branch v8, block1(v6), block2
block2:
  return v4
}
";

fn function() -> Function {
    let mut diagnostics = Diagnostics::default();
    let module = parse_module(SourceId(0), TEXT, &[], &mut diagnostics).unwrap();
    module.functions[Func::from_u32(0)].clone()
}

fn value(number: u32) -> Value {
    Value::from_u32(number)
}

/// Integers far, floats near but for the parameter.
fn placement(func: &Function) -> Placement<Side> {
    let mut placement = Placement::new();
    for (value, data) in &func.values {
        placement.set(value, if data.ty.is_float() { Side::Near } else { Side::Far });
    }
    placement.set(value(1), Side::Far);
    placement
}

/// Arithmetic on floats is near, all else far; returns take any place.
fn needs(func: &Function) -> impl Fn(Use) -> Option<Side> {
    |by| match by {
        Use::Operand(inst, _) => {
            let near = matches!(func.insts[inst].op, Op::Binary(..));
            Some(if near { Side::Near } else { Side::Far })
        }
        Use::Terminator(..) => None,
        Use::Argument(_, param) => {
            Some(if func.ty(param).is_float() { Side::Near } else { Side::Far })
        }
    }
}

#[test]
fn places_stand_behind_values_where_they_are_defined() {
    let func = function();
    let placement = placement(&func);
    let annotation = placement.annotation();
    let options = PrintOptions { annotations: &[&annotation], ..PrintOptions::default() };
    let text = print_function(&func, &options);
    assert!(text.starts_with("define grid @f(v0: i32 @far, v1: f32 @far) -> f32 {"), "{text}");
    assert!(text.contains("block1(v3: f32 @near):\n  v4: f32 @near = fadd v3, v1\n"), "{text}");
    let mut diagnostics = Diagnostics::default();
    let again = parse_module(SourceId(0), &text, &[], &mut diagnostics).unwrap();
    assert_eq!(again.to_string(), TEXT);
}

#[test]
fn a_value_pays_once_for_each_place_it_is_needed_at() {
    let func = function();
    let moves = moves(&func, &placement(&func), needs(&func));
    // v1 is needed near twice, v5 far once.
    assert_eq!(moved_values(&moves), [value(1), value(5)]);
    let counts = count(&moves, |block| if block.as_u32() == 1 { 10 } else { 1 });
    let expected = [
        ((Side::Near, Side::Far), MoveCount { uses: 1, values: 1, weight: 10 }),
        ((Side::Far, Side::Near), MoveCount { uses: 2, values: 1, weight: 10 }),
    ];
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn the_check_names_what_has_no_place_or_the_wrong_one() {
    let func = function();
    let mut placement = placement(&func);
    let needs = needs(&func);
    let allowed = |by: Use, place: Side| needs(by).is_none_or(|needed| needed == place);
    let any_result = |_: Inst, _: Side| true;
    let messages = |placement: &Placement<Side>| {
        let errors = verify_placement(&func, placement, allowed, any_result);
        errors.iter().map(|e| format!("{}: {}", e.entity, e.message)).collect::<Vec<_>>()
    };
    assert_eq!(
        messages(&placement),
        [
            "v4: cannot take v1 from far",
            "v5: cannot take v1 from far",
            "inst3: cannot take v5 from near"
        ]
    );
    placement.set(value(1), Side::Near);
    placement.set(value(5), Side::Far);
    assert_eq!(messages(&placement), [""; 0]);
    placement.set(value(6), Side::Far);
    assert_eq!(messages(&placement), ["v3: cannot take v6 from far"]);

    let loads_far = |inst: Inst, place: Side| {
        place == Side::Far || !matches!(func.insts[inst].op, Op::Load(..))
    };
    let errors = verify_placement(&func, &placement, |_, _| true, loads_far);
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].to_string(), "@f: v2: cannot be made at near");

    let mut partial = Placement::new();
    partial.set(value(0), Side::Near);
    let errors = verify_placement(&func, &partial, |_, _| true, |_, _| true);
    let entities: Vec<_> = errors.iter().map(|e| e.entity.as_str()).collect();
    assert_eq!(entities, ["v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8"]);
    assert!(errors.iter().all(|e| e.message == "has no place"));
}

#[test]
fn every_operand_is_a_use() {
    for seed in 0..50 {
        let func = structured_function(seed);
        let mut expected: Vec<Value> = Vec::new();
        for &block in &func.layout {
            let data = &func.blocks[block];
            expected.extend(data.insts.iter().flat_map(|&inst| func.insts[inst].op.args()));
            expected.extend(func.terminator(block).args());
        }
        let found: Vec<Value> = uses(&func).iter().map(|site| site.value).collect();
        assert_eq!(found, expected, "seed {seed}");
        for site in uses(&func) {
            let named = match site.by {
                Use::Operand(inst, number) => func.insts[inst].op.args()[number],
                Use::Terminator(block, number) => func.terminator(block).args()[number],
                Use::Argument(..) => site.value,
            };
            assert_eq!(named, site.value);
        }
    }
}
