//! Register allocation by graph colouring (paper 001, section V-C), one register file after the
//! other, with copies coalesced where that cannot cost a register.
//!
//! What finds no register is kept in the engine's own bank; address registers go there through a
//! vector register. Constants are made again instead. The control core's registers cannot be kept
//! in a bank: only constants of it can leave their register.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use nbcc_isa::Role;
use nbcc_isa_ipim::{Addr, CompOp, Inst, IntOp, Machine, RESERVED_ADDR_REGS, RegClass, VecMask};
use nbcc_mach::color::{Coloring, Policy, color};
use nbcc_mach::interference::{Interference, interference};
use nbcc_mach::liveness::liveness;
use nbcc_mach::{InstData, VReg};

use super::select::{Args, MachFunction, Remake, Selected};

/// Control registers that hold the place of the vault.
pub const RESERVED_CTRL_REGS: u16 = 4;

/// What the allocation of a kernel cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Values kept in the bank.
    pub spilled: u32,
    /// Constants made again.
    pub remade: u32,
    /// Copies that went away.
    pub coalesced: u32,
    /// Bytes of the bank used.
    pub bytes: u32,
}

/// Why a kernel got no registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoRegisters {
    /// The register file.
    pub class: RegClass,
    /// How many entries it has for values.
    pub entries: usize,
}

/// Gives every register of a kernel an entry. Spilled values go to the bank below `slots_end`.
///
/// # Errors
/// A register file that is too small for what has to be in it at once.
pub fn allocate(
    kernel: &mut Selected,
    machine: &Machine,
    policy: Policy,
    slots_end: u32,
) -> Result<(SecondaryMap<VReg, u16>, Cost), NoRegisters> {
    let mut cost = Cost::default();
    let mut entries = SecondaryMap::new();
    coalesce(kernel, machine, &mut cost);
    let mut kept: BTreeSet<VReg> = BTreeSet::new();
    // Address registers are spilled through vector registers, so these come last.
    for class in [RegClass::Ctrl, RegClass::Addr, RegClass::Data] {
        let allowed = entries_of(machine, class, kernel.args.as_ref());
        loop {
            let live = liveness(&kernel.func);
            let graph = interference(&kernel.func, class, &live);
            let vregs: Vec<VReg> = kernel
                .func
                .vregs_of(class)
                .filter(|&v| kernel.func.vregs[v].fixed.is_none() && graph.cost[v] > 0.0)
                .collect();
            let can_spill = |v: VReg| {
                !kept.contains(&v) && (class != RegClass::Ctrl || kernel.remake.contains_key(&v))
            };
            match color(&vregs, &graph, &allowed, policy, can_spill) {
                Coloring::Colored(found) => {
                    for v in vregs {
                        entries[v] = found[v];
                    }
                    break;
                }
                Coloring::Spill(list) => {
                    let list: Vec<VReg> = list.into_iter().filter(|&v| can_spill(v)).collect();
                    if list.is_empty() {
                        return Err(NoRegisters { class, entries: allowed.len() });
                    }
                    for v in list {
                        spill(kernel, v, slots_end, &mut cost, &mut kept);
                    }
                }
            }
        }
    }
    for (v, data) in kernel.func.vregs.iter() {
        if let Some(entry) = data.fixed {
            entries[v] = entry;
        }
    }
    Ok((entries, cost))
}

/// The entries that values may have: those behind the reserved ones, the arguments and the address
/// to return to.
fn entries_of(machine: &Machine, class: RegClass, args: Option<&Args>) -> Vec<u16> {
    let (first, count) = match class {
        RegClass::Ctrl => {
            let first = args.map_or(RESERVED_CTRL_REGS, |args| args.return_entry() + 1);
            (first, machine.registers.ctrl)
        }
        RegClass::Addr => {
            (RESERVED_ADDR_REGS + args.map_or(0, |args| args.addresses), machine.registers.addr)
        }
        RegClass::Data => (0, machine.registers.data),
    };
    (first..count as u16).collect()
}

/// Keeps a register's value elsewhere: every access gets a register of its own.
fn spill(
    kernel: &mut Selected,
    vreg: VReg,
    slots_end: u32,
    cost: &mut Cost,
    kept: &mut BTreeSet<VReg>,
) {
    let remake = kernel.remake.get(&vreg).copied();
    let slot = match remake {
        Some(_) => {
            cost.remade += 1;
            0
        }
        None => {
            cost.spilled += 1;
            cost.bytes += 16;
            slots_end - cost.bytes
        }
    };
    let mask = kernel.mask;
    let class = kernel.func.vregs[vreg].class;
    let blocks: Vec<_> = kernel.func.blocks.keys().collect();
    for block in blocks {
        let old = std::mem::take(&mut kernel.func.blocks[block].insts);
        let mut new: Vec<InstData<Inst<VReg>>> = Vec::with_capacity(old.len());
        for mut data in old {
            let role = role_of(&data.inst, vreg);
            let Some(role) = role else {
                new.push(data);
                continue;
            };
            // A constant is defined where it is used; its old definition goes.
            if remake.is_some() && role == Role::Def {
                continue;
            }
            let here = kernel.func.vreg(class);
            kept.insert(here);
            let span = data.span;
            let mut push = |inst| new.push(InstData { inst, span });
            if role.reads() {
                for inst in reload(&mut kernel.func, here, class, remake, slot, mask, kept) {
                    push(inst);
                }
            }
            nbcc_isa::Instruction::for_each_operand_mut(&mut data.inst, |operand| {
                if *operand.reg == vreg {
                    *operand.reg = here;
                }
            });
            push(data.inst);
            if role.writes() {
                let drf = match class {
                    RegClass::Addr => {
                        let drf = kernel.func.vreg(RegClass::Data);
                        kept.insert(drf);
                        push(Inst::MovDrf { arf: here, drf, simb_mask: mask });
                        drf
                    }
                    _ => here,
                };
                push(Inst::StRf { dram: Addr::Direct(slot), drf, simb_mask: mask });
            }
        }
        kernel.func.blocks[block].insts = new;
    }
}

/// How an instruction accesses a register, all operands taken together.
fn role_of(inst: &Inst<VReg>, vreg: VReg) -> Option<Role> {
    let (uses, defs) = MachFunction::uses_and_defs(inst);
    match (uses.contains(&vreg), defs.contains(&vreg)) {
        (true, true) => Some(Role::UseDef),
        (true, false) => Some(Role::Use),
        (false, true) => Some(Role::Def),
        (false, false) => None,
    }
}

fn reload(
    func: &mut MachFunction,
    here: VReg,
    class: RegClass,
    remake: Option<Remake>,
    slot: u32,
    simb_mask: nbcc_isa_ipim::SimbMask,
    kept: &mut BTreeSet<VReg>,
) -> Vec<Inst<VReg>> {
    let address = match remake {
        Some(Remake::Set(imm)) => return vec![Inst::SetiCrf { dst: here, imm }],
        Some(Remake::Zero) => return vec![Inst::Reset { drf: here, simb_mask }],
        Some(Remake::Pool(address)) => address,
        None => slot,
    };
    let dram = Addr::Direct(address);
    if class == RegClass::Data {
        return vec![Inst::LdRf { dram, drf: here, simb_mask }];
    }
    let drf = func.vreg(RegClass::Data);
    kept.insert(drf);
    vec![Inst::LdRf { dram, drf, simb_mask }, Inst::MovArf { arf: here, drf, simb_mask }]
}

/// The least number of instructions that a kernel has once it has registers: copies may go away.
pub fn least_insts(kernel: &Selected) -> usize {
    let insts = kernel.func.blocks.values().flat_map(|block| &block.insts);
    insts.filter(|inst| as_copy(&inst.inst).is_none()).count()
}

/// The registers of a full copy.
fn as_copy(inst: &Inst<VReg>) -> Option<(VReg, VReg)> {
    match inst {
        Inst::Comp { op: CompOp::Int(IntOp::Or), mode, dst, src1, src2, vec_mask, .. }
            if src1 == src2 && *vec_mask == VecMask::ALL && *mode == nbcc_isa_ipim::Mode::Vv =>
        {
            Some((*dst, *src1))
        }
        Inst::CalcArf { op: IntOp::Or, dst, src1, src2, .. }
        | Inst::CalcCrf { op: IntOp::Or, dst, src1, src2 }
            if src1 == src2 =>
        {
            Some((*dst, *src1))
        }
        _ => None,
    }
}

/// Makes the two sides of copies one register where they are never live together with different
/// values and the merged register is easy to colour (Briggs' test).
fn coalesce(kernel: &mut Selected, machine: &Machine, cost: &mut Cost) {
    for class in [RegClass::Ctrl, RegClass::Addr, RegClass::Data] {
        let entries = entries_of(machine, class, kernel.args.as_ref()).len();
        let live = liveness(&kernel.func);
        let graph = copy_graph(&kernel.func, class, &interference(&kernel.func, class, &live));
        let mut merged = Merged { of: BTreeMap::new(), neighbours: graph };
        let mut copies: Vec<(u32, VReg, VReg)> = Vec::new();
        for data in kernel.func.blocks.values() {
            for inst in &data.insts {
                let Some((dst, src)) = as_copy(&inst.inst) else { continue };
                let fixed = |v: VReg| kernel.func.vregs[v].fixed.is_some();
                let constant = kernel.remake.contains_key(&src);
                if kernel.func.vregs[dst].class == class && !fixed(dst) && !fixed(src) && !constant
                {
                    copies.push((data.loop_depth, dst, src));
                }
            }
        }
        copies.sort_by_key(|(depth, ..)| std::cmp::Reverse(*depth));
        for (_, dst, src) in copies {
            merged.try_merge(dst, src, entries);
        }
        for data in kernel.func.blocks.values_mut() {
            for inst in &mut data.insts {
                nbcc_isa::Instruction::for_each_operand_mut(&mut inst.inst, |operand| {
                    *operand.reg = merged.find(*operand.reg);
                });
            }
            let before = data.insts.len();
            data.insts.retain(|inst| as_copy(&inst.inst).is_none_or(|(dst, src)| dst != src));
            cost.coalesced += (before - data.insts.len()) as u32;
        }
    }
}

/// Interference without the edges between the two sides of a copy that hold the same value.
fn copy_graph(
    func: &MachFunction,
    class: RegClass,
    graph: &Interference,
) -> BTreeMap<VReg, BTreeSet<VReg>> {
    let of = |v: VReg| (v, graph.neighbours[v].iter().copied().collect());
    func.vregs_of(class).map(of).collect()
}

/// Which registers have become which. Of two that merge, the copied-to one stays (and colours depend
/// on it), where petgraph's `UnionFind` would keep the one with more registers behind it.
struct Merged {
    of: BTreeMap<VReg, VReg>,
    neighbours: BTreeMap<VReg, BTreeSet<VReg>>,
}

impl Merged {
    fn find(&self, mut vreg: VReg) -> VReg {
        while let Some(&next) = self.of.get(&vreg) {
            vreg = next;
        }
        vreg
    }

    fn try_merge(&mut self, a: VReg, b: VReg, entries: usize) {
        let (a, b) = (self.find(a), self.find(b));
        if a == b || self.neighbours[&a].contains(&b) {
            return;
        }
        let all: BTreeSet<VReg> =
            self.neighbours[&a].union(&self.neighbours[&b]).copied().collect();
        let significant = all.iter().filter(|n| self.neighbours[n].len() >= entries).count();
        if significant >= entries {
            return;
        }
        for n in &all {
            let list = self.neighbours.get_mut(n).expect("neighbours have neighbours");
            list.remove(&b);
            list.insert(a);
        }
        self.neighbours.insert(a, all);
        self.neighbours.insert(b, BTreeSet::new());
        self.of.insert(b, a);
    }
}
