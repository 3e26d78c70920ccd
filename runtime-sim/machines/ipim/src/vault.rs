//! The state of a vault that programs see, and what each instruction does to it.
//!
//! Effects happen at once and in program order; when they would be visible on the
//! machine is the business of `timed`. Register files are stored entry by
//! entry over all engines.

use std::sync::Arc;

use nbcc_isa::Imm;
use nbcc_isa_ipim::{
    ATOM_BYTES, Addr, CompOp, Coordinate, INSTRUCTION_BYTES, Inst, IntOp, LANES, Machine, Mode,
    Source,
};
use pulp::{Arch, Simd, WithSimd};

use crate::alu::{self, ENGINES, Lanes, Words};
use crate::engines::{Rule, engines, for_each_engine};
use crate::fault::{FaultKind, Unit};
use crate::memory::{Atom, Banks, SharedImage, atoms, atoms_mut};

/// The bank of an engine of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankId {
    /// Global number of the vault.
    pub vault: u32,
    /// Number of the engine in its vault.
    pub engine: u32,
}

/// A 16-byte atom of some bank that is to come into the vault's scratchpad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// The bank.
    pub bank: BankId,
    /// Byte address in the bank.
    pub address: u32,
    /// Byte address in the scratchpad.
    pub vsm: u32,
}

/// What the control core does after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The next instruction.
    Fall,
    /// The instruction with this index; the end of the program has one too.
    Jump(u32),
    /// The next instruction; an atom is to be fetched, as [`Vault::fetch`] says.
    Fetch,
    /// Waits for all vaults at this phase.
    Sync(u32),
}

/// What the instructions of a vault read and write.
#[derive(Clone, Debug)]
pub struct Vault {
    /// Global number.
    pub id: u32,
    /// CtrlRF.
    pub ctrl: Vec<u32>,
    /// AddrRF, entry by entry.
    pub addr: Vec<Words>,
    /// DataRF, entry by entry.
    pub data: Vec<Box<Lanes>>,
    /// Where the next result is computed before it takes the place of an entry.
    spare: Box<Lanes>,
    /// The words of the groups' scratchpads, one after the other.
    pub pgsm: Vec<u32>,
    /// The words of the vault's scratchpad.
    pub vsm: Vec<u32>,
    /// The banks.
    pub banks: Banks,
    /// The bank address of each engine in the last bank access.
    pub addresses: Words,
    /// What the last `req` asked for.
    pub fetch: Fetch,
    /// Where in `pgsm` the scratchpad of each engine's group begins.
    pads: Words,
    /// The word of each engine in the last access of a scratchpad.
    words: Words,
    shape: Shape,
    /// Instructions that the host has for many lanes.
    simd: Arch,
}

/// What engines do with their lanes, compiled once for each kind of host.
struct Comp<'a>(&'a mut Vault, CompOp, Mode, [u8; 3], u8, u32);
struct CalcArf<'a>(&'a mut Vault, IntOp, [u8; 3], u32);
struct Access<'a>(&'a mut Vault, &'a Inst<u8>);

impl WithSimd for Comp<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Comp(vault, op, mode, regs, lanes, mask) = self;
        vault.comp(op, mode, regs, lanes, mask);
    }
}

impl WithSimd for CalcArf<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let CalcArf(vault, op, regs, mask) = self;
        vault.calc_arf(op, regs, mask);
    }
}

impl WithSimd for Access<'_> {
    type Output = Result<(), Box<FaultKind>>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        self.0.access(self.1)
    }
}

/// What of a machine the effects of instructions depend on.
#[derive(Clone, Copy, Debug)]
struct Shape {
    cubes: u32,
    vaults: u32,
    pgs: u32,
    pes: u32,
    full_mask: u32,
    bank_bytes: u32,
    pgsm_bytes: u32,
    vsm_bytes: u32,
    /// Instructions of the program.
    length: u32,
}

impl Vault {
    /// A vault with cleared memories, ids in A0 to A3. `length` is the number of
    /// instructions of the program, `memory_limit` bounds what its banks allocate.
    pub fn new(
        id: u32,
        machine: &Machine,
        length: u32,
        shared: Arc<SharedImage>,
        memory_limit: u64,
    ) -> Vault {
        let h = &machine.hierarchy;
        let memory = &machine.memory;
        let mut addr: Vec<Words> = vec![[0; ENGINES]; machine.registers.addr as usize];
        for engine in 0..machine.engines() {
            let ids = [engine % h.pes, engine / h.pes, id % h.vaults, id / h.vaults];
            for (entry, id) in ids.into_iter().enumerate() {
                addr[entry][engine as usize] = id;
            }
        }
        Vault {
            id,
            ctrl: vec![0; machine.registers.ctrl as usize],
            addr,
            data: vec![Box::new(Lanes::ZERO); machine.registers.data as usize],
            spare: Box::new(Lanes::ZERO),
            pgsm: vec![0; (memory.pgsm_bytes / 4 * h.pgs) as usize],
            vsm: vec![0; (memory.vsm_bytes / 4) as usize],
            banks: Banks::new(shared, memory_limit),
            addresses: [0; ENGINES],
            fetch: Fetch { bank: BankId { vault: 0, engine: 0 }, address: 0, vsm: 0 },
            words: [0; ENGINES],
            pads: std::array::from_fn(|engine| engine as u32 / h.pes * (memory.pgsm_bytes / 4)),
            shape: Shape {
                cubes: h.cubes,
                vaults: h.vaults,
                pgs: h.pgs,
                pes: h.pes,
                full_mask: machine.full_mask(),
                bank_bytes: memory.bank_bytes,
                pgsm_bytes: memory.pgsm_bytes,
                vsm_bytes: memory.vsm_bytes,
                length,
            },
            simd: Arch::new(),
        }
    }

    /// Does what an instruction does; fetching and waiting are left to the caller.
    ///
    /// # Errors
    /// The fault that it is.
    #[inline(always)]
    pub fn execute(&mut self, inst: &Inst<u8>) -> Result<Next, Box<FaultKind>> {
        match inst {
            Inst::Req { chip, vault, pg, pe, dram, vsm } => {
                let [chip, vault, pg, pe, address, vsm] =
                    [chip, vault, pg, pe, dram, vsm].map(|source| self.source(source));
                return self.request([chip, vault, pg, pe], address, vsm);
            }
            Inst::Jump { target } => return self.jump(*target),
            Inst::CJump { cond, target } => {
                if self.ctrl[usize::from(*cond)] != 0 {
                    return self.jump(*target);
                }
            }
            Inst::CalcCrf { op, dst, src1, src2 } => {
                let [old, a, b] = [dst, src1, src2].map(|reg| self.ctrl[usize::from(*reg)]);
                self.ctrl[usize::from(*dst)] = alu::int_op(*op, old, a, b);
            }
            Inst::SetiCrf { dst, imm } => self.ctrl[usize::from(*dst)] = immediate(imm),
            Inst::Sync { phase } => return Ok(Next::Sync(*phase)),
            Inst::Comp { op, mode, dst, src1, src2, vec_mask, simb_mask } => {
                let (regs, lanes) = ([*dst, *src1, *src2], vec_mask.bits());
                self.simd.dispatch(Comp(self, *op, *mode, regs, lanes, simb_mask.0));
            }
            Inst::CalcArf { op, dst, src1, src2, simb_mask } => {
                let regs = [*dst, *src1, *src2];
                self.simd.dispatch(CalcArf(self, *op, regs, simb_mask.0));
            }
            inst => self.simd.dispatch(Access(self, inst))?,
        }
        Ok(Next::Fall)
    }

    /// As [`Vault::execute`], for what engines do with memories and between registers.
    #[inline(always)]
    fn access(&mut self, inst: &Inst<u8>) -> Result<(), Box<FaultKind>> {
        match inst {
            Inst::LdRf { dram, drf, simb_mask } => self.load(dram, *drf, simb_mask.0)?,
            Inst::StRf { dram, drf, simb_mask } => self.store(dram, *drf, simb_mask.0)?,
            Inst::LdPgsm { dram, pgsm, simb_mask } => {
                self.load_pgsm(dram, pgsm, simb_mask.0)?;
            }
            Inst::StPgsm { dram, pgsm, simb_mask } => {
                self.bank_addresses(dram, simb_mask.0)?;
                self.pgsm_words(pgsm, simb_mask.0)?;
                for engine in engines(simb_mask.0) {
                    let atom = atom_at(&self.pgsm, self.words[engine]);
                    self.banks.write(engine, self.addresses[engine], atom)?;
                }
            }
            Inst::RdPgsm { pgsm, drf, simb_mask } => {
                self.pgsm_words(pgsm, simb_mask.0)?;
                let entry = atoms_mut(&mut self.data[usize::from(*drf)]);
                for_each_engine(simb_mask.0, |engine| {
                    entry[engine] = atom_at(&self.pgsm, self.words[engine]);
                });
            }
            Inst::WrPgsm { pgsm, drf, simb_mask } => {
                self.pgsm_words(pgsm, simb_mask.0)?;
                let entry = atoms(&self.data[usize::from(*drf)]);
                for_each_engine(simb_mask.0, |engine| {
                    *atom_at_mut(&mut self.pgsm, self.words[engine]) = entry[engine];
                });
            }
            Inst::RdVsm { vsm, drf, simb_mask } => {
                self.vsm_words(vsm, simb_mask.0)?;
                let entry = atoms_mut(&mut self.data[usize::from(*drf)]);
                for_each_engine(simb_mask.0, |engine| {
                    entry[engine] = atom_at(&self.vsm, self.words[engine]);
                });
            }
            Inst::WrVsm { vsm, drf, simb_mask } => {
                self.vsm_words(vsm, simb_mask.0)?;
                let entry = atoms(&self.data[usize::from(*drf)]);
                for_each_engine(simb_mask.0, |engine| {
                    *atom_at_mut(&mut self.vsm, self.words[engine]) = entry[engine];
                });
            }
            Inst::MovDrf { arf, drf, simb_mask } => {
                let words = &self.addr[usize::from(*arf)];
                let entry = atoms_mut(&mut self.data[usize::from(*drf)]);
                for_each_engine(simb_mask.0, |engine| entry[engine] = [words[engine]; LANES]);
            }
            Inst::MovArf { arf, drf, simb_mask } => {
                let words = &mut self.addr[usize::from(*arf)];
                let entry = atoms(&self.data[usize::from(*drf)]);
                for_each_engine(simb_mask.0, |engine| words[engine] = entry[engine][0]);
            }
            Inst::Reset { drf, simb_mask } => {
                let entry = atoms_mut(&mut self.data[usize::from(*drf)]);
                for_each_engine(simb_mask.0, |engine| entry[engine] = [0; LANES]);
            }
            Inst::SetiVsm { vsm, imm } => {
                self.shape.vsm(4, 4).check(*vsm, None)?;
                self.vsm[(vsm / 4) as usize] = immediate(imm);
            }
            Inst::Req { .. }
            | Inst::Jump { .. }
            | Inst::CJump { .. }
            | Inst::CalcCrf { .. }
            | Inst::SetiCrf { .. }
            | Inst::Sync { .. }
            | Inst::Comp { .. }
            | Inst::CalcArf { .. } => unreachable!("an access"),
        }
        Ok(())
    }

    /// Sets a CtrlRF entry to a coordinate of the vault.
    pub fn set_place(&mut self, dst: u8, coordinate: Coordinate, machine: &Machine) {
        let vaults = self.shape.vaults;
        let value = coordinate.of(machine, self.id / vaults, self.id % vaults);
        self.ctrl[usize::from(dst)] = value;
    }

    #[inline(always)]
    fn comp(&mut self, op: CompOp, mode: Mode, regs: [u8; 3], lanes: u8, mask: u32) {
        let [dst, src1, src2] = regs.map(usize::from);
        let (a, b) = (&self.data[src1], &self.data[src2]);
        if op.accumulates() {
            *self.spare = *self.data[dst];
        }
        match mode {
            Mode::Vv => alu::comp_lanes(op, &mut self.spare, a, b),
            Mode::Sv => alu::comp_lanes(op, &mut self.spare, &alu::first_lanes(a), b),
        }
        if lanes != 0xf {
            alu::keep_lanes(&mut self.spare, &self.data[dst], lanes);
        }
        if mask != self.shape.full_mask {
            let (old, new) = (atoms(&self.data[dst]), atoms_mut(&mut self.spare));
            engines(!mask).for_each(|engine| new[engine] = old[engine]);
        }
        std::mem::swap(&mut self.data[dst], &mut self.spare);
    }

    #[inline(always)]
    fn load(&mut self, dram: &Addr<u8>, drf: u8, mask: u32) -> Result<(), Box<FaultKind>> {
        let alike = self.bank_addresses(dram, mask)?;
        let entry = &mut self.data[usize::from(drf)];
        if let Some(address) = alike {
            self.banks.load(mask, address, entry);
            return Ok(());
        }
        let entry = atoms_mut(entry);
        for engine in engines(mask) {
            entry[engine] = self.banks.read(engine, self.addresses[engine]);
        }
        Ok(())
    }

    #[inline(always)]
    fn store(&mut self, dram: &Addr<u8>, drf: u8, mask: u32) -> Result<(), Box<FaultKind>> {
        let alike = self.bank_addresses(dram, mask)?;
        let entry = &self.data[usize::from(drf)];
        if let Some(address) = alike {
            return self.banks.store(mask, address, entry);
        }
        let entry = atoms(entry);
        for engine in engines(mask) {
            self.banks.write(engine, self.addresses[engine], entry[engine])?;
        }
        Ok(())
    }

    #[inline(always)]
    fn load_pgsm(
        &mut self,
        dram: &Addr<u8>,
        to: &Addr<u8>,
        mask: u32,
    ) -> Result<(), Box<FaultKind>> {
        let alike = self.bank_addresses(dram, mask)?;
        self.pgsm_words(to, mask)?;
        let (pgsm, words) = (&mut self.pgsm, &self.words);
        if let Some(address) = alike {
            self.banks.read_each(mask, address, |engine, atom| {
                *atom_at_mut(pgsm, words[engine]) = atom;
            });
            return Ok(());
        }
        for engine in engines(mask) {
            let atom = self.banks.read(engine, self.addresses[engine]);
            *atom_at_mut(pgsm, words[engine]) = atom;
        }
        Ok(())
    }

    #[inline(always)]
    fn calc_arf(&mut self, op: IntOp, regs: [u8; 3], mask: u32) {
        let [dst, src1, src2] = regs.map(usize::from);
        let mut out = self.addr[dst];
        alu::int_lanes(op, &mut out, &self.addr[src1], &self.addr[src2]);
        let entry = &mut self.addr[dst];
        if mask == self.shape.full_mask {
            *entry = out;
            return;
        }
        for engine in engines(mask) {
            entry[engine] = out[engine];
        }
    }

    fn request(&mut self, ids: [u32; 4], address: u32, vsm: u32) -> Result<Next, Box<FaultKind>> {
        let [chip, vault, pg, pe] = ids;
        let shape = self.shape;
        if chip >= shape.cubes || vault >= shape.vaults || pg >= shape.pgs || pe >= shape.pes {
            return Err(Box::new(FaultKind::NoSuchBank { chip, vault, pg, pe }));
        }
        shape.bank().check(address, None)?;
        shape.vsm(4, ATOM_BYTES).check(vsm, None)?;
        let bank = BankId { vault: chip * shape.vaults + vault, engine: pg * shape.pes + pe };
        self.fetch = Fetch { bank, address, vsm };
        Ok(Next::Fetch)
    }

    /// Puts a fetched atom into the scratchpad.
    pub fn receive(&mut self, vsm: u32, atom: [u32; 4]) {
        let at = (vsm / 4) as usize;
        self.vsm[at..at + LANES].copy_from_slice(&atom);
    }

    fn jump(&self, target: u8) -> Result<Next, Box<FaultKind>> {
        let target = self.ctrl[usize::from(target)];
        let index = target / INSTRUCTION_BYTES;
        if !target.is_multiple_of(INSTRUCTION_BYTES) || index > self.shape.length {
            return Err(Box::new(FaultKind::BadTarget { target }));
        }
        Ok(Next::Jump(index))
    }

    fn source(&self, source: &Source<u8>) -> u32 {
        match source {
            Source::Imm(value) => *value,
            Source::Ctrl(reg) => self.ctrl[usize::from(*reg)],
        }
    }

    /// Brings the addresses of a bank access into `addresses`; the address that all engines of `mask`
    /// have, if they have the same.
    #[inline(always)]
    fn bank_addresses(
        &mut self,
        dram: &Addr<u8>,
        mask: u32,
    ) -> Result<Option<u32>, Box<FaultKind>> {
        let rule = self.shape.bank();
        match dram {
            Addr::Direct(address) => {
                rule.check(*address, None)?;
                self.addresses = [*address; ENGINES];
                Ok(Some(*address))
            }
            Addr::Indirect(reg) => {
                self.addresses = self.addr[usize::from(*reg)];
                let alike = rule.check_each(&self.addresses, mask)?;
                Ok(alike.then_some(self.addresses[mask.trailing_zeros() as usize % ENGINES]))
            }
        }
    }

    /// Brings the indices in `pgsm` of engines' scratchpad addresses into `words`.
    #[inline(always)]
    fn pgsm_words(&mut self, address: &Addr<u8>, mask: u32) -> Result<(), Box<FaultKind>> {
        self.scratchpad_words(address, mask, self.shape.pgsm())?;
        for (word, pad) in self.words.iter_mut().zip(&self.pads) {
            *word = word.wrapping_add(*pad);
        }
        Ok(())
    }

    /// Brings the indices in `vsm` of engines' scratchpad addresses into `words`.
    #[inline(always)]
    fn vsm_words(&mut self, address: &Addr<u8>, mask: u32) -> Result<(), Box<FaultKind>> {
        self.scratchpad_words(address, mask, self.shape.vsm(4, ATOM_BYTES))
    }

    #[inline(always)]
    fn scratchpad_words(
        &mut self,
        address: &Addr<u8>,
        mask: u32,
        rule: Rule,
    ) -> Result<(), Box<FaultKind>> {
        match address {
            Addr::Direct(address) => {
                if mask != 0 {
                    rule.check(*address, None)?;
                }
                self.words = [address / 4; ENGINES];
            }
            Addr::Indirect(reg) => {
                let addresses = &self.addr[usize::from(*reg)];
                rule.check_each(addresses, mask)?;
                self.words = addresses.map(|address| address / 4);
            }
        }
        Ok(())
    }
}

impl Shape {
    #[inline]
    fn bank(&self) -> Rule {
        let (multiple, bytes) = (ATOM_BYTES, ATOM_BYTES);
        Rule { unit: Unit::Bank, multiple, bytes, size: self.bank_bytes }
    }

    #[inline]
    fn pgsm(&self) -> Rule {
        Rule { unit: Unit::Pgsm, multiple: 4, bytes: ATOM_BYTES, size: self.pgsm_bytes }
    }

    #[inline]
    fn vsm(&self, multiple: u32, bytes: u32) -> Rule {
        Rule { unit: Unit::Vsm, multiple, bytes, size: self.vsm_bytes }
    }
}

/// The atom from a word of a scratchpad on.
#[inline]
fn atom_at(words: &[u32], at: u32) -> Atom {
    *words[at as usize..].first_chunk().expect("a checked address")
}

#[inline]
fn atom_at_mut(words: &mut [u32], at: u32) -> &mut Atom {
    words[at as usize..].first_chunk_mut().expect("a checked address")
}

/// The value of an immediate; labels have addresses in a binary.
fn immediate(imm: &Imm) -> u32 {
    match imm {
        Imm::Value(value) => *value as u32,
        Imm::Label(label) => panic!("label {label} has no address in a binary"),
    }
}
