//! Declarations: what each kind of variable is made of, and conversions to its type.

use nbcc_base::{Diagnostic, Failed, Span};
use nbcc_stages::{ElementType, InputData, Literal, ParamData};

use crate::codes;
use crate::elab::stmt::{count, is_handle};
use crate::elab::{Elab, Result, Slot};
use crate::pipeline::hir::{Declared, NodeKind, RDomInfo};
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::{DeclKind, Declaration, Declarator, ExprId, Init, Op, TypeName, TypeWord};
use crate::value::constant;
use crate::value::types::{CType, c_name};
use crate::value::{ArrayId, Value};

/// Images and Funcs have at most this many dimensions.
pub(crate) const MAX_DIMENSIONS: i32 = 16;

/// Type and number of dimensions of a buffer, as far as they are said.
type Shape = (Option<(ElementType, Span)>, Option<Spanned>);

impl Elab<'_> {
    /// Runs a declaration. After an error its other names are still declared, the faulty one as
    /// poisoned.
    pub(crate) fn declaration(&mut self, declaration: &Declaration) -> Result<()> {
        let Declaration { is_const, kind, .. } = *declaration;
        if let Some(at) = declaration.reference
            && !is_const
            && !matches!(kind, DeclKind::Plain(ty) if is_handle(ty.word))
        {
            return self.fail(
                Diagnostic::error(
                    &codes::UNSUPPORTED,
                    "a reference to a variable is not supported",
                )
                .at(at, "a reference that is not const")
                .help("leave out the `&`, or write `const` before the type"),
            );
        }
        let is_const = is_const || declaration.reference.is_some();
        let mut failed = false;
        for declarator in &declaration.declarators {
            if self.exhausted() {
                break;
            }
            let checkpoint = self.checkpoint();
            let result = self.declarator(is_const, kind, declarator);
            if result.is_err() {
                failed = true;
                self.restore(&checkpoint);
                match self.lookup(declarator.name.name) {
                    Some(slot) if self.slots[slot].span == declarator.name.span => {
                        match self.slots[slot].value {
                            Value::Func(func) => self.hir.funcs[func].poisoned = true,
                            _ => self.slots[slot].value = Value::Poison,
                        }
                    }
                    Some(_) if self.exhausted() => {}
                    _ => {
                        let slot = Slot {
                            value: Value::Poison,
                            word: TypeWord::Auto,
                            c_type: None,
                            is_const: false,
                            span: declarator.name.span,
                        };
                        let _already_reported = self.declare(declarator.name, slot);
                    }
                }
            } else if self.lost.contains(&declarator.name.name)
                && let Some(slot) = self.lookup(declarator.name.name)
            {
                // What a statement that could not be read made of it is not known.
                match self.slots[slot].value {
                    Value::Func(func) => self.hir.funcs[func].poisoned = true,
                    _ => self.slots[slot].value = Value::Poison,
                }
            }
        }
        if failed { Err(Failed) } else { Ok(()) }
    }

    fn declarator(&mut self, is_const: bool, kind: DeclKind, d: &Declarator) -> Result<()> {
        let (word, c_type) = match kind {
            DeclKind::Plain(ty) => (ty.word, self.c_type_of(ty)?),
            DeclKind::Scalar(ty) if ty.word == TypeWord::Func => (TypeWord::ImageParam, None),
            DeclKind::Scalar(_) => (TypeWord::Expr, None),
            DeclKind::GeneratorParam(ty) => (ty.word, self.c_type_of(ty)?),
            DeclKind::Vector(ty) => (ty.word, self.c_type_of(ty)?),
            DeclKind::InputBuffer(..) => (TypeWord::ImageParam, None),
            DeclKind::OutputBuffer(..) | DeclKind::Output(_) => (TypeWord::Func, None),
        };
        let is_const = is_const || matches!(kind, DeclKind::GeneratorParam(_));
        let slot = |value| Slot { value, word, c_type, is_const, span: d.name.span };
        if !d.lengths.is_empty() {
            let value = self.array(is_const, word, c_type, d)?;
            self.declare(d.name, slot(value))?;
            return Ok(());
        }
        if let Init::Definition(args, value) = &d.init {
            if word != TypeWord::Func {
                return self.fail(
                    Diagnostic::error(
                        &codes::DECLARATION,
                        "only a Func is declared by a definition",
                    )
                    .at(d.span, "not a Func")
                    .help("write `Func` before it"),
                );
            }
            let func = self.func_declaration(kind, d, &[])?;
            self.declare(d.name, slot(Value::Func(func)))?;
            let last = args.last().map_or(d.name.span, |&a| self.ast.exprs[a].span);
            let left = d.name.span.to(last);
            return self.define_from(func, args, None, *value, (left, d.span));
        }
        let value = match kind {
            DeclKind::Scalar(ty) if ty.word == TypeWord::Func => {
                self.buffer_declaration(None, None, d)?
            }
            DeclKind::Scalar(ty) => self.parameter_declaration(ty, d)?,
            DeclKind::GeneratorParam(ty) => self.generator_param(ty, c_type, d)?,
            DeclKind::Vector(_) => self.vector(is_const, word, c_type, d)?,
            DeclKind::InputBuffer(ty, dims) => self.buffer_declaration(ty, dims, d)?,
            DeclKind::OutputBuffer(..) | DeclKind::Output(_) => {
                let args = self.init_args(&d.init)?;
                Value::Func(self.func_declaration(kind, d, &args)?)
            }
            DeclKind::Plain(ty) => self.plain(ty, c_type, is_const, d)?,
        };
        self.declare(d.name, slot(value))?;
        Ok(())
    }

    fn init_args(&mut self, init: &Init) -> Result<Vec<Spanned>> {
        match init {
            Init::Args(args) => args.iter().map(|&a| self.spanned(a)).collect(),
            Init::None => Ok(Vec::new()),
            Init::Assign(e) | Init::Definition(_, e) => Ok(vec![self.spanned(*e)?]),
        }
    }

    /// The name given in quotes as the last or only argument, taken off the list.
    fn text_name(args: &mut Vec<Spanned>) -> Option<String> {
        let at = args.iter().position(|a| matches!(a.0, Value::Text(_)))?;
        match args.remove(at).0 {
            Value::Text(text) => Some(text.to_string()),
            _ => None,
        }
    }

    fn plain(
        &mut self,
        ty: TypeName,
        c_type: Option<CType>,
        is_const: bool,
        d: &Declarator,
    ) -> Result<Value> {
        let name = self.names.text(d.name.name).to_owned();
        match ty.word {
            TypeWord::Var | TypeWord::RVar => {
                let mut args = self.init_args(&d.init)?;
                let text = Self::text_name(&mut args).unwrap_or(name);
                let copied = match ty.word {
                    TypeWord::Var => |v: &Value| matches!(v, Value::Var(_)),
                    _ => |v: &Value| {
                        matches!(v, Value::RVar(..) | Value::RVarName(_) | Value::RDom(_))
                    },
                };
                if let [value] = args.as_slice()
                    && copied(&value.0)
                {
                    return self.convert(ty.word, None, value);
                }
                self.no_more(&args, "a Var takes a name in quotes, another Var, or nothing")?;
                let symbol = self.names.intern(&text);
                Ok(if ty.word == TypeWord::Var {
                    Value::Var(symbol)
                } else {
                    Value::RVarName(symbol)
                })
            }
            TypeWord::Func => {
                if let Init::Assign(e) = d.init {
                    let value = self.spanned(e)?;
                    return self.convert(TypeWord::Func, None, &value);
                }
                let args = self.init_args(&d.init)?;
                if let [value @ (Value::Func(_) | Value::Input(_), _)] = args.as_slice() {
                    return self.convert(TypeWord::Func, None, value);
                }
                self.func_declaration(DeclKind::Plain(ty), d, &args).map(Value::Func)
            }
            TypeWord::ImageParam => {
                let mut args = self.init_args(&d.init)?;
                let text = Self::text_name(&mut args).unwrap_or(name);
                let [element, dims] = args.as_slice() else {
                    return self.fail(
                        Diagnostic::error(
                            &codes::DECLARATION,
                            "an ImageParam takes a type and a number of dimensions",
                        )
                        .at(d.span, format!("{} given", count(args.len(), "argument")))
                        .help("write `ImageParam in(Float(32), 2);`"),
                    );
                };
                let Value::Type(ty) = element.0 else {
                    let what = element.0.what();
                    return self.fail(
                        Diagnostic::error(
                            &codes::DECLARATION,
                            "the first argument of an ImageParam is its type",
                        )
                        .at(element.1, format!("this is {what}"))
                        .help("write `Float(32)` or `UInt(8)`"),
                    );
                };
                let dims = dims.clone();
                self.input(text, ty, &dims, d.name.span)
            }
            TypeWord::RDom => {
                let mut args = self.init_args(&d.init)?;
                let text = Self::text_name(&mut args).unwrap_or(name);
                self.rdom(text, &args, d.name.span, d.span)
            }
            TypeWord::Expr | TypeWord::Tuple | TypeWord::C | TypeWord::Auto => {
                let args = self.init_args(&d.init)?;
                match args.as_slice() {
                    [] if ty.word == TypeWord::Auto || is_const => self.fail(
                        Diagnostic::error(&codes::DECLARATION, format!("`{name}` needs a value"))
                            .at(d.span, "declared without a value")
                            .help(format!("write `{} {name} = ...;`", self.text(ty.span))),
                    ),
                    [] if ty.word == TypeWord::C => Ok(match c_type {
                        Some(CType::Element(ElementType::F32)) => Value::Float(0.0),
                        Some(CType::Double) => Value::Double(0.0),
                        Some(CType::Element(ElementType::Bool)) => Value::Bool(false),
                        _ => Value::Int(0),
                    }),
                    [] => Ok(Value::NoExpr),
                    [value] => self.convert(ty.word, c_type, value),
                    _ if ty.word == TypeWord::Tuple => {
                        let list = (Value::List(args.clone().into()), d.span);
                        self.convert(ty.word, None, &list)
                    }
                    _ => {
                        self.no_more(&args[1..], "one value is expected")?;
                        Err(Failed)
                    }
                }
            }
            TypeWord::Type | TypeWord::Target | TypeWord::Text => {
                let args = self.init_args(&d.init)?;
                match args.as_slice() {
                    [value] => self.convert(ty.word, None, value),
                    _ => self.fail(
                        Diagnostic::error(&codes::DECLARATION, format!("`{name}` needs a value"))
                            .at(d.span, "declared without one value")
                            .help(format!("write `{} {name} = ...;`", self.text(ty.span))),
                    ),
                }
            }
            TypeWord::Unfollowed => {
                self.not_followed(&name, "only tools of Halide's look at it", d.name.span);
                Ok(Value::Unfollowed)
            }
            TypeWord::Void => self.fail(
                Diagnostic::error(&codes::DECLARATION, "a variable cannot be void")
                    .at(ty.span, "only a function can be void")
                    .help("write the type of its value, as in `int n = 3;`"),
            ),
        }
    }

    pub(crate) fn no_more(&mut self, args: &[Spanned], help: &str) -> Result<()> {
        match args.first() {
            None => Ok(()),
            Some((_, span)) => self.fail(
                Diagnostic::error(&codes::DECLARATION, "an argument too many")
                    .at(*span, "not expected here")
                    .help(help),
            ),
        }
    }

    fn func_declaration(
        &mut self,
        kind: DeclKind,
        d: &Declarator,
        args: &[Spanned],
    ) -> Result<crate::pipeline::hir::FuncId> {
        let mut args = args.to_vec();
        let name = match Self::text_name(&mut args) {
            Some(text) => text,
            None => self.names.text(d.name.name).to_owned(),
        };
        let declared = match kind {
            DeclKind::OutputBuffer(..)
            | DeclKind::Output(TypeName { word: TypeWord::Func, .. }) => {
                let (ty, dims) = match kind {
                    DeclKind::OutputBuffer(ty, dims) => (ty, dims),
                    _ => (None, None),
                };
                let (ty, dims) = self.shape(ty, dims, &mut args)?;
                let dims = match dims {
                    Some(dims) => self.dimensions(&dims)?,
                    None => 0,
                };
                let span = ty.map_or(d.name.span, |(_, at)| at);
                Some(Declared { ty: ty.map(|(ty, _)| ty), dims, span })
            }
            DeclKind::Output(ty) => {
                return self.fail(
                    Diagnostic::error(&codes::DECLARATION, "an output is a Buffer or a Func")
                        .at(ty.span, "not an image")
                        .help("write `Output<Buffer<float, 2>> out;`"),
                );
            }
            _ => None,
        };
        self.no_more(
            &args,
            "a Func takes a name in quotes or nothing; its definition follows: `f(x, y) = ...`",
        )?;
        self.step(4, d.name.span)?;
        let func = self.new_func(&name, d.name.span);
        self.hir.funcs[func].declared = declared;
        if !matches!(kind, DeclKind::Plain(_)) {
            self.hir.outputs.push(func);
        }
        Ok(func)
    }

    pub(crate) fn element_type(&mut self, ty: TypeName) -> Result<ElementType> {
        match self.c_type_of(ty)? {
            Some(CType::Element(element)) => Ok(element),
            Some(_) => {
                let name = self.text(ty.span);
                self.fail(crate::elab::stmt::refused(name, "64-bit types", ty.span))
            }
            None => self.fail(
                Diagnostic::error(&codes::DECLARATION, "an element type is expected")
                    .at(ty.span, "not a type of elements")
                    .help("write `float`, `uint8_t` or the like"),
            ),
        }
    }

    /// The shape of a buffer: what stands in `<>`, else the arguments, which are
    /// taken off the list.
    fn shape(
        &mut self,
        ty: Option<TypeName>,
        dims: Option<ExprId>,
        args: &mut Vec<Spanned>,
    ) -> Result<Shape> {
        let ty = match ty.filter(|ty| ty.word != TypeWord::Void) {
            Some(ty) => Some((self.element_type(ty)?, ty.span)),
            None => match args.first() {
                Some((Value::Type(element), at)) => {
                    let found = (*element, *at);
                    args.remove(0);
                    Some(found)
                }
                _ => None,
            },
        };
        if let Some((Value::List(_), at)) = args.first() {
            self.not_followed("the list of types", "the values have those of the definition", *at);
            args.remove(0);
        }
        let dims = match dims {
            Some(e) => Some(self.spanned(e)?),
            None if args.first().is_some_and(|(v, _)| v.is_number()) => Some(args.remove(0)),
            None => None,
        };
        Ok((ty, dims))
    }

    fn dimensions(&mut self, value: &Spanned) -> Result<u32> {
        let n = self.constant_int(value, "a number of dimensions")?;
        if (0..=MAX_DIMENSIONS).contains(&n) {
            return Ok(n as u32);
        }
        self.fail(
            Diagnostic::error(&codes::DIMENSIONS, format!("an image cannot have {n} dimensions"))
                .at(value.1, format!("at most {MAX_DIMENSIONS} are supported"))
                .help(format!("write a number from 1 to {MAX_DIMENSIONS}")),
        )
    }

    fn buffer_declaration(
        &mut self,
        ty: Option<TypeName>,
        dims: Option<ExprId>,
        d: &Declarator,
    ) -> Result<Value> {
        let mut args = self.init_args(&d.init)?;
        let variable = self.names.text(d.name.name).to_owned();
        let name = Self::text_name(&mut args).unwrap_or_else(|| variable.clone());
        let (ty, dims) = self.shape(ty, dims, &mut args)?;
        let Some((element, at)) = ty else {
            return self.fail(
                Diagnostic::error(&codes::DECLARATION, "the type of the elements is missing")
                    .at(d.span, "of what type?")
                    .help(format!("write `Input<Buffer<float, 2>> {variable};`")),
            );
        };
        let Some(dims) = dims else {
            return self.fail(
                Diagnostic::error(&codes::DECLARATION, "the number of dimensions is missing")
                    .at(at, "of how many dimensions?")
                    .help(format!("write `Input<Buffer<{}, 2>>`", c_name(element))),
            );
        };
        self.no_more(&args, "an input takes a name in quotes, a type and a number of dimensions")?;
        self.input(name, element, &dims, d.name.span)
    }

    /// `GeneratorParam<T> name{"name", default, least, greatest}`: a constant, with the value that the
    /// command line gives, else the default.
    fn generator_param(
        &mut self,
        ty: TypeName,
        c_type: Option<CType>,
        d: &Declarator,
    ) -> Result<Value> {
        let mut args = self.init_args(&d.init)?;
        let variable = self.names.text(d.name.name).to_owned();
        // The first text is the name; the value may be one too.
        let name = match args.first() {
            Some((Value::Text(text), _)) => {
                let text = text.to_string();
                args.remove(0);
                text
            }
            _ => variable,
        };
        let Some(default) = args.first() else {
            return self.fail(
                Diagnostic::error(&codes::DECLARATION, format!("`{name}` needs a value"))
                    .at(d.span, "declared without a default")
                    .help(format!("write `GeneratorParam<int> {name}{{\"{name}\", 1}};`")),
            );
        };
        let value = self.convert(ty.word, c_type, default)?;
        self.unique_io(&name, d.name.span)?;
        self.constants.push(name.clone());
        let Some((_, given)) = self.params.iter().find(|(known, _)| *known == name) else {
            return Ok(value);
        };
        let parsed = match &value {
            Value::Bool(_) => given.parse().ok().map(Value::Bool),
            Value::Int(_) => given.parse().ok().map(Value::Int),
            Value::Float(_) | Value::Double(_) => {
                given.trim_end_matches('f').parse().ok().map(Value::Double)
            }
            Value::Type(_) => crate::value::types::halide_type(given).map(Value::Type),
            Value::Text(_) => Some(Value::Text(given.as_str().into())),
            _ => None,
        };
        let converted = match parsed {
            Some(parsed) => self.convert(ty.word, c_type, &(parsed, d.name.span)).ok(),
            None => None,
        };
        let limit = |k: usize, op: Op, value: &Value| match args.get(k) {
            Some((limit, _)) if limit.is_number() && value.is_number() => {
                constant::binary(op, value, limit).is_ok_and(|v| constant::truth(&v))
            }
            _ => true,
        };
        match converted {
            Some(new) if limit(1, Op::Ge, &new) && limit(2, Op::Le, &new) => Ok(new),
            _ => {
                let what = value.what();
                self.fail(
                    Diagnostic::error(
                        &codes::CONVERSION,
                        format!("`--param {name}={given}` is no value for `{name}`"),
                    )
                    .at(d.span, format!("{what}, within its limits"))
                    .help("give a value of this kind, or leave the default"),
                )
            }
        }
    }

    /// `vector<T> name;`, `name(n)`, `name = {...}`: an array that can grow.
    fn vector(
        &mut self,
        is_const: bool,
        word: TypeWord,
        c_type: Option<CType>,
        d: &Declarator,
    ) -> Result<Value> {
        self.array_of(word, d)?;
        let args = match &d.init {
            Init::Assign(e) => vec![self.spanned(*e)?],
            init => self.init_args(init)?,
        };
        let values: Vec<Spanned> = match args.as_slice() {
            [(Value::Array(id), _)] => return Ok(Value::Array(self.copy_array(*id))),
            [(Value::List(list), _)] => list.to_vec(),
            [(Value::Int(n), at)] => {
                let n = self.constant_int(&(Value::Int(*n), *at), "the length of a vector")?;
                let length = n.max(0) as u64;
                self.step(length.saturating_mul(10), d.span)?;
                let name = self.names.text(d.name.name).to_owned();
                let lengths = [length];
                return self.build_array(
                    is_const,
                    word,
                    c_type,
                    &name,
                    d.name.span,
                    &lengths,
                    None,
                );
            }
            list => list.to_vec(),
        };
        self.step(values.len() as u64, d.span)?;
        let values =
            values.iter().map(|v| self.convert(word, c_type, v)).collect::<Result<Vec<_>>>()?;
        let id = self.new_array(values);
        self.array_types.push((word, c_type, is_const));
        Ok(Value::Array(id))
    }

    fn copy_array(&mut self, id: ArrayId) -> ArrayId {
        let (values, ty) = (self.arrays[id.0 as usize].clone(), self.array_types[id.0 as usize]);
        let copy = self.new_array(values);
        self.array_types.push(ty);
        copy
    }

    /// Fails for a type of which there are no arrays.
    fn array_of(&mut self, word: TypeWord, d: &Declarator) -> Result<()> {
        if matches!(word, TypeWord::Func | TypeWord::Expr | TypeWord::Var | TypeWord::C) {
            return Ok(());
        }
        self.fail(
            Diagnostic::error(&codes::DECLARATION, "there are no arrays of this type")
                .at(d.span, "an array")
                .help("arrays hold Funcs, Exprs, Vars or numbers"),
        )
    }

    fn input(
        &mut self,
        name: String,
        ty: ElementType,
        dims: &Spanned,
        span: Span,
    ) -> Result<Value> {
        let dims = self.dimensions(dims)?;
        if dims == 0 {
            return self.fail(
                Diagnostic::error(&codes::DIMENSIONS, "an input image needs a dimension")
                    .at(span, "has none")
                    .help("a single number is a parameter: `Param<float> p;`"),
            );
        }
        self.unique_io(&name, span)?;
        let (estimates, fixed) = (vec![None; dims as usize], vec![None; dims as usize]);
        let data = InputData { name, ty, dims, repeat_edge: false, estimates, fixed, span };
        Ok(Value::Input(self.hir.inputs.push(data)))
    }

    /// Inputs and parameters are told apart by name on the command line.
    fn unique_io(&mut self, name: &str, span: Span) -> Result<()> {
        match self.io_names.get(name).copied() {
            None => {
                self.io_names.insert(name.to_owned(), span);
                Ok(())
            }
            Some(first) => self.fail(
                Diagnostic::error(
                    &codes::REDECLARED,
                    format!("two inputs or parameters are called `{name}`"),
                )
                .at(span, "the second one")
                .and(first, "the first one")
                .help("give one of them another name"),
            ),
        }
    }

    fn parameter_declaration(&mut self, ty: TypeName, d: &Declarator) -> Result<Value> {
        let element = self.element_type(ty)?;
        let mut args = self.init_args(&d.init)?;
        let name = match Self::text_name(&mut args) {
            Some(text) => text,
            None => self.names.text(d.name.name).to_owned(),
        };
        if args.len() > 3 {
            self.no_more(&args[3..], "a parameter takes a name, a default value and two limits")?;
        }
        if let Some((_, at)) = args.get(1) {
            self.report(
                Diagnostic::note(&codes::NO_EFFECT, "the limits of a parameter are not checked")
                    .at(*at, "not followed")
                    .help("where a value outside would do harm, use `clamp`"),
            );
        }
        let default = match args.first() {
            None => None,
            Some((value, at)) => {
                if !value.is_number() {
                    return self.not_constant(value, *at, "the default value of a parameter");
                }
                Some(self.parameter_literal(element, value, *at)?)
            }
        };
        self.unique_io(&name, d.name.span)?;
        let span = d.name.span;
        let param = self.hir.params.push(ParamData { name, ty: element, default, span });
        Ok(Value::Expr(self.hir.push(NodeKind::Param(param), element, span)))
    }

    fn parameter_literal(&mut self, ty: ElementType, value: &Value, at: Span) -> Result<Literal> {
        if ty.is_float() {
            return Ok(Literal::float(constant::float(value)));
        }
        if ty == ElementType::Bool {
            return Ok(Literal::Int(i64::from(constant::truth(value))));
        }
        let (low, high) = ty.integer_range();
        let number = constant::double(value);
        if number.fract() == 0.0 && number >= low as f64 && number <= high as f64 {
            return Ok(Literal::Int(number as i64));
        }
        self.fail(
            Diagnostic::error(
                &codes::LITERAL_RANGE,
                format!("the default value does not fit {}", c_name(ty)),
            )
            .at(at, format!("{} holds integers from {low} to {high}", c_name(ty)))
            .help(format!("write a default from {low} to {high}, or declare a `Param<float>`")),
        )
    }

    pub(crate) fn rdom(
        &mut self,
        name: String,
        args: &[Spanned],
        span: Span,
        whole: Span,
    ) -> Result<Value> {
        let mut bounds: Vec<(Spanned, Spanned)> = Vec::new();
        match args {
            [(Value::Input(input), at)] => {
                for dim in 0..self.hir.inputs[*input].dims {
                    let extent = NodeKind::InputExtent(*input, dim);
                    let extent = self.hir.push(extent, ElementType::I32, *at);
                    bounds.push(((Value::Int(0), *at), (Value::Expr(extent), *at)));
                }
            }
            [(Value::List(list), at)] => {
                for (item, item_span) in list.iter() {
                    match item {
                        Value::List(pair) if pair.len() == 2 => {
                            bounds.push((pair[0].clone(), pair[1].clone()));
                        }
                        _ => return self.fail(rdom_shape(*item_span)),
                    }
                }
                if list.is_empty() {
                    return self.fail(rdom_shape(*at));
                }
            }
            [] => return self.fail(rdom_shape(whole)),
            list if list.len() % 2 == 0 => {
                for pair in list.chunks(2) {
                    bounds.push((pair[0].clone(), pair[1].clone()));
                }
            }
            _ => return self.fail(rdom_shape(whole)),
        }
        if bounds.len() > 4 {
            let at = bounds[4].0.1.to(bounds[bounds.len() - 1].1.1);
            return self.fail(
                Diagnostic::error(
                    &codes::DIMENSIONS,
                    format!("an RDom cannot have {} dimensions", bounds.len()),
                )
                .at(at, "at most 4 are supported").help("join two of them: of `RDom r(0, 12);`, `r.x % 3` and `r.x / 3` run over 3 by 4"),
            );
        }
        let mut dims = Vec::new();
        for (min, extent) in &bounds {
            let min_node = self.bound_expr(min, "the minimum of an RDom")?;
            let extent_node = self.bound_expr(extent, "the extent of an RDom")?;
            if let Some(n) = self.hir.constant(extent_node)
                && n < 0
            {
                return self.fail(
                    Diagnostic::error(&codes::NEGATIVE_EXTENT, "an RDom with a negative extent")
                        .at(extent.1, format!("this is {n}"))
                        .help("an RDom takes pairs of minimum and extent, not of first and last"),
                );
            }
            dims.push((min_node, extent_node));
        }
        let info = RDomInfo { name, dims, predicates: Vec::new(), span, used: None };
        Ok(Value::RDom(self.hir.rdoms.push(info)))
    }

    /// A bound of an RDom or a dimension: an int that depends on no pixel.
    pub(crate) fn bound_expr(
        &mut self,
        value: &Spanned,
        what: &str,
    ) -> Result<crate::pipeline::hir::Node> {
        let node = self.expr_of(&value.0, value.1)?;
        let node = self.coordinate(node, "a bound")?;
        self.walk(&[node], value.1, |e, n| {
            let found = match &e.hir.nodes[n].kind {
                NodeKind::Var(_) => "a Var",
                NodeKind::RVar(..) => "a reduction variable",
                NodeKind::Load(..) => "an element of an input",
                NodeKind::Call(..) => "an element of a Func",
                _ => return Ok(()),
            };
            let at = e.hir.nodes[n].span;
            e.fail(
                Diagnostic::error(
                    &codes::BOUND_DEPENDS,
                    format!("{what} must not depend on {found}"),
                )
                .at(at, format!("this is {found}"))
                .help("it may depend on constants, parameters and the extents of inputs"),
            )
        })?;
        Ok(node)
    }

    fn array(
        &mut self,
        is_const: bool,
        word: TypeWord,
        c_type: Option<CType>,
        d: &Declarator,
    ) -> Result<Value> {
        self.array_of(word, d)?;
        let initial: Option<Spanned> = match &d.init {
            Init::None => None,
            Init::Assign(e) => Some(self.spanned(*e)?),
            Init::Args(args) if args.is_empty() => None,
            Init::Args(args) => {
                let list: Vec<Spanned> =
                    args.iter().map(|&a| self.spanned(a)).collect::<Result<_>>()?;
                Some((Value::List(list.into()), d.span))
            }
            Init::Definition(..) => {
                return self.fail(
                    Diagnostic::error(&codes::DECLARATION, "an array has no definition")
                        .at(d.span, "define its elements one by one")
                        .help("declare it first, `Func f[3];`, then write `f[0](x, y) = ...;`"),
                );
            }
        };
        let mut lengths = Vec::new();
        for length in &d.lengths {
            let n = match length {
                Some(e) => {
                    let value = self.spanned(*e)?;
                    let n = self.constant_int(&value, "the length of an array")?;
                    if n < 1 {
                        return self.fail(
                            Diagnostic::error(
                                &codes::ARRAY_LENGTH,
                                format!("an array of length {n}"),
                            )
                            .at(value.1, "must be at least 1")
                            .help(crate::helps::AT_LEAST_ONE),
                        );
                    }
                    n as u64
                }
                None => {
                    match &initial {
                        Some((Value::List(list), _)) if lengths.is_empty() && !list.is_empty() => {
                            list.len() as u64
                        }
                        _ => {
                            return self.fail(
                            Diagnostic::error(
                                &codes::ARRAY_LENGTH,
                                "the length of the array is missing",
                            )
                            .at(d.span, "how many elements?").help("write it, as in `Func f[3];`, or give a list: `int n[] = {1, 2};`"),
                        );
                        }
                    }
                }
            };
            lengths.push(n);
        }
        let total = lengths.iter().fold(1u64, |a, &b| a.saturating_mul(b));
        // A Func is the largest thing an array can hold.
        let weight = if word == TypeWord::Func { 10 } else { 1 };
        self.step(total.saturating_mul(weight), d.span)?;
        let name = self.names.text(d.name.name).to_owned();
        self.build_array(is_const, word, c_type, &name, d.name.span, &lengths, initial.as_ref())
    }

    #[allow(clippy::too_many_arguments)]
    fn build_array(
        &mut self,
        is_const: bool,
        word: TypeWord,
        c_type: Option<CType>,
        name: &str,
        span: Span,
        lengths: &[u64],
        initial: Option<&Spanned>,
    ) -> Result<Value> {
        let Some((&length, inner)) = lengths.split_first() else {
            return match (word, initial) {
                (_, Some(value)) => self.convert(word, c_type, value),
                (TypeWord::Func, None) => Ok(Value::Func(self.new_func(name, span))),
                (TypeWord::Var, None) => Ok(Value::Var(self.names.intern(name))),
                (TypeWord::C, None) => self.convert(word, c_type, &(Value::Int(0), span)),
                _ => Ok(Value::NoExpr),
            };
        };
        let list = match initial {
            None => None,
            Some((Value::List(list), _)) if list.len() as u64 <= length => Some(list.clone()),
            Some((Value::List(list), at)) => {
                let given = list.len();
                return self.fail(
                    Diagnostic::error(
                        &codes::ARRAY_LENGTH,
                        format!("{given} values for an array of length {length}"),
                    )
                    .at(*at, "too many values")
                    .help(format!("write the length {given}, or leave values out")),
                );
            }
            Some((other, at)) => {
                let what = other.what();
                return self.fail(
                    Diagnostic::error(&codes::DECLARATION, "an array is initialised with a list")
                        .at(*at, format!("this is {what}"))
                        .help("write `{a, b, c}`"),
                );
            }
        };
        let mut values = Vec::with_capacity(length as usize);
        for i in 0..length {
            let initial = list.as_ref().and_then(|l| l.get(i as usize));
            let element = format!("{name}[{i}]");
            values.push(self.build_array(is_const, word, c_type, &element, span, inner, initial)?);
        }
        let id = self.new_array(values);
        self.array_types.push((word, c_type, is_const));
        Ok(Value::Array(id))
    }

    /// A value as what a variable, parameter or result of a type holds.
    pub(crate) fn convert(
        &mut self,
        word: TypeWord,
        c_type: Option<CType>,
        value: &Spanned,
    ) -> Result<Value> {
        let (v, span) = value;
        match (word, v) {
            (_, Value::Poison) => Err(Failed),
            (TypeWord::Auto, Value::Void) => self.fail(
                Diagnostic::error(&codes::CONVERSION, "a void function gives no value")
                    .at(*span, "no value")
                    .help("call it in a statement of its own, without a variable"),
            ),
            (TypeWord::Auto, _) => Ok(v.clone()),
            (TypeWord::Func, Value::Func(_) | Value::Unfollowed) => Ok(v.clone()),
            (TypeWord::Func, Value::Input(input)) => {
                Ok(Value::Func(self.input_func(*input, *span)))
            }
            (TypeWord::Expr, Value::NoExpr) => Ok(Value::NoExpr),
            (TypeWord::Expr, _) => self.expr_of(v, *span).map(Value::Expr),
            (TypeWord::Tuple, Value::Tuple(_)) => Ok(v.clone()),
            (TypeWord::Tuple, Value::List(list)) => {
                let nodes =
                    list.iter().map(|(v, at)| self.expr_of(v, *at)).collect::<Result<Vec<_>>>()?;
                Ok(Value::Tuple(nodes.into()))
            }
            (TypeWord::Var, Value::Var(_))
            | (TypeWord::RVar, Value::RVar(..) | Value::RVarName(_))
            | (TypeWord::RDom, Value::RDom(_))
            | (TypeWord::Type, Value::Type(_))
            | (TypeWord::Target, Value::Target)
            | (TypeWord::Text, Value::Text(_))
            | (TypeWord::ImageParam, Value::Input(_)) => Ok(v.clone()),
            (TypeWord::RVar, Value::RDom(r)) if self.hir.rdoms[*r].dims.len() == 1 => {
                Ok(Value::RVar(*r, 0))
            }
            (TypeWord::C, v) if v.is_number() => Ok(match c_type {
                Some(CType::Element(ElementType::F32)) => Value::Float(constant::float(v)),
                Some(CType::Double) => Value::Double(constant::double(v)),
                Some(CType::Element(ElementType::Bool)) => Value::Bool(constant::truth(v)),
                Some(CType::Element(ElementType::I32)) => {
                    let n = constant::integer(v);
                    if !constant::is_int(n) {
                        return self.fail(
                            Diagnostic::error(
                                &codes::OVERFLOW,
                                "the value is outside the range of int",
                            )
                            .at(*span, "an int holds -2147483648 to 2147483647")
                            .help("declare a `double`, or write a smaller number"),
                        );
                    }
                    Value::Int(n)
                }
                Some(CType::Element(ty)) => Value::Int(ty.wrap(constant::integer(v))),
                _ => v.clone(),
            }),
            (TypeWord::C, v) => self.not_constant(v, *span, "a number"),
            _ => {
                let (want, what) = (word_name(word), v.what());
                self.fail(
                    Diagnostic::error(&codes::CONVERSION, format!("{want} is needed, not {what}"))
                        .at(*span, format!("this is {what}"))
                        .help(crate::helps::made_of(word, v)),
                )
            }
        }
    }
}

fn word_name(word: TypeWord) -> &'static str {
    match word {
        TypeWord::Func => "a Func",
        TypeWord::Var => "a Var",
        TypeWord::RVar => "an RVar",
        TypeWord::Expr => "an Expr",
        TypeWord::RDom => "an RDom",
        TypeWord::Tuple => "a Tuple",
        TypeWord::ImageParam => "an ImageParam",
        TypeWord::Type => "a type",
        TypeWord::Target => "a target",
        TypeWord::Text => "a text",
        TypeWord::Unfollowed => "what is not followed",
        TypeWord::Void => "nothing",
        TypeWord::Auto => "a value",
        TypeWord::C => "a number",
    }
}

fn rdom_shape(span: Span) -> Diagnostic {
    Diagnostic::error(
        &codes::DECLARATION,
        "an RDom takes a minimum and an extent for each dimension",
    )
    .at(span, "not such pairs")
    .help("write `RDom r(0, 3, 0, 3);`")
}
