//! What a generator asks of a Func: its type, its dimensions, its updates.

use nbcc_base::{Diagnostic, Failed, Span};

use crate::codes;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::FuncId;
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::Ident;
use crate::value::Value;

/// The methods of a Func that ask something of it.
pub(crate) const QUERIES: [&str; 11] = [
    "args",
    "defined",
    "dimensions",
    "has_update_definition",
    "name",
    "num_update_definitions",
    "output_type",
    "output_types",
    "outputs",
    "type",
    "types",
];

impl Elab<'_> {
    /// The answer to `func.name()`; `None` where that is no question.
    pub(crate) fn query(
        &mut self,
        func: FuncId,
        name: Ident,
        args: &[Spanned],
        whole: Span,
    ) -> Result<Option<Value>> {
        let text = self.names.text(name.name).to_owned();
        if !QUERIES.contains(&text.as_str()) {
            return Ok(None);
        }
        self.take(&text, args, 0, whole)?;
        let info = &self.hir.funcs[func];
        let declared = info.declared;
        let vars = info.vars.clone();
        Ok(Some(match (text.as_str(), &info.pure) {
            ("defined", pure) => Value::Bool(pure.is_some()),
            ("name", _) => Value::Text(info.name.as_str().into()),
            ("num_update_definitions", _) => Value::Int(info.updates.len() as i64),
            ("has_update_definition", _) => Value::Bool(!info.updates.is_empty()),
            ("dimensions", Some(_)) => Value::Int(vars.len() as i64),
            ("dimensions", None) => match declared {
                Some(declared) if declared.dims > 0 => Value::Int(i64::from(declared.dims)),
                _ => return self.not_known_yet(func, name),
            },
            ("args", Some(_)) => {
                Value::List(vars.iter().map(|&v| (Value::Var(v), whole)).collect())
            }
            ("outputs", Some(_)) => Value::Int(info.types.len() as i64),
            ("type" | "output_type", Some(_)) if info.types.len() == 1 => {
                Value::Type(info.types[0])
            }
            ("types" | "output_types", Some(_)) => {
                Value::List(info.types.iter().map(|&ty| (Value::Type(ty), whole)).collect())
            }
            ("type" | "output_type", None) => match declared.and_then(|declared| declared.ty) {
                Some(ty) => Value::Type(ty),
                None => return self.not_known_yet(func, name),
            },
            ("type" | "output_type", Some(_)) => {
                let info_name = info.name.clone();
                return self.fail(
                    Diagnostic::error(
                        &codes::UNKNOWN_MEMBER,
                        format!("`{info_name}` has several values, each of a type of its own"),
                    )
                    .at(name.span, "which of them?")
                    .help(format!("write `{info_name}.types()[0]`")),
                );
            }
            _ => return self.not_known_yet(func, name),
        }))
    }

    /// Fails for a question that only a definition answers.
    fn not_known_yet<T>(&mut self, func: FuncId, name: Ident) -> Result<T> {
        if self.aborted {
            return Err(Failed);
        }
        let text = self.names.text(name.name).to_owned();
        let info = &self.hir.funcs[func];
        let func_name = info.name.clone();
        let is_type = matches!(text.as_str(), "type" | "types" | "output_type" | "output_types");
        let help = match self.hir.outputs.contains(&func) {
            true if is_type => {
                format!("give `--param {func_name}.type=uint8`, or declare it with its type")
            }
            true if text == "dimensions" => {
                format!("give `--param {func_name}.dim=2`, or declare it with its dimensions")
            }
            _ => "ask after its definition".to_owned(),
        };
        self.fail(
            Diagnostic::error(
                &codes::UNDEFINED_FUNC,
                format!("`{func_name}` has no `{text}` before it is defined"),
            )
            .at(name.span, "not known yet")
            .help(help),
        )
    }
}
