//! Declarations of inputs and parameters.

use nbcc_base::{Diagnostic, Span};
use nbcc_stages::{ElementType, InputData, Literal, ParamData};

use super::{MAX_DIMENSIONS, element_name};
use crate::codes;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::NodeKind;
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::{Declarator, ExprId, TypeName, TypeWord};
use crate::value::types::{CType, c_name, halide_type};
use crate::value::{Value, constant};

/// Type and number of dimensions of a buffer, as far as they are said.
type Shape = (Option<(ElementType, Span)>, Option<u32>);

impl Elab<'_> {
    pub(crate) fn element_type(&mut self, ty: TypeName) -> Result<ElementType> {
        match self.c_type_of(ty)? {
            Some(CType::Element(element)) => Ok(element),
            Some(_) => {
                let name = self.type_text(ty.span).to_owned();
                self.fail(crate::elab::stmt::refused(&name, "64-bit types", ty.span))
            }
            None => self.fail(
                Diagnostic::error(&codes::DECLARATION, "an element type is expected")
                    .at(ty.span, "not a type of elements")
                    .help("write `float`, `uint8_t` or the like"),
            ),
        }
    }

    /// The shape of a buffer: what stands in `<>`, else the arguments, which are taken off the list,
    /// else what the command line says.
    pub(crate) fn shape(
        &mut self,
        name: &str,
        ty: Option<TypeName>,
        dims: Option<ExprId>,
        args: &mut Vec<Spanned>,
        at: Span,
    ) -> Result<Shape> {
        let ty = match ty.filter(|ty| ty.word != TypeWord::Void) {
            Some(ty) => Some((self.element_type(ty)?, ty.span)),
            None => match args.first() {
                Some((Value::Type(element), at)) => {
                    let found = (*element, *at);
                    args.remove(0);
                    Some(found)
                }
                _ => self.io_property(name, "type", halide_type, at)?.map(|ty| (ty, at)),
            },
        };
        if let Some((Value::List(_), at)) = args.first() {
            self.not_followed("the list of types", "the values have those of the definition", *at);
            args.remove(0);
        }
        let dims = match dims {
            Some(e) => Some(self.spanned(e)?),
            None if args.first().is_some_and(|(v, _)| v.is_number()) => Some(args.remove(0)),
            None => {
                let given = self.io_property(name, "dim", |text| text.parse().ok(), at)?;
                given.map(|n| (Value::Int(n), at))
            }
        };
        Ok((ty, dims.map(|dims| self.dimensions(&dims)).transpose()?))
    }

    pub(crate) fn dimensions(&mut self, value: &Spanned) -> Result<u32> {
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

    pub(crate) fn buffer_declaration(
        &mut self,
        ty: Option<TypeName>,
        dims: Option<ExprId>,
        d: &Declarator,
        k: Option<u64>,
    ) -> Result<Value> {
        let mut args = self.init_args(&d.init)?;
        let variable = self.names.text(d.name.name).to_owned();
        let name = Self::text_name(&mut args).unwrap_or_else(|| variable.clone());
        let (ty, dims) = self.shape(&name, ty, dims, &mut args, d.name.span)?;
        let Some((element, at)) = ty else {
            return self.fail(
                Diagnostic::error(&codes::DECLARATION, "the type of the elements is missing")
                    .at(d.span, "of what type?")
                    .help(format!(
                        "write `Input<Buffer<float, 2>> {variable};`, or give \
                         `--param {name}.type=float32`"
                    )),
            );
        };
        let Some(dims) = dims else {
            return self.fail(
                Diagnostic::error(&codes::DECLARATION, "the number of dimensions is missing")
                    .at(at, "of how many dimensions?")
                    .help(format!(
                        "write `Input<Buffer<{}, 2>>`, or give `--param {name}.dim=2`",
                        c_name(element)
                    )),
            );
        };
        self.no_more(&args, "an input takes a name in quotes, a type and a number of dimensions")?;
        self.input(element_name(name, k), element, dims, d.name.span)
    }

    pub(crate) fn input(
        &mut self,
        name: String,
        ty: ElementType,
        dims: u32,
        span: Span,
    ) -> Result<Value> {
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
    pub(crate) fn unique_io(&mut self, name: &str, span: Span) -> Result<()> {
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

    pub(crate) fn parameter_declaration(
        &mut self,
        ty: TypeName,
        d: &Declarator,
        k: Option<u64>,
    ) -> Result<Value> {
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
        let name = element_name(name, k);
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
}
