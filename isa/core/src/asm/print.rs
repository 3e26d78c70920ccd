//! Printing of whole programs as assembly.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{Dialect, is_label_name};
use crate::container::{Container, Data, Symbol, SymbolKind, TARGET_NOTE};
use crate::instruction::{Imm, MachineInstruction};
use crate::load::LoadError;
use crate::program::decode_text;

/// The text of a program.
///
/// # Errors
/// Bytes of `.text` that are no instructions, or relocations of instructions that
/// cannot have one.
pub fn print<I: MachineInstruction>(
    container: &Container,
    dialect: &Dialect,
) -> Result<String, LoadError> {
    let text = decode_text::<I>(&container.text)?;
    let mut out = format!(".isa {} {}\n", dialect.name, container.version);
    match dialect.machines.iter().find(|(_, toml)| *toml == container.machine) {
        Some((name, _)) => {
            let _ = writeln!(out, ".machine {name}");
        }
        None => print_bytes(&mut out, TARGET_NOTE.0, None, container.machine.as_bytes()),
    }

    // Labels by address; those that relocations need and that have no name get one.
    let mut labels: BTreeMap<u64, String> = BTreeMap::new();
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    let mut functions: BTreeMap<u64, Vec<&Symbol>> = BTreeMap::new();
    let mut others: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for symbol in &container.symbols {
        if symbol.kind == SymbolKind::Object {
            continue;
        }
        if !is_label_name(&symbol.name) || !taken.insert(&symbol.name) {
            let message = format!("`{}` cannot name a label", symbol.name.escape_debug());
            return Err(LoadError::new(".symtab", 0, message));
        }
        if symbol.kind == SymbolKind::Function {
            functions.entry(symbol.address).or_default().push(symbol);
        } else {
            others.entry(symbol.address).or_default().push(&symbol.name);
        }
        labels.entry(symbol.address).or_insert_with(|| symbol.name.clone());
    }
    let mut relocated = BTreeSet::new();
    let text_bytes = container.text.len() as u64;
    let is_address = |value: u64| value <= text_bytes && value.is_multiple_of(I::BYTES as u64);
    for offset in &container.relocations {
        let fail = |message: &str| Err(LoadError::new(".text", u64::from(*offset), message));
        let index = *offset as usize / I::BYTES;
        if !(*offset as usize).is_multiple_of(I::BYTES) {
            return fail("a relocation inside of an instruction");
        }
        let Some(mut inst) = text.get(index).cloned() else {
            return fail("a relocation beyond the end of .text");
        };
        match inst.symbolic() {
            Some(Imm::Value(value)) if is_address(u64::from(value as u32)) => {}
            Some(_) => return fail("a relocated immediate is no address of an instruction"),
            None => return fail("an instruction without an immediate has a relocation"),
        }
        inst.for_each_symbolic_mut(|imm| {
            let Imm::Value(value) = *imm else { return };
            let target = u64::from(value as u32);
            if is_address(target) {
                labels.entry(target).or_insert_with(|| {
                    let mut name = format!("L{target:04x}");
                    while taken.contains(name.as_str()) {
                        name.push('_');
                    }
                    name
                });
            }
        });
        relocated.insert(index);
    }
    let names: BTreeMap<u32, String> =
        labels.iter().map(|(address, name)| (*address as u32, name.clone())).collect();

    out.push_str("\n.section .text\n");
    for (index, name) in container.lines.files.iter().enumerate() {
        let _ = writeln!(out, ".file {} \"{}\"", index + 1, quote(name.as_bytes()));
    }
    let mut place = None;
    for index in 0..=text.len() {
        let address = (index * I::BYTES) as u64;
        for function in functions.get(&address).into_iter().flatten() {
            let (name, size) = (&function.name, function.size);
            let _ = writeln!(out, "\n.type {name}, @function\n.size {name}, {size}\n{name}:");
        }
        let named = others.get(&address);
        for name in named.into_iter().flatten() {
            let _ = writeln!(out, "{name}:");
        }
        if named.is_none()
            && !functions.contains_key(&address)
            && let Some(name) = labels.get(&address)
        {
            let _ = writeln!(out, "{name}:");
        }
        let Some(inst) = text.get(index) else { break };
        let here = container.lines.rows.get(index).copied().flatten();
        if here != place {
            let _ = match here {
                Some(l) => writeln!(out, ".loc {} {} {}", l.file + 1, l.line, l.column),
                None => writeln!(out, ".loc 1 0 0"),
            };
            place = here;
        }
        let mut inst = inst.clone();
        if relocated.contains(&index) {
            // An immediate that is no address stands for none (no reconvergence point).
            inst.for_each_symbolic_mut(|imm| {
                if let Imm::Value(value) = *imm
                    && is_address(u64::from(value as u32))
                {
                    *imm = Imm::Label(value as u32);
                }
            });
        }
        let mut line = String::new();
        let _ = inst.write_text(&mut line, &names);
        let _ = writeln!(out, "    {line:<72}# {address:#06x}");
    }
    for data in &container.data {
        print_words(&mut out, data);
    }
    for (name, bytes) in &container.metadata {
        print_bytes(&mut out, name, None, bytes);
    }
    Ok(out)
}

/// Text without quotes, control characters and what is not ASCII.
fn quote(bytes: &[u8]) -> String {
    let mut out = String::new();
    for byte in bytes {
        match byte {
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'"' | b'\\' => {
                out.push('\\');
                out.push(char::from(*byte));
            }
            b' '..=b'~' => out.push(char::from(*byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out
}

fn print_section(out: &mut String, name: &str, address: Option<u64>) {
    let _ = match address {
        Some(address) => writeln!(out, "\n.section {name} {address:#x}"),
        None => writeln!(out, "\n.section {name}"),
    };
}

fn print_bytes(out: &mut String, name: &str, address: Option<u64>, bytes: &[u8]) {
    print_section(out, name, address);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let _ = writeln!(out, "    .ascii \"{}\"", quote(line));
    }
}

fn print_words(out: &mut String, data: &Data) {
    print_section(out, &data.name, Some(data.address));
    for (row, bytes) in data.bytes.chunks(16).enumerate() {
        let (words, rest) = bytes.as_chunks::<4>();
        if !words.is_empty() {
            let words: Vec<String> =
                words.iter().map(|w| format!("{:#010x}", u32::from_le_bytes(*w))).collect();
            let line = format!(".word {}", words.join(", "));
            let _ = writeln!(out, "    {line:<72}# {:#06x}", row * 16);
        }
        if !rest.is_empty() {
            let bytes: Vec<String> = rest.iter().map(|b| format!("{b:#04x}")).collect();
            let _ = writeln!(out, "    .byte {}", bytes.join(", "));
        }
    }
}
