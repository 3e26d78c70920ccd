//! The functions of the language. Those of C work on compile-time numbers, those of Halide on
//! expressions; one name serves both, and the arguments decide.

use nbcc_base::{Diagnostic, Span};
use nbcc_stages::{BinaryOp, CompareOp, ElementType, Intrinsic, Literal, UnaryOp};

use crate::codes;
use crate::elab::stmt::count;
use crate::elab::{Elab, Result};
use crate::pipeline::boundary::BOUNDARIES;
use crate::pipeline::hir::{Node, NodeKind};
use crate::pipeline::ops::Spanned;
use crate::pipeline::reduce::REDUCTIONS;
use crate::syntax::ast::Op;
use crate::value::Value;
use crate::value::constant;
use crate::value::types::{c_name, represents, sized, unsigned};

/// Every name, for suggestions.
pub(crate) const NAMES: [&str; 67] = [
    "Bool",
    "Float",
    "Int",
    "UInt",
    "abs",
    "absd",
    "acos",
    "argmax",
    "argmin",
    "asin",
    "atan",
    "atan2",
    "cast",
    "ceil",
    "clamp",
    "constant_exterior",
    "cos",
    "cosh",
    "div_round_to_zero",
    "exp",
    "fast_cos",
    "fast_exp",
    "fast_inverse",
    "fast_inverse_sqrt",
    "fast_log",
    "fast_pow",
    "fast_sin",
    "floor",
    "fract",
    "hypot",
    "is_finite",
    "is_inf",
    "is_nan",
    "lerp",
    "likely",
    "likely_if_innermost",
    "log",
    "max",
    "maximum",
    "min",
    "minimum",
    "mirror_image",
    "mirror_interior",
    "mod_round_to_zero",
    "mux",
    "pow",
    "print",
    "product",
    "reinterpret",
    "repeat_edge",
    "repeat_image",
    "round",
    "saturating_cast",
    "select",
    "sin",
    "sinh",
    "sqrt",
    "strict_float",
    "sum",
    "tan",
    "tanh",
    "trunc",
    "undef",
    "fabs",
    "sqrtf",
    "expf",
    "powf",
];

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

/// Functions of Halide that this language has under one name only, or that ask for a type or a
/// number of the generator's surroundings.
const OF_GENERATORS: [&str; 8] = [
    "get_host_target",
    "get_jit_target_from_environment",
    "get_target",
    "lambda",
    "natural_vector_size",
    "type_of",
    "undef",
    "using_autoscheduler",
];

/// Functions of Halide that this language does not have, and what is written instead.
const HALIDE_ONLY: [(&str, &str); 35] = [
    ("acosh", "write `log(x + sqrt(x * x - 1.0f))`"),
    ("asinh", "write `log(x + sqrt(x * x + 1.0f))`"),
    ("atanh", "write `0.5f * log((1.0f + x) / (1.0f - x))`"),
    ("combine_strings", PRINT),
    ("concat_bits", "widen the parts, shift them and join them with `|`"),
    ("count_leading_zeros", BITS),
    ("count_trailing_zeros", BITS),
    ("erf", "write an approximation of it with `exp` and a polynomial"),
    ("extern_call", "write a function of the file instead"),
    ("extract_bits", "shift and cast: `cast<uint8_t>(x >> 8)`"),
    ("gather", "write an update over an RDom"),
    ("halving_add", "widen, add and shift: `cast<uint8_t>((cast<uint16_t>(a) + b) >> 1)`"),
    ("halving_sub", "widen, subtract and shift: `cast<int8_t>((cast<int16_t>(a) - b) >> 1)`"),
    ("memoize_tag", "leave it out: its value is its argument"),
    ("mul_shift_right", "widen, multiply and shift: `cast<int16_t>((cast<int32_t>(a) * b) >> 8)`"),
    ("popcount", BITS),
    ("print", PRINT),
    ("print_when", PRINT),
    ("random_float", RANDOM),
    ("random_int", RANDOM),
    ("random_uint", RANDOM),
    ("require", "leave it out, or choose with `select`"),
    (
        "rounding_halving_add",
        "widen, add and shift: `cast<uint8_t>((cast<uint16_t>(a) + b + 1) >> 1)`",
    ),
    ("rounding_mul_shift_right", "widen, multiply, add half and shift"),
    ("rounding_shift_left", "add half of the last place lost, then shift"),
    ("rounding_shift_right", "add half of the last place lost, then shift: `(x + 2) >> 2`"),
    ("saturating_add", "widen and convert: `saturating_cast<uint8_t>(cast<uint16_t>(a) + b)`"),
    ("saturating_sub", "widen and convert: `saturating_cast<uint8_t>(cast<int16_t>(a) - b)`"),
    ("scatter", "write an update over an RDom"),
    ("target_has_feature", "write `get_target().has_feature(...)`, which is false"),
    ("tuple_select", "write `select`, which takes Tuples too"),
    ("widening_add", "widen one side: `cast<uint16_t>(a) + b`"),
    ("widening_mul", "widen one side: `cast<uint16_t>(a) * b`"),
    ("widening_sub", "widen one side: `cast<int16_t>(a) - b`"),
    ("dynamic_cast", "write `cast<float>(...)`, or leave it out"),
];

const PRINT: &str = "leave it out: make an output of the value to look at it";
const BITS: &str = "count in a loop: `for (int i = 0; i < 8; i++) n += (x >> i) & 1;`";
const RANDOM: &str = "read random numbers from an input, or hash the coordinates";

/// Functions of C beside those that have the name of one of Halide's.
const C_FUNCTIONS: [&str; 21] = [
    "atan2f",
    "ceilf",
    "cosf",
    "exp2",
    "expf",
    "fabs",
    "fabsf",
    "floorf",
    "fmax",
    "fmaxf",
    "fmin",
    "fminf",
    "log2",
    "logf",
    "powf",
    "roundf",
    "sinf",
    "sqrtf",
    "tanf",
    "tanhf",
    "to_string",
];

fn unsupported(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error(&codes::UNSUPPORTED, format!("`{name}` of Halide is not supported"))
        .at(at, "not supported")
}

/// The type of one of Halide's `ConciseCasts`, as `u8` and `i16_sat`, and whether it saturates.
fn concise_cast(name: &str) -> Option<(ElementType, bool)> {
    let plain = name.strip_suffix("_sat");
    let ty = match plain.unwrap_or(name) {
        "u8" => ElementType::U8,
        "u16" => ElementType::U16,
        "u32" => ElementType::U32,
        "i8" => ElementType::I8,
        "i16" => ElementType::I16,
        "i32" => ElementType::I32,
        "f32" if plain.is_none() => ElementType::F32,
        _ => return None,
    };
    Some((ty, plain.is_some()))
}

/// Halide's `ConciseCasts` of types that the pipeline does not have.
const WIDE_CASTS: [&str; 5] = ["f16", "f64", "i64", "u64", "bf16"];

/// Whether the language has, or refuses by name, a function of this name.
pub(crate) fn provides(name: &str) -> bool {
    NAMES.contains(&name)
        || C_FUNCTIONS.contains(&name)
        || OF_GENERATORS.contains(&name)
        || HALIDE_ONLY.iter().any(|(known, _)| *known == name)
        || WIDE_CASTS.contains(&name)
        || concise_cast(name).is_some()
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
        if REDUCTIONS.contains(&name) {
            return self.reduction(name, args, span).map(Some);
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

    /// Functions of C on compile-time numbers.
    fn number_function(
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

    /// `min` and `max` of two or more: folded from the right, as in Halide.
    fn extreme(&mut self, name: &str, args: &[Spanned], span: Span) -> Result<Node> {
        if args.len() < 2 {
            return self.fail(
                Diagnostic::error(
                    &codes::ARGUMENT_COUNT,
                    format!("`{name}` takes at least 2 arguments, not {}", args.len()),
                )
                .at(span, format!("{} given", count(args.len(), "argument")))
                .help(format!("give another one: `{name}(a, b)`")),
            );
        }
        let op = if name == "min" { BinaryOp::Min } else { BinaryOp::Max };
        let mut result = args[args.len() - 1].clone();
        for arg in args[..args.len() - 1].iter().rev() {
            if arg.0.is_number() && result.0.is_number() {
                let both = [arg.clone(), result];
                let value = self.number_function(name, &both, span)?;
                result = (value.expect("numbers have a least and a greatest"), arg.1);
                continue;
            }
            let (a, b) = self.operands(arg, &result)?;
            result = (Value::Expr(self.op(op, a, b, span)), span);
        }
        self.expr_of(&result.0, span)
    }

    fn clamp(&mut self, args: &[Spanned], span: Span) -> Result<Node> {
        self.take("clamp", args, 3, span)?;
        let x = self.expr_of(&args[0].0, args[0].1)?;
        let ty = self.hir.ty(x);
        let low = self.lossless(ty, &args[1], "clamp")?;
        let high = self.lossless(ty, &args[2], "clamp")?;
        let below = self.op(BinaryOp::Min, x, high, span);
        Ok(self.op(BinaryOp::Max, below, low, span))
    }

    /// A value in a type that can hold all of its values.
    fn lossless(&mut self, ty: ElementType, value: &Spanned, name: &str) -> Result<Node> {
        let node = self.expr_of(&value.0, value.1)?;
        let from = self.hir.ty(node);
        if from == ty {
            return Ok(node);
        }
        let fits = match self.hir.literal(node) {
            Some(Literal::Int(n)) => represents(ty, n),
            Some(Literal::Float(bits)) => {
                let f = f32::from_bits(bits);
                !ty.is_float() && f.fract() == 0.0 && represents(ty, f as i64)
            }
            None if from.is_float() => false,
            None if ty.is_float() => from.bits() <= 16,
            None => {
                let (low, high) = from.integer_range();
                represents(ty, low) && represents(ty, high)
            }
        };
        if fits {
            return Ok(self.cast(ty, node, value.1));
        }
        self.fail(
            Diagnostic::error(
                &codes::OPERAND_TYPES,
                format!(
                    "the bounds of `{name}` must fit the type of its first argument, {}",
                    c_name(ty)
                ),
            )
            .at(value.1, format!("has type {}", c_name(from)))
            .help(format!("convert it: `cast<{}>(...)`", c_name(ty))),
        )
    }

    fn select(&mut self, args: &[Spanned], span: Span) -> Result<Value> {
        if args.len() < 3 || args.len().is_multiple_of(2) {
            return self.fail(
                Diagnostic::error(
                    &codes::ARGUMENT_COUNT,
                    "`select` takes pairs of condition and value, then the value of last resort",
                )
                .at(span, format!("{} given", count(args.len(), "argument")))
                .help("write `select(c, a, b)` or `select(c, a, d, b, e)`"),
            );
        }
        let mut result = args[args.len() - 1].clone();
        for pair in args[..args.len() - 1].chunks(2).rev() {
            result = (self.select_one(&pair[0], &pair[1], &result, span)?, span);
        }
        Ok(result.0)
    }

    fn select_one(
        &mut self,
        condition: &Spanned,
        yes: &Spanned,
        no: &Spanned,
        span: Span,
    ) -> Result<Value> {
        if let (Value::Tuple(a), Value::Tuple(b)) = (&yes.0, &no.0) {
            if a.len() != b.len() {
                return self.fail(
                    Diagnostic::error(
                        &codes::VALUE_COUNT,
                        "`select` between Tuples of different sizes",
                    )
                    .at(span, format!("{} values and {}", a.len(), b.len()))
                    .help("choose between Tuples of as many values"),
                );
            }
            let mut values = Vec::new();
            for (k, (&x, &y)) in a.iter().zip(b.iter()).enumerate() {
                let condition = match &condition.0 {
                    Value::Tuple(list) if list.len() == a.len() => {
                        (Value::Expr(list[k]), condition.1)
                    }
                    _ => condition.clone(),
                };
                let c = self.condition(&condition)?;
                let yes = (Value::Expr(x), yes.1);
                let no = (Value::Expr(y), no.1);
                values.push(self.select_values(c, &yes, &no, "select", span)?);
            }
            return Ok(Value::Tuple(values.into()));
        }
        let c = self.condition(condition)?;
        self.select_values(c, yes, no, "select", span).map(Value::Expr)
    }

    /// `select` on values of one type; an integer literal takes the type of the other value.
    pub(crate) fn select_values(
        &mut self,
        condition: Node,
        yes: &Spanned,
        no: &Spanned,
        name: &str,
        span: Span,
    ) -> Result<Node> {
        let (a, b) = self.same_type(yes, no, name)?;
        Ok(self.choose(condition, a, b, span))
    }

    /// Two values that must have one type, where a literal of signed integer type adapts.
    pub(crate) fn same_type(
        &mut self,
        a: &Spanned,
        b: &Spanned,
        name: &str,
    ) -> Result<(Node, Node)> {
        let mut x = self.expr_of(&a.0, a.1)?;
        let mut y = self.expr_of(&b.0, b.1)?;
        let signed_literal =
            |e: &Self, n: Node| e.hir.ty(n).is_signed() && e.hir.constant(n).is_some();
        if signed_literal(self, x) {
            x = self.cast(self.hir.ty(y), x, a.1);
        }
        if signed_literal(self, y) {
            y = self.cast(self.hir.ty(x), y, b.1);
        }
        let (tx, ty) = (self.hir.ty(x), self.hir.ty(y));
        if tx == ty {
            return Ok((x, y));
        }
        self.fail(
            Diagnostic::error(
                &codes::VALUE_TYPES,
                format!(
                    "the values of `{name}` have different types: {} and {}",
                    c_name(tx),
                    c_name(ty)
                ),
            )
            .at(b.1, format!("has type {}", c_name(ty)))
            .and(a.1, format!("has type {}", c_name(tx)))
            .help(format!("convert one of them: `cast<{}>(...)`", c_name(tx))),
        )
    }

    /// `mux(index, {a, b, c})`: the value at an index, the last one beyond the end.
    fn mux(&mut self, args: &[Spanned], span: Span) -> Result<Node> {
        self.take("mux", args, 2, span)?;
        let values: Vec<Spanned> = match &args[1].0 {
            Value::List(list) => list.to_vec(),
            Value::Tuple(nodes) => nodes.iter().map(|&n| (Value::Expr(n), args[1].1)).collect(),
            other => {
                let what = other.what();
                return self.fail(
                    Diagnostic::error(&codes::ARGUMENT_TYPE, "`mux` chooses from a list")
                        .at(args[1].1, format!("this is {what}"))
                        .help("write `mux(i, {a, b, c})`"),
                );
            }
        };
        let Some((last, rest)) = values.split_last() else {
            return self.fail(
                Diagnostic::error(&codes::VALUE_COUNT, "`mux` needs a value to choose")
                    .at(args[1].1, "an empty list")
                    .help("write what to choose from: `mux(i, {a, b, c})`"),
            );
        };
        let mut result = last.clone();
        for (k, value) in rest.iter().enumerate().rev() {
            let hit =
                self.binary(Op::Eq, span, &args[0], &(Value::Int(k as i64), args[0].1), span)?;
            let c = self.condition(&(hit, span))?;
            result = (Value::Expr(self.select_values(c, value, &result, "mux", span)?), span);
        }
        self.expr_of(&result.0, span)
    }

    /// The magnitude: of a signed integer, in the unsigned type of its width.
    fn abs(&mut self, x: Node, span: Span) -> Node {
        let ty = self.hir.ty(x);
        if ty.is_unsigned() {
            return x;
        }
        let result = if ty.is_float() { ty } else { unsigned(ty.bits()) };
        self.hir.push(NodeKind::Unary(UnaryOp::Abs, x), result, span)
    }

    fn absd(&mut self, a: Node, b: Node, span: Span) -> Node {
        let ty = self.hir.ty(a);
        if ty.is_float() {
            let difference = self.op(BinaryOp::Sub, a, b, span);
            return self.abs(difference, span);
        }
        // The greater minus the lesser, which fits the unsigned type.
        let greater = self.op(BinaryOp::Max, a, b, span);
        let lesser = self.op(BinaryOp::Min, a, b, span);
        let to = unsigned(ty.bits());
        let greater = self.cast(to, greater, span);
        let lesser = self.cast(to, lesser, span);
        self.op(BinaryOp::Sub, greater, lesser, span)
    }

    fn pow(&mut self, name: &str, args: &[Spanned], span: Span) -> Result<Node> {
        self.take(name, args, 2, span)?;
        let x = self.expr_of(&args[0].0, args[0].1)?;
        let y = self.expr_of(&args[1].0, args[1].1)?;
        if self.hir.ty(y).is_signed()
            && let Some(n) = self.hir.constant(y)
        {
            return self.integer_power(x, n, span);
        }
        let (x, y) =
            self.two_floats(&[(Value::Expr(x), args[0].1), (Value::Expr(y), args[1].1)])?;
        let op = if name == "pow" { Intrinsic::Pow } else { Intrinsic::FastPow };
        Ok(self.intrinsic(op, &[x, y], span))
    }

    /// A power by repeated squaring, in the order of multiplications that Halide has.
    fn integer_power(&mut self, x: Node, n: i64, span: Span) -> Result<Node> {
        let ty = self.hir.ty(x);
        if n == 0 {
            return Ok(self.hir.int(1, ty, span));
        }
        if n < 0 {
            let power = self.integer_power(x, -n, span)?;
            let one = self.hir.int(1, ty, span);
            return self.arithmetic(Op::Div, one, power, false, span);
        }
        // Halving n: an even n squares the power of x, an odd n also multiplies by the base.
        let mut halves = Vec::new();
        let mut m = n;
        while m > 1 {
            halves.push(m & 1 == 1);
            m >>= 1;
        }
        let mut power = x;
        for odd in halves.into_iter().rev() {
            power = self.op(BinaryOp::Mul, power, power, span);
            if odd {
                power = self.op(BinaryOp::Mul, power, x, span);
            }
        }
        Ok(power)
    }

    /// Integer division and remainder that round toward zero, as in C.
    fn round_to_zero(&mut self, name: &str, args: &[Spanned], span: Span) -> Result<Node> {
        self.take(name, args, 2, span)?;
        let (a, b) = self.operands(&args[0], &args[1])?;
        let ty = self.hir.ty(a);
        let op = if name.starts_with("div") { Op::Div } else { Op::Mod };
        if ty.is_float() {
            return self.fail(
                Diagnostic::error(&codes::OPERAND_TYPES, format!("`{name}` needs integers"))
                    .at(args[0].1, format!("has type {}", c_name(ty)))
                    .help(match op {
                        Op::Div => "of floats, write `trunc(a / b)`",
                        _ => "of floats, write `a - b * trunc(a / b)`",
                    }),
            );
        }
        if ty.is_unsigned() {
            return self.arithmetic(op, a, b, true, span);
        }
        // On magnitudes, then with the sign put back.
        let ua = self.abs(a, span);
        let ub = self.abs(b, span);
        let u = self.arithmetic(op, ua, ub, true, span)?;
        let magnitude = self.cast(ty, u, span);
        let zero = self.hir.int(0, ty, span);
        let negated = self.op(BinaryOp::Sub, zero, magnitude, span);
        let mut negative = self.compare(CompareOp::Lt, a, zero, span);
        if op == Op::Div {
            let other = self.compare(CompareOp::Lt, b, zero, span);
            negative = self.compare(CompareOp::Ne, negative, other, span);
        }
        Ok(self.choose(negative, negated, magnitude, span))
    }

    /// Conversion that stops at the ends of the type's range instead of wrapping.
    pub(crate) fn saturating_cast(&mut self, ty: ElementType, x: Node, span: Span) -> Node {
        let from = self.hir.ty(x);
        if from == ty || ty.is_float() {
            return self.cast(ty, x, span);
        }
        let (low, high) = ty.integer_range();
        if from.is_float() && ty.bits() == 32 {
            // The upper end is not a float: from the next power of two on, take it outright.
            let least = self.hir.float(low as f32, span);
            let x = self.op(BinaryOp::Max, x, least, span);
            let limit = self.hir.float(high as f32, span);
            let above = self.compare(CompareOp::Ge, x, limit, span);
            let top = self.hir.int(high, ty, span);
            let inner = self.cast(ty, x, span);
            return self.choose(above, top, inner, span);
        }
        let mut x = x;
        if from.is_float() || represents(from, high) {
            let top = self.hir.int(high, from, span);
            x = self.op(BinaryOp::Min, x, top, span);
        }
        if from.is_float() || (from.is_signed() && represents(from, low)) {
            let bottom = self.hir.int(low, from, span);
            x = self.op(BinaryOp::Max, x, bottom, span);
        }
        self.cast(ty, x, span)
    }
}
