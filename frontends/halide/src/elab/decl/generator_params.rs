//! Constants of a generator that the command line can set.

use nbcc_base::{Diagnostic, Span};

use crate::codes;
use crate::elab::member::list;
use crate::elab::{Elab, Result};
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::{Declarator, Op, TypeName};
use crate::value::types::CType;
use crate::value::{Value, constant};

impl Elab<'_> {
    /// `GeneratorParam<T> name{"name", default, least, greatest}`: a constant, with the value that the
    /// command line gives, else the default.
    pub(crate) fn generator_param(
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
        let named = args.iter().find_map(|(arg, _)| match arg {
            Value::List(pairs) => Some(pairs.clone()),
            _ => None,
        });
        if let Some(pairs) = named {
            return self.named_value(&name, given, &pairs, d.span);
        }
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

    /// The value that a list of names and values has for a name.
    fn named_value(
        &mut self,
        param: &str,
        given: &str,
        pairs: &[Spanned],
        at: Span,
    ) -> Result<Value> {
        let mut names: Vec<String> = Vec::new();
        for (pair, _) in pairs {
            let Value::List(pair) = pair else { continue };
            if let [(Value::Text(name), _), (value, _)] = &pair[..] {
                if **name == *given {
                    return Ok(value.clone());
                }
                names.push(name.to_string());
            }
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.fail(
            Diagnostic::error(
                &codes::CONVERSION,
                format!("`--param {param}={given}` is no value for `{param}`"),
            )
            .at(at, "declared here")
            .help(format!("its values are {}", list(&names))),
        )
    }
}
