//! Putting a program together.

use nbcc_base::{SourceId, SourceMap};
use nbcc_isa::Signature;
use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::config::Package;
use nbcc_isa_sdpnm::core::{CoreProgram, Inst, PhysReg, Trap};
use nbcc_mach::emit::{CodeBuilder, source_place};
use nbcc_mach::regalloc::Allocation;

use super::objects::Objects;
use super::select::Selected;

/// The program of a function with its registers.
pub fn emit(
    selected: &Selected,
    allocation: &Allocation,
    objects: &Objects,
    signature: Signature,
    machine: &Machine,
    packages: &[Package],
    sources: &SourceMap,
) -> CoreProgram {
    let place_of = |span| source_place(sources, span);
    let mut code: CodeBuilder<'_, Inst<PhysReg>> = CodeBuilder::new(&place_of);
    code.function(&selected.func, &allocation.entries);
    code.name_function(label(&signature.name), 0);
    let mut ends = vec![0];
    for data in selected.func.blocks.values() {
        ends.push(ends[ends.len() - 1] + data.insts.len() as u32);
    }
    let mut traps: Vec<Trap> = Vec::new();
    for (block, kind) in &selected.traps {
        let number = block.as_u32() as usize;
        // A block that nothing reaches is empty.
        if ends[number + 1] > ends[number] {
            traps.push(Trap { at: ends[number + 1] - 1, kind: kind.clone() });
        }
    }
    traps.sort_by_key(|trap| trap.at);
    let mut code = code.finish();
    let packages = with_files(packages, &mut code.lines.files, sources);
    CoreProgram {
        machine: machine.clone(),
        code,
        data: objects.data.clone(),
        signature: Some(signature),
        frame: objects.frame,
        traps,
        packages,
        homes: objects.homes.clone(),
    }
}

/// Packages whose lines are of the program's table of files, instead of the sources.
fn with_files(packages: &[Package], files: &mut Vec<String>, sources: &SourceMap) -> Vec<Package> {
    let mut packages = packages.to_vec();
    let contexts = packages.iter_mut().flat_map(|package| &mut package.contexts);
    for line in contexts.filter_map(|placed| placed.line.as_mut()) {
        let name = &sources.get(SourceId(line.file)).name;
        let known = files.iter().position(|file| file == name);
        line.file = known.unwrap_or_else(|| {
            files.push(name.clone());
            files.len() - 1
        }) as u32;
    }
    packages
}

/// A function's name as a label.
fn label(name: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() || c == '$' { c } else { '_' };
    let name: String = name.chars().map(word).collect();
    match name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
        true => format!("_{name}"),
        false => name,
    }
}
