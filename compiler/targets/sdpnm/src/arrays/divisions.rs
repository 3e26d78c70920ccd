//! Quotients and remainders of words by constants as products and shifts (Granlund, Montgomery, "Division by
//! invariant integers using multiplication", PLDI 1994): arrays have no division, and the core's takes long.

use nbcc_analysis::ValueRanges;
use nbcc_ir::{BinaryOp, Block, Builder, Function, Inst, Op, Replacements, Type, Value};

use super::evolution::reciprocal;

/// Numbers of 15 bits have quotients by a product of words.
const MOST: i64 = (1 << 15) - 1;

/// What a quotient is made of.
enum Way {
    /// Of a power of two.
    Shift {
        amount: u32,
        /// Whether the number may be negative.
        is_signed: bool,
    },
    /// A factor and a shift.
    Product {
        by: u32,
        amount: u32,
        /// Whether the number may be negative.
        is_signed: bool,
    },
}

/// Replaces divisions by constants in all blocks; whether there were some.
pub fn run(func: &mut Function) -> bool {
    let mut found: Vec<(Block, Inst, Way, i32)> = Vec::new();
    let ranges = ValueRanges::new(func);
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            found.extend(way(func, &ranges, inst).map(|(way, by)| (block, inst, way, by)));
        }
    }
    drop(ranges);
    let mut names = Replacements::new();
    for (block, inst, way, by) in &found {
        let Op::Binary(op, number, _) = func.insts[*inst].op else { continue };
        let Some(at) = func.blocks[*block].insts.iter().position(|other| other == inst) else {
            continue;
        };
        let behind = func.blocks[*block].insts.split_off(at + 1);
        let span = func.insts[*inst].span;
        let mut b = Builder::at(func, *block);
        b.set_span(span);
        let mut new = quotient(&mut b, number, way);
        if matches!(op, BinaryOp::Srem | BinaryOp::Urem) {
            let whole = b.imul_imm(new, *by);
            new = b.binary(BinaryOp::Isub, number, whole);
        }
        names.replace(func.insts[*inst].results[0], new);
        func.blocks[*block].insts.retain(|other| other != inst);
        func.blocks[*block].insts.extend(behind);
    }
    names.apply(func);
    !found.is_empty()
}

fn way(func: &Function, ranges: &ValueRanges<'_>, inst: Inst) -> Option<(Way, i32)> {
    let Op::Binary(op, number, by) = func.insts[inst].op else { return None };
    let signed = match op {
        BinaryOp::Sdiv | BinaryOp::Srem => true,
        BinaryOp::Udiv | BinaryOp::Urem => false,
        _ => return None,
    };
    if func.ty(number) != Type::I32 {
        return None;
    }
    let by = i32::try_from(func.splat_constant(by)?).ok().filter(|&by| by > 1)?;
    let is_signed = signed && !ranges.fits(number, 0, i32::MAX.into());
    let way = if by.count_ones() == 1 {
        Way::Shift { amount: by.trailing_zeros(), is_signed }
    } else {
        let least = if is_signed { -MOST } else { 0 };
        let (by, amount) = reciprocal(by as u32, MOST as u32 + 1)?;
        if !ranges.fits(number, least, MOST) {
            return None;
        }
        Way::Product { by, amount, is_signed }
    };
    Some((way, by))
}

fn quotient(b: &mut Builder<'_>, number: Value, way: &Way) -> Value {
    let shift = |b: &mut Builder<'_>, op: BinaryOp, value: Value, amount: u32| {
        let amount = b.i32(amount as i32);
        b.binary(op, value, amount)
    };
    match *way {
        Way::Shift { amount, is_signed: false } => shift(b, BinaryOp::Lshr, number, amount),
        Way::Shift { amount, .. } => {
            // Quotients of negative numbers are rounded up.
            let signs = shift(b, BinaryOp::Ashr, number, 31);
            let more = shift(b, BinaryOp::Lshr, signs, 32 - amount);
            let sum = b.iadd(number, more);
            shift(b, BinaryOp::Ashr, sum, amount)
        }
        Way::Product { by, amount, is_signed: false } => {
            let scaled = b.imul_imm(number, by as i32);
            shift(b, BinaryOp::Lshr, scaled, amount)
        }
        Way::Product { by, amount, .. } => {
            let signs = shift(b, BinaryOp::Ashr, number, 31);
            let flipped = b.binary(BinaryOp::Xor, number, signs);
            let size = b.binary(BinaryOp::Isub, flipped, signs);
            let scaled = b.imul_imm(size, by as i32);
            let quotient = shift(b, BinaryOp::Lshr, scaled, amount);
            let flipped = b.binary(BinaryOp::Xor, quotient, signs);
            b.binary(BinaryOp::Isub, flipped, signs)
        }
    }
}
