//! The checker of registers finds fault with damages to what the allocator gives.

use std::collections::BTreeSet;
use std::path::Path;

use nbcc_base::testing::files;
use nbcc_base::{Diagnostics, SourceId};
use nbcc_ir::parse_module;
use nbcc_isa_mpu::{Inst, Op, RegClass};
use nbcc_mach::VReg;
use nbcc_target_mpu::backend::regalloc::{Allocation, NoRegisters, allocate, check};
use nbcc_target_mpu::backend::select::{MachFunction, Messages, select};
use nbcc_target_mpu::passes::objects;

/// Every kernel of the files of tests/passes/mpu that can be selected, with its registers.
fn allocated(words: u16) -> Vec<(MachFunction, Allocation)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/passes/mpu");
    let mut all = Vec::new();
    for path in files(&folder, "nbir") {
        let text = std::fs::read_to_string(&path).expect("a text");
        let input = text.split("; expect:").next().expect("a first part");
        let mut diagnostics = Diagnostics::default();
        let mut module = parse_module(SourceId(0), input, &[], &mut diagnostics).expect("a module");
        let functions = module.functions.iter();
        let kernels: Vec<_> =
            functions.filter(|(_, func)| func.kernel.is_some()).map(|(id, _)| id).collect();
        for kernel in kernels {
            let frame = objects::run(&mut module, kernel);
            let func = &module.functions[kernel];
            // Calls are for the files of `inline`.
            let Ok(selected) = select(&module, func, &mut Messages::default()) else { continue };
            let mut func = selected.func;
            let done = allocate(&mut func, words, frame.local_bytes, true);
            let done = done.unwrap_or_else(|NoRegisters| panic!("{path:?}"));
            assert_eq!(check(&func, &done), Ok(()), "{path:?}");
            all.push((func, done));
        }
    }
    all
}

fn insts(func: &MachFunction) -> impl Iterator<Item = &Inst<VReg>> {
    func.blocks.values().flat_map(|block| &block.insts).map(|data| &data.inst)
}

/// Registers that some instruction writes, and those that a copy writes: two registers may share an
/// entry where one is a copy of the other.
fn written(func: &MachFunction) -> (BTreeSet<VReg>, BTreeSet<VReg>) {
    let is_copy = |inst: &&Inst<VReg>| {
        matches!(inst.op, Op::Mov { .. } | Op::MovWide { .. } | Op::PredMov { .. })
    };
    let defs = |inst| MachFunction::uses_and_defs(inst).1;
    (insts(func).flat_map(defs).collect(), insts(func).filter(is_copy).flat_map(defs).collect())
}

#[test]
fn two_operands_of_an_instruction_in_one_register_are_found() {
    let mut count = 0;
    for (func, done) in [128, 16].into_iter().flat_map(allocated) {
        let (_, copied) = written(&func);
        for inst in insts(&func) {
            let (uses, _) = MachFunction::uses_and_defs(inst);
            for (a, b) in uses.iter().flat_map(|&a| uses.iter().map(move |&b| (a, b))) {
                let same_class = func.vregs[a].class == func.vregs[b].class;
                if a == b || !same_class || copied.contains(&a) || copied.contains(&b) {
                    continue;
                }
                let mut damaged = done.clone();
                damaged.entries[a] = done.entries[b];
                assert!(check(&func, &damaged).is_err(), "{}: {a} is where {b} is", func.name);
                count += 1;
            }
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn a_register_that_nothing_writes_is_found() {
    let mut count = 0;
    for (func, done) in [128, 16].into_iter().flat_map(allocated) {
        let uses = |inst| MachFunction::uses_and_defs(inst).0;
        let read: BTreeSet<VReg> = insts(&func).flat_map(uses).collect();
        let blocks: Vec<_> = func.blocks.keys().collect();
        for block in blocks {
            for at in 0..func.blocks[block].insts.len() {
                let mut damaged = func.clone();
                damaged.blocks[block].insts.remove(at);
                let (left, _) = written(&damaged);
                if read.iter().all(|vreg| left.contains(vreg)) {
                    continue;
                }
                assert!(check(&damaged, &done).is_err(), "{}: {block}, {at}", func.name);
                count += 1;
            }
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn a_pair_that_begins_at_an_odd_register_is_found() {
    let mut count = 0;
    for (func, done) in allocated(128) {
        let wide = |vreg: &VReg| func.vregs[*vreg].class == RegClass::Wide;
        for vreg in written(&func).0.into_iter().filter(wide) {
            let mut damaged = done.clone();
            damaged.entries[vreg] += 1;
            assert!(check(&func, &damaged).is_err(), "{vreg} of {}", func.name);
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}
