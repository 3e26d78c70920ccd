//! Placements: what is printed, counted, summed up and refused.

use std::fmt;

use cranelift_entity::entity_impl;
use nbcc_base::{Diagnostics, SourceId};
use nbcc_ir::{Func, Function, PrintOptions, Value, parse_module, print_function};
use nbcc_placement::{Move, MoveCount, Origin, Placement, Read, Summary, count, moves, verify};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Near,
    Far,
}

use Side::{Far, Near};

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name(*self))
    }
}

fn name(side: Side) -> &'static str {
    match side {
        Near => "near",
        Far => "far",
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

/// Integers far, floats near; `v1` comes from afar, and `v7` is made on both sides.
fn placement(func: &Function) -> Placement<Value, Side> {
    let mut placement = Placement::new();
    for (value, data) in &func.values {
        placement.set(value, if data.ty.is_float() { Near } else { Far });
    }
    placement.set(value(1), Far);
    placement.add(value(1), Near, Origin::Copied);
    placement.add(value(5), Far, Origin::Copied);
    placement.add(value(7), Near, Origin::Computed);
    placement
}

/// How often a value is made: ten times in the loop.
fn weight(value: Value) -> u64 {
    if (3..9).contains(&value.as_u32()) { 10 } else { 1 }
}

#[test]
fn places_stand_behind_values_where_they_are_defined() {
    let func = function();
    let placement = placement(&func);
    let annotation = placement.annotation();
    let options = PrintOptions { annotations: &[&annotation], ..PrintOptions::default() };
    let text = print_function(&func, &options);
    let head = "define grid @f(v0: i32 @far, v1: f32 @\"far+near\") -> f32 {";
    assert!(text.starts_with(head), "{text}");
    assert!(text.contains("block1(v3: f32 @near):\n  v4: f32 @near = fadd v3, v1\n"), "{text}");
    assert!(text.contains("v7: i32 @\"far+near\" = const 4\n"), "{text}");
    let mut diagnostics = Diagnostics::default();
    let again = parse_module(SourceId(0), &text, &[], &mut diagnostics).unwrap();
    assert_eq!(again.to_string(), TEXT);
}

#[test]
fn copies_are_moves_and_what_is_computed_twice_is_not() {
    let placement = placement(&function());
    let all: Vec<_> = moves(&placement).collect();
    let of = |entity, from, to| Move { entity: value(entity), from, to };
    assert_eq!(all, [of(1, Far, Near), of(5, Near, Far)]);
    let counts = count(all, weight);
    let expected = [
        ((Near, Far), MoveCount { moves: 1, weight: 10 }),
        ((Far, Near), MoveCount { moves: 1, weight: 1 }),
    ];
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn a_later_home_takes_the_place_of_the_former_with_its_copies() {
    let mut placement = placement(&function());
    assert_eq!(placement.origin(value(1), Near), Some(Origin::Copied));
    placement.set(value(1), Near);
    assert_eq!(placement.origin(value(1), Near), Some(Origin::Computed));
    assert_eq!(placement.origin(value(1), Far), None);
    assert_eq!(moves(&placement).count(), 1);
}

#[test]
fn the_check_names_what_is_read_where_it_is_not_and_copies_without_a_way() {
    let placement = placement(&function());
    let read = |by, entity, place| Read { by, entity: value(entity), place };
    let found = |reads: &[Read<&'static str, Value, Side>], way: fn(Side, Side) -> bool| {
        verify(&placement, reads.iter().copied(), way)
    };
    let good = [read("v4", 1, Near), read("v4", 3, Near), read("store", 5, Far)];
    assert_eq!(found(&good, |_, _| true), Ok(()));
    let said = found(&[good[0], read("v8", 3, Far)], |_, _| true);
    assert_eq!(said, Err("v8 reads v3 in far, where it is not".to_string()));
    let said = found(&good, |from, to| (from, to) != (Near, Far));
    assert_eq!(said, Err("v5 is copied from near to far: there is no way".to_string()));
    let unplaced = verify(&Placement::new(), good, |_, _| true);
    assert_eq!(unplaced, Err("v4 reads v1 in near, where it is not".to_string()));
}

#[test]
fn a_remark_says_what_lives_where_and_what_would_make_the_dearest_copy_go() {
    let placement = placement(&function());
    let served = |m: &Move<Value, Side>| 10 * u64::from(m.entity.as_u32()) + u64::from(m.to == Far);
    let summary = Summary::of(&placement, weight, served);
    assert_eq!(
        summary.message(name).to_string(),
        "5 values live in near, 4 in far; 1 are computed in several; 1 are copied \
         from near to far; 1 are copied from far to near"
    );
    let terms: Vec<_> = summary.terms(name).into_iter().map(|t| (t.name, t.value)).collect();
    let expected = [
        ("EstimatedMoves", "11"),
        ("MostMoved", "v5 from near to far"),
        ("EstimatedMovesOfIt", "10"),
        ("GoneWithoutReads", "51"),
    ];
    assert_eq!(terms, expected.map(|(name, value)| (name, value.to_string())));
    let none = Summary::of(&Placement::<Value, Side>::new(), weight, served);
    assert!(none.terms(name).is_empty());
    assert_eq!(none.message(name).to_string(), "no value lives anywhere");
}

/// Registers, blocks, whatever a target numbers.
#[test]
fn any_entity_can_be_placed() {
    #[derive(Clone, Copy, PartialEq, Eq)]
    struct Register(u32);
    entity_impl!(Register, "r");
    let mut placement = Placement::new();
    placement.set(Register(3), Near);
    placement.add(Register(3), Far, Origin::Copied);
    assert_eq!(placement.annotation()(Register(3)), Some("near+far".to_string()));
    assert_eq!(placement.annotation()(Register(2)), None);
    assert_eq!(placement.entities().collect::<Vec<_>>(), [Register(3)]);
}
