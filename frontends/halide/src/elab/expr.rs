//! Expressions of the compile-time language. Left operands, callees and indexed values are walked
//! in a loop, so that long sums and chains of calls cost no stack.

use nbcc_base::{Diagnostic, Failed, Span};
use nbcc_stages::{ElementType, InputData};

use crate::codes;
use crate::elab::stmt::count;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::{FuncId, Node, NodeKind};
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::{CastKind, ExprId, ExprKind, Prefix, Symbol, TypeName, TypeWord};
use crate::value::constant;
use crate::value::types::{CType, c_name};
use crate::value::{ArrayId, Value};
use nbcc_base::nearest;

impl Elab<'_> {
    /// The value of an expression and where it stands.
    pub(crate) fn spanned(&mut self, id: ExprId) -> Result<Spanned> {
        let span = self.ast.exprs[id].span;
        let value = self.deeper(span, |e| e.spine(id))?;
        Ok((value, span))
    }

    /// Evaluates an expression from the bottom of its left spine up.
    fn spine(&mut self, id: ExprId) -> Result<Value> {
        let mut path = vec![id];
        let mut at = id;
        loop {
            at = match &self.ast.exprs[at].kind {
                ExprKind::Binary(_, _, left, _) | ExprKind::Index(left, _) => *left,
                ExprKind::Call(callee, _) => match self.ast.exprs[*callee].kind {
                    ExprKind::Member(object, _) => {
                        path.push(*callee);
                        object
                    }
                    ExprKind::Name(_) => break,
                    _ => *callee,
                },
                ExprKind::Member(object, _) => *object,
                _ => break,
            };
            path.push(at);
        }
        let leaf = path.pop().expect("the path has the expression itself");
        let mut value = self.leaf(leaf)?;
        let mut below = leaf;
        while let Some(id) = path.pop() {
            let span = self.ast.exprs[id].span;
            let left = (value, self.ast.exprs[below].span);
            below = id;
            value = match &self.ast.exprs[id].kind {
                ExprKind::Binary(op, at, _, right) => {
                    let right = self.spanned(*right)?;
                    self.binary(*op, *at, &left, &right, span)?
                }
                ExprKind::Index(_, index) => {
                    let index = self.spanned(*index)?;
                    self.index(&left, &index, span)?
                }
                ExprKind::Call(_, args) => {
                    let args = self.arguments(args)?;
                    self.call_value(&left, &args, span)?
                }
                ExprKind::Member(_, member) => {
                    let called = path.last().map(|&p| &self.ast.exprs[p].kind);
                    if let Some(ExprKind::Call(callee, args)) = called
                        && *callee == id
                    {
                        let call = path.pop().expect("the call is next");
                        below = call;
                        let whole = self.ast.exprs[call].span;
                        // An unknown method is the mistake, not the names in its arguments.
                        if let Some(same) = self.unfollowed(&left, *member)? {
                            value = same;
                            continue;
                        }
                        self.known_method(&left, *member)?;
                        let args = self.arguments(args)?;
                        self.method(&left, *member, &args, whole)?
                    } else {
                        self.member(&left, *member)?
                    }
                }
                _ => unreachable!("only these have a left part"),
            };
        }
        Ok(value)
    }

    fn arguments(&mut self, args: &[ExprId]) -> Result<Vec<Spanned>> {
        args.iter().map(|&a| self.spanned(a)).collect()
    }

    fn leaf(&mut self, id: ExprId) -> Result<Value> {
        let span = self.ast.exprs[id].span;
        match &self.ast.exprs[id].kind {
            ExprKind::Int => self.integer_literal(span),
            ExprKind::Float => {
                let text = self.text(span);
                let digits = text.trim_end_matches(['f', 'F']);
                let value: f32 = digits.parse().unwrap_or(f32::INFINITY);
                self.finite(value.is_finite(), span)?;
                Ok(Value::Float(value))
            }
            ExprKind::Double => {
                let value: f64 = self.text(span).parse().unwrap_or(f64::INFINITY);
                self.finite(value.is_finite(), span)?;
                Ok(Value::Double(value))
            }
            ExprKind::Text => {
                let text = self.text(span);
                let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
                Ok(Value::Text(inner.into()))
            }
            ExprKind::Bool(b) => Ok(Value::Bool(*b)),
            ExprKind::Name(name) => self.name_value(*name, span),
            ExprKind::TargetName => Ok(Value::Text(self.text(span).into())),
            ExprKind::Type(ty) => match ty.word {
                TypeWord::C => self.element_type(**ty).map(Value::Type),
                _ => {
                    let text = self.text(ty.span);
                    self.fail(
                        Diagnostic::error(&codes::CONVERSION, "not a type of elements")
                            .at(ty.span, format!("`{text}` is none"))
                            .help("write `float`, `uint8_t` or the like"),
                    )
                }
            },
            ExprKind::Unary(ops, operand) => {
                let mut value = self.spanned(*operand)?;
                for (op, at) in ops.iter().rev() {
                    let whole = at.to(value.1);
                    value.0 = match op {
                        Prefix::CCast => self.c_cast(*at, &value)?,
                        op => self.prefix(*op, &value, whole)?,
                    };
                    value.1 = whole;
                }
                Ok(value.0)
            }
            ExprKind::Ternary(condition, yes, no) => {
                let (value, at) = self.spanned(*condition)?;
                if value.is_number() {
                    let chosen = if constant::truth(&value) { *yes } else { *no };
                    return Ok(self.spanned(chosen)?.0);
                }
                self.not_constant(&value, at, "the condition of `?:`")
            }
            ExprKind::Call(callee, args) => {
                let callee_span = self.ast.exprs[*callee].span;
                let ExprKind::Name(name) = self.ast.exprs[*callee].kind else {
                    unreachable!("other callees are on the spine")
                };
                let args = self.arguments(args)?;
                self.call_name(name, callee_span, &args, span)
            }
            ExprKind::Cast(kind, ty, args) => {
                let args = self.arguments(args)?;
                self.cast_call(*kind, ty.as_deref().copied(), &args, span)
            }
            ExprKind::Construct(ty, args) => {
                let args = self.arguments(args)?;
                self.construct(**ty, &args, span)
            }
            ExprKind::List(list) => Ok(Value::List(self.arguments(list)?.into())),
            ExprKind::Binary(..) | ExprKind::Index(..) | ExprKind::Member(..) => {
                unreachable!("these are on the spine")
            }
        }
    }

    fn finite(&mut self, finite: bool, span: Span) -> Result<()> {
        if finite {
            return Ok(());
        }
        self.fail(
            Diagnostic::error(&codes::NUMBER, "the number is too large")
                .at(span, "more than a float can hold")
                .help("write a number up to `3.4e38f`"),
        )
    }

    fn integer_literal(&mut self, span: Span) -> Result<Value> {
        let text = self.text(span);
        let parsed = if let Some(hex) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
            i64::from_str_radix(hex, 16)
        } else if text.len() > 1 && text.starts_with('0') {
            return self.fail(
                Diagnostic::error(&codes::NUMBER, format!("`{text}` would be an octal number"))
                    .at(span, "starts with 0")
                    .help("leave out the leading zeros, or write 0x for a hexadecimal number"),
            );
        } else {
            text.parse()
        };
        match parsed {
            Ok(n) => Ok(Value::Int(n)),
            Err(_) => self.fail(
                Diagnostic::error(&codes::NUMBER, "the number is too large")
                    .at(span, "an int holds up to 2147483647")
                    .help(crate::helps::SMALLER_INT),
            ),
        }
    }

    /// The value of a name.
    pub(crate) fn name_value(&mut self, name: Symbol, span: Span) -> Result<Value> {
        if let Some(slot) = self.lookup(name) {
            return match &self.slots[slot].value {
                Value::Poison => Err(Failed),
                value => Ok(value.clone()),
            };
        }
        let text = self.names.text(name).to_owned();
        match text.as_str() {
            "M_PI" => return Ok(Value::Double(std::f64::consts::PI)),
            // What generators of the first kind ask.
            "auto_schedule" if self.generator.is_some() => return Ok(Value::Bool(false)),
            "_" => return Ok(Value::Var(name)),
            _ => {}
        }
        let implicit = text.strip_prefix('_').is_some_and(|n| {
            !n.is_empty() && n.len() <= 2 && n.bytes().all(|b| b.is_ascii_digit())
        });
        if self.facts.vars.contains(&name) || implicit {
            return Ok(Value::Var(name));
        }
        if let Some(input) = self.implicit_input(name, &[], span)? {
            return Ok(Value::Input(input));
        }
        self.unknown_name(&text, span)
    }

    /// The error for a name that is not known.
    pub(crate) fn unknown_name<T>(&mut self, text: &str, span: Span) -> Result<T> {
        let symbol = self.names.intern(text);
        if self.aborted || self.lost.contains(&symbol) {
            return Err(Failed);
        }
        if self.facts.defined.contains(&symbol) && !self.facts.declared.contains(&symbol) {
            return self.fail(crate::elab::stmt::undeclared(text, span));
        }
        let elsewhere = self.facts.declared.contains(&symbol);
        let diagnostic = if elsewhere {
            Diagnostic::error(&codes::UNKNOWN_NAME, format!("`{text}` is not declared here"))
                .at(span, "declared elsewhere, or only later")
        } else {
            Diagnostic::error(&codes::UNKNOWN_NAME, format!("`{text}` is not declared"))
                .at(span, "not a known name")
        };
        let help = match nearest(text, self.known_names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if elsewhere => "move its declaration before this, out of the block or function \
                                  that it stands in"
                .to_owned(),
            None => format!("declare it: `const int {text} = 1;`, or a `Param<float>`"),
        };
        self.fail(diagnostic.help(help))
    }

    /// The input that an undeclared name stands for where it is used as an image is.
    fn implicit_input(
        &mut self,
        name: Symbol,
        args: &[Spanned],
        span: Span,
    ) -> Result<Option<nbcc_stages::Input>> {
        if self.facts.image != Some(name) || !args.iter().all(is_coordinate) {
            return Ok(None);
        }
        if let Some((input, _)) = self.implicit_input {
            return Ok(Some(input));
        }
        let Some(&(dims, call)) = self.facts.calls.get(&name) else { return Ok(None) };
        if dims == 0 {
            return Ok(None);
        }
        let text = self.names.text(name).to_owned();
        if dims > crate::elab::decl::MAX_DIMENSIONS as usize {
            return self.fail(
                Diagnostic::error(
                    &codes::DIMENSIONS,
                    format!("an input image cannot have {dims} dimensions"),
                )
                .at(call, format!("from 1 to {} are supported", crate::elab::decl::MAX_DIMENSIONS))
                .help(crate::helps::FEWER_DIMENSIONS),
            );
        }
        let input = self.hir.inputs.push(InputData {
            name: text,
            ty: ElementType::F32,
            dims: dims as u32,
            repeat_edge: true,
            estimates: vec![None; dims],
            fixed: vec![None; dims],
            span,
        });
        self.implicit_input = Some((input, span));
        Ok(Some(input))
    }

    /// Warns of the input that is not declared.
    pub(crate) fn tell_implicit_input(&mut self) {
        let Some((input, span)) = self.implicit_input else { return };
        let data = &self.hir.inputs[input];
        let (name, dims) = (data.name.clone(), data.dims as usize);
        self.report(
            Diagnostic::warning(
                &codes::IMPLICIT_INPUT,
                format!(
                    "`{name}` is not declared: it is an input image of float with {}",
                    count(dims, "dimension")
                ),
            )
            .at(span, "an input, read with its edges repeated")
            .help(declare_input(&name, dims)),
        );
    }

    fn c_cast(&mut self, at: Span, value: &Spanned) -> Result<Value> {
        let ty = TypeName { word: TypeWord::C, span: at };
        if value.0.is_number() {
            let c_type = self.c_type_of(ty)?;
            // A conversion that is asked for keeps the lowest bits.
            if let (Some(CType::Element(ElementType::I32)), Value::Int(n)) = (c_type, &value.0) {
                return Ok(Value::Int(ElementType::I32.wrap(*n)));
            }
            return self.convert(TypeWord::C, c_type, value);
        }
        let text = self.text(at);
        self.fail(
            Diagnostic::error(&codes::CONVERSION, "an Expr cannot be converted in this way")
                .at(at, "a C conversion")
                .help(format!("write `cast<{text}>(...)`")),
        )
    }

    fn index(&mut self, base: &Spanned, index: &Spanned, span: Span) -> Result<Value> {
        match &base.0 {
            Value::Array(id) => {
                let n = self.array_index(*id, index)?;
                match &self.arrays[id.0 as usize][n] {
                    Value::Poison => Err(Failed),
                    value => Ok(value.clone()),
                }
            }
            Value::Tuple(nodes) => {
                let n = self.tuple_index(nodes.len(), index)?;
                Ok(Value::Expr(nodes[n]))
            }
            Value::List(list) => {
                let n = self.constant_int(index, "the index of a list")?;
                match usize::try_from(n).ok().and_then(|n| list.get(n)) {
                    Some((value, _)) => Ok(value.clone()),
                    None => self.out_of_range(n, list.len(), "list", index.1),
                }
            }
            Value::RDom(rdom) => {
                let dims = self.hir.rdoms[*rdom].dims.len();
                let n = self.constant_int(index, "the index of an RDom")?;
                if (0..dims as i32).contains(&n) {
                    Ok(Value::RVar(*rdom, n as u32))
                } else {
                    self.out_of_range(n, dims, "RDom", index.1)
                }
            }
            other => {
                let what = other.what();
                let help = match other {
                    Value::Expr(_) => "only a Func of several values has values to choose from",
                    _ => "an array is declared as in `Func f[3];`",
                };
                self.fail(
                    Diagnostic::error(&codes::NOT_INDEXED, format!("{what} cannot be indexed"))
                        .at(span, format!("this is an element of {what}"))
                        .help(help),
                )
            }
        }
    }

    fn out_of_range<T>(&mut self, n: i32, len: usize, what: &str, at: Span) -> Result<T> {
        self.fail(
            Diagnostic::error(&codes::INDEX_RANGE, format!("index {n} is outside the {what}"))
                .at(at, format!("its indices are 0 to {}", len.saturating_sub(1)))
                .help(crate::helps::index(what, len)),
        )
    }

    /// The index of a Tuple's value, checked.
    pub(crate) fn tuple_index(&mut self, len: usize, index: &Spanned) -> Result<usize> {
        let n = self.constant_int(index, "the index of a Tuple")?;
        if (0..len as i64).contains(&i64::from(n)) {
            return Ok(n as usize);
        }
        self.out_of_range(n, len, "Tuple", index.1)
    }

    /// The index of an array element, checked.
    pub(crate) fn array_index(&mut self, array: ArrayId, index: &Spanned) -> Result<usize> {
        let len = self.arrays[array.0 as usize].len();
        let n = self.constant_int(index, "the index of an array")?;
        if (0..len as i64).contains(&i64::from(n)) {
            return Ok(n as usize);
        }
        self.out_of_range(n, len, "array", index.1)
    }

    /// A name that is called.
    fn call_name(&mut self, name: Symbol, at: Span, args: &[Spanned], span: Span) -> Result<Value> {
        if let Some(slot) = self.lookup(name) {
            let value = match &self.slots[slot].value {
                Value::Poison => return Err(Failed),
                value => value.clone(),
            };
            return self.call_value(&(value, at), args, span);
        }
        if let Some(&item) = self.functions.get(&name) {
            let crate::syntax::ast::StmtKind::Function(function) = &self.ast.stmts[item].kind
            else {
                unreachable!("functions hold functions")
            };
            return self.call_function(function, args, span);
        }
        let text = self.names.text(name).to_owned();
        if let Some(value) = self.builtin(&text, at, args, span)? {
            return Ok(value);
        }
        if let Some(input) = self.implicit_input(name, args, at)? {
            return self.call_value(&(Value::Input(input), at), args, span);
        }
        if self.aborted || self.lost.contains(&name) {
            return Err(Failed);
        }
        if self.facts.defined.contains(&name) && !self.facts.declared.contains(&name) {
            return self.fail(crate::elab::stmt::undeclared(&text, at));
        }
        let mut diagnostic = if self.facts.declared.contains(&name) {
            Diagnostic::error(&codes::UNKNOWN_FUNCTION, format!("`{text}` is not declared here"))
                .at(at, "declared elsewhere, or only later")
        } else {
            Diagnostic::error(
                &codes::UNKNOWN_FUNCTION,
                format!("the function `{text}` is not defined"),
            )
            .at(at, "neither a Func, an input nor a function")
        };
        const SHORTEST: usize = 3;
        let mut known: Vec<&str> = self.known_names();
        if text.len() >= SHORTEST {
            known.extend(crate::pipeline::builtins::NAMES);
        }
        let near = nearest(&text, known).map(str::to_owned);
        let dims = self.facts.calls.get(&name).map_or(0, |&(dims, _)| dims);
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if self.facts.declared.contains(&name) => {
                "move its declaration before this".to_owned()
            }
            None if (1..=crate::elab::decl::MAX_DIMENSIONS as usize).contains(&dims)
                && args.iter().all(is_coordinate) =>
            {
                format!("if it is an input image, {}", declare_input(&text, dims))
            }
            None => "correct the name, or define it before this".to_owned(),
        };
        diagnostic = diagnostic.help(help);
        self.fail(diagnostic)
    }

    /// Calls a value: an element of a Func or an input.
    fn call_value(&mut self, callee: &Spanned, args: &[Spanned], span: Span) -> Result<Value> {
        match callee.0 {
            Value::Func(func) => self.call_func(func, callee.1, args, span),
            Value::Input(input) => self.load(input, args, span),
            Value::Poison => Err(Failed),
            ref other => {
                let what = other.what();
                self.fail(
                    Diagnostic::error(&codes::NOT_CALLED, format!("{what} cannot be called"))
                        .at(callee.1, format!("this is {what}"))
                        .help("Funcs, inputs and functions can be called"),
                )
            }
        }
    }

    /// Coordinates, with `_` replaced by the implicit Vars that fill up `dims` dimensions.
    pub(crate) fn coordinates(
        &mut self,
        name: &str,
        dims: usize,
        args: &[Spanned],
        span: Span,
    ) -> Result<Vec<Node>> {
        let placeholder = args.iter().position(|a| self.is_placeholder(&a.0));
        let fits = match placeholder {
            Some(_) => args.len() - 1 <= dims,
            None => args.len() == dims,
        };
        if !fits {
            let given = args.len() - usize::from(placeholder.is_some());
            return self.fail(
                Diagnostic::error(
                    &codes::COORDINATE_COUNT,
                    format!(
                        "`{name}` has {}, but is called with {given}",
                        count(dims, "dimension")
                    ),
                )
                .at(span, format!("{} given", count(given, "coordinate")))
                .help(match given < dims {
                    true => format!(
                        "write `{name}({})`; `_` stands for all that are left",
                        crate::helps::coordinates(dims)
                    ),
                    false => format!("write `{name}({})`", crate::helps::coordinates(dims)),
                }),
            );
        }
        let mut nodes = Vec::with_capacity(dims);
        for (i, (value, at)) in args.iter().enumerate() {
            if Some(i) == placeholder {
                for k in 0..dims + 1 - args.len() {
                    let var = self.implicit_var(k);
                    nodes.push(self.expr_of(&Value::Var(var), *at)?);
                }
                continue;
            }
            let node = self.expr_of(value, *at)?;
            nodes.push(self.coordinate(node, &format!("`{name}`"))?);
        }
        Ok(nodes)
    }

    /// Whether a value is `_`.
    pub(crate) fn is_placeholder(&self, value: &Value) -> bool {
        matches!(value, Value::Var(v) if self.names.text(*v) == "_")
    }

    /// The Var `_k`.
    pub(crate) fn implicit_var(&mut self, k: usize) -> Symbol {
        self.names.intern(&format!("_{k}"))
    }

    /// An element of an input.
    fn load(&mut self, input: nbcc_stages::Input, args: &[Spanned], span: Span) -> Result<Value> {
        let data = &self.hir.inputs[input];
        let (name, dims, ty) = (data.name.clone(), data.dims as usize, data.ty);
        let nodes = self.coordinates(&name, dims, args, span)?;
        self.work(1, span)?;
        Ok(Value::Expr(self.hir.push(NodeKind::Load(input, nodes.into()), ty, span)))
    }

    /// An element of a Func: one expression, or a Tuple of a Func of several values.
    pub(crate) fn call_func(
        &mut self,
        func: FuncId,
        at: Span,
        args: &[Spanned],
        span: Span,
    ) -> Result<Value> {
        let info = &self.hir.funcs[func];
        if info.poisoned {
            return Err(Failed);
        }
        let input = self.input_funcs.iter().find(|(_, f)| **f == func).map(|(i, _)| *i);
        let name = match input {
            Some(input) if info.anonymous => self.hir.inputs[input].name.clone(),
            _ => info.name.clone(),
        };
        if info.pure.is_none() {
            if self.aborted {
                return Err(Failed);
            }
            let declared = info.span;
            if self.defining == Some(func) {
                return self.fail(
                    Diagnostic::error(
                        &codes::SELF_CALL,
                        format!("the pure definition of `{name}` calls `{name}` itself"),
                    )
                    .at(span, "not defined yet")
                    .help("give it a value first, then refer to itself in an update over an RDom"),
                );
            }
            return self.fail(
                Diagnostic::error(
                    &codes::UNDEFINED_FUNC,
                    format!("`{name}` is called before it is defined"),
                )
                .at(at, "has no definition yet")
                .and(declared, "declared here")
                .help(crate::helps::define_first(&name)),
            );
        }
        let (dims, types) = (info.vars.len(), info.types.clone());
        let nodes: Box<[Node]> = self.coordinates(&name, dims, args, span)?.into();
        self.work(types.len() as u64, span)?;
        let values: Vec<Node> = types
            .iter()
            .enumerate()
            .map(|(k, &ty)| self.hir.push(NodeKind::Call(func, k as u32, nodes.clone()), ty, span))
            .collect();
        Ok(match values.as_slice() {
            [one] => Value::Expr(*one),
            _ => Value::Tuple(values.into()),
        })
    }

    fn cast_call(
        &mut self,
        kind: CastKind,
        ty: Option<TypeName>,
        args: &[Spanned],
        span: Span,
    ) -> Result<Value> {
        let (ty, args) = match (ty, args) {
            (Some(ty), [value]) if kind == CastKind::Static && ty.word == TypeWord::C => {
                return self.c_cast(ty.span, value);
            }
            (Some(ty), args) if kind == CastKind::Static => {
                return self.construct(ty, args, span);
            }
            (Some(ty), args) => match self.c_type_of(ty)? {
                Some(CType::Element(element)) => (element, args),
                Some(_) => {
                    let name = self.text(ty.span);
                    return self.fail(crate::elab::stmt::refused(name, "64-bit types", ty.span));
                }
                None => {
                    return self.fail(
                        Diagnostic::error(&codes::CONVERSION, "not a type of elements")
                            .at(ty.span, "an Expr cannot be converted to this")
                            .help("write `cast<float>(...)`, `cast<uint8_t>(...)` or the like"),
                    );
                }
            },
            (None, [(Value::Type(ty), _), rest @ ..]) if kind != CastKind::Static => (*ty, rest),
            (None, _) => {
                return self.fail(
                    Diagnostic::error(&codes::CONVERSION, "the type to convert to is missing")
                        .at(span, "convert to what?")
                        .help("write `cast<float>(...)` or `cast(Float(32), ...)`"),
                );
            }
        };
        let [value] = args else {
            return self.fail(
                Diagnostic::error(
                    &codes::ARGUMENT_COUNT,
                    format!("a conversion takes 1 argument, not {}", args.len()),
                )
                .at(span, format!("{} given", count(args.len(), "argument")))
                .help(crate::helps::conversion(c_name(ty))),
            );
        };
        let node = match value.0 {
            // A double literal is exact enough to be converted at compile time.
            Value::Double(d) if ty.is_float() => self.hir.float(d as f32, value.1),
            Value::Double(d) => self.hir.int(d as i64, ty, value.1),
            _ => self.expr_of(&value.0, value.1)?,
        };
        self.work(1, span)?;
        Ok(Value::Expr(match kind {
            CastKind::Cast | CastKind::Static => self.cast(ty, node, span),
            CastKind::Saturating => self.saturating_cast(ty, node, span),
            CastKind::Reinterpret => {
                let from = self.hir.ty(node);
                if from.bits() != ty.bits() {
                    return self.fail(
                        Diagnostic::error(
                            &codes::CONVERSION,
                            format!("{} and {} differ in width", c_name(from), c_name(ty)),
                        )
                        .at(span, format!("{} bits as {} bits", from.bits(), ty.bits()))
                        .help(format!(
                            "write a type of {} bits, or convert the value: `cast<{}>(...)`",
                            from.bits(),
                            c_name(ty)
                        )),
                    );
                }
                if from == ty { node } else { self.hir.push(NodeKind::Reinterpret(node), ty, span) }
            }
        }))
    }

    /// A type called like a function.
    fn construct(&mut self, ty: TypeName, args: &[Spanned], span: Span) -> Result<Value> {
        match ty.word {
            TypeWord::C => {
                let [value] = args else {
                    return self.fail(
                        Diagnostic::error(
                            &codes::ARGUMENT_COUNT,
                            format!("a conversion takes 1 argument, not {}", args.len()),
                        )
                        .at(span, format!("{} given", count(args.len(), "argument")))
                        .help(crate::helps::conversion(self.text(ty.span))),
                    );
                };
                if value.0.is_number() {
                    let c_type = self.c_type_of(ty)?;
                    return self.convert(TypeWord::C, c_type, value);
                }
                self.cast_call(CastKind::Cast, Some(ty), args, span)
            }
            TypeWord::Tuple => match args {
                [value @ (Value::Tuple(_), _)] => Ok(value.0.clone()),
                _ => self.convert(TypeWord::Tuple, None, &(Value::List(args.into()), span)),
            },
            TypeWord::Expr => match args {
                [] => Ok(Value::NoExpr),
                [value] => self.convert(TypeWord::Expr, None, value),
                _ => self.construct_count(ty, span),
            },
            TypeWord::Func => match args {
                [] => Ok(Value::Func(self.new_func("f", span))),
                [(Value::Text(text), _)] => {
                    let text = text.clone();
                    Ok(Value::Func(self.new_func(&text, span)))
                }
                [value] => self.convert(TypeWord::Func, None, value),
                _ => self.construct_count(ty, span),
            },
            TypeWord::Var => match args {
                [(Value::Text(text), _)] => Ok(Value::Var(self.names.intern(text))),
                [value] => self.convert(TypeWord::Var, None, value),
                _ => self.construct_count(ty, span),
            },
            TypeWord::Type | TypeWord::Text | TypeWord::Target if args.len() == 1 => {
                self.convert(ty.word, None, &args[0])
            }
            TypeWord::RDom => {
                self.step(1, span)?;
                let mut args = args.to_vec();
                let name = match args.iter().position(|a| matches!(a.0, Value::Text(_))) {
                    Some(at) => match args.remove(at).0 {
                        Value::Text(text) => text.to_string(),
                        _ => unreachable!("found as a text"),
                    },
                    None => "r".to_owned(),
                };
                self.rdom(name, &args, span, span)
            }
            TypeWord::RVar
            | TypeWord::ImageParam
            | TypeWord::Type
            | TypeWord::Target
            | TypeWord::Text
            | TypeWord::Unfollowed
            | TypeWord::Void
            | TypeWord::Auto => {
                let text = self.text(ty.span);
                self.fail(
                    Diagnostic::error(
                        &codes::UNSUPPORTED,
                        format!("a `{text}` cannot be made inside an expression"),
                    )
                    .at(span, "give it a name first")
                    .help(format!("give it a statement of its own, as in `{text} name(...);`")),
                )
            }
        }
    }

    fn construct_count<T>(&mut self, ty: TypeName, span: Span) -> Result<T> {
        let text = self.text(ty.span);
        self.fail(
            Diagnostic::error(
                &codes::ARGUMENT_COUNT,
                format!("wrong number of arguments for `{text}`"),
            )
            .at(span, "takes 1 argument")
            .help(match ty.word {
                TypeWord::Var => "write `Var(\"x\")`".to_owned(),
                _ => format!("write `{text}(a)`"),
            }),
        )
    }
}

/// How an image that a file uses without a declaration is declared, with its edges repeated.
fn declare_input(name: &str, dims: usize) -> String {
    format!(
        "declare it: `ImageParam {name}_image(Float(32), {dims}, \"{name}\"); \
         Func {name} = BoundaryConditions::repeat_edge({name}_image);`"
    )
}

/// Whether an argument can be a coordinate of an image.
fn is_coordinate(arg: &Spanned) -> bool {
    matches!(
        arg.0,
        Value::Int(_) | Value::Expr(_) | Value::Var(_) | Value::RVar(..) | Value::RDom(_)
    )
}
