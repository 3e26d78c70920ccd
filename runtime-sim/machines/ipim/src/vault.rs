//! The state of a vault that programs see, and what each instruction does to it.
//!
//! Effects happen at once and in program order; when they would be visible on the
//! machine is the business of `timed`. Register files are stored entry by
//! entry over all engines.

use std::sync::Arc;

use nbcc_isa::Imm;
use nbcc_isa_ipim::{
    ATOM_BYTES, Addr, CompOp, Coordinate, INSTRUCTION_BYTES, Inst, LANES, Machine, Mode, Source,
};

use crate::alu::{self, ENGINES, Lanes, VAULT_LANES, Words};
use crate::fault::{FaultKind, Unit};
use crate::memory::{Banks, SharedImage};

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
    /// The next instruction; an atom is to be fetched from another vault.
    Fetch(Fetch),
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
    pub data: Vec<Lanes>,
    /// The words of the groups' scratchpads, one after the other.
    pub pgsm: Vec<u32>,
    /// The words of the vault's scratchpad.
    pub vsm: Vec<u32>,
    /// The banks.
    pub banks: Banks,
    /// The bank address of each engine in the last bank access.
    pub addresses: Words,
    /// Where in `pgsm` the scratchpad of each engine's group begins.
    pads: Words,
    shape: Shape,
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

/// The engines of a mask, in ascending order.
pub fn engines(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let engine = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (engine < ENGINES).then_some(engine)
    })
}

fn boxed<const N: usize>(entries: u32) -> Vec<[u32; N]> {
    vec![[0; N]; entries as usize]
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
        let mut addr: Vec<Words> = boxed(machine.registers.addr);
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
            data: boxed(machine.registers.data),
            pgsm: vec![0; (memory.pgsm_bytes / 4 * h.pgs) as usize],
            vsm: vec![0; (memory.vsm_bytes / 4) as usize],
            banks: Banks::new(machine.engines(), shared, memory_limit),
            addresses: [0; ENGINES],
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
        }
    }

    /// Does what an instruction does; fetching and waiting are left to the caller.
    ///
    /// # Errors
    /// The fault that it is.
    pub fn execute(&mut self, inst: &Inst<u8>) -> Result<Next, FaultKind> {
        match inst {
            Inst::Comp { op, mode, dst, src1, src2, vec_mask, simb_mask } => {
                let lanes = vec_mask.bits();
                self.comp(*op, *mode, [*dst, *src1, *src2], lanes, simb_mask.0);
            }
            Inst::CalcArf { op, dst, src1, src2, simb_mask } => {
                let mut out = self.addr[usize::from(*dst)];
                let (a, b) = (&self.addr[usize::from(*src1)], &self.addr[usize::from(*src2)]);
                alu::int_lanes(*op, &mut out, a, b);
                self.write_addr(*dst, &out, simb_mask.0);
            }
            Inst::LdRf { dram, drf, simb_mask } => {
                self.bank_addresses(dram, simb_mask.0)?;
                for engine in engines(simb_mask.0) {
                    let atom = self.banks.read(engine, self.addresses[engine]);
                    self.set_atom(*drf, engine, atom);
                }
            }
            Inst::StRf { dram, drf, simb_mask } => {
                self.bank_addresses(dram, simb_mask.0)?;
                for engine in engines(simb_mask.0) {
                    let atom = self.atom(*drf, engine);
                    self.banks.write(engine, self.addresses[engine], atom)?;
                }
            }
            Inst::LdPgsm { dram, pgsm, simb_mask } => {
                self.bank_addresses(dram, simb_mask.0)?;
                for engine in engines(simb_mask.0) {
                    let at = self.pgsm_word(pgsm, engine)?;
                    let atom = self.banks.read(engine, self.addresses[engine]);
                    self.pgsm[at..at + LANES].copy_from_slice(&atom);
                }
            }
            Inst::StPgsm { dram, pgsm, simb_mask } => {
                self.bank_addresses(dram, simb_mask.0)?;
                for engine in engines(simb_mask.0) {
                    let at = self.pgsm_word(pgsm, engine)?;
                    let atom = *self.pgsm[at..].first_chunk().expect("a checked address");
                    self.banks.write(engine, self.addresses[engine], atom)?;
                }
            }
            Inst::RdPgsm { pgsm, drf, simb_mask } => {
                for engine in engines(simb_mask.0) {
                    let at = self.pgsm_word(pgsm, engine)?;
                    let atom = *self.pgsm[at..].first_chunk().expect("a checked address");
                    self.set_atom(*drf, engine, atom);
                }
            }
            Inst::WrPgsm { pgsm, drf, simb_mask } => {
                for engine in engines(simb_mask.0) {
                    let at = self.pgsm_word(pgsm, engine)?;
                    let atom = self.atom(*drf, engine);
                    self.pgsm[at..at + LANES].copy_from_slice(&atom);
                }
            }
            Inst::RdVsm { vsm, drf, simb_mask } => {
                for engine in engines(simb_mask.0) {
                    let at = self.vsm_word(vsm, engine)?;
                    let atom = *self.vsm[at..].first_chunk().expect("a checked address");
                    self.set_atom(*drf, engine, atom);
                }
            }
            Inst::WrVsm { vsm, drf, simb_mask } => {
                for engine in engines(simb_mask.0) {
                    let at = self.vsm_word(vsm, engine)?;
                    let atom = self.atom(*drf, engine);
                    self.vsm[at..at + LANES].copy_from_slice(&atom);
                }
            }
            Inst::MovDrf { arf, drf, simb_mask } => {
                for engine in engines(simb_mask.0) {
                    let word = self.addr[usize::from(*arf)][engine];
                    self.set_atom(*drf, engine, [word; LANES]);
                }
            }
            Inst::MovArf { arf, drf, simb_mask } => {
                for engine in engines(simb_mask.0) {
                    let word = self.data[usize::from(*drf)][engine * LANES];
                    self.addr[usize::from(*arf)][engine] = word;
                }
            }
            Inst::Reset { drf, simb_mask } => {
                for engine in engines(simb_mask.0) {
                    self.set_atom(*drf, engine, [0; LANES]);
                }
            }
            Inst::SetiVsm { vsm, imm } => {
                check(Unit::Vsm, *vsm, 4, 4, self.shape.vsm_bytes, None)?;
                self.vsm[(vsm / 4) as usize] = immediate(imm);
            }
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
        }
        Ok(Next::Fall)
    }

    /// Sets a CtrlRF entry to a coordinate of the vault.
    pub fn set_place(&mut self, dst: u8, coordinate: Coordinate, machine: &Machine) {
        let vaults = self.shape.vaults;
        let value = coordinate.of(machine, self.id / vaults, self.id % vaults);
        self.ctrl[usize::from(dst)] = value;
    }

    fn comp(&mut self, op: CompOp, mode: Mode, regs: [u8; 3], lanes: u8, mask: u32) {
        let [dst, src1, src2] = regs.map(usize::from);
        let whole = mask == self.shape.full_mask && lanes == 0xf;
        // Where all lanes of another register are written, nothing has to be kept.
        if whole && let Ok([out, a, b]) = self.data.get_disjoint_mut([dst, src1, src2]) {
            return match mode {
                Mode::Vv => alu::comp_lanes(op, out, a, b),
                Mode::Sv => alu::comp_lanes(op, out, &alu::first_lanes(a), b),
            };
        }
        let mut out = if op.accumulates() { self.data[dst] } else { [0; VAULT_LANES] };
        let (a, b) = (&self.data[src1], &self.data[src2]);
        match mode {
            Mode::Vv => alu::comp_lanes(op, &mut out, a, b),
            Mode::Sv => alu::comp_lanes(op, &mut out, &alu::first_lanes(a), b),
        }
        if whole {
            self.data[dst] = out;
            return;
        }
        let keep: [u32; LANES] =
            std::array::from_fn(|lane| if lanes >> lane & 1 != 0 { 0 } else { u32::MAX });
        let entry = self.data[dst].as_chunks_mut::<LANES>().0;
        let out = out.as_chunks::<LANES>().0;
        for engine in engines(mask) {
            for lane in 0..LANES {
                let old = entry[engine][lane];
                entry[engine][lane] = out[engine][lane] & !keep[lane] | old & keep[lane];
            }
        }
    }

    fn write_addr(&mut self, dst: u8, out: &Words, mask: u32) {
        let entry = &mut self.addr[usize::from(dst)];
        if mask == self.shape.full_mask {
            *entry = *out;
            return;
        }
        for engine in engines(mask) {
            entry[engine] = out[engine];
        }
    }

    fn request(&self, ids: [u32; 4], address: u32, vsm: u32) -> Result<Next, FaultKind> {
        let [chip, vault, pg, pe] = ids;
        let shape = &self.shape;
        if chip >= shape.cubes || vault >= shape.vaults || pg >= shape.pgs || pe >= shape.pes {
            return Err(FaultKind::NoSuchBank { chip, vault, pg, pe });
        }
        check(Unit::Bank, address, ATOM_BYTES, ATOM_BYTES, shape.bank_bytes, None)?;
        check(Unit::Vsm, vsm, 4, ATOM_BYTES, shape.vsm_bytes, None)?;
        let bank = BankId { vault: chip * shape.vaults + vault, engine: pg * shape.pes + pe };
        Ok(Next::Fetch(Fetch { bank, address, vsm }))
    }

    /// Puts a fetched atom into the scratchpad.
    pub fn receive(&mut self, vsm: u32, atom: [u32; 4]) {
        let at = (vsm / 4) as usize;
        self.vsm[at..at + LANES].copy_from_slice(&atom);
    }

    fn jump(&self, target: u8) -> Result<Next, FaultKind> {
        let target = self.ctrl[usize::from(target)];
        let index = target / INSTRUCTION_BYTES;
        if !target.is_multiple_of(INSTRUCTION_BYTES) || index > self.shape.length {
            return Err(FaultKind::BadTarget { target });
        }
        Ok(Next::Jump(index))
    }

    fn source(&self, source: &Source<u8>) -> u32 {
        match source {
            Source::Imm(value) => *value,
            Source::Ctrl(reg) => self.ctrl[usize::from(*reg)],
        }
    }

    #[inline]
    fn atom(&self, drf: u8, engine: usize) -> [u32; LANES] {
        self.data[usize::from(drf)].as_chunks::<LANES>().0[engine]
    }

    #[inline]
    fn set_atom(&mut self, drf: u8, engine: usize, atom: [u32; LANES]) {
        self.data[usize::from(drf)].as_chunks_mut::<LANES>().0[engine] = atom;
    }

    fn bank_addresses(&mut self, dram: &Addr<u8>, mask: u32) -> Result<(), FaultKind> {
        let size = self.shape.bank_bytes;
        match dram {
            Addr::Direct(address) => {
                check(Unit::Bank, *address, ATOM_BYTES, ATOM_BYTES, size, None)?;
                self.addresses = [*address; ENGINES];
            }
            Addr::Indirect(reg) => {
                self.addresses = self.addr[usize::from(*reg)];
                for engine in engines(mask) {
                    let address = self.addresses[engine];
                    check(Unit::Bank, address, ATOM_BYTES, ATOM_BYTES, size, Some(engine as u32))?;
                }
            }
        }
        Ok(())
    }

    fn engine_address(&self, address: &Addr<u8>, engine: usize) -> (u32, Option<u32>) {
        match address {
            Addr::Direct(address) => (*address, None),
            Addr::Indirect(reg) => (self.addr[usize::from(*reg)][engine], Some(engine as u32)),
        }
    }

    /// The index in `pgsm` of an engine's scratchpad address.
    #[inline]
    fn pgsm_word(&self, address: &Addr<u8>, engine: usize) -> Result<usize, FaultKind> {
        let size = self.shape.pgsm_bytes;
        let (address, of) = self.engine_address(address, engine);
        check(Unit::Pgsm, address, 4, ATOM_BYTES, size, of)?;
        Ok((self.pads[engine] + address / 4) as usize)
    }

    /// The index in `vsm` of an engine's scratchpad address.
    #[inline]
    fn vsm_word(&self, address: &Addr<u8>, engine: usize) -> Result<usize, FaultKind> {
        let (address, of) = self.engine_address(address, engine);
        check(Unit::Vsm, address, 4, ATOM_BYTES, self.shape.vsm_bytes, of)?;
        Ok((address / 4) as usize)
    }
}

/// The value of an immediate; labels have addresses in a binary.
fn immediate(imm: &Imm) -> u32 {
    match imm {
        Imm::Value(value) => *value as u32,
        Imm::Label(label) => panic!("label {label} has no address in a binary"),
    }
}

#[inline]
fn check(
    unit: Unit,
    address: u32,
    multiple: u32,
    bytes: u32,
    size: u32,
    engine: Option<u32>,
) -> Result<(), FaultKind> {
    if address & (multiple - 1) != 0 {
        return Err(FaultKind::Misaligned { unit, address, multiple, engine });
    }
    if size < bytes || address > size - bytes {
        return Err(FaultKind::OutOfRange { unit, address, size, engine });
    }
    Ok(())
}
