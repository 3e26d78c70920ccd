//! Scalar parameters on the command line.

use std::collections::BTreeMap;

use nbcc_base::Diagnostic;
use nbcc_stages::{ElementType, Literal};

use super::names;
use crate::codes;
use crate::session::{Session, Stop};

/// Reads `--param NAME=VALUE`s against the parameters that a program has.
pub fn read(
    session: &mut Session,
    known: &[(String, ElementType)],
    args: &[(String, String)],
) -> Result<BTreeMap<String, Literal>, Stop> {
    names::check(session, "parameter", known.iter().map(|(name, _)| name.as_str()), args)?;
    let mut values = BTreeMap::new();
    for (name, text) in args {
        let Some((_, ty)) = known.iter().find(|(known, _)| known == name) else { continue };
        let Some(value) = literal(*ty, text) else {
            let message = format!("`{text}` is no value for parameter `{name}`, which is {ty}");
            let help = match *ty {
                ty if ty.is_float() => "write a number, as in 1.5".to_string(),
                ElementType::Bool => "write true or false".to_string(),
                ty => {
                    let (low, high) = ty.integer_range();
                    format!("write an integer from {low} to {high}")
                }
            };
            let error = Diagnostic::error(&codes::COMMAND_LINE, message).help(help);
            return Err(session.usage(error));
        };
        values.insert(name.clone(), value);
    }
    Ok(values)
}

/// A value of a type: decimal or 0x integers in its range, floats as Rust and C write them.
fn literal(ty: ElementType, text: &str) -> Option<Literal> {
    if ty.is_float() {
        // C's suffix; the `f` of `inf` is none.
        let suffixed = text.strip_suffix('f').filter(|rest| !rest.ends_with(char::is_alphabetic));
        return suffixed.unwrap_or(text).parse().ok().map(Literal::float);
    }
    let value = match text {
        "true" if ty == ElementType::Bool => 1,
        "false" if ty == ElementType::Bool => 0,
        _ => {
            let (low, high) = ty.integer_range();
            names::integer(text, low.into()..=high.into())? as i64
        }
    };
    Some(Literal::Int(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_of_their_type() {
        assert_eq!(literal(ElementType::F32, "1.5f"), Some(Literal::float(1.5)));
        assert_eq!(literal(ElementType::F32, "-1e3"), Some(Literal::float(-1000.0)));
        assert_eq!(literal(ElementType::F32, "-inf"), Some(Literal::float(f32::NEG_INFINITY)));
        assert_eq!(literal(ElementType::F32, "1ff"), None);
        assert_eq!(literal(ElementType::F32, "f"), None);
        assert_eq!(literal(ElementType::U8, "0xff"), Some(Literal::Int(255)));
        assert_eq!(literal(ElementType::U8, "256"), None);
        assert_eq!(literal(ElementType::I8, "-128"), Some(Literal::Int(-128)));
        assert_eq!(literal(ElementType::Bool, "true"), Some(Literal::Int(1)));
        assert_eq!(literal(ElementType::I32, "true"), None);
    }
}
