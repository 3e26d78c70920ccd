//! Spilling: every access to a spilled register gets a register of its own, which is reloaded or
//! rematerialised before the instruction and stored behind it (Chaitin, "Register allocation &
//! spilling via graph coloring", 1982; rematerialisation: Briggs, Cooper, Torczon, PLDI 1992).

use cranelift_entity::{EntitySet, SecondaryMap};
use nbcc_base::Span;
use nbcc_isa::{Instruction, Role};

use super::file::{Allocation, Shortage};
use super::graph::Accesses;
use crate::{Block, Function, InstData, MemoryAccess, VReg};

/// Where a spilled value is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home<R> {
    /// In memory, at this address of the target's choice.
    Memory(u32),
    /// In a register of a file that is allocated later.
    Register(VReg),
    /// Nowhere: it is rematerialised.
    Recipe(R),
}

/// What the allocator asks of a target.
pub trait Spiller<I: Instruction<Reg = VReg>> {
    /// How a constant is made.
    type Recipe: Copy;

    /// Target and source of an instruction that only copies a register.
    fn copy(&self, inst: &I) -> Option<(VReg, VReg)>;

    /// Whether the two sides of a copy may become one register.
    fn coalesces(&self, _to: VReg, _from: VReg) -> bool {
        true
    }

    /// Called before any of the questions below, whenever the function has changed.
    fn inspect(&mut self, _func: &Function<I>) {}

    /// How the value of a register is made, where that is cheaper than to keep it.
    fn recipe(&self, _vreg: VReg) -> Option<Self::Recipe> {
        None
    }

    /// Whether a register can be spilled.
    fn spills(&self, _func: &Function<I>, _vreg: VReg) -> bool {
        true
    }

    /// What an access to the value of a spilled register costs, compared with one to memory.
    fn weight(&self, _vreg: VReg) -> f64 {
        1.0
    }

    /// Chooses where the value of a register without a recipe is kept; `None` where there is no
    /// room.
    fn home(&mut self, _func: &mut Function<I>, _vreg: VReg) -> Option<Home<Self::Recipe>> {
        None
    }

    /// Writes what brings a value from its home to a register. Never called where there are neither
    /// recipes nor homes.
    fn reload(&self, _home: Home<Self::Recipe>, _to: VReg, _out: &mut Insertion<'_, I>) {
        unreachable!("a spiller with homes or recipes reloads from them");
    }

    /// Writes what brings a value from a register to its home, which is no recipe. Never called where
    /// there are no homes.
    fn store(&self, _home: Home<Self::Recipe>, _from: VReg, _out: &mut Insertion<'_, I>) {
        unreachable!("a spiller with homes stores to them");
    }
}

/// Instructions that are being inserted.
#[derive(Debug)]
pub struct Insertion<'a, I: Instruction<Reg = VReg>> {
    func: &'a mut Function<I>,
    temporaries: &'a mut EntitySet<VReg>,
    insts: Vec<InstData<I>>,
    span: Option<Span>,
}

impl<I: Instruction<Reg = VReg>> Insertion<'_, I> {
    /// Inserts an instruction behind those inserted before.
    pub fn push(&mut self, inst: impl Into<I>) {
        self.insts.push(InstData::new(inst.into(), self.span));
    }

    /// The same, with what is known of its access to memory.
    pub fn push_access(&mut self, inst: impl Into<I>, access: MemoryAccess<I::Memory>) {
        let accesses = vec![access];
        self.insts.push(InstData { inst: inst.into(), span: self.span, accesses });
    }

    /// The bank of a register.
    pub fn bank(&self, vreg: VReg) -> u8 {
        self.func.vregs[vreg].bank
    }

    /// The class of a register.
    pub fn class(&self, vreg: VReg) -> I::Class {
        self.func.vregs[vreg].class
    }

    /// A register that is not spilled itself: its live range ends in the same insertion.
    pub fn scratch(&mut self, class: I::Class) -> VReg {
        let vreg = self.func.vreg(class);
        self.temporaries.insert(vreg);
        vreg
    }
}

/// What spilling each register costs: a load for each instruction that reads it, a store for each
/// that writes it, weighted by ten for every loop around them, and by what the target says.
pub fn costs<I, S>(func: &Function<I>, spiller: &S) -> SecondaryMap<VReg, f64>
where
    I: Instruction<Reg = VReg>,
    S: Spiller<I>,
{
    let mut cost: SecondaryMap<VReg, f64> = SecondaryMap::new();
    let mut accesses = Accesses::default();
    for data in func.blocks.values() {
        let weight = 10f64.powi(data.loop_depth.min(8) as i32);
        for inst in &data.insts {
            accesses.of(&inst.inst, |_| true);
            for &vreg in accesses.uses.iter().chain(&accesses.defs) {
                cost[vreg] += weight;
            }
        }
    }
    for vreg in func.vregs.keys() {
        cost[vreg] *= spiller.weight(vreg);
    }
    cost
}

/// Spills registers.
///
/// # Errors
/// No room for a value.
pub fn spill<I, S>(
    func: &mut Function<I>,
    victims: &[VReg],
    spiller: &mut S,
    temporaries: &mut EntitySet<VReg>,
    done: &mut Allocation,
) -> Result<(), Shortage>
where
    I: Instruction<Reg = VReg> + Copy,
    S: Spiller<I>,
{
    let mut homes: SecondaryMap<VReg, Option<Home<S::Recipe>>> = SecondaryMap::new();
    for &vreg in victims {
        let home = match spiller.recipe(vreg) {
            Some(recipe) => Home::Recipe(recipe),
            None => spiller.home(func, vreg).ok_or(Shortage::Memory)?,
        };
        *match home {
            Home::Memory(_) => &mut done.spilled,
            Home::Register(_) => &mut done.moved,
            Home::Recipe(_) => &mut done.rematerialised,
        } += 1;
        homes[vreg] = Some(home);
    }
    let blocks: Vec<Block> = func.blocks.keys().collect();
    for block in blocks {
        let old = std::mem::take(&mut func.blocks[block].insts);
        let old_origins = std::mem::take(&mut done.origins[block]);
        let mut insts: Vec<InstData<I>> = Vec::with_capacity(old.len());
        let mut origins: Vec<Option<u32>> = Vec::with_capacity(old.len());
        for (mut data, origin) in old.into_iter().zip(old_origins) {
            let accessed = accessed(&data.inst, &homes);
            // The definition of what is rematerialised goes.
            let made = |&(_, home, role): &(VReg, _, _)| {
                role == Role::Def && matches!(home, Home::Recipe(_))
            };
            if accessed.iter().any(made) {
                continue;
            }
            let mut out = Insertion { func, temporaries, insts: Vec::new(), span: data.span };
            let (mut before, mut behind) = (Vec::new(), Vec::new());
            for (vreg, home, role) in accessed {
                let here = out.scratch(out.class(vreg));
                out.func.vregs[here].bank = out.func.vregs[vreg].bank;
                if role.reads() {
                    spiller.reload(home, here, &mut out);
                    before.append(&mut out.insts);
                }
                if role.writes() {
                    spiller.store(home, here, &mut out);
                    behind.append(&mut out.insts);
                }
                data.inst.for_each_operand_mut(|operand| {
                    if *operand.reg == vreg {
                        *operand.reg = here;
                    }
                });
            }
            origins.extend(before.iter().map(|_| None));
            insts.extend(before);
            origins.push(origin);
            insts.push(data);
            origins.extend(behind.iter().map(|_| None));
            insts.extend(behind);
        }
        func.blocks[block].insts = insts;
        done.origins[block] = origins;
    }
    Ok(())
}

/// The spilled registers that an instruction accesses, each once, with the roles of all of its
/// operands taken together.
fn accessed<I: Instruction<Reg = VReg>, R: Copy>(
    inst: &I,
    homes: &SecondaryMap<VReg, Option<Home<R>>>,
) -> Vec<(VReg, Home<R>, Role)> {
    let mut found: Vec<(VReg, Home<R>, Role)> = Vec::new();
    inst.for_each_operand(|operand| {
        let Some(home) = homes[*operand.reg] else { return };
        match found.iter_mut().find(|(vreg, ..)| vreg == operand.reg) {
            Some((.., role)) if *role != operand.role => *role = Role::UseDef,
            Some(_) => {}
            None => found.push((*operand.reg, home, operand.role)),
        }
    });
    found
}
