//! Arrays of inputs and outputs, as Halide makes them: element `k` of `name` is called `name_k`.

use nbcc_base::{Diagnostic, Span};

use crate::codes;
use crate::elab::{Elab, ElementKind, Result};
use crate::pipeline::hir::Declared;
use crate::syntax::ast::{DeclKind, Declarator, TypeWord};
use crate::value::{ArrayId, Value};

/// What further elements of an array of outputs are made of.
pub(crate) struct OutputArray {
    name: String,
    declared: Option<Declared>,
    span: Span,
}

impl Elab<'_> {
    /// `Input<T[n]> name;` and `Output<T[n]> name;`. Without a length it is what the command line says,
    /// or, of outputs, what `resize` says.
    pub(crate) fn io_array(&mut self, kind: DeclKind, d: &Declarator) -> Result<Value> {
        let name = self.io_name(d)?;
        let is_output = matches!(kind, DeclKind::Output(_) | DeclKind::OutputBuffer(..));
        let length = match d.lengths.first() {
            Some(Some(length)) => {
                let length = self.spanned(*length)?;
                Some(self.constant_int(&length, "the length of an array")?)
            }
            _ => self.io_property(&name, "size", |text| text.parse().ok(), d.name.span)?,
        };
        let length = match length {
            Some(n) if n >= 1 => n as u64,
            None if is_output => 0,
            Some(n) => {
                return self.fail(
                    Diagnostic::error(&codes::ARRAY_LENGTH, format!("an array of length {n}"))
                        .at(d.span, "must be at least 1")
                        .help(crate::helps::AT_LEAST_ONE),
                );
            }
            None => {
                return self.fail(
                    Diagnostic::error(&codes::ARRAY_LENGTH, "the length of the array is missing")
                        .at(d.span, "how many elements?")
                        .help(format!(
                            "write it between the brackets, or give `--param {name}.size=2`"
                        )),
                );
            }
        };
        self.step(length.saturating_mul(10), d.span)?;
        let mut values = Vec::new();
        for k in 0..length {
            values.push(self.io_element(kind, d, Some(k))?);
        }
        let word = match kind {
            DeclKind::Scalar(ty) if ty.word != TypeWord::Func => TypeWord::Expr,
            DeclKind::Scalar(_) | DeclKind::InputBuffer(..) => TypeWord::ImageParam,
            _ => TypeWord::Func,
        };
        let elements = ElementKind { word, c_type: None, is_const: !is_output };
        let array = self.new_array(values, elements);
        if is_output {
            let declared = self.declared_output(kind, d)?;
            self.output_arrays.insert(array, OutputArray { name, declared, span: d.name.span });
        }
        Ok(Value::Array(array))
    }

    /// `array.resize(n)`.
    pub(crate) fn resize(&mut self, array: ArrayId, n: u64, at: Span) -> Result<()> {
        self.step(n.saturating_mul(10), at)?;
        let word = self.array_kinds[array.0 as usize].word;
        let own = self.output_arrays.get(&array);
        let own = own.map(|own| (own.name.clone(), own.declared, own.span));
        let length = self.arrays[array.0 as usize].len() as u64;
        self.arrays[array.0 as usize].truncate(n as usize);
        for k in length..n {
            let value = match (&own, word) {
                (Some((name, declared, span)), _) => {
                    let func = self.new_func(&format!("{name}_{k}"), *span);
                    self.hir.funcs[func].declared = *declared;
                    self.hir.outputs.push(func);
                    Value::Func(func)
                }
                (None, TypeWord::Func) => Value::Func(self.new_func(&format!("f[{k}]"), at)),
                (None, TypeWord::C) => Value::Int(0),
                _ => Value::NoExpr,
            };
            self.arrays[array.0 as usize].push(value);
        }
        Ok(())
    }
}
