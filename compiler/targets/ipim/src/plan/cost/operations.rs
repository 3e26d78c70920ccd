//! What an operation of an expression takes once it is made of Table I's instructions: the counts
//! of `passes/legalize`, put down where its tests keep them (`legalize/tests/counts.txt`).

use nbcc_stages::{
    BinaryOp, CompareOp, ElementType, Expr, ExprKind, Intrinsic, Literal, Pipeline, UnaryOp,
};

/// The unit that the last instruction of an operation uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    /// Bitwise.
    Logic,
    /// Additions.
    Add,
    /// Multiplications.
    Mul,
}

/// Instructions of an expression's own operation, without its operands, and what the last of them
/// is. Elements and coordinates are not operations: 0.
pub fn operation(pipeline: &Pipeline, expr: Expr) -> (u64, Last) {
    let data = &pipeline.exprs[expr];
    let literal = |e: &Expr| match pipeline.exprs[*e].kind {
        ExprKind::Literal(Literal::Int(n)) => Some(n),
        ExprKind::Literal(Literal::Float(_)) => Some(0),
        _ => None,
    };
    let ty = data.ty;
    match &data.kind {
        ExprKind::Unary(op, _) => {
            let wrapped = if *op == UnaryOp::Neg { wrap(ty) } else { 0 };
            (1 + wrapped, if ty.is_float() { Last::Add } else { Last::Logic })
        }
        ExprKind::Binary(op, x, y) if ty.is_float() => float(*op, literal(x), literal(y)),
        ExprKind::Binary(op, x, y) => integer(*op, ty, literal(x), literal(y)),
        ExprKind::Compare(op, x, y) => {
            let of = pipeline.exprs[*x].ty;
            (compare(*op, of, literal(x).or(literal(y)).is_some()), Last::Logic)
        }
        ExprKind::Select(..) => (4, Last::Logic),
        ExprKind::Cast(a) => (cast(pipeline.exprs[*a].ty, ty), Last::Add),
        ExprKind::Reinterpret(_) => (wrap(ty), Last::Logic),
        ExprKind::Intrinsic(op, _) => (intrinsic(*op), Last::Mul),
        _ => (0, Last::Logic),
    }
}

/// Instructions that bring a result back into the range of a narrow type.
fn wrap(ty: ElementType) -> u64 {
    match ty {
        ElementType::U8 | ElementType::U16 => 1,
        ElementType::I8 | ElementType::I16 => 2,
        _ => 0,
    }
}

fn narrow(ty: ElementType) -> bool {
    wrap(ty) > 0
}

fn float(op: BinaryOp, x: Option<i64>, y: Option<i64>) -> (u64, Last) {
    match op {
        BinaryOp::Add | BinaryOp::Sub => (1, Last::Add),
        BinaryOp::Mul => (1, Last::Mul),
        BinaryOp::Div if y.is_some() => (1, Last::Mul),
        BinaryOp::Div if x.is_some() => (33, Last::Mul),
        BinaryOp::Div => (42, Last::Mul),
        BinaryOp::Min | BinaryOp::Max if x.or(y).is_some() => (4, Last::Logic),
        BinaryOp::Min | BinaryOp::Max => (6, Last::Logic),
        _ => (56, Last::Add),
    }
}

fn integer(op: BinaryOp, ty: ElementType, x: Option<i64>, y: Option<i64>) -> (u64, Last) {
    let power = |n: i64| n > 0 && n & (n - 1) == 0;
    match op {
        BinaryOp::Add | BinaryOp::Sub => (1 + wrap(ty), Last::Add),
        BinaryOp::Mul => (1 + wrap(ty), Last::Mul),
        BinaryOp::Div | BinaryOp::Mod => match y {
            Some(n) if power(n) => (1, Last::Logic),
            Some(_) => (10, Last::Add),
            None if narrow(ty) => (20, Last::Add),
            None => (45, Last::Add),
        },
        BinaryOp::Min | BinaryOp::Max if x.or(y).is_some() => (4, Last::Logic),
        BinaryOp::Min | BinaryOp::Max if narrow(ty) => (6, Last::Logic),
        BinaryOp::Min | BinaryOp::Max => (8, Last::Logic),
        BinaryOp::Shl | BinaryOp::Shr if y.is_some() => (1 + wrap(ty), Last::Logic),
        BinaryOp::Shl | BinaryOp::Shr => (8 + wrap(ty), Last::Logic),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => (1, Last::Logic),
    }
}

fn compare(op: CompareOp, of: ElementType, literal: bool) -> u64 {
    match op {
        CompareOp::Eq | CompareOp::Ne if of.is_float() && !literal => 7,
        CompareOp::Eq | CompareOp::Ne => 3,
        _ if of.is_float() || literal || narrow(of) => 3,
        _ => 6,
    }
}

fn cast(from: ElementType, to: ElementType) -> u64 {
    match (from.is_float(), to.is_float()) {
        (true, true) => 0,
        (true, false) => match to.bits() {
            32 => 12,
            16 => 10 + wrap(to),
            _ => 9 + wrap(to),
        },
        (false, true) if from == ElementType::Bool => 1,
        (false, true) => 6,
        (false, false) if to == ElementType::Bool => 3,
        (false, false) if from == to => 0,
        (false, false) => wrap(to),
    }
}

fn intrinsic(op: Intrinsic) -> u64 {
    match op {
        Intrinsic::Floor => 12,
        Intrinsic::Ceil => 13,
        Intrinsic::Round | Intrinsic::Trunc => 8,
        Intrinsic::Sqrt => 26,
        Intrinsic::Exp | Intrinsic::FastExp => 25,
        Intrinsic::Log | Intrinsic::FastLog => 30,
        Intrinsic::Pow | Intrinsic::FastPow => 110,
        Intrinsic::Sin | Intrinsic::Cos => 123,
        Intrinsic::Tan => 137,
        Intrinsic::Asin | Intrinsic::Acos | Intrinsic::Atan => 40,
        Intrinsic::Atan2 => 68,
        Intrinsic::Sinh | Intrinsic::Cosh => 33,
        Intrinsic::Tanh => 45,
        Intrinsic::FastInverse | Intrinsic::FastInverseSqrt => 20,
    }
}
