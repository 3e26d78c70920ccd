//! Register allocation by graph colouring: predicates first, since what finds none is kept in a
//! register as 0 or 1; then the register file, in which 64 bits take an even pair. What finds no
//! register is kept in the thread's local memory; constants, addresses and parameters are made
//! again instead. Copies are coalesced where that cannot cost a register.
//!
//! Where more is live at once than there are registers, the cheapest values are kept elsewhere
//! before the interference graph is built (`nbcc_mach::alias`).

use std::collections::BTreeMap;

use cranelift_entity::{EntitySet, SecondaryMap};
use nbcc_isa::{Instruction, Role};
use nbcc_isa_mpu::operands::{Access, Base, IntTest, Offset, Order, Source, Space};
use nbcc_isa_mpu::{Inst, Op, PREDICATES, RegClass};
use nbcc_mach::alias::{
    Colors, File, Graph, LiveLists, check_units, coalesce, color, max_pressure, over_pressure,
};
use nbcc_mach::{InstData, VReg};

use super::select::MachFunction;

/// Registers of a kernel, and what they cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Allocation {
    /// The first entry of each register.
    pub entries: SecondaryMap<VReg, u16>,
    /// 32-bit registers used.
    pub words: u32,
    /// Predicates used.
    pub predicates: u32,
    /// Values kept in local memory.
    pub spilled: u32,
    /// Predicates kept in registers.
    pub moved: u32,
    /// Values made again.
    pub remade: u32,
    /// Copies that went away.
    pub coalesced: u32,
    /// Bytes of local memory that spilled values take, with what was there before.
    pub local_bytes: u64,
}

/// A kernel that needs more registers than there are whatever is kept elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRegisters;

/// Classes of the register file.
const WORDS: &[(RegClass, u16)] = &[(RegClass::Word, 1), (RegClass::Wide, 2)];
const PREDS: &[(RegClass, u16)] = &[(RegClass::Pred, 1)];

/// Gives every register of a kernel an entry. Spilled values lie behind `local_bytes`.
///
/// # Errors
/// A machine with too few registers for single instructions.
pub fn allocate(
    func: &mut MachFunction,
    words: u16,
    local_bytes: u64,
    coalescing: bool,
) -> Result<Allocation, NoRegisters> {
    let mut done = Allocation { local_bytes, ..Allocation::default() };
    let mut kept = EntitySet::new();
    let files = [
        File { classes: PREDS, entries: PREDICATES },
        // An odd entry behind the pairs is of no use to them, but to words.
        File { classes: WORDS, entries: words },
    ];
    for file in files {
        // What a single instruction and the moves around it need is left free where anything is
        // kept elsewhere.
        let (limit, low) = match file.entries {
            PREDICATES => (u32::from(PREDICATES), u32::from(PREDICATES) - 3),
            n => (u32::from(n) - 2, u32::from(n).saturating_sub(20).max(u32::from(n) / 2)),
        };
        let mut fresh = coalescing;
        for round in 0.. {
            if round > 64 {
                return Err(NoRegisters);
            }
            let live = LiveLists::new(func);
            if max_pressure(func, &file, &live) > limit {
                let remade = remakes(func, &file);
                let cost = costs(func, &remade);
                let victims =
                    over_pressure(func, &file, &live, low, |v| cost[v], |v| !kept.contains(v));
                if !victims.is_empty() {
                    spill(func, &victims, &remade, &mut kept, &mut done);
                    continue;
                }
            }
            let mut graph = Graph::new(func, &file, &live, as_copy);
            if std::mem::take(&mut fresh) {
                done.coalesced += coalesce(func, &file, &mut graph, as_copy);
            }
            match color(&graph, file.entries, |v| !kept.contains(v)) {
                Colors::Found(entries) => {
                    for &node in &graph.nodes {
                        done.entries[node] = entries[node];
                        let end = u32::from(entries[node] + graph.width[node]);
                        let used = match file.entries {
                            PREDICATES => &mut done.predicates,
                            _ => &mut done.words,
                        };
                        *used = end.max(*used);
                    }
                    break;
                }
                Colors::Spill(list) => {
                    let victims: Vec<VReg> =
                        list.into_iter().filter(|&v| !kept.contains(v)).collect();
                    if victims.is_empty() {
                        return Err(NoRegisters);
                    }
                    let remade = remakes(func, &file);
                    spill(func, &victims, &remade, &mut kept, &mut done);
                }
            }
        }
    }
    Ok(done)
}

/// Checks the registers of a kernel independently of how they were found.
///
/// # Errors
/// The first read of another value.
pub fn check(func: &MachFunction, allocation: &Allocation) -> Result<(), String> {
    let units = |class: RegClass| match class {
        RegClass::Pred => (0, 1),
        RegClass::Word => (1, 1),
        RegClass::Wide => (1, 2),
    };
    check_units(func, units, |v| allocation.entries[v], as_copy)
}

/// Target and source of an instruction that only copies.
fn as_copy(inst: &Inst<VReg>) -> Option<(VReg, VReg)> {
    match (inst.guard, inst.op) {
        (None, Op::Mov { dst, src: Source::Reg(src) })
        | (None, Op::MovWide { dst, src } | Op::PredMov { dst, src }) => Some((dst, src)),
        _ => None,
    }
}

/// Registers with one definition that is cheaper made again than kept: constants, addresses,
/// special registers that do not change, parameters.
fn remakes(func: &MachFunction, file: &File<RegClass>) -> BTreeMap<VReg, Inst<VReg>> {
    let mut found: BTreeMap<VReg, Inst<VReg>> = BTreeMap::new();
    let mut written: SecondaryMap<VReg, u32> = SecondaryMap::new();
    for data in func.blocks.values() {
        for inst in &data.insts {
            inst.inst.for_each_operand(|operand| {
                if operand.role.writes() {
                    written[*operand.reg] += 1;
                }
            });
            let param = Space::Param;
            let (None, op) = (inst.inst.guard, inst.inst.op) else { continue };
            let dst = match op {
                Op::Mov { dst, src: Source::Imm(_) }
                | Op::MovBits { dst, .. }
                | Op::PredSet { dst, .. }
                | Op::Addr { dst, .. } => dst,
                Op::Ld { dst, space, base: Base::Imm(_), .. }
                | Op::LdWide { dst, space, base: Base::Imm(_), .. }
                    if space == param =>
                {
                    dst
                }
                _ => continue,
            };
            if file.width(func.vregs[dst].class).is_some() {
                found.insert(dst, inst.inst);
            }
        }
    }
    found.retain(|vreg, _| written[*vreg] == 1);
    found
}

/// What keeping each register elsewhere costs: accesses, weighted by the loops around them.
fn costs(func: &MachFunction, remade: &BTreeMap<VReg, Inst<VReg>>) -> SecondaryMap<VReg, f64> {
    let mut cost: SecondaryMap<VReg, f64> = SecondaryMap::new();
    for data in func.blocks.values() {
        let weight = 10f64.powi(data.loop_depth.min(8) as i32);
        for inst in &data.insts {
            inst.inst.for_each_operand(|operand| cost[*operand.reg] += weight);
        }
    }
    for &vreg in remade.keys() {
        cost[vreg] *= 0.25;
    }
    cost
}

/// Where a register's value is kept.
#[derive(Clone, Copy)]
enum Home {
    Remade(Inst<VReg>),
    Local(u32),
    Register(VReg),
}

/// Keeps values elsewhere: every access gets a register of its own.
fn spill(
    func: &mut MachFunction,
    victims: &[VReg],
    remade: &BTreeMap<VReg, Inst<VReg>>,
    kept: &mut EntitySet<VReg>,
    done: &mut Allocation,
) {
    let mut homes: SecondaryMap<VReg, Option<Home>> = SecondaryMap::new();
    for &vreg in victims {
        let class = func.vregs[vreg].class;
        homes[vreg] = Some(match (remade.get(&vreg), class) {
            (Some(&inst), _) => {
                done.remade += 1;
                Home::Remade(inst)
            }
            (None, RegClass::Pred) => {
                done.moved += 1;
                Home::Register(func.vreg(RegClass::Word))
            }
            (None, _) => {
                done.spilled += 1;
                let size = if class == RegClass::Wide { 8 } else { 4 };
                let slot = done.local_bytes.next_multiple_of(size);
                done.local_bytes = slot + size;
                Home::Local(u32::try_from(slot).unwrap_or(u32::MAX))
            }
        });
    }
    let blocks: Vec<_> = func.blocks.keys().collect();
    for block in blocks {
        let old = std::mem::take(&mut func.blocks[block].insts);
        let mut new: Vec<InstData<Inst<VReg>>> = Vec::with_capacity(old.len());
        for mut data in old {
            let accessed = accessed(&data.inst, &homes);
            // A value that is made again is made where it is used; its definition goes.
            let made = |&(vreg, role): &(VReg, Role)| {
                role == Role::Def && matches!(homes[vreg], Some(Home::Remade(_)))
            };
            if accessed.iter().any(made) {
                continue;
            }
            let mut behind = Vec::new();
            for (vreg, role) in accessed {
                let Some(home) = homes[vreg] else { continue };
                let here = func.vreg(func.vregs[vreg].class);
                kept.insert(here);
                if role.reads() {
                    let inst = reload(home, here, func.vregs[vreg].class);
                    new.push(InstData { inst, span: data.span });
                }
                if role.writes() {
                    let inst = keep(home, here, func.vregs[vreg].class);
                    behind.push(InstData { inst, span: data.span });
                }
                data.inst.for_each_operand_mut(|operand| {
                    if *operand.reg == vreg {
                        *operand.reg = here;
                    }
                });
            }
            new.push(data);
            new.extend(behind);
        }
        func.blocks[block].insts = new;
    }
}

/// The victims that an instruction accesses, each once, with all of its operands' roles.
fn accessed(inst: &Inst<VReg>, homes: &SecondaryMap<VReg, Option<Home>>) -> Vec<(VReg, Role)> {
    let mut found: Vec<(VReg, Role)> = Vec::new();
    inst.for_each_operand(|operand| {
        if homes[*operand.reg].is_none() {
            return;
        }
        match found.iter_mut().find(|(vreg, _)| vreg == operand.reg) {
            Some((_, role)) if *role != operand.role => *role = Role::UseDef,
            Some(_) => {}
            None => found.push((*operand.reg, operand.role)),
        }
    });
    found
}

fn reload(home: Home, here: VReg, class: RegClass) -> Inst<VReg> {
    let (space, order, base) = (Space::Local, Order::Weak, Base::Imm(0));
    Inst::from(match (home, class) {
        (Home::Remade(inst), _) => return inst.map_regs(|_| here),
        (Home::Register(word), _) => {
            Op::Cmp { test: IntTest::Ne, dst: here, a: word, b: Source::Imm(0) }
        }
        (Home::Local(slot), RegClass::Wide) => {
            Op::LdWide { space, order, dst: here, base, offset: Offset(slot as i32) }
        }
        (Home::Local(slot), _) => {
            let (access, offset) = (Access::B32, Offset(slot as i32));
            Op::Ld { space, access, order, dst: here, base, offset }
        }
    })
}

fn keep(home: Home, here: VReg, class: RegClass) -> Inst<VReg> {
    let (space, order, base) = (Space::Local, Order::Weak, Base::Imm(0));
    Inst::from(match (home, class) {
        (Home::Remade(_), _) => unreachable!("what is made again is written once"),
        (Home::Register(word), _) => Op::PredWord { dst: word, src: here },
        (Home::Local(slot), RegClass::Wide) => {
            Op::StWide { space, order, src: here, base, offset: Offset(slot as i32) }
        }
        (Home::Local(slot), _) => {
            let (access, offset) = (Access::B32, Offset(slot as i32));
            Op::St { space, access, order, src: here, base, offset }
        }
    })
}
