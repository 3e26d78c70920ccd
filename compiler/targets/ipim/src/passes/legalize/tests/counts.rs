//! How many instructions each expansion takes. Constants are apart: they can stay in registers.

use nbcc_ir::{BinaryOp, ConvertOp, FloatCond, Function, IntCond, Op, Type, UnaryOp};

use super::{F32, I32, function, legal, operation};

/// Operations of a function that become instructions: neither constants nor bitcasts.
pub fn operations(func: &Function) -> usize {
    let is_free = |op: &Op| matches!(op, Op::Const(..) | Op::Convert(ConvertOp::Bitcast, ..));
    let insts = func.layout.iter().flat_map(|&block| &func.blocks[block].insts);
    insts.filter(|&&inst| !is_free(&func.insts[inst].op)).count()
}

fn constants(func: &Function) -> usize {
    let insts = func.layout.iter().flat_map(|&block| &func.blocks[block].insts);
    insts.filter(|&&inst| matches!(func.insts[inst].op, Op::Const(..))).count()
}

/// The counts of every operation, as a table.
fn table() -> String {
    let mut rows = vec!["operations constants".to_string()];
    let mut row = |name: String, func: Function| {
        let func = legal(&func);
        rows.push(format!("{:10} {:9}  {name}", operations(&func), constants(&func)));
    };
    let with_constant = |ty: Type, bits: u32, op: fn(nbcc_ir::Value, nbcc_ir::Value) -> Op| {
        function(&[ty], |b, v| {
            let c = b.constant(ty, u64::from(bits));
            b.value(op(v[0], c))
        })
    };
    for cond in [IntCond::Eq, IntCond::Ne, IntCond::Slt, IntCond::Sle, IntCond::Ult, IntCond::Ule] {
        row(format!("icmp {cond:?}"), operation(&[I32, I32], |v| Op::Icmp(cond, v[0], v[1])));
    }
    row("icmp Slt 100".into(), with_constant(I32, 100, |a, c| Op::Icmp(IntCond::Slt, a, c)));
    row("icmp Slt 0".into(), with_constant(I32, 0, |a, c| Op::Icmp(IntCond::Slt, a, c)));
    for cond in [FloatCond::Eq, FloatCond::Ne, FloatCond::Lt, FloatCond::Le] {
        row(format!("fcmp {cond:?}"), operation(&[F32, F32], |v| Op::Fcmp(cond, v[0], v[1])));
    }
    let half = 0.5f32.to_bits();
    row("fcmp Lt 0.5".into(), with_constant(F32, half, |a, c| Op::Fcmp(FloatCond::Lt, a, c)));
    let select = function(&[I32, F32, F32], |b, v| {
        let zero = b.constant(I32, 0);
        let c = b.value(Op::Icmp(IntCond::Slt, v[0], zero));
        b.value(Op::Select(c, v[1], v[2]))
    });
    row("icmp Slt 0, select".into(), select);
    for &op in BinaryOp::ALL.iter() {
        let ty = if op.is_float() { F32 } else { I32 };
        row(format!("{op:?}"), operation(&[ty, ty], |v| Op::Binary(op, v[0], v[1])));
    }
    let bits = |x: f32| x.to_bits();
    row("Smax 0".into(), with_constant(I32, 0, |a, c| Op::Binary(BinaryOp::Smax, a, c)));
    row("Smin 255".into(), with_constant(I32, 255, |a, c| Op::Binary(BinaryOp::Smin, a, c)));
    row("Fmax 0".into(), with_constant(F32, 0, |a, c| Op::Binary(BinaryOp::Fmax, a, c)));
    row("Fmin 1".into(), with_constant(F32, bits(1.0), |a, c| Op::Binary(BinaryOp::Fmin, a, c)));
    row("Fdiv 3".into(), with_constant(F32, bits(3.0), |a, c| Op::Binary(BinaryOp::Fdiv, a, c)));
    row("Fdiv of 1".into(), with_constant(F32, bits(1.0), |a, c| Op::Binary(BinaryOp::Fdiv, c, a)));
    row("DivEuclid 8".into(), with_constant(I32, 8, |a, c| Op::Binary(BinaryOp::DivEuclid, a, c)));
    row(
        "DivEuclid 10".into(),
        with_constant(I32, 10, |a, c| Op::Binary(BinaryOp::DivEuclid, a, c)),
    );
    row(
        "ModEuclid 10".into(),
        with_constant(I32, 10, |a, c| Op::Binary(BinaryOp::ModEuclid, a, c)),
    );
    row("Udiv 10".into(), with_constant(I32, 10, |a, c| Op::Binary(BinaryOp::Udiv, a, c)));
    for bits in [8, 16] {
        let extended = function(&[I32, I32], |b, v| {
            let shift = b.constant(I32, 32 - bits);
            let mut extend = |a| {
                let top = b.binary(BinaryOp::Shl, a, shift);
                b.binary(BinaryOp::Ashr, top, shift)
            };
            let (x, y) = (extend(v[0]), extend(v[1]));
            let least = b.binary(BinaryOp::Smin, x, y);
            let top = b.binary(BinaryOp::Shl, least, shift);
            b.binary(BinaryOp::Ashr, top, shift)
        });
        row(format!("Smin of {bits} bits, sign-extended"), extended);
    }
    for (mask, name) in [(0xff, "8"), (0xffff, "16")] {
        for op in [BinaryOp::DivEuclid, BinaryOp::Smin] {
            let narrow = function(&[I32, I32], |b, v| {
                let mask = b.constant(I32, mask);
                let (x, y) =
                    (b.binary(BinaryOp::And, v[0], mask), b.binary(BinaryOp::And, v[1], mask));
                b.binary(op, x, y)
            });
            row(format!("two Ands, {op:?} of {name} bits"), narrow);
        }
    }
    for &op in UnaryOp::ALL.iter() {
        let ty = if op.is_float() { F32 } else { I32 };
        row(format!("{op:?}"), operation(&[ty], |v| Op::Unary(op, v[0])));
    }
    for op in [ConvertOp::SignedToFloat, ConvertOp::UnsignedToFloat] {
        row(format!("{op:?}"), operation(&[I32], |v| Op::Convert(op, v[0], F32)));
    }
    for op in [ConvertOp::FloatToSigned, ConvertOp::FloatToUnsigned] {
        row(format!("{op:?}"), operation(&[F32], |v| Op::Convert(op, v[0], I32)));
    }
    let floor = function(&[F32], |b, v| {
        let floor = b.unary(UnaryOp::Floor, v[0]);
        b.convert(ConvertOp::FloatToSigned, floor, I32)
    });
    row("Floor, FloatToSigned".into(), floor);
    rows.join("\n") + "\n"
}

/// The table that is kept beside this file. `UPDATE_EXPECT=1` writes it anew.
#[test]
fn counts_are_as_they_were() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/passes/legalize/tests/counts.txt");
    let table = table();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, &table).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(table, expected, "UPDATE_EXPECT=1 accepts the new counts");
}
