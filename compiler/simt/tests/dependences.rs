//! The files of tests/passes/simt: a module, a line `; expect:`, and of each block of its kernels the
//! instructions that touch memory or stay in their places, what is known of their accesses, and which
//! earlier ones of them they must stay behind. With `NBCC_BLESS=1` the expected parts are written
//! anew.
//!
//! An access is written `MEMORY OBJECT [ADDRESS] BYTES`; `any` is an object that is not known, `vN` a
//! value of the IR.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use nbcc_base::{Diagnostics, SourceId};
use nbcc_ir::{Module, Object, parse_module, verify_module};
use nbcc_isa::Instruction;
use nbcc_isa_simt::Memory;
use nbcc_mach::MemoryAccess;
use nbcc_mach::dependence::Dependence;
use nbcc_simt::backend::select::{MachFunction, Messages, select};
use nbcc_simt::backend::{dependence, provenance};
use nbcc_simt::passes::objects;
use nbcc_testing::check_results;

#[test]
fn files_give_what_they_expect() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/passes/simt");
    check_results(&folder, "nbir", result);
}

fn result(input: &str) -> String {
    let mut diagnostics = Diagnostics::default();
    let module = parse_module(SourceId(0), input, &[], &mut diagnostics);
    let mut module = module.unwrap_or_else(|_| panic!("{diagnostics:?}\n{input}"));
    assert_eq!(verify_module(&module), [], "{input}");
    let mut out = String::new();
    for kernel in module.functions.keys().collect::<Vec<_>>() {
        let origins = provenance::origins(&module, &module.functions[kernel]);
        objects::run(&mut module, kernel);
        let func = &module.functions[kernel];
        let selected = select(&module, func, &origins, &mut Messages::default());
        describe(&module, &selected.expect("instructions").func, &mut out);
    }
    out
}

fn describe(module: &Module, func: &MachFunction, out: &mut String) {
    for (block, data) in &func.blocks {
        let graph = dependence::graph(func, block);
        let kept = |kind| matches!(kind, Dependence::Memory | Dependence::Control);
        let mut earlier: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (from, edges) in graph.successors.iter().enumerate() {
            for edge in edges.iter().filter(|edge| kept(edge.kind)) {
                earlier.entry(edge.to).or_default().push(from);
            }
        }
        let _ = writeln!(out, "@{} {block}:", func.name);
        for (at, inst) in data.insts.iter().enumerate() {
            let touches =
                !inst.inst.memory_reads().is_empty() || !inst.inst.memory_writes().is_empty();
            if !touches && !dependence::is_fixed(&inst.inst) {
                continue;
            }
            let mut line = format!("{at:>4}  {}", inst.inst);
            for access in &inst.accesses {
                let _ = write!(line, "; {}", access_text(module, access));
            }
            if let Some(earlier) = earlier.get(&at) {
                let earlier: Vec<String> = earlier.iter().map(usize::to_string).collect();
                let _ = write!(line, "; behind {}", earlier.join(" "));
            }
            let _ = writeln!(out, "{line}");
        }
    }
}

fn access_text(module: &Module, access: &MemoryAccess<Memory>) -> String {
    let object = match access.object {
        Some(number) => format!("@{}", module.objects[Object::from_u32(number)].name),
        None => "any".to_string(),
    };
    let address = access.address.as_ref().map_or(String::new(), |address| {
        let term = |&(value, factor): &(u32, u32)| match factor as i32 {
            1 => format!("v{value}"),
            factor => format!("{factor}*v{value}"),
        };
        let constant = (address.constant != 0).then(|| (address.constant as i32).to_string());
        let terms: Vec<String> = address.terms.iter().map(term).chain(constant).collect();
        format!(" [{}]", terms.join(" + "))
    });
    format!("{:?} {object}{address} {}", access.memory, access.bytes).to_lowercase()
}
