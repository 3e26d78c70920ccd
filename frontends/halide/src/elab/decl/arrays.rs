//! Arrays and vectors.

use nbcc_base::{Diagnostic, Span};

use crate::codes;
use crate::elab::{Elab, ElementKind, Result};
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::{Declarator, Init, TypeWord};
use crate::value::{ArrayId, Value};

impl Elab<'_> {
    /// `vector<T> name;`, `name(n)`, `name = {...}`: an array that can grow.
    pub(crate) fn vector(&mut self, elements: ElementKind, d: &Declarator) -> Result<Value> {
        self.array_of(elements.word, d)?;
        let args = self.init_args(&d.init)?;
        let values: Vec<Spanned> = match args.as_slice() {
            [(Value::Array(id), _)] => return Ok(Value::Array(self.copy_array(*id))),
            [(Value::List(list), _)] => list.to_vec(),
            [(Value::Int(n), at)] => {
                let n = self.constant_int(&(Value::Int(*n), *at), "the length of a vector")?;
                let length = n.max(0) as u64;
                self.step(length.saturating_mul(10), d.span)?;
                let name = self.names.text(d.name.name).to_owned();
                return self.build_array(elements, &name, d.name.span, &[length], None);
            }
            list => list.to_vec(),
        };
        self.step(values.len() as u64, d.span)?;
        let ElementKind { word, c_type, .. } = elements;
        let values =
            values.iter().map(|v| self.convert(word, c_type, v)).collect::<Result<Vec<_>>>()?;
        Ok(Value::Array(self.new_array(values, elements)))
    }

    fn copy_array(&mut self, id: ArrayId) -> ArrayId {
        let (values, elements) =
            (self.arrays[id.0 as usize].clone(), self.array_kinds[id.0 as usize]);
        self.new_array(values, elements)
    }

    /// Fails for a type of which there are no arrays.
    fn array_of(&mut self, word: TypeWord, d: &Declarator) -> Result<()> {
        if !matches!(
            word,
            TypeWord::ImageParam | TypeWord::Void | TypeWord::Unfollowed | TypeWord::Target
        ) {
            return Ok(());
        }
        self.fail(
            Diagnostic::error(&codes::DECLARATION, "there are no arrays of this type")
                .at(d.span, "an array")
                .help("arrays hold Funcs, Exprs, Vars or numbers"),
        )
    }

    /// `T name[n];`, `T name[] = {...};`, of several dimensions too: an array that doesn't grow.
    pub(crate) fn array(&mut self, elements: ElementKind, d: &Declarator) -> Result<Value> {
        self.array_of(elements.word, d)?;
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
                None => match &initial {
                    Some((Value::List(list), _)) if lengths.is_empty() && !list.is_empty() => {
                        list.len() as u64
                    }
                    _ => {
                        return self.fail(
                            Diagnostic::error(
                                &codes::ARRAY_LENGTH,
                                "the length of the array is missing",
                            )
                            .at(d.span, "how many elements?")
                            .help(
                                "write it, as in `Func f[3];`, or give a list: \
                                 `int n[] = {1, 2};`",
                            ),
                        );
                    }
                },
            };
            lengths.push(n);
        }
        let total = lengths.iter().fold(1u64, |a, &b| a.saturating_mul(b));
        // A Func is the largest thing an array can hold.
        let weight = if elements.word == TypeWord::Func { 10 } else { 1 };
        self.step(total.saturating_mul(weight), d.span)?;
        let name = self.names.text(d.name.name).to_owned();
        self.build_array(elements, &name, d.name.span, &lengths, initial.as_ref())
    }

    /// An array of the first of these lengths, whose elements are arrays of the rest; without any, an
    /// element.
    fn build_array(
        &mut self,
        elements: ElementKind,
        name: &str,
        span: Span,
        lengths: &[u64],
        initial: Option<&Spanned>,
    ) -> Result<Value> {
        let Some((&length, inner)) = lengths.split_first() else {
            let ElementKind { word, c_type, .. } = elements;
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
            values.push(self.build_array(elements, &element, span, inner, initial)?);
        }
        Ok(Value::Array(self.new_array(values, elements)))
    }
}
