//! Members and methods: `r.x`, `in.width()`, and which of them start a schedule.

use nbcc_base::nearest;
use nbcc_base::{Diagnostic, Failed, Span};
use nbcc_stages::{ElementType, Input};

use crate::codes;
use crate::elab::stmt::count;
use crate::elab::{Elab, ElementKind, Result};
use crate::pipeline::hir::NodeKind;
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::Ident;
use crate::value::{ArrayId, Value};

const RDOM_VARS: [&str; 4] = ["x", "y", "z", "w"];

impl Elab<'_> {
    /// `object.name` that is not called.
    pub(crate) fn member(&mut self, object: &Spanned, name: Ident) -> Result<Value> {
        let text = self.names.text(name.name).to_owned();
        if let Value::RDom(rdom) = object.0 {
            let dims = self.hir.rdoms[rdom].dims.len();
            return match RDOM_VARS.iter().position(|v| *v == text) {
                Some(n) if n < dims => Ok(Value::RVar(rdom, n as u32)),
                Some(_) => self.fail(
                    Diagnostic::error(
                        &codes::UNKNOWN_MEMBER,
                        format!("the RDom has no dimension `{text}`"),
                    )
                    .at(name.span, format!("it has {}", count(dims, "dimension")))
                    .help(format!(
                        "an RDom of more dimensions has more pairs: `{}`",
                        crate::helps::rdom(dims + 1)
                    )),
                ),
                None => self.unknown_member(&object.0, name, &RDOM_VARS),
            };
        }
        match object.0 {
            Value::Poison => return Err(Failed),
            Value::Unfollowed => return Ok(Value::Unfollowed),
            Value::Target if text == "bits" => return Ok(Value::Int(32)),
            Value::Target if matches!(text.as_str(), "arch" | "os") => {
                return Ok(Value::Text("near-bank".into()));
            }
            _ => {}
        }
        let help = format!("write `.{text}()`");
        let callable = matches!(
            object.0,
            Value::Func(_)
                | Value::Stage(..)
                | Value::Input(_)
                | Value::InputDim(..)
                | Value::FuncDim(..)
        );
        if callable {
            return self.fail(
                Diagnostic::error(&codes::UNKNOWN_MEMBER, format!("`{text}` must be called"))
                    .at(name.span, "not called")
                    .help(help),
            );
        }
        self.unknown_member(&object.0, name, &[])
    }

    pub(crate) fn unknown_member<T>(
        &mut self,
        object: &Value,
        name: Ident,
        known: &[&str],
    ) -> Result<T> {
        let text = self.names.text(name.name).to_owned();
        let what = object.what();
        let diagnostic =
            Diagnostic::error(&codes::UNKNOWN_MEMBER, format!("{what} has no `{text}`"))
                .at(name.span, "not known");
        let help = match nearest(&text, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => format!("leave out `.{text}`"),
            None => format!("it has {}", list(known)),
        };
        self.fail(diagnostic.help(help))
    }

    /// `object.name(args)`.
    pub(crate) fn method(
        &mut self,
        object: &Spanned,
        name: Ident,
        args: &[Spanned],
        span: Span,
    ) -> Result<Value> {
        match object.0 {
            Value::Func(func) => self.directive(func, None, name, args, span),
            Value::Stage(func, update) => self.directive(func, Some(update), name, args, span),
            Value::Input(input) => self.input_method(input, name, args, span),
            Value::InputDim(input, dim) => self.dimension_method(input, dim, name, args, span),
            Value::FuncDim(func, dim) => self.func_dimension_method(func, dim, name, args, span),
            Value::RDom(rdom) => {
                let text = self.names.text(name.name).to_owned();
                match text.as_str() {
                    "where" => {
                        self.take(&text, args, 1, span)?;
                        self.rdom_where(rdom, &args[0], span)?;
                        Ok(Value::Void)
                    }
                    "dimensions" => {
                        self.take(&text, args, 0, span)?;
                        Ok(Value::Int(self.hir.rdoms[rdom].dims.len() as i64))
                    }
                    _ => self.unknown_member(&object.0, name, &["where", "dimensions"]),
                }
            }
            Value::Type(ty) => self.type_method(ty, name, args, span),
            Value::Array(array) => self.array_method(array, name, args, span),
            Value::Expr(node) => {
                let text = self.names.text(name.name).to_owned();
                match text.as_str() {
                    "type" => {
                        self.take(&text, args, 0, span)?;
                        Ok(Value::Type(self.hir.ty(node)))
                    }
                    "set_estimate" | "set_range" | "set_min_value" | "set_max_value"
                        if matches!(self.hir.nodes[node].kind, NodeKind::Param(_)) =>
                    {
                        self.report(
                            Diagnostic::warning(
                                &codes::NO_EFFECT,
                                format!("`{text}` of a parameter has no effect"),
                            )
                            .at(name.span, "not followed")
                            .help("parameters are known when the program runs: `--param`"),
                        );
                        Ok(Value::Void)
                    }
                    "defined" => {
                        self.take(&text, args, 0, span)?;
                        Ok(Value::Bool(true))
                    }
                    _ => self.unknown_member(&object.0, name, &["type", "defined"]),
                }
            }
            Value::NoExpr if self.names.text(name.name) == "defined" => {
                self.take("defined", args, 0, span)?;
                Ok(Value::Bool(false))
            }
            Value::Var(var) if self.names.text(name.name) == "name" => {
                self.take("name", args, 0, span)?;
                Ok(Value::Text(self.names.text(var).into()))
            }
            Value::Poison => Err(Failed),
            ref other => {
                let other = other.clone();
                self.unknown_member(&other, name, &[])
            }
        }
    }

    /// Fails unless there are `want` arguments.
    pub(crate) fn take(
        &mut self,
        name: &str,
        args: &[Spanned],
        want: usize,
        span: Span,
    ) -> Result<()> {
        if args.len() == want {
            return Ok(());
        }
        let got = args.len();
        self.fail(
            Diagnostic::error(
                &codes::ARGUMENT_COUNT,
                format!("`{name}` takes {}, not {got}", count(want, "argument")),
            )
            .at(span, format!("{} given", count(got, "argument")))
            .help(crate::helps::usage(name, want)),
        )
    }

    fn extent(&mut self, input: Input, dim: u32, span: Span) -> Value {
        let kind = NodeKind::InputExtent(input, dim);
        Value::Expr(self.hir.push(kind, ElementType::I32, span))
    }

    fn input_method(
        &mut self,
        input: Input,
        name: Ident,
        args: &[Spanned],
        span: Span,
    ) -> Result<Value> {
        let text = self.names.text(name.name).to_owned();
        let dims = self.hir.inputs[input].dims;
        let dim = match text.as_str() {
            "width" => 0,
            "height" => 1,
            "channels" => 2,
            "left" | "top" => {
                self.take(&text, args, 0, span)?;
                return Ok(Value::Expr(self.hir.int(0, ElementType::I32, span)));
            }
            "right" | "bottom" => {
                self.take(&text, args, 0, span)?;
                let dim = u32::from(text == "bottom");
                if dim >= dims {
                    return self.no_such_extent(&text, dims, name.span);
                }
                return self.last_coordinate(input, dim, span);
            }
            "dimensions" => {
                self.take(&text, args, 0, span)?;
                return Ok(Value::Int(i64::from(dims)));
            }
            "type" => {
                self.take(&text, args, 0, span)?;
                return Ok(Value::Type(self.hir.inputs[input].ty));
            }
            "dim" => {
                self.take(&text, args, 1, span)?;
                let n = self.dimension_number("the input", dims as usize, &args[0])?;
                return Ok(Value::InputDim(input, n));
            }
            "set_estimates" => {
                self.take(&text, args, 1, span)?;
                let bounds = self.estimates_list(&args[0], dims as usize)?;
                for (dim, (min, extent)) in bounds.iter().enumerate() {
                    self.estimate(input, dim as u32, min, extent)?;
                }
                return Ok(Value::Input(input));
            }
            "set_estimate" => {
                self.take(&text, args, 3, span)?;
                let n = self.dimension_number("the input", dims as usize, &args[0])?;
                self.estimate(input, n, &args[1], &args[2])?;
                return Ok(Value::Input(input));
            }
            _ => {
                return self.unknown_member(
                    &Value::Input(input),
                    name,
                    &[
                        "width",
                        "height",
                        "channels",
                        "left",
                        "right",
                        "top",
                        "bottom",
                        "dim",
                        "dimensions",
                        "type",
                        "set_estimates",
                    ],
                );
            }
        };
        self.take(&text, args, 0, span)?;
        if dim >= dims {
            return self.no_such_extent(&text, dims, name.span);
        }
        Ok(self.extent(input, dim, span))
    }

    fn no_such_extent<T>(&mut self, text: &str, dims: u32, at: Span) -> Result<T> {
        self.fail(
            Diagnostic::error(&codes::UNKNOWN_MEMBER, format!("the input has no `{text}`"))
                .at(at, format!("it has {}", count(dims as usize, "dimension")))
                .help("declare it with more dimensions, or leave this out"),
        )
    }

    fn last_coordinate(&mut self, input: Input, dim: u32, span: Span) -> Result<Value> {
        let extent = (self.extent(input, dim, span), span);
        self.binary(crate::syntax::ast::Op::Sub, span, &extent, &(Value::Int(1), span), span)
    }

    /// The number of one of the `dims` dimensions that `what` has.
    pub(crate) fn dimension_number(
        &mut self,
        what: &str,
        dims: usize,
        value: &Spanned,
    ) -> Result<u32> {
        let n = self.constant_int(value, "the number of a dimension")?;
        if (0..dims as i32).contains(&n) {
            return Ok(n as u32);
        }
        self.fail(
            Diagnostic::error(&codes::UNKNOWN_MEMBER, format!("{what} has no dimension {n}"))
                .at(value.1, format!("it has {}", count(dims, "dimension")))
                .help(crate::helps::dimension_number(dims)),
        )
    }

    fn dimension_method(
        &mut self,
        input: Input,
        dim: u32,
        name: Ident,
        args: &[Spanned],
        span: Span,
    ) -> Result<Value> {
        let text = self.names.text(name.name).to_owned();
        match text.as_str() {
            "extent" => {
                self.take(&text, args, 0, span)?;
                Ok(self.extent(input, dim, span))
            }
            "min" => {
                self.take(&text, args, 0, span)?;
                Ok(Value::Expr(self.hir.int(0, ElementType::I32, span)))
            }
            "max" => {
                self.take(&text, args, 0, span)?;
                self.last_coordinate(input, dim, span)
            }
            "set_estimate" | "set_bounds_estimate" => {
                self.take(&text, args, 2, span)?;
                self.estimate(input, dim, &args[0], &args[1])?;
                Ok(Value::InputDim(input, dim))
            }
            "set_extent" => {
                self.take(&text, args, 1, span)?;
                self.fix_extent(input, dim, &(Value::Int(0), span), &args[0])?;
                Ok(Value::InputDim(input, dim))
            }
            "set_min" => {
                self.take(&text, args, 1, span)?;
                self.starts_at_zero(&args[0])?;
                Ok(Value::InputDim(input, dim))
            }
            "stride" => {
                self.take(&text, args, 0, span)?;
                let mut stride = (Value::Int(1), span);
                for k in 0..dim {
                    let extent = (self.extent(input, k, span), span);
                    stride.0 =
                        self.binary(crate::syntax::ast::Op::Mul, span, &stride, &extent, span)?;
                }
                Ok(stride.0)
            }
            "set_bounds" => {
                self.take(&text, args, 2, span)?;
                self.fix_extent(input, dim, &args[0], &args[1])?;
                Ok(Value::InputDim(input, dim))
            }
            "dim" => {
                self.take(&text, args, 1, span)?;
                let dims = self.hir.inputs[input].dims as usize;
                let n = self.dimension_number("the input", dims, &args[0])?;
                Ok(Value::InputDim(input, n))
            }
            _ => self.unknown_member(
                &Value::InputDim(input, dim),
                name,
                &[
                    "extent",
                    "min",
                    "max",
                    "stride",
                    "set_bounds",
                    "set_extent",
                    "set_estimate",
                    "dim",
                ],
            ),
        }
    }

    fn estimate(&mut self, input: Input, dim: u32, min: &Spanned, extent: &Spanned) -> Result<()> {
        let min = self.constant_int(min, "an estimate")?;
        let n = self.constant_int(extent, "an estimate")?;
        if n < 1 {
            return self.fail(
                Diagnostic::error(&codes::DIRECTIVE_SIZE, "an estimated extent below 1")
                    .at(extent.1, format!("this is {n}"))
                    .help(crate::helps::AT_LEAST_ONE),
            );
        }
        self.hir.inputs[input].estimates[dim as usize] = Some((min, n));
        Ok(())
    }

    /// `in.dim(k).set_bounds(0, n)`: images of another extent are refused.
    fn fix_extent(
        &mut self,
        input: Input,
        dim: u32,
        min: &Spanned,
        extent: &Spanned,
    ) -> Result<()> {
        self.starts_at_zero(min)?;
        if matches!(extent.0, Value::Expr(_)) {
            // It depends on what is known when the program runs, which takes images as they are.
            self.not_followed("set_bounds", "an image has the extent that it has", extent.1);
            return Ok(());
        }
        let n = self.constant_int(extent, "a bound of an input")?;
        if n < 1 {
            return self.fail(
                Diagnostic::error(&codes::DIRECTIVE_SIZE, "an input with an extent below 1")
                    .at(extent.1, format!("this is {n}"))
                    .help(crate::helps::AT_LEAST_ONE),
            );
        }
        self.hir.inputs[input].fixed[dim as usize] = Some((n as u32, extent.1));
        Ok(())
    }

    /// Fails for a minimum that is known not to be 0: images start there.
    pub(crate) fn starts_at_zero(&mut self, min: &Spanned) -> Result<()> {
        if let Value::Expr(node) = min.0
            && self.hir.constant(node).is_none()
        {
            self.not_followed("set_min", "an image starts at 0", min.1);
            return Ok(());
        }
        let first = match min.0 {
            Value::Expr(node) => self.hir.constant(node).unwrap_or(0),
            _ => i64::from(self.constant_int(min, "a bound of an input")?),
        };
        if first == 0 {
            return Ok(());
        }
        self.fail(
            Diagnostic::error(&codes::DIRECTIVE_SIZE, "an input that does not start at 0")
                .at(min.1, format!("this is {first}"))
                .help("write `0`, and count the coordinates of the image from there"),
        )
    }

    /// Methods of a `vector`.
    fn array_method(
        &mut self,
        array: ArrayId,
        name: Ident,
        args: &[Spanned],
        span: Span,
    ) -> Result<Value> {
        let text = self.names.text(name.name).to_owned();
        let length = self.arrays[array.0 as usize].len();
        match text.as_str() {
            "size" | "empty" => {
                self.take(&text, args, 0, span)?;
                Ok(match text.as_str() {
                    "size" => Value::Int(length as i64),
                    _ => Value::Bool(length == 0),
                })
            }
            "push_back" | "emplace_back" => {
                self.take(&text, args, 1, span)?;
                self.step(1, span)?;
                let ElementKind { word, c_type, .. } = self.array_kinds[array.0 as usize];
                let value = self.convert(word, c_type, &args[0])?;
                self.arrays[array.0 as usize].push(value);
                Ok(Value::Void)
            }
            "resize" => {
                self.take(&text, args, 1, span)?;
                let n = self.constant_int(&args[0], "the length of an array")?;
                self.resize(array, n.max(0) as u64, span)?;
                Ok(Value::Void)
            }
            "front" | "back" => {
                self.take(&text, args, 0, span)?;
                let n = if text == "front" { 0 } else { length.saturating_sub(1) };
                match self.arrays[array.0 as usize].get(n) {
                    Some(value) => Ok(value.clone()),
                    None => self.fail(
                        Diagnostic::error(&codes::INDEX_RANGE, "the vector is empty")
                            .at(span, "has no elements")
                            .help("add one: `push_back(...)`"),
                    ),
                }
            }
            _ => self.unknown_member(
                &Value::Array(array),
                name,
                &["push_back", "emplace_back", "resize", "size", "empty", "front", "back"],
            ),
        }
    }

    /// `{{min, extent}, ...}`, one pair a dimension; `Expr()` pairs are given as they are.
    pub(crate) fn bounds_list(
        &mut self,
        value: &Spanned,
        dims: usize,
    ) -> Result<Vec<(Spanned, Spanned)>> {
        let mut bounds = Vec::new();
        if let Value::List(list) = &value.0 {
            for (pair, _) in list.iter() {
                match pair {
                    Value::List(pair) if pair.len() == 2 => {
                        bounds.push((pair[0].clone(), pair[1].clone()));
                    }
                    _ => {}
                }
            }
            if bounds.len() == list.len() && bounds.len() <= dims && !bounds.is_empty() {
                return Ok(bounds);
            }
        }
        self.fail(
            Diagnostic::error(
                &codes::BOUNDS_LIST,
                format!("bounds are a list of pairs of minimum and extent, at most {dims}"),
            )
            .at(value.1, "not such a list")
            .help("write `{{0, w}, {0, h}}`"),
        )
    }

    /// The same where every dimension needs its pair.
    pub(crate) fn estimates_list(
        &mut self,
        value: &Spanned,
        dims: usize,
    ) -> Result<Vec<(Spanned, Spanned)>> {
        let bounds = self.bounds_list(value, dims)?;
        if bounds.len() == dims {
            return Ok(bounds);
        }
        let message = "estimates are needed for every dimension";
        let given = count(bounds.len(), "pair");
        self.fail(
            Diagnostic::error(&codes::BOUNDS_LIST, message)
                .at(value.1, format!("{given} for {}", count(dims, "dimension")))
                .help("write `set_estimate(x, 0, 1024)` for some of them"),
        )
    }

    fn type_method(
        &mut self,
        ty: ElementType,
        name: Ident,
        args: &[Spanned],
        span: Span,
    ) -> Result<Value> {
        let text = self.names.text(name.name).to_owned();
        self.take(&text, args, 0, span)?;
        Ok(match text.as_str() {
            "min" => Value::Expr(self.least(ty, span)),
            "max" => Value::Expr(self.greatest(ty, span)),
            "bits" => Value::Int(i64::from(ty.bits())),
            "bytes" => Value::Int(i64::from(ty.bits().div_ceil(8))),
            "is_bool" => Value::Bool(ty == ElementType::Bool),
            "is_float" => Value::Bool(ty.is_float()),
            "is_int" => Value::Bool(ty.is_signed()),
            "is_uint" => Value::Bool(ty.is_unsigned()),
            _ => {
                return self.unknown_member(&Value::Type(ty), name, &["min", "max", "bits"]);
            }
        })
    }

    /// The least value of a type, as a literal.
    pub(crate) fn least(&mut self, ty: ElementType, span: Span) -> crate::pipeline::hir::Node {
        if ty.is_float() {
            self.hir.float(f32::NEG_INFINITY, span)
        } else {
            self.hir.int(ty.integer_range().0, ty, span)
        }
    }

    /// The greatest value of a type, as a literal.
    pub(crate) fn greatest(&mut self, ty: ElementType, span: Span) -> crate::pipeline::hir::Node {
        if ty.is_float() {
            self.hir.float(f32::INFINITY, span)
        } else {
            self.hir.int(ty.integer_range().1, ty, span)
        }
    }
}

/// `a`, `b` and `c`.
pub(crate) fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.join(""),
    }
}
