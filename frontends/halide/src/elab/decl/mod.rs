//! Declarations: what each kind of variable is made of.

mod arrays;
mod generator_params;
mod inputs;
pub(crate) mod io_arrays;
mod rdoms;

use nbcc_base::{Diagnostic, Failed, Span};
use nbcc_stages::ElementType;

use crate::codes;
use crate::elab::functions::is_handle;
use crate::elab::stmt::count;
use crate::elab::{Elab, ElementKind, Result, Slot};
use crate::pipeline::hir::Declared;
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::{DeclKind, Declaration, Declarator, Init, TypeName, TypeWord};
use crate::value::Value;
use crate::value::types::CType;

/// Images and Funcs have at most this many dimensions.
pub(crate) const MAX_DIMENSIONS: i32 = 16;

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
        let elements = ElementKind { word, c_type, is_const };
        if !d.lengths.is_empty() {
            let value = match kind {
                DeclKind::Scalar(_)
                | DeclKind::InputBuffer(..)
                | DeclKind::Output(_)
                | DeclKind::OutputBuffer(..) => self.io_array(kind, d)?,
                _ => self.array(elements, d)?,
            };
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
            let func = self.func_declaration(kind, d, &[], None)?;
            self.declare(d.name, slot(Value::Func(func)))?;
            let last = args.last().map_or(d.name.span, |&a| self.ast.exprs[a].span);
            let left = d.name.span.to(last);
            return self.define_from(func, args, None, *value, (left, d.span));
        }
        let value = match kind {
            DeclKind::GeneratorParam(ty) => self.generator_param(ty, c_type, d)?,
            DeclKind::Vector(_) => self.vector(elements, d)?,
            DeclKind::Plain(ty) => self.plain(ty, c_type, is_const, d)?,
            _ => self.io_element(kind, d, None)?,
        };
        self.declare(d.name, slot(value))?;
        Ok(())
    }

    /// An input, a parameter or an output, or element `k` of an array of them.
    fn io_element(&mut self, kind: DeclKind, d: &Declarator, k: Option<u64>) -> Result<Value> {
        match kind {
            DeclKind::Scalar(ty) if ty.word != TypeWord::Func => {
                self.parameter_declaration(ty, d, k)
            }
            DeclKind::InputBuffer(ty, dims) => self.buffer_declaration(ty, dims, d, k),
            DeclKind::Scalar(_) => self.buffer_declaration(None, None, d, k),
            _ => {
                let args = self.init_args(&d.init)?;
                self.func_declaration(kind, d, &args, k).map(Value::Func)
            }
        }
    }

    /// The name of an input or output on the command line: in quotes, else that of its variable.
    fn io_name(&mut self, d: &Declarator) -> Result<String> {
        let mut args = self.init_args(&d.init)?;
        Ok(Self::text_name(&mut args).unwrap_or_else(|| self.names.text(d.name.name).to_owned()))
    }

    /// What the command line says of an input or output that the declaration leaves open.
    fn io_property<T>(
        &mut self,
        name: &str,
        property: &str,
        read: impl Fn(&str) -> Option<T>,
        at: Span,
    ) -> Result<Option<T>> {
        let key = format!("{name}.{property}");
        // A declaration may be read twice.
        if !self.constants.iter().rev().take(4).any(|known| *known == key) {
            self.constants.push(key.clone());
        }
        let Some((_, given)) = self.params.iter().find(|(name, _)| *name == key) else {
            return Ok(None);
        };
        match read(given) {
            Some(value) => Ok(Some(value)),
            None => self.fail(
                Diagnostic::error(
                    &codes::CONVERSION,
                    format!("`--param {key}={given}` is no {property}"),
                )
                .at(at, "declared here")
                .help(match property {
                    "type" => "write a type as `uint8`, `int32` or `float32`",
                    _ => "write a number",
                }),
            ),
        }
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
                self.func_declaration(DeclKind::Plain(ty), d, &args, None).map(Value::Func)
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
                let dims = self.dimensions(&dims.clone())?;
                self.input(text, ty, dims, d.name.span)
            }
            TypeWord::RDom => {
                let mut args = self.init_args(&d.init)?;
                let text = Self::text_name(&mut args).unwrap_or(name);
                self.rdom(text, &args, d.name.span, d.span)
            }
            TypeWord::Expr
            | TypeWord::Tuple
            | TypeWord::C
            | TypeWord::Parameter
            | TypeWord::Auto => {
                let args = self.init_args(&d.init)?;
                match args.as_slice() {
                    // `std::function`
                    [] if self.text(ty.span).starts_with("function") => Ok(Value::NoExpr),
                    [] if ty.word == TypeWord::Auto || is_const => self.fail(
                        Diagnostic::error(&codes::DECLARATION, format!("`{name}` needs a value"))
                            .at(d.span, "declared without a value")
                            .help(format!("write `{} {name} = ...;`", self.text(ty.span))),
                    ),
                    [] if c_type.is_some() => Ok(match c_type {
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

    /// The type and the dimensions with which an output is declared.
    fn declared_output(&mut self, kind: DeclKind, d: &Declarator) -> Result<Option<Declared>> {
        let name = self.io_name(d)?;
        let mut args = self.init_args(&d.init)?;
        Self::text_name(&mut args);
        self.declared_by(kind, &name, d, &mut args)
    }

    /// The same with the arguments of the declaration, of which those that say it are taken off.
    fn declared_by(
        &mut self,
        kind: DeclKind,
        name: &str,
        d: &Declarator,
        args: &mut Vec<Spanned>,
    ) -> Result<Option<Declared>> {
        let (ty, dims) = match kind {
            DeclKind::OutputBuffer(ty, dims) => (ty, dims),
            DeclKind::Output(TypeName { word: TypeWord::Func, .. }) => (None, None),
            DeclKind::Output(ty) => {
                return self.fail(
                    Diagnostic::error(&codes::DECLARATION, "an output is a Buffer or a Func")
                        .at(ty.span, "not an image")
                        .help("write `Output<Buffer<float, 2>> out;`"),
                );
            }
            _ => return Ok(None),
        };
        let (ty, dims) = self.shape(name, ty, dims, args, d.name.span)?;
        let span = ty.map_or(d.name.span, |(_, at)| at);
        Ok(Some(Declared { ty: ty.map(|(ty, _)| ty), dims: dims.unwrap_or(0), span }))
    }

    fn func_declaration(
        &mut self,
        kind: DeclKind,
        d: &Declarator,
        args: &[Spanned],
        k: Option<u64>,
    ) -> Result<crate::pipeline::hir::FuncId> {
        let mut args = args.to_vec();
        let name = match Self::text_name(&mut args) {
            Some(text) => text,
            None => self.names.text(d.name.name).to_owned(),
        };
        let declared = self.declared_by(kind, &name, d, &mut args)?;
        self.no_more(
            &args,
            "a Func takes a name in quotes or nothing; its definition follows: `f(x, y) = ...`",
        )?;
        self.step(4, d.name.span)?;
        let func = self.new_func(&element_name(name, k), d.name.span);
        self.hir.funcs[func].declared = declared;
        if !matches!(kind, DeclKind::Plain(_)) {
            self.hir.outputs.push(func);
        }
        Ok(func)
    }
}

/// The name of element `k` of an array, or of what is no array.
fn element_name(name: String, k: Option<u64>) -> String {
    match k {
        Some(k) => format!("{name}_{k}"),
        None => name,
    }
}
