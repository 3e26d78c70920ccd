//! Products of floats that are only added to something become one instruction, `mac`, which rounds after each
//! of the two operations as they do (docs/fidelity.md): results stay bit for bit the same. `mac`
//! adds to a register in place, so that only what nothing else reads is added to.

use cranelift_entity::SecondaryMap;
use nbcc_ir::{BinaryOp, Block, Function, Inst, Op, Value, ValueDef};

/// Fuses products and sums of vectors of floats.
pub fn run(func: &mut Function) {
    let uses = func.use_counts();
    let mut home: SecondaryMap<Inst, Option<Block>> = SecondaryMap::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            home[inst] = Some(block);
            let Op::Binary(BinaryOp::Fadd, x, y) = func.insts[inst].op else { continue };
            let ty = func.ty(x);
            if ty.lanes < 2 || ty.scalar.bits() != 32 {
                continue;
            }
            // What a value is made of, where that is an operation of this block that only this one reads.
            let made = |value: Value| match func.values[value].def {
                ValueDef::Result(by, _) if uses[value] == 1 && home[by] == Some(block) => Some(by),
                _ => None,
            };
            let factors = |value: Value| match func.insts[made(value)?].op {
                Op::Binary(BinaryOp::Fmul, a, b) => Some((a, b)),
                _ => None,
            };
            let fused = [(x, y), (y, x)].into_iter().find_map(|(value, sum)| {
                let (a, b) = factors(value)?;
                let constant = |by: Inst| matches!(func.insts[by].op, Op::Const(..));
                made(sum).filter(|&by| !constant(by)).map(|_| Op::MulAdd(a, b, sum))
            });
            if let Some(fused) = fused {
                func.insts[inst].op = fused;
            }
        }
    }
}
