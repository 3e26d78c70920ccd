//! The register files of a thread and where values are kept that find no register: predicates first,
//! which are kept in a word as 0 or 1; then the register file, in which 64 bits take an even pair,
//! and whose values are kept in the thread's local memory. Constants, addresses and parameters are
//! rematerialised instead. A machine may divide the register file into banks (`banks.rs`).

use std::ops::Range;

use cranelift_entity::SecondaryMap;
use nbcc_isa::Instruction;
use nbcc_isa_simt::operands::{Access, Base, IntTest, Offset, Order, Source, Space};
use nbcc_isa_simt::{Hint, Inst, Op, PREDICATES, RegClass};
use nbcc_mach::VReg;
use nbcc_mach::regalloc::{
    self, Allocation, Home, Insertion, Policy, Pressure, RegisterFile, Shortage, Slots, Spiller,
    Transfer,
};

use super::banks::Banks;
use super::provenance;
use super::select::MachFunction;

/// Bytes of an entry in local memory.
const WORD_BYTES: u32 = 4;

/// What rematerialisation costs, compared with an access to local memory.
const REMATERIALISATION: f64 = 0.25;

/// The registers of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Registers {
    /// Where each value is.
    pub allocation: Allocation,
    /// The entries of each bank; they share none.
    pub banks: Vec<Range<u16>>,
    /// Bytes of local memory that spilled values take, with what was there before.
    pub local_bytes: u64,
}

impl Registers {
    /// 32-bit registers used.
    pub fn words(&self) -> u32 {
        self.banks.iter().map(|bank| u32::from(bank.end)).max().unwrap_or(0)
    }

    /// Predicates used.
    pub fn predicates(&self) -> u32 {
        self.allocation.used[0]
    }
}

/// The register files of a thread: predicates, then a file for each bank.
fn files(banks: &[(Range<u16>, Policy)]) -> Vec<RegisterFile<RegClass>> {
    let file = |classes, bank, entries: Range<u16>, policy, limit, relieved| RegisterFile {
        classes,
        bank,
        entries,
        policy,
        pressure: Some(Pressure { limit, relieved }),
    };
    let predicates = u32::from(PREDICATES);
    let words = banks.iter().enumerate().map(|(bank, (entries, policy))| {
        let words = u32::from(entries.end - entries.start);
        // An odd entry behind the pairs is of no use to them, but to words. What a single
        // instruction and the moves around it need is left free where anything is spilled.
        let relieved = words.saturating_sub(20).max(words / 2);
        let classes = &[(RegClass::Word, 1), (RegClass::Wide, 2)];
        file(classes, bank as u8, entries.clone(), *policy, words.saturating_sub(2), relieved)
    });
    let first =
        file(&[(RegClass::Pred, 1)], 0, 0..PREDICATES, Policy::Min, predicates, predicates - 3);
    std::iter::once(first).chain(words).collect()
}

/// Gives every register of a kernel an entry. Spilled values lie behind `local_bytes`. Where banks
/// are too small to be told apart, all words are in the last one.
///
/// # Errors
/// A machine with too few registers for single instructions.
pub fn allocate(
    func: &mut MachFunction,
    banks: &Banks,
    local_bytes: u64,
    coalescing: bool,
) -> Result<Registers, Shortage> {
    let wanted = banks.wanted(func);
    let quotas = banks.quotas(&wanted);
    let attempts = [spread(&banks.roomy(&wanted), quotas.as_deref()), quotas.as_deref().map(few)];
    for limits in attempts.into_iter().flatten() {
        let mut divided = func.clone();
        let done = allocate_in(&mut divided, banks, &limits, local_bytes, coalescing);
        let spreads = limits.iter().any(|&(_, policy)| policy == Policy::Spread);
        if let Ok(done) = done
            && (!spreads || in_registers(&done) && banks.check(&done.banks).is_ok())
        {
            *func = divided;
            return Ok(done);
        }
    }
    for data in func.vregs.values_mut().filter(|data| data.class != RegClass::Pred) {
        data.bank = banks.last();
    }
    allocate_in(func, banks, &few(&banks.only_last()), local_bytes, coalescing)
}

/// All entries of the banks that have room for all warps, in turn, as few as possible of the others: registers
/// that are reused late leave the scheduler free to order what uses them. `None` where that is no bank with
/// values, or where there are no quotas for the others.
fn spread(roomy: &[Option<u16>], quotas: Option<&[u16]>) -> Option<Vec<(u16, Policy)>> {
    let limit = |(bank, roomy): (usize, &Option<u16>)| match roomy {
        Some(quota) => Some((*quota, Policy::Spread)),
        None => Some((quotas?[bank], Policy::Min)),
    };
    let any = roomy.iter().flatten().any(|&quota| quota > 0);
    any.then(|| roomy.iter().enumerate().map(limit).collect())?
}

/// Whether every value has a register wherever it lives.
fn in_registers(registers: &Registers) -> bool {
    registers.allocation.spilled + registers.allocation.rematerialised == 0
}

/// As few entries of each quota as possible.
fn few(quotas: &[u16]) -> Vec<(u16, Policy)> {
    quotas.iter().map(|&quota| (quota, Policy::Min)).collect()
}

/// Gives entries, of each bank as many as its quota at most.
fn allocate_in(
    func: &mut MachFunction,
    banks: &Banks,
    limits: &[(u16, Policy)],
    local_bytes: u64,
    coalescing: bool,
) -> Result<Registers, Shortage> {
    let mut spiller = ThreadSpiller { local_bytes, recipes: SecondaryMap::new(), banks };
    let limits: Vec<_> = limits.iter().map(|&(quota, policy)| (0..quota, policy)).collect();
    let mut allocation = regalloc::allocate(func, &files(&limits), &mut spiller, coalescing)?;
    // One bank behind the other, from even entries, since pairs begin there.
    let mut ranges = Vec::new();
    let mut next = 0;
    for &used in &allocation.used[1..] {
        ranges.push(next..next + used as u16);
        next = (next + used as u16).next_multiple_of(2);
    }
    for (vreg, data) in func.vregs.iter().filter(|(_, data)| data.class != RegClass::Pred) {
        allocation.entries[vreg] += ranges[usize::from(data.bank)].start;
    }
    Ok(Registers { allocation, banks: ranges, local_bytes: spiller.local_bytes })
}

/// Checks the registers of a kernel against the kernel before it had any. Spilled values are to lie
/// behind `local_bytes`.
///
/// # Errors
/// The first difference.
pub fn check(
    before: &MachFunction,
    after: &MachFunction,
    registers: &Registers,
    banks: &Banks,
    local_bytes: u64,
) -> Result<(), String> {
    let address = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
    let slots =
        Slots { range: address(local_bytes)..address(registers.local_bytes), unit: WORD_BYTES };
    banks.check(&registers.banks)?;
    let banks: Vec<_> =
        registers.banks.iter().map(|entries| (entries.clone(), Policy::Min)).collect();
    let files = files(&banks);
    regalloc::check(before, after, &registers.allocation, &files, &slots, transfer)
}

/// What an instruction moves.
fn transfer(inst: &Inst<VReg>) -> Option<Transfer<VReg>> {
    if inst.guard.is_some() {
        return None;
    }
    let local = |space: Space, base: Base<VReg>| space == Space::Local && base == Base::Imm(0);
    Some(match inst.op {
        Op::Mov { dst: to, src: Source::Reg(from) }
        | Op::MovWide { dst: to, src: from }
        | Op::PredMov { dst: to, src: from } => Transfer::Copy { to, from },
        Op::PredWord { dst: to, src: from } => Transfer::Encode { to, from },
        Op::Cmp { test: IntTest::Ne, dst: to, a: from, b: Source::Imm(0) } => {
            Transfer::Decode { to, from }
        }
        Op::Ld { space, access: Access::B32, dst: to, base, offset, .. }
        | Op::LdWide { space, dst: to, base, offset, .. }
            if local(space, base) =>
        {
            Transfer::Load { to, address: offset.0 as u32 }
        }
        Op::St { space, access: Access::B32, src: from, base, offset, .. }
        | Op::StWide { space, src: from, base, offset, .. }
            if local(space, base) =>
        {
            Transfer::Store { from, address: offset.0 as u32 }
        }
        _ => Transfer::Constant { to: constant(inst)? },
    })
}

/// The register that an instruction gives a value which is the same at every point of a kernel: a
/// constant, an address, a parameter.
fn constant(inst: &Inst<VReg>) -> Option<VReg> {
    let param = Space::Param;
    match (inst.guard, inst.op) {
        (
            None,
            Op::Mov { dst, src: Source::Imm(_) }
            | Op::MovBits { dst, .. }
            | Op::PredSet { dst, .. }
            | Op::Addr { dst, .. },
        ) => Some(dst),
        (
            None,
            Op::Ld { dst, space, base: Base::Imm(_), .. }
            | Op::LdWide { dst, space, base: Base::Imm(_), .. },
        ) if space == param => Some(dst),
        _ => None,
    }
}

/// Spills to a word or to local memory.
struct ThreadSpiller<'a> {
    local_bytes: u64,
    banks: &'a Banks,
    /// The instruction of each register whose only definition it is and which it makes constant.
    recipes: SecondaryMap<VReg, Option<Inst<VReg>>>,
}

impl ThreadSpiller<'_> {
    /// How what moves a value of a register is to be executed.
    fn hint(&self, out: &Insertion<'_, Inst<VReg>>, vreg: VReg) -> Hint {
        self.banks.hint(out.bank(vreg))
    }
}

impl Spiller<Inst<VReg>> for ThreadSpiller<'_> {
    type Recipe = Inst<VReg>;

    fn copy(&self, inst: &Inst<VReg>) -> Option<(VReg, VReg)> {
        match transfer(inst) {
            Some(Transfer::Copy { to, from }) => Some((to, from)),
            _ => None,
        }
    }

    fn inspect(&mut self, func: &MachFunction) {
        self.recipes.clear();
        let mut written: SecondaryMap<VReg, u32> = SecondaryMap::new();
        for inst in func.blocks.values().flat_map(|data| &data.insts).map(|data| &data.inst) {
            inst.for_each_operand(|operand| {
                written[*operand.reg] += u32::from(operand.role.writes());
            });
            if let Some(to) = constant(inst) {
                self.recipes[to] = Some(*inst);
            }
        }
        for vreg in func.vregs.keys().filter(|&vreg| written[vreg] != 1) {
            self.recipes[vreg] = None;
        }
    }

    fn recipe(&self, vreg: VReg) -> Option<Inst<VReg>> {
        self.recipes[vreg]
    }

    fn weight(&self, vreg: VReg) -> f64 {
        if self.recipes[vreg].is_some() { REMATERIALISATION } else { 1.0 }
    }

    fn home(&mut self, func: &mut MachFunction, vreg: VReg) -> Option<Home<Inst<VReg>>> {
        let bytes = match func.vregs[vreg].class {
            RegClass::Pred => return Some(Home::Register(func.vreg(RegClass::Word))),
            RegClass::Word => WORD_BYTES,
            RegClass::Wide => 2 * WORD_BYTES,
        };
        let slot = self.local_bytes.next_multiple_of(bytes.into());
        self.local_bytes = slot + u64::from(bytes);
        Some(Home::Memory(u32::try_from(slot).ok()?))
    }

    fn reload(&self, home: Home<Inst<VReg>>, to: VReg, out: &mut Insertion<'_, Inst<VReg>>) {
        let (space, order, base) = (Space::Local, Order::Weak, Base::Imm(0));
        match (home, out.class(to)) {
            (Home::Recipe(inst), _) => out.push(inst.map_regs(|_| to)),
            (Home::Register(word), _) => {
                let hint = self.hint(out, word);
                let op = Op::Cmp { test: IntTest::Ne, dst: to, a: word, b: Source::Imm(0) };
                out.push(Inst { guard: None, hint, op });
            }
            (Home::Memory(slot), RegClass::Wide) => {
                let offset = Offset(slot as i32);
                let access = provenance::slot(slot, 2 * WORD_BYTES);
                let op = Op::LdWide { space, order, dst: to, base, offset };
                out.push_access(Inst { guard: None, hint: self.hint(out, to), op }, access);
            }
            (Home::Memory(slot), _) => {
                let (access, offset) = (Access::B32, Offset(slot as i32));
                let op = Op::Ld { space, access, order, dst: to, base, offset };
                let load = Inst { guard: None, hint: self.hint(out, to), op };
                out.push_access(load, provenance::slot(slot, WORD_BYTES));
            }
        }
    }

    fn store(&self, home: Home<Inst<VReg>>, from: VReg, out: &mut Insertion<'_, Inst<VReg>>) {
        let (space, order, base) = (Space::Local, Order::Weak, Base::Imm(0));
        match (home, out.class(from)) {
            (Home::Recipe(_), _) => unreachable!("what is rematerialised is written once"),
            (Home::Register(word), _) => {
                let op = Op::PredWord { dst: word, src: from };
                out.push(Inst { guard: None, hint: self.hint(out, word), op });
            }
            (Home::Memory(slot), RegClass::Wide) => {
                let offset = Offset(slot as i32);
                let access = provenance::slot(slot, 2 * WORD_BYTES);
                let op = Op::StWide { space, order, src: from, base, offset };
                out.push_access(Inst { guard: None, hint: self.hint(out, from), op }, access);
            }
            (Home::Memory(slot), _) => {
                let (access, offset) = (Access::B32, Offset(slot as i32));
                let op = Op::St { space, access, order, src: from, base, offset };
                let store = Inst { guard: None, hint: self.hint(out, from), op };
                out.push_access(store, provenance::slot(slot, WORD_BYTES));
            }
        }
    }
}
