//! Updates at planes that data decides, of which few enough are selected from to stay in registers
//! (`plan/kept.rs`): in each lane one plane changes a round. A bit that stands at the place of the plane
//! is moved out of the sign, plane for plane, so that a shift tells whether a plane is meant.

use nbcc_ir::{BinaryOp as IrBinary, Builder, IntCond, Mem, Op, Type, UnaryOp, Value};
use nbcc_isa_ipim::LANES;
use nbcc_stages::lower::{ExprLowering, wrap};
use nbcc_stages::{BinaryOp, ElementType, ExprKind, Update};

use super::body::{Body, from_word, reduce_loops, to_word, word_type};
use crate::plan::{Change, KeptPlanes, inner_index, own_users};

/// Lanes of a vector.
const WIDTH: u8 = LANES as u8;

/// What a round does to a value: an operation with what is zero where nothing changes, or any expression.
enum Round {
    By(IrBinary, Value),
    Any,
}

/// Lowers such an update at the points of a vector.
pub(super) fn update_kept(
    b: &mut Builder<'_>,
    body: &mut Body<'_>,
    update: &Update,
    types: &[ElementType],
    kept: &KeptPlanes,
) {
    let (_, mems) = body.own.expect("only updates write to planes");
    let places = |b: &mut Builder<'_>, body: &Body<'_>| -> Vec<(Mem, ElementType, Vec<Value>)> {
        let planes = (0..kept.count as i32).map(|n| kept.first + n);
        let each = planes.flat_map(|plane| mems.iter().zip(types).map(move |of| (plane, of)));
        each.map(|(plane, (&mem, &ty))| (mem, ty, place(b, body, (mem, update), (kept, plane))))
            .collect()
    };
    let begin = places(b, body);
    let first: Vec<Value> = begin
        .into_iter()
        .map(|(mem, ty, place)| {
            let word = b.load(word_type(ty, WIDTH), mem, place);
            from_word(b, word, ty)
        })
        .collect();
    let (_, intervals) = body.loops.nest.rdom.clone().expect("planes are kept over a domain");
    let trips: Vec<(u32, i32)> = intervals.iter().map(|i| (i.extent(), i.min)).collect();
    let count = trips.len();
    let one = std::slice::from_mut(&mut *body);
    let last = reduce_loops(b, one, &trips, count, first, &mut |b, bodies, old| {
        round(b, &mut bodies[0], update, kept, old)
    });
    b.set_span(Some(update.span));
    for ((mem, ty, place), value) in places(b, body).into_iter().zip(last) {
        let value = wrap(b, ty, value);
        let word = to_word(b, value, ty);
        b.store(mem, place, word);
    }
}

/// Subscripts of the point's element of a plane.
fn place(
    b: &mut Builder<'_>,
    body: &Body<'_>,
    (mem, update): (Mem, &Update),
    (kept, plane): (&KeptPlanes, i32),
) -> Vec<Value> {
    let plan = body.loops.cx.plan;
    let id = body.loops.mems.iter().find(|(_, m)| **m == mem).map(|(id, _)| *id);
    let region = &plan.buffers[id.expect("targets have objects")].region;
    let mut place = body.own_place(b, mem);
    place.truncate(3);
    for (d, (&arg, interval)) in update.args.iter().zip(region).enumerate().skip(2) {
        place.push(match plan.forms[arg].as_ref().and_then(inner_index) {
            Some(index) if d != kept.dim => {
                body.inner_subscript(b, index, interval.min.into(), None)
            }
            _ => b.i32(plane - interval.min),
        });
    }
    place
}

/// One round of the domain: the values of all planes, the first's first, from those before.
fn round(
    b: &mut Builder<'_>,
    body: &mut Body<'_>,
    update: &Update,
    kept: &KeptPlanes,
    old: &[Value],
) -> Vec<Value> {
    let pipeline = &body.loops.cx.plan.pipeline;
    let (func, _) = body.own.expect("only updates write to planes");
    let int = Type::I32.with_lanes(WIDTH);
    let mut lower = ExprLowering::new(pipeline, WIDTH);
    let plane = lower.lower(b, update.args[kept.dim], body);
    let first = b.constant(int, u64::from(kept.first as u32));
    let plane = b.binary(IrBinary::Isub, plane, first);
    let sign = b.constant(int, 1 << 31);
    let mut bit = b.binary(IrBinary::Lshr, sign, plane);
    let predicates = update.rdom.map_or(&[][..], |rdom| &pipeline.rdoms[rdom].predicates);
    let conditions: Vec<Value> = predicates.iter().map(|&p| lower.lower(b, p, body)).collect();
    let zero = b.constant(int, 0);
    if let Some(all) = conditions.into_iter().reduce(|x, y| b.binary(IrBinary::And, x, y)) {
        bit = b.value(Op::Select(all, bit, zero));
    }
    let mut rounds = Vec::new();
    for (change, &value) in kept.changes.iter().zip(&update.values) {
        rounds.push(match *change {
            Change::By(op, expr) => {
                let by = lower.lower(b, expr, body);
                let float = b.func.ty(by).is_float();
                let by = if float && op == BinaryOp::Add { b.unary(UnaryOp::Fneg, by) } else { by };
                Round::By(operation(op, float), by)
            }
            Change::Any => {
                let users = own_users(pipeline, func, value);
                for &user in &users {
                    let kind = &pipeline.exprs[user].kind;
                    if matches!(kind, ExprKind::Call(..)) {
                        continue;
                    }
                    kind.each_operand(|operand| {
                        if !users.contains(&operand) {
                            lower.lower(b, operand, body);
                        }
                    });
                }
                Round::Any
            }
        });
    }
    let mut new = Vec::with_capacity(old.len());
    for before in old.chunks(rounds.len()) {
        let meant = b.value(Op::Icmp(IntCond::Slt, bit, zero));
        let mut of_plane = lower.clone();
        body.carried = Some(before.to_vec());
        for ((round, &value), &before) in rounds.iter().zip(&update.values).zip(before) {
            new.push(match *round {
                Round::By(op, by) => {
                    let nothing = b.constant(b.func.ty(by), 0);
                    let by = b.value(Op::Select(meant, by, nothing));
                    b.binary(op, before, by)
                }
                Round::Any => {
                    let after = of_plane.lower(b, value, body);
                    b.value(Op::Select(meant, after, before))
                }
            });
        }
        let one = b.constant(int, 1);
        bit = b.binary(IrBinary::Shl, bit, one);
    }
    body.carried = None;
    new
}

/// The operation with which a value changes by what is zero where it does not: a float by the opposite
/// of what is added, since 0.0 changes -0.0 where it is added.
fn operation(op: BinaryOp, float: bool) -> IrBinary {
    match (op, float) {
        (BinaryOp::Add | BinaryOp::Sub, true) => IrBinary::Fsub,
        (BinaryOp::Add, false) => IrBinary::Iadd,
        (BinaryOp::Sub, false) => IrBinary::Isub,
        (BinaryOp::Or, _) => IrBinary::Or,
        (BinaryOp::Xor, _) => IrBinary::Xor,
        _ => panic!("{op:?} is no change by zero"),
    }
}
