//! Functions of C on compile-time numbers.

use nbcc_base::Span;

use crate::elab::{Elab, Result};
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::Op;
use crate::value::{Value, constant};

impl Elab<'_> {
    /// Functions of C on compile-time numbers.
    pub(crate) fn number_function(
        &mut self,
        name: &str,
        args: &[Spanned],
        span: Span,
    ) -> Result<Option<Value>> {
        if args.is_empty() || !args.iter().all(|a| a.0.is_number()) {
            return Ok(None);
        }
        let base = match name {
            "fabs" | "fabsf" => "abs",
            "sqrtf" | "expf" | "powf" | "logf" | "sinf" | "cosf" | "tanf" | "floorf" | "ceilf"
            | "roundf" | "tanhf" | "atan2f" | "fminf" | "fmaxf" => &name[..name.len() - 1],
            "log2" | "exp2" | "fmin" | "fmax" => name,
            other => other,
        };
        let float = base != name || args.iter().all(|a| matches!(a.0, Value::Float(_)));
        let a = constant::double(&args[0].0);
        let integers = args.iter().all(|a| matches!(a.0, Value::Int(_) | Value::Bool(_)));
        let one: Option<fn(f64) -> f64> = match base {
            "floor" => Some(f64::floor),
            "ceil" => Some(f64::ceil),
            "round" => Some(f64::round),
            "trunc" => Some(f64::trunc),
            "sqrt" => Some(f64::sqrt),
            "exp" => Some(f64::exp),
            "exp2" => Some(f64::exp2),
            "log" => Some(f64::ln),
            "log2" => Some(f64::log2),
            "sin" => Some(f64::sin),
            "cos" => Some(f64::cos),
            "tan" => Some(f64::tan),
            "tanh" => Some(f64::tanh),
            _ => None,
        };
        let result = |d: f64| if float { Value::Float(d as f32) } else { Value::Double(d) };
        if let Some(function) = one {
            self.take(name, args, 1, span)?;
            return Ok(Some(result(function(a))));
        }
        match base {
            "abs" => {
                self.take(name, args, 1, span)?;
                Ok(Some(match &args[0].0 {
                    Value::Float(f) => Value::Float(f.abs()),
                    Value::Double(d) => Value::Double(d.abs()),
                    v => Value::Int(constant::integer(v).wrapping_abs()),
                }))
            }
            "pow" | "atan2" => {
                self.take(name, args, 2, span)?;
                let b = constant::double(&args[1].0);
                Ok(Some(result(if base == "pow" { a.powf(b) } else { a.atan2(b) })))
            }
            "min" | "max" | "fmin" | "fmax" if args.len() >= 2 => {
                let less = base.ends_with("min");
                let mut best = args[0].clone();
                for arg in &args[1..] {
                    let op = if less { Op::Lt } else { Op::Gt };
                    let better = self.binary(op, span, arg, &best, span)?;
                    if constant::truth(&better) {
                        best = arg.clone();
                    }
                }
                Ok(Some(if integers {
                    best.0
                } else if args.iter().any(|a| matches!(a.0, Value::Double(_))) {
                    Value::Double(constant::double(&best.0))
                } else {
                    Value::Float(constant::float(&best.0))
                }))
            }
            "clamp" if args.len() == 3 => {
                let low = self.number_function("min", &[args[0].clone(), args[2].clone()], span)?;
                let low = low.expect("min of numbers is a number");
                self.number_function("max", &[(low, span), args[1].clone()], span)
            }
            _ => Ok(None),
        }
    }
}
