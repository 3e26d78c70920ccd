//! The functions of the language. Those of C work on compile-time numbers, those of Halide on
//! expressions; one name serves both, and the arguments decide.

mod arithmetic;
mod choose;
pub(crate) mod names;
mod numbers;

use nbcc_base::{Diagnostic, Span};
use nbcc_stages::{BinaryOp, CompareOp, ElementType, Intrinsic};

use self::names::{HALIDE_ONLY, WIDE_CASTS, concise_cast};
use crate::codes;
use crate::elab::{Elab, Result};
use crate::pipeline::boundary::BOUNDARIES;
use crate::pipeline::hir::Node;
use crate::pipeline::ops::Spanned;
use crate::pipeline::reduce::Reduction;
use crate::value::types::{c_name, sized};
use crate::value::{Value, constant};

/// Functions of one float.
const FLOAT_FUNCTIONS: [(&str, Intrinsic); 19] = [
    ("floor", Intrinsic::Floor),
    ("ceil", Intrinsic::Ceil),
    ("round", Intrinsic::Round),
    ("trunc", Intrinsic::Trunc),
    ("sqrt", Intrinsic::Sqrt),
    ("exp", Intrinsic::Exp),
    ("log", Intrinsic::Log),
    ("sin", Intrinsic::Sin),
    ("cos", Intrinsic::Cos),
    ("tan", Intrinsic::Tan),
    ("asin", Intrinsic::Asin),
    ("acos", Intrinsic::Acos),
    ("atan", Intrinsic::Atan),
    ("sinh", Intrinsic::Sinh),
    ("cosh", Intrinsic::Cosh),
    ("tanh", Intrinsic::Tanh),
    // The exact functions are within the error that Halide documents for these two.
    ("fast_sin", Intrinsic::Sin),
    ("fast_cos", Intrinsic::Cos),
    ("fast_log", Intrinsic::FastLog),
];

/// Elements of a vector of each type, for generators that ask.
pub(crate) const VECTOR_SIZE: i64 = 4;

fn unsupported(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error(&codes::UNSUPPORTED, format!("`{name}` of Halide is not supported"))
        .at(at, "not supported")
}

impl Elab<'_> {
    /// Calls a function of the language; `None` where there is none of that name.
    pub(crate) fn builtin(
        &mut self,
        name: &str,
        at: Span,
        args: &[Spanned],
        span: Span,
    ) -> Result<Option<Value>> {
        self.work(1, span)?;
        if BOUNDARIES.contains(&name) {
            return self.boundary(name, at, args, span).map(Some);
        }
        if let Some(reduction) = Reduction::named(name) {
            return self.reduction(reduction, args, span).map(Some);
        }
        if let Some(value) = self.number_function(name, args, span)? {
            return Ok(Some(value));
        }
        if let Some((_, op)) = FLOAT_FUNCTIONS.iter().find(|(n, _)| *n == name) {
            let x = self.one(name, args, span)?;
            let x = self.cast(ElementType::F32, x, args[0].1);
            return Ok(Some(Value::Expr(self.intrinsic(*op, &[x], span))));
        }
        let node = match name {
            "Float" | "Int" | "UInt" | "Bool" => {
                return self.type_value(name, args, span).map(Some);
            }
            "min" | "max" => self.extreme(name, args, span)?,
            "clamp" => self.clamp(args, span)?,
            "to_string" => {
                self.take(name, args, 1, span)?;
                let n = self.constant_int(&args[0], "a number in a text")?;
                return Ok(Some(Value::Text(n.to_string().into())));
            }
            "select" => return self.select(args, span).map(Some),
            "mux" => self.mux(args, span)?,
            "abs" => {
                let x = self.one(name, args, span)?;
                self.abs(x, span)
            }
            "absd" => {
                self.take(name, args, 2, span)?;
                let (a, b) = self.operands(&args[0], &args[1])?;
                self.absd(a, b, span)
            }
            "fast_exp" => self.float_function(name, Intrinsic::FastExp, args, span)?,
            "fast_inverse" => self.float_function(name, Intrinsic::FastInverse, args, span)?,
            "fast_inverse_sqrt" => {
                self.float_function(name, Intrinsic::FastInverseSqrt, args, span)?
            }
            "atan2" => {
                self.take(name, args, 2, span)?;
                let (a, b) = self.two_floats(args)?;
                self.intrinsic(Intrinsic::Atan2, &[a, b], span)
            }
            "pow" | "fast_pow" => self.pow(name, args, span)?,
            "hypot" => {
                self.take(name, args, 2, span)?;
                let (a, b) = self.operands(&args[0], &args[1])?;
                let a2 = self.op(BinaryOp::Mul, a, a, span);
                let b2 = self.op(BinaryOp::Mul, b, b, span);
                let sum = self.op(BinaryOp::Add, a2, b2, span);
                let sum = self.cast(ElementType::F32, sum, span);
                self.intrinsic(Intrinsic::Sqrt, &[sum], span)
            }
            "fract" => {
                let x = self.one(name, args, span)?;
                let x = self.cast(ElementType::F32, x, args[0].1);
                let whole = self.intrinsic(Intrinsic::Trunc, &[x], span);
                self.op(BinaryOp::Sub, x, whole, span)
            }
            "is_nan" | "is_inf" | "is_finite" => {
                let x = self.one(name, args, span)?;
                self.must_be_float(name, x)?;
                if name == "is_nan" {
                    self.compare(CompareOp::Ne, x, x, span)
                } else {
                    let magnitude = self.abs(x, span);
                    let infinity = self.hir.float(f32::INFINITY, span);
                    let op = if name == "is_inf" { CompareOp::Eq } else { CompareOp::Lt };
                    self.compare(op, magnitude, infinity, span)
                }
            }
            "lerp" => self.lerp(args, span)?,
            "div_round_to_zero" | "mod_round_to_zero" => self.round_to_zero(name, args, span)?,
            // Hints for the compiler: the value is the argument.
            "likely" | "likely_if_innermost" | "strict_float" => self.one(name, args, span)?,
            "get_target" | "get_host_target" | "get_jit_target_from_environment" => {
                self.take(name, args, 0, span)?;
                return Ok(Some(Value::Target));
            }
            "natural_vector_size" => return Ok(Some(Value::Int(VECTOR_SIZE))),
            "using_autoscheduler" => {
                self.take(name, args, 0, span)?;
                return Ok(Some(Value::Bool(false)));
            }
            "type_of" => {
                self.take(name, args, 1, span)?;
                return self.convert(crate::syntax::ast::TypeWord::Type, None, &args[0]).map(Some);
            }
            "assert"
            | "internal_assert"
            | "user_assert"
            | "_halide_user_assert"
            | "static_assert" => {
                let (condition, text) = args.split_at(args.len().min(1));
                let is_text = |(value, _): &Spanned| matches!(value, Value::Text(_));
                if !text.iter().all(is_text) || condition.is_empty() {
                    return self.take(name, args, 1, span).map(|()| None);
                }
                return self.assertion(&condition[0]).map(Some);
            }
            "add_requirement" => {
                self.not_followed(name, "requirements are not checked", at);
                return Ok(Some(Value::Void));
            }
            "trace_pipeline" => {
                self.not_followed(name, "`nbcc run --trace` records a run", at);
                return Ok(Some(Value::Void));
            }
            "undef" => self.undef(args, span)?,
            "lambda" => return self.lambda(args, span).map(Some),
            _ if let Some((_, instead)) = HALIDE_ONLY.iter().find(|(known, _)| *known == name) => {
                return self.fail(unsupported(name, at).help(*instead));
            }
            _ if WIDE_CASTS.contains(&name) => {
                return self.fail(unsupported(name, at).help(
                    "types are float, bool, and signed and unsigned integers of 8, 16 and 32 bits",
                ));
            }
            _ => match concise_cast(name) {
                Some((ty, saturates)) => {
                    let x = self.one(name, args, span)?;
                    match saturates {
                        true => self.saturating_cast(ty, x, span),
                        false => self.cast(ty, x, span),
                    }
                }
                None => return Ok(None),
            },
        };
        Ok(Some(Value::Expr(node)))
    }

    /// `undef<T>()` or `undef(T)`: any value. In an update it stands for the old one, see
    /// [`Elab::keep_old`]; elsewhere it is zero.
    fn undef(&mut self, args: &[Spanned], span: Span) -> Result<Node> {
        self.take("undef", args, 1, span)?;
        let Value::Type(ty) = args[0].0 else {
            let what = args[0].0.what();
            return self.fail(
                Diagnostic::error(&codes::ARGUMENT_TYPE, "`undef` needs a type")
                    .at(args[0].1, format!("this is {what}"))
                    .help("write `undef<float>()`"),
            );
        };
        let node = self.hir.int(0, ty, span);
        self.undefs.insert(node);
        Ok(node)
    }

    /// `assert(condition)`, of the compile-time language.
    fn assertion(&mut self, condition: &Spanned) -> Result<Value> {
        if !condition.0.is_number() {
            return self.not_constant(&condition.0, condition.1, "what is asserted");
        }
        if constant::truth(&condition.0) {
            return Ok(Value::Void);
        }
        if self.text(condition.1).contains("has_feature") {
            self.not_followed("assert", "the target has none of Halide's features", condition.1);
            return Ok(Value::Void);
        }
        self.fail(
            Diagnostic::error(&codes::ASSERTION, "an assertion fails")
                .at(condition.1, "this is false")
                .help("set the constants that it asks for: `--param`, or leave it out"),
        )
    }

    /// `lambda(x, y, e)`: a Func without a name.
    fn lambda(&mut self, args: &[Spanned], span: Span) -> Result<Value> {
        let Some(((value, at), vars)) = args.split_last() else {
            return self.take("lambda", args, 2, span).map(|()| Value::Void);
        };
        self.step(4, span)?;
        let func = self.new_func("lambda", span);
        self.hir.funcs[func].anonymous = true;
        self.define(func, vars, None, (value.clone(), *at), (span, span))?;
        Ok(Value::Func(func))
    }

    fn one(&mut self, name: &str, args: &[Spanned], span: Span) -> Result<Node> {
        self.take(name, args, 1, span)?;
        self.expr_of(&args[0].0, args[0].1)
    }

    fn must_be_float(&mut self, name: &str, x: Node) -> Result<()> {
        let ty = self.hir.ty(x);
        if ty.is_float() {
            return Ok(());
        }
        let at = self.hir.nodes[x].span;
        self.fail(
            Diagnostic::error(
                &codes::OPERAND_TYPES,
                format!("`{name}` needs a float, not {}", c_name(ty)),
            )
            .at(at, format!("has type {}", c_name(ty)))
            .help("convert it: `cast<float>(...)`"),
        )
    }

    fn float_function(
        &mut self,
        name: &str,
        op: Intrinsic,
        args: &[Spanned],
        span: Span,
    ) -> Result<Node> {
        let x = self.one(name, args, span)?;
        self.must_be_float(name, x)?;
        Ok(self.intrinsic(op, &[x], span))
    }

    fn two_floats(&mut self, args: &[Spanned]) -> Result<(Node, Node)> {
        let a = self.expr_of(&args[0].0, args[0].1)?;
        let b = self.expr_of(&args[1].0, args[1].1)?;
        let a = self.cast(ElementType::F32, a, args[0].1);
        Ok((a, self.cast(ElementType::F32, b, args[1].1)))
    }

    fn type_value(&mut self, name: &str, args: &[Spanned], span: Span) -> Result<Value> {
        if name == "Bool" {
            self.take(name, args, 0, span)?;
            return Ok(Value::Type(ElementType::Bool));
        }
        self.take(name, args, 1, span)?;
        let bits = self.constant_int(&args[0], "the width of a type")?;
        match sized(name, bits) {
            Ok(ty) => Ok(Value::Type(ty)),
            Err(what) => {
                let name = self.text(span);
                self.fail(crate::elab::stmt::refused(name, what, span))
            }
        }
    }
}
