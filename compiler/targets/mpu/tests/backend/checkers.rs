//! The checker of registers finds fault with damages to what the allocator gives. (That it finds
//! whatever changes a result is tested in `compiler/mach`; here, that it knows this target's
//! instructions.)

use std::path::Path;

use nbcc_base::{Diagnostics, SourceId};
use nbcc_ir::parse_module;
use nbcc_isa_mpu::ISA;
use nbcc_isa_simt::operands::{Base, Source, Space};
use nbcc_isa_simt::{Inst, Machine, Op, RegClass};
use nbcc_mach::{Block, VReg};
use nbcc_simt::backend::banks::Banks;
use nbcc_simt::backend::provenance::origins;
use nbcc_simt::backend::regalloc::{Registers, allocate, check};
use nbcc_simt::backend::select::{MachFunction, Messages, select};
use nbcc_simt::passes::objects;
use nbcc_testing::files;

struct Allocated {
    before: MachFunction,
    after: MachFunction,
    registers: Registers,
    machine: Machine,
    local_bytes: u64,
}

impl Allocated {
    fn check(&self, after: &MachFunction, registers: &Registers) -> Result<(), String> {
        let banks = Banks::one(self.machine.limits.registers);
        check(&self.before, after, registers, &banks, self.local_bytes)
    }

    /// What the allocator inserted.
    fn inserted(&self) -> impl Iterator<Item = (Block, usize)> + '_ {
        self.after.blocks.keys().flat_map(|block| {
            let origins = self.registers.allocation.origins[block].iter().enumerate();
            origins.filter(|(_, origin)| origin.is_none()).map(move |(at, _)| (block, at))
        })
    }

    /// Changes an instruction. Whether `change` did; panics where the check does not find that.
    fn finds(&self, (block, at): (Block, usize), change: impl Fn(&mut Inst<VReg>) -> bool) -> bool {
        let mut damaged = self.after.clone();
        let inst = &mut damaged.blocks[block].insts[at].inst;
        let changed = change(inst);
        let name = &self.after.name;
        let found = || self.check(&damaged, &self.registers).is_err();
        assert!(!changed || found(), "{name}: {block}, instruction {at}");
        changed
    }
}

/// Every kernel of the files of tests/passes/mpu that can be selected, with its registers.
fn allocated(words: u32) -> Vec<Allocated> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/passes/mpu");
    let mut machine = ISA.built_in("mpu");
    machine.limits.registers = words;
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
            let origins = origins(&module, &module.functions[kernel]);
            let local_bytes = objects::run(&mut module, kernel).local_bytes;
            let func = &module.functions[kernel];
            // Calls are for the files of `inline`.
            let Ok(selected) = select(&module, func, &origins, &mut Messages::default()) else {
                continue;
            };
            let (before, mut after) = (selected.func.clone(), selected.func);
            let registers = allocate(&mut after, &Banks::one(words), local_bytes, true);
            let registers = registers.unwrap_or_else(|none| panic!("{path:?}: {none:?}"));
            let machine = machine.clone();
            let done = Allocated { before, after, registers, machine, local_bytes };
            assert_eq!(done.check(&done.after, &done.registers), Ok(()), "{path:?}");
            all.push(done);
        }
    }
    all
}

/// Changes each instruction that the allocator inserted by itself; how many `change` changed, all of
/// which the check finds.
fn changes_found(change: impl Fn(&mut Inst<VReg>) -> bool + Copy) -> usize {
    let count =
        |done: &Allocated| done.inserted().filter(|&place| done.finds(place, change)).count();
    allocated(14).iter().map(count).sum()
}

#[test]
fn a_reload_of_another_slot_is_found() {
    let other = |inst: &mut Inst<VReg>| match &mut inst.op {
        Op::Ld { space: Space::Local, base: Base::Imm(0), offset, .. }
        | Op::LdWide { space: Space::Local, base: Base::Imm(0), offset, .. } => {
            offset.0 ^= 8;
            true
        }
        _ => false,
    };
    let found = changes_found(other);
    assert!(found > 10, "{found}");
}

#[test]
fn a_constant_that_is_rematerialised_as_another_is_found() {
    let other = |inst: &mut Inst<VReg>| match &mut inst.op {
        Op::Mov { src: Source::Imm(value), .. } => {
            *value ^= 1;
            true
        }
        Op::PredSet { value, .. } => {
            *value ^= 1;
            true
        }
        Op::Ld { space: Space::Param, offset, .. }
        | Op::LdWide { space: Space::Param, offset, .. } => {
            offset.0 ^= 8;
            true
        }
        _ => false,
    };
    assert!(changes_found(other) > 0);
}

#[test]
fn a_store_that_is_missing_is_found() {
    let mut count = 0;
    for done in allocated(16) {
        for (block, at) in done.inserted() {
            let (mut after, mut registers) = (done.after.clone(), done.registers.clone());
            let gone = after.blocks[block].insts.remove(at).inst;
            registers.allocation.origins[block].remove(at);
            if matches!(gone.op, Op::St { .. } | Op::StWide { .. } | Op::PredWord { .. }) {
                assert!(done.check(&after, &registers).is_err(), "{}: {block}, {at}", after.name);
                count += 1;
            }
        }
    }
    assert!(count > 5, "{count}");
}

#[test]
fn a_pair_that_begins_at_an_odd_register_is_found() {
    let mut count = 0;
    for done in allocated(128) {
        let used = |vreg: VReg| {
            let mut insts = done.after.blocks.values().flat_map(|block| &block.insts);
            insts.any(|inst| MachFunction::uses_and_defs(&inst.inst).0.contains(&vreg))
        };
        let wide = |vreg: &VReg| done.after.vregs[*vreg].class == RegClass::Wide && used(*vreg);
        for vreg in done.after.vregs.keys().filter(wide) {
            let mut damaged = done.registers.clone();
            damaged.allocation.entries[vreg] += 1;
            assert!(done.check(&done.after, &damaged).is_err(), "{vreg} of {}", done.after.name);
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}
