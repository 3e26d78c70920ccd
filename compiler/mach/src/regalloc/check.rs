//! An independent check of an allocation: runs the allocated function beside the one before
//! allocation, with symbols for values, and asks at every read that the entry read holds the value
//! that the function before read (after the checker of regalloc2, Fallin 2022). It knows entries,
//! slots, and what the inserted instructions move; nothing of liveness, interference, spilling or
//! coalescing.
//!
//! A symbol stands for the value last written to a register of the function before, or for a
//! constant. Constants have places of their own, which nothing overwrites: a register that is one is
//! known to be there. Where control flow meets, a place holds what it holds on every path.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::ops::Range;

use cranelift_entity::{PrimaryMap, SecondaryMap};
use foldhash::{HashMap, HashMapExt};
use nbcc_isa::{Instruction, MachineInstruction, PhysReg, RegisterClass};

use super::file::{Allocation, RegisterFile};
use super::known::{Base, Form, Known, Place, Symbol, Walk, decoded, encoded};
use crate::{Block, Function, VReg, VRegData};

/// What an instruction does that only moves a value or makes a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer<R> {
    /// Copies a register.
    Copy {
        /// To.
        to: R,
        /// From.
        from: R,
    },
    /// Writes a register to one of another class, so that the value can be brought back.
    Encode {
        /// To.
        to: R,
        /// From.
        from: R,
    },
    /// Brings back what `Encode` wrote.
    Decode {
        /// To.
        to: R,
        /// From.
        from: R,
    },
    /// Reads memory at this address.
    Load {
        /// To.
        to: R,
        /// From.
        address: u32,
    },
    /// Writes memory at this address.
    Store {
        /// From.
        from: R,
        /// To.
        address: u32,
    },
    /// Makes a constant: the same value wherever the same instruction stands.
    Constant {
        /// To.
        to: R,
    },
}

/// The memory that spilled values may be kept in.
#[derive(Clone, Debug)]
pub struct Slots {
    /// Its addresses.
    pub range: Range<u32>,
    /// What an entry takes of it: the address of its parts is a multiple of that.
    pub unit: u32,
}

/// An instruction without its registers.
type Shape<I> = <I as Instruction>::With<PhysReg<<I as Instruction>::Class>>;

fn shape<I: Instruction<Reg = VReg>>(inst: &I) -> Shape<I> {
    inst.map_regs(|operand| PhysReg::new(operand.class, 0))
}

struct Checker<'a, I: Instruction<Reg = VReg>, T> {
    before: &'a Function<I>,
    after: &'a Function<I>,
    allocation: &'a Allocation,
    files: &'a [RegisterFile<I::Class>],
    slots: &'a Slots,
    transfer: T,
    /// What each register of the function before stands for.
    symbols: PrimaryMap<VReg, Symbol>,
    /// Constants by the instructions that make them.
    constants: HashMap<Shape<I>, usize>,
}

/// Checks an allocation of `before` whose result is `after`. `transfer` says what an instruction
/// moves; where it is silent on one that was inserted, the allocation is refused.
///
/// # Errors
/// The first difference: an instruction changed or lost, an entry that is not the register's to
/// have, a read of another value.
pub fn check<I, T>(
    before: &Function<I>,
    after: &Function<I>,
    allocation: &Allocation,
    files: &[RegisterFile<I::Class>],
    slots: &Slots,
    transfer: T,
) -> Result<(), String>
where
    I: Instruction<Reg = VReg>,
    Shape<I>: MachineInstruction + Eq + Hash,
    T: Fn(&I) -> Option<Transfer<VReg>>,
{
    let constants = constants(before, &transfer);
    let symbols = symbols(before);
    Checker { before, after, allocation, files, slots, transfer, symbols, constants }
        .run()
        .map_err(|what| format!("{}: {what}", after.name))
}

/// What registers stand for: those that are fixed to one entry for the first of them.
fn symbols<I: Instruction<Reg = VReg>>(func: &Function<I>) -> PrimaryMap<VReg, Symbol> {
    let mut fixed: BTreeMap<(I::Class, u16), VReg> = BTreeMap::new();
    let symbol = |(vreg, data): (VReg, &VRegData<I::Class>)| {
        let first = data.fixed.map(|entry| *fixed.entry((data.class, entry)).or_insert(vreg));
        (Base::Register(first.unwrap_or(vreg)), Form::Plain)
    };
    func.vregs.iter().map(symbol).collect()
}

/// Numbers the constants of a function by the instructions that make them.
fn constants<I>(
    func: &Function<I>,
    transfer: &impl Fn(&I) -> Option<Transfer<VReg>>,
) -> HashMap<Shape<I>, usize>
where
    I: Instruction<Reg = VReg>,
    Shape<I>: Eq + Hash,
{
    let mut constants = HashMap::new();
    for data in func.blocks.values().flat_map(|data| &data.insts) {
        if let Some(Transfer::Constant { .. }) = transfer(&data.inst) {
            let next = constants.len();
            constants.entry(shape(&data.inst)).or_insert(next);
        }
    }
    constants
}

impl<I, T> Checker<'_, I, T>
where
    I: Instruction<Reg = VReg>,
    Shape<I>: MachineInstruction + Eq + Hash,
    T: Fn(&I) -> Option<Transfer<VReg>>,
{
    fn run(&self) -> Result<(), String> {
        if self.before.blocks.len() != self.after.blocks.len() {
            return Err("has other blocks".to_string());
        }
        let mut at_start: SecondaryMap<Block, Option<Known>> = SecondaryMap::new();
        let Some(entry) = self.after.blocks.keys().next() else { return Ok(()) };
        at_start[entry] = Some(self.at_entry());
        let mut work = BTreeSet::from([entry]);
        while let Some(block) = work.pop_first() {
            let Some(known) = at_start[block].clone() else { continue };
            // What is read is looked at once it is certain.
            let known = self.block(block, known, false)?;
            for &successor in &self.after.blocks[block].successors {
                let merged = match &at_start[successor] {
                    None => known.clone(),
                    Some(old) => old.meet(&known),
                };
                if at_start[successor].as_ref() != Some(&merged) {
                    at_start[successor] = Some(merged);
                    work.insert(successor);
                }
            }
        }
        for block in self.after.blocks.keys() {
            let Some(known) = at_start[block].take() else { continue };
            self.block(block, known, true)?;
            if self.before.blocks[block].successors != self.after.blocks[block].successors {
                return Err(format!("{block} goes on elsewhere"));
            }
        }
        Ok(())
    }

    /// What the machine provides.
    fn at_entry(&self) -> Known {
        let mut known = Walk::new(Known::default());
        for (vreg, _) in self.before.vregs.iter().filter(|(_, data)| data.fixed.is_some()) {
            for (part, place) in self.places(vreg, self.before).unwrap_or_default() {
                known.add(place, (self.symbols[vreg], part));
            }
        }
        let widest = self.files.iter().flat_map(|file| file.classes).map(|&(_, width)| width);
        for number in 0..self.constants.len() {
            let symbol = (Base::Constant(number), Form::Plain);
            let parts = (0..widest.clone().max().unwrap_or(1)).map(|part| (symbol, part));
            known.insert(Place::Constant(number), parts.collect());
        }
        known.done()
    }

    /// The places of the parts of a register.
    fn places(&self, vreg: VReg, func: &Function<I>) -> Result<Vec<(u16, Place)>, String> {
        let data = &func.vregs[vreg];
        let class = data.class;
        let found = self.files.iter().enumerate().find_map(|(k, f)| {
            let width = f.width(class).filter(|_| f.bank == data.bank)?;
            Some((k, f, width))
        });
        let Some((number, file, width)) = found else {
            return Err(format!("{vreg} is of {}, which has no entries", class.name()));
        };
        let first = data.fixed.unwrap_or_else(|| self.allocation.entries[vreg]);
        let inside = file.entries.start <= first && first + width <= file.entries.end;
        if data.fixed.is_none() && !(inside && first.is_multiple_of(width)) {
            return Err(format!("{vreg} has {}{first}, which is not its to have", class.prefix()));
        }
        Ok((0..width).map(|part| (part, Place::Entry(number, first + part))).collect())
    }

    /// The places of a value of a register at an address.
    fn memory(&self, vreg: VReg, address: u32) -> Result<Vec<(u16, Place)>, String> {
        let (range, unit) = (&self.slots.range, self.slots.unit);
        let parts = self.places(vreg, self.after)?.len() as u32;
        if address < range.start
            || address + parts * unit > range.end
            || !address.is_multiple_of(unit)
        {
            return Err(format!("{vreg} is kept at {address}, which is not in {range:?}"));
        }
        let places = 0..parts as u16;
        Ok(places.map(|part| (part, Place::Memory(address / unit + u32::from(part)))).collect())
    }

    /// Goes through a block of both functions, with what is known at its begin; what is known at its
    /// end. Looks at reads if it is told to.
    fn block(&self, block: Block, known: Known, look: bool) -> Result<Known, String> {
        let mut walk = Walk::new(known);
        let known = &mut walk;
        let before = &self.before.blocks[block].insts;
        let after = &self.after.blocks[block].insts;
        let origins = &self.allocation.origins[block];
        if origins.len() != after.len() {
            return Err(format!("{block} has {} instructions, not {}", after.len(), origins.len()));
        }
        // What is gone counts where it stood: behind what stood before it, and before what was
        // inserted there.
        let mut stays = vec![false; before.len()];
        for &origin in origins.iter().flatten() {
            match stays.get_mut(origin as usize) {
                Some(stays) => *stays = true,
                None => return Err(format!("{block} has no instruction {origin}")),
            }
        }
        let mut next = 0;
        let mut leave = |known: &mut Walk| {
            while next < before.len() && !stays[next] {
                self.gone(&before[next].inst, known)?;
                next += 1;
            }
            next += 1;
            Ok::<usize, String>(next - 1)
        };
        let mut here = leave(known)?;
        for (index, (data, origin)) in after.iter().zip(origins).enumerate() {
            let at = |what: String| format!("{block}, instruction {index}: {what}");
            match *origin {
                None => self.inserted(&data.inst, known).map_err(at)?,
                Some(origin) if origin as usize == here => {
                    self.kept(&before[here].inst, &data.inst, known, look).map_err(at)?;
                    here = leave(known).map_err(at)?;
                }
                Some(_) => return Err(at("is not where it was".to_string())),
            }
        }
        Ok(walk.done())
    }

    /// An instruction that the allocation left out: wherever its source is, there is its target.
    fn gone(&self, inst: &I, known: &mut Walk) -> Result<(), String> {
        let (to, from, form) = match (self.transfer)(inst) {
            Some(Transfer::Copy { to, from }) => (to, self.symbols[from], Form::Plain),
            Some(Transfer::Decode { to, from }) => (to, self.symbols[from], Form::Encoded),
            Some(Transfer::Constant { to }) => (to, self.constant(inst), Form::Plain),
            _ => return Err("an instruction is gone".to_string()),
        };
        let (to, _) = self.symbols[to];
        if to == from.0 {
            return Ok(());
        }
        known.forget(to);
        let change: fn(Form) -> Option<Form> = if form == Form::Plain { Some } else { encoded };
        known.give_name(from.0, to, change);
        Ok(())
    }

    /// The constant that an instruction makes.
    fn constant(&self, inst: &I) -> Symbol {
        let number = self.constants.get(&shape(inst)).copied().unwrap_or(usize::MAX);
        (Base::Constant(number), Form::Plain)
    }

    /// An instruction that the allocation added.
    fn inserted(&self, inst: &I, known: &mut Walk) -> Result<(), String> {
        let Some(transfer) = (self.transfer)(inst) else {
            return Err("is new, and does more than move a value".to_string());
        };
        let (from, to, form): (Vec<_>, _, fn(Form) -> Option<Form>) = match transfer {
            Transfer::Copy { to, from } => {
                (self.places(from, self.after)?, self.places(to, self.after)?, Some)
            }
            Transfer::Encode { to, from } => {
                (self.places(from, self.after)?, self.places(to, self.after)?, encoded)
            }
            Transfer::Decode { to, from } => {
                (self.places(from, self.after)?, self.places(to, self.after)?, decoded)
            }
            Transfer::Load { to, address } => {
                (self.memory(to, address)?, self.places(to, self.after)?, Some)
            }
            Transfer::Store { from, address } => {
                (self.places(from, self.after)?, self.memory(from, address)?, Some)
            }
            Transfer::Constant { to } => {
                let (Base::Constant(number), _) = self.constant(inst) else { return Ok(()) };
                let to = self.places(to, self.after)?;
                let from = to.iter().map(|&(part, _)| (part, Place::Constant(number))).collect();
                (from, to, Some)
            }
        };
        let values: Vec<_> = from.iter().map(|from| known.held(*from, form)).collect();
        for ((_, place), value) in to.into_iter().zip(values) {
            known.insert(place, value);
        }
        Ok(())
    }

    /// An instruction that stands in both functions.
    fn kept(&self, before: &I, after: &I, known: &mut Walk, look: bool) -> Result<(), String> {
        if shape(before) != shape(after) {
            return Err("is another instruction".to_string());
        }
        let operands = |inst: &I| {
            let mut found = Vec::new();
            inst.for_each_operand(|operand| found.push((operand.role, *operand.reg)));
            found
        };
        let pairs: Vec<_> = operands(before).into_iter().zip(operands(after)).collect();
        let mut writes = Vec::new();
        for &((role, was), (_, is)) in &pairs {
            let places = self.places(is, self.after)?;
            if role.reads() && look {
                for &(part, place) in &places {
                    if !known.holds(place, (self.symbols[was], part)) {
                        let holds = known.at(place);
                        return Err(format!("reads {was} from {place:?}, which holds {holds:?}"));
                    }
                }
            }
            if role.writes() {
                writes.push((was, places));
            }
        }
        let transfer = (self.transfer)(after);
        let (copied, form): (_, fn(Form) -> Option<Form>) = match transfer {
            Some(Transfer::Copy { from, .. }) => (self.places(from, self.after)?, Some),
            Some(Transfer::Encode { from, .. }) => (self.places(from, self.after)?, encoded),
            Some(Transfer::Decode { from, .. }) => (self.places(from, self.after)?, decoded),
            Some(Transfer::Store { address, .. }) if self.slots.range.contains(&address) => {
                return Err(format!("writes {address}, where values are kept"));
            }
            _ => (Vec::new(), Some),
        };
        let copied: Vec<_> = copied.into_iter().map(|from| known.held(from, form)).collect();
        for &(was, _) in &writes {
            known.forget(self.symbols[was].0);
        }
        if let (Some(Transfer::Constant { .. }), [(was, _)]) = (transfer, &writes[..]) {
            // Where the constant is, there is the register.
            let ((from, _), (to, _)) = (self.constant(after), self.symbols[*was]);
            known.give_name(from, to, |form| (form == Form::Plain).then_some(form));
        }
        let mut written = BTreeMap::new();
        for (was, places) in writes {
            let symbol = self.symbols[was];
            for (part, place) in places {
                let mut value = copied.get(usize::from(part)).cloned().unwrap_or_default();
                value.retain(|((base, _), _)| *base != symbol.0);
                let at = value.partition_point(|other| *other < (symbol, part));
                value.insert(at, (symbol, part));
                if written.insert(place, was).is_some_and(|other| other != was) {
                    return Err(format!("writes two registers to {place:?}"));
                }
                known.insert(place, value);
            }
        }
        Ok(())
    }
}
