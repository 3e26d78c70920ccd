//! A function specialised to scalars that its caller promises: what hosts of the result may give.

use nbcc_base::extent::{ExtentExpr, Step};

use crate::{Constant, Extent, Function, IntType, NumType, Op, Replacements};

/// Makes constants of the scalars whose bits are given, one for each scalar of the interface, also
/// in the extents of arrays. Hosts go on to name them, and may give no other values.
///
/// # Panics
/// The function has no interface.
pub fn specialise(func: &mut Function, bits: &[Option<u64>]) {
    let interface = func.interface.as_mut().expect("a function that hosts call");
    let scalars = interface.params.iter_mut().filter(|param| param.array.is_none());
    let mut given: Vec<Option<u64>> = Vec::new();
    let mut values: Vec<Option<i64>> = Vec::new();
    for (param, bits) in scalars.zip(bits) {
        let unused = 64 - 8 * param.ty.ty().scalar.bytes();
        param.value = bits.map(|bits| bits << unused >> unused);
        given.push(param.value);
        values.push(param.value.map(|bits| match param.ty {
            NumType::Int(IntType::S8 | IntType::S16 | IntType::S32 | IntType::S64) => {
                (bits << unused) as i64 >> unused
            }
            // More than is taken of extents, where it is too large.
            _ => i64::try_from(bits).unwrap_or(i64::MAX),
        }));
    }
    let known = |number: u32| values.get(number as usize).copied().flatten();
    for param in &mut interface.params {
        param.array.iter_mut().flat_map(|array| &mut array.shape).for_each(|e| fix(e, &known));
    }
    func.mems.values_mut().flat_map(|mem| &mut mem.extents).for_each(|e| fix(e, &known));
    let entry = func.entry();
    let mut replaced = Replacements::new();
    let mut made = Vec::new();
    for (value, bits) in func.blocks[entry].params.clone().into_iter().zip(given) {
        let Some(bits) = bits else { continue };
        let ty = func.ty(value);
        let op = Op::Const(ty, Constant::Splat(bits));
        let inst = func.make_inst(op, &[ty], None);
        made.push(inst);
        replaced.replace(value, func.insts[inst].results[0]);
    }
    func.blocks[entry].insts.splice(0..0, made);
    replaced.apply(func);
}

fn fix(extent: &mut Extent, known: &impl Fn(u32) -> Option<i64>) {
    let expr = match extent {
        Extent::Fixed(_) | Extent::Given => return,
        Extent::Param(number) => match known(*number) {
            Some(value) => ExtentExpr::new(vec![Step::Const(value)]).expect("one value"),
            None => return,
        },
        Extent::Expr(expr) => expr.specialised(known),
    };
    *extent = match expr.steps() {
        [Step::Const(count)] => Extent::constant(*count),
        _ => Extent::Expr(expr),
    };
}
