//! The reference page of an instruction set, made from its table.

use std::fmt::Write as _;

use crate::row::{FieldRow, Row};

/// The rows as Markdown: for each instruction its text form, what it does, unit and
/// latency class, memories, and the bits of its fields.
pub fn markdown(rows: &[Row]) -> String {
    let mut out = String::new();
    let mut category = "";
    for row in rows {
        if row.category != category {
            category = row.category;
            let _ = writeln!(out, "## {}\n", words(category));
        }
        let _ = writeln!(out, "### `{}`\n", row.mnemonic);
        let _ = writeln!(out, "```text\n{}\n```\n", form(row));
        for line in row.doc {
            let _ = writeln!(out, "{}", line.trim());
        }
        let _ = write!(
            out,
            "\nOpcode {:#04x}. Unit: {}. Latency: {}.",
            row.opcode,
            words(row.unit).to_lowercase(),
            latency(row.latency)
        );
        for (what, memories) in [("Reads", row.memory_reads), ("Writes", row.memory_writes)] {
            if !memories.is_empty() {
                let names: Vec<String> = memories.iter().map(|m| words(m).to_lowercase()).collect();
                let _ = write!(out, " {what}: {}.", names.join(", "));
            }
        }
        out.push_str("\n\n| bits | field | contents |\n| --- | --- | --- |\n");
        let in_low_byte = row.opcode <= 0xff && row.fixed & 0xff == 0xff;
        out.push_str(if in_low_byte { "| 0-7 | opcode | |\n" } else { "" });
        // By place, not by the order of the text; flags are fields of their own.
        let mut lines: Vec<(u32, String)> = Vec::new();
        for field in row.fields {
            let place = match field.rest {
                Some((low, high)) => {
                    format!("{}, {}", bits(field.low, field.high), bits(low, high))
                }
                None => bits(field.low, field.high),
            };
            lines
                .push((field.low, format!("| {place} | `{}` | {} |", field.name, contents(field))));
            if let Some(flag) = field.flag {
                let line = format!("| {flag} | | 1 where `{}` is a register |", field.name);
                lines.push((flag, line));
            }
        }
        lines.sort();
        for (_, line) in lines {
            let _ = writeln!(out, "{line}");
        }
        out.push('\n');
    }
    out
}

fn bits(low: u32, high: u32) -> String {
    if high - low == 1 { low.to_string() } else { format!("{low}-{}", high - 1) }
}

/// `IndexCalculation` as `Index calculation`.
fn words(name: &str) -> String {
    let mut out = String::new();
    for (at, c) in name.char_indices() {
        if at > 0 && c.is_uppercase() {
            out.push(' ');
            out.extend(c.to_lowercase());
        } else {
            out.push(c);
        }
    }
    out
}

/// `Latency::Bank` as `bank`; an expression over fields as what it depends on.
fn latency(expression: &str) -> String {
    match expression.rsplit_once("::") {
        Some((_, class)) if class.chars().all(char::is_alphanumeric) => words(class).to_lowercase(),
        _ => "that of the operation".into(),
    }
}

fn contents(field: &FieldRow) -> String {
    let class = field.class.unwrap_or("");
    match field.kind {
        "reads" | "base" => format!("{class} register, read"),
        "writes" => format!("{class} register, written"),
        "updates" => format!("{class} register, read and written"),
        "role" => format!("{class} register, written, in some forms read too"),
        "either" => format!("number, or {class} register, read"),
        "symbolic" => "number, or address of a label".into(),
        "relative" => "number, or label: the distance from this instruction in bytes".into(),
        "suffix" => format!("{}, a suffix", words(field.ty).to_lowercase()),
        _ => match field.ty {
            "u32" => "number".into(),
            ty => words(ty).to_lowercase(),
        },
    }
}

/// `mnemonic.suffix a, b`.
fn form(row: &Row) -> String {
    let mut out = row.mnemonic.to_owned();
    let mut separator = " ";
    for field in row.fields {
        if field.kind == "suffix" {
            let _ = write!(out, ".{}", field.name);
        } else if field.kind == "base" {
            let _ = write!(out, "({})", field.name);
        } else {
            out.push_str(separator);
            out.push_str(field.name);
            separator = ", ";
        }
    }
    out
}
