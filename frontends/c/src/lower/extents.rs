//! Extents of the arrays that hosts give, as expressions of the scalars that they give.

use nbcc_base::extent::{ExtentExpr, ExtentOp, Step, Width};

use super::state::Lower;
use crate::sema::tree::{Arith, Compare, Expr, ExprKind, PlaceKind};
use crate::types::{Int, Ty};

fn width(int: Int) -> Width {
    Width { bits: int.bits() as u8, signed: int.is_signed() }
}

impl Lower<'_> {
    /// An extent as an expression of parameters of the entry block; `scalar` gives the number of the
    /// one that a variable is. `None` where it is made of anything else.
    pub(super) fn extent_of(
        &self,
        expr: &Expr,
        scalar: &impl Fn(u32) -> Option<u32>,
    ) -> Option<ExtentExpr> {
        let mut steps = Vec::new();
        self.extent_steps(expr, scalar, &mut steps)?;
        ExtentExpr::new(steps).ok()
    }

    fn int_type(&self, ty: Ty) -> Option<Int> {
        self.types.as_int(ty)
    }

    fn extent_steps(
        &self,
        expr: &Expr,
        scalar: &impl Fn(u32) -> Option<u32>,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        let int = self.int_type(expr.ty)?;
        match &expr.kind {
            ExprKind::Const(value) => steps.push(Step::Const(*value)),
            ExprKind::Value(place) => match place.kind {
                PlaceKind::Local(local) => steps.push(Step::Param(scalar(local)?)),
                _ => return None,
            },
            ExprKind::Convert(a) => {
                self.extent_steps(a, scalar, steps)?;
                if int == Int::Bool {
                    steps.push(Step::Const(0));
                    steps.push(Step::Op(ExtentOp::Equal, width(Int::Long)));
                    steps.push(Step::Const(0));
                    steps.push(Step::Op(ExtentOp::Equal, width(Int::Long)));
                } else {
                    steps.push(Step::Op(ExtentOp::Cast, width(int)));
                }
            }
            ExprKind::Negate(a) => {
                steps.push(Step::Const(0));
                self.extent_steps(a, scalar, steps)?;
                steps.push(Step::Op(ExtentOp::Sub, width(int)));
            }
            ExprKind::Complement(a) => {
                self.extent_steps(a, scalar, steps)?;
                steps.push(Step::Const(-1));
                steps.push(Step::Op(ExtentOp::Xor, width(int)));
            }
            ExprKind::Not(a) => {
                self.extent_steps(a, scalar, steps)?;
                steps.push(Step::Const(0));
                steps.push(Step::Op(ExtentOp::Equal, width(Int::Long)));
            }
            ExprKind::Arith(op, a, b) => {
                self.extent_steps(a, scalar, steps)?;
                self.extent_steps(b, scalar, steps)?;
                let op = match op {
                    Arith::Mul => ExtentOp::Mul,
                    Arith::Div => ExtentOp::Div,
                    Arith::Rem => ExtentOp::Rem,
                    Arith::Add => ExtentOp::Add,
                    Arith::Sub => ExtentOp::Sub,
                    Arith::Shl => ExtentOp::Shl,
                    Arith::Shr => ExtentOp::Shr,
                    Arith::And => ExtentOp::And,
                    Arith::Xor => ExtentOp::Xor,
                    Arith::Or => ExtentOp::Or,
                };
                steps.push(Step::Op(op, width(int)));
            }
            ExprKind::Compare(op, a, b) => {
                let of = width(self.int_type(a.ty)?);
                let (a, b, negated) = match op {
                    Compare::Lt => (a, b, false),
                    Compare::Ge => (a, b, true),
                    Compare::Gt => (b, a, false),
                    Compare::Le => (b, a, true),
                    Compare::Eq => (a, b, false),
                    Compare::Ne => (a, b, true),
                };
                self.extent_steps(a, scalar, steps)?;
                self.extent_steps(b, scalar, steps)?;
                let equal = matches!(op, Compare::Eq | Compare::Ne);
                steps.push(Step::Op(if equal { ExtentOp::Equal } else { ExtentOp::Less }, of));
                if negated {
                    steps.push(Step::Const(0));
                    steps.push(Step::Op(ExtentOp::Equal, width(Int::Long)));
                }
            }
            ExprKind::Cond(c, a, b) => {
                self.extent_steps(c, scalar, steps)?;
                self.extent_steps(a, scalar, steps)?;
                self.extent_steps(b, scalar, steps)?;
                steps.push(Step::Op(ExtentOp::Select, width(int)));
            }
            _ => return None,
        }
        Some(())
    }
}
