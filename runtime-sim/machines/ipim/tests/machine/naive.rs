//! The instruction set once more, engine by engine and lane by lane, written from its
//! description and not from the simulator: what both compute must agree.

use std::collections::BTreeMap;

use nbcc_isa::Imm;
use nbcc_isa_ipim::{Addr, CompOp, FloatOp, Inst, IntOp, Mode, PhysReg, Program, Source};

#[derive(Clone, Default)]
pub struct Engine {
    pub addr: BTreeMap<u16, i32>,
    pub data: BTreeMap<u16, [u32; 4]>,
    pub bank: BTreeMap<u32, u32>,
}

pub struct NaiveVault {
    pub ctrl: BTreeMap<u16, i32>,
    pub engines: Vec<Engine>,
    pub pgsm: Vec<BTreeMap<u32, u32>>,
    pub vsm: BTreeMap<u32, u32>,
    pc: usize,
}

pub struct Naive {
    pub vaults: Vec<NaiveVault>,
    initial: Vec<u32>,
}

fn int(op: IntOp, old: i32, a: i32, b: i32) -> i32 {
    let amount = u64::from(b as u32);
    let bits = |n: u64| if n >= 32 { u64::from(u32::MAX) } else { (1_u64 << n) - 1 };
    match op {
        IntOp::Add => (i64::from(a) + i64::from(b)) as i32,
        IntOp::Sub => (i64::from(a) - i64::from(b)) as i32,
        IntOp::Mul => (i64::from(a) * i64::from(b)) as i32,
        IntOp::Mac => (i64::from(old) + i64::from((i64::from(a) * i64::from(b)) as i32)) as i32,
        IntOp::Shl if amount >= 32 => 0,
        IntOp::Shl => (u64::from(a as u32) << amount) as i32,
        IntOp::Shr if amount >= 32 => 0,
        IntOp::Shr => (u64::from(a as u32) >> amount) as i32,
        IntOp::Sra if amount >= 32 => -i32::from(a < 0),
        IntOp::Sra => (i64::from(a) >> amount) as i32,
        IntOp::And => a & b,
        IntOp::Or => a | b,
        IntOp::Xor => a ^ b,
        IntOp::CropLsb => (u64::from(a as u32) & bits(amount)) as i32,
        IntOp::CropMsb if amount >= 32 => a,
        IntOp::CropMsb => (u64::from(a as u32) & (bits(amount) << (32 - amount))) as i32,
    }
}

fn float(op: FloatOp, old: u32, a: u32, b: u32) -> u32 {
    let [old, a, b] = [old, a, b].map(f32::from_bits);
    let value = match op {
        FloatOp::Add => a + b,
        FloatOp::Sub => a - b,
        FloatOp::Mul => a * b,
        FloatOp::Mac => {
            let product: f32 = a * b;
            old + product
        }
    };
    if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() }
}

impl Naive {
    pub fn new(program: &Program, initial: &[u32]) -> Naive {
        let h = &program.machine.hierarchy;
        let vault = |id: u32| {
            let engine = |engine: u32| {
                let ids = [engine % h.pes, engine / h.pes, id % h.vaults, id / h.vaults];
                let addr = ids.iter().zip(0..).map(|(id, entry)| (entry, *id as i32)).collect();
                Engine { addr, ..Engine::default() }
            };
            NaiveVault {
                ctrl: BTreeMap::new(),
                engines: (0..h.pgs * h.pes).map(engine).collect(),
                pgsm: vec![BTreeMap::new(); h.pgs as usize],
                vsm: BTreeMap::new(),
                pc: 0,
            }
        };
        let vaults = (0..program.machine.vaults()).map(vault).collect();
        Naive { vaults, initial: initial.to_vec() }
    }

    /// Runs a program that has no fault and no `sync`, vault after vault.
    pub fn run(&mut self, program: &Program) {
        for vault in 0..self.vaults.len() {
            while let Some(inst) = program.code.text.get(self.vaults[vault].pc) {
                self.vaults[vault].pc += 1;
                self.step(program, vault, inst);
            }
        }
    }

    fn bank_word(&self, vault: usize, engine: usize, address: u32) -> u32 {
        let initial = self.initial.get((address / 4) as usize).copied().unwrap_or(0);
        *self.vaults[vault].engines[engine].bank.get(&address).unwrap_or(&initial)
    }

    fn step(&mut self, program: &Program, vault: usize, inst: &Inst<PhysReg>) {
        if let Inst::Req { chip, vault: of, pg, pe, dram, vsm } = inst {
            let [chip, of, pg, pe, dram, vsm] =
                [chip, of, pg, pe, dram, vsm].map(|source| match source {
                    Source::Imm(value) => *value,
                    Source::Ctrl(reg) => self.vaults[vault].crf(reg) as u32,
                });
            let h = &program.machine.hierarchy;
            for word in 0..4 {
                let from = (chip * h.vaults + of) as usize;
                let value = self.bank_word(from, (pg * h.pes + pe) as usize, dram + 4 * word);
                self.vaults[vault].vsm.insert(vsm + 4 * word, value);
            }
            return;
        }
        let Some(mask) = inst.simb_mask() else { return self.vaults[vault].control(inst) };
        for engine in 0..self.vaults[vault].engines.len() {
            if mask.0 >> engine & 1 == 0 {
                continue;
            }
            let group = engine / program.machine.hierarchy.pes as usize;
            let atom = |read: &dyn Fn(u32) -> u32| [0, 1, 2, 3].map(|word| read(4 * word));
            let address = |addr: &Addr<PhysReg>| match addr {
                Addr::Direct(address) => *address,
                Addr::Indirect(reg) => self.vaults[vault].engines[engine].arf(reg) as u32,
            };
            match inst {
                Inst::LdRf { dram, drf, .. } => {
                    let at = address(dram);
                    let value = atom(&|word| self.bank_word(vault, engine, at + word));
                    self.vaults[vault].engines[engine].data.insert(drf.index, value);
                }
                Inst::LdPgsm { dram, pgsm, .. } => {
                    let (from, to) = (address(dram), address(pgsm));
                    for word in 0..4 {
                        let value = self.bank_word(vault, engine, from + 4 * word);
                        self.vaults[vault].pgsm[group].insert(to + 4 * word, value);
                    }
                }
                Inst::StPgsm { dram, pgsm, .. } => {
                    let (to, from) = (address(dram), address(pgsm));
                    for word in 0..4 {
                        let state = &mut self.vaults[vault];
                        let value = state.pgsm[group].get(&(from + 4 * word)).copied();
                        state.engines[engine].bank.insert(to + 4 * word, value.unwrap_or(0));
                    }
                }
                Inst::RdPgsm { pgsm, drf, .. } => {
                    let at = address(pgsm);
                    let memory = &self.vaults[vault].pgsm[group];
                    let value = atom(&|word| memory.get(&(at + word)).copied().unwrap_or(0));
                    self.vaults[vault].engines[engine].data.insert(drf.index, value);
                }
                Inst::RdVsm { vsm, drf, .. } => {
                    let at = address(vsm);
                    let memory = &self.vaults[vault].vsm;
                    let value = atom(&|word| memory.get(&(at + word)).copied().unwrap_or(0));
                    self.vaults[vault].engines[engine].data.insert(drf.index, value);
                }
                Inst::StRf { dram: to, drf, .. }
                | Inst::WrPgsm { pgsm: to, drf, .. }
                | Inst::WrVsm { vsm: to, drf, .. } => {
                    let at = address(to);
                    let state = &mut self.vaults[vault];
                    let value = state.engines[engine].drf(drf);
                    let memory = match inst {
                        Inst::StRf { .. } => &mut state.engines[engine].bank,
                        Inst::WrPgsm { .. } => &mut state.pgsm[group],
                        _ => &mut state.vsm,
                    };
                    for (word, value) in value.iter().enumerate() {
                        memory.insert(at + 4 * word as u32, *value);
                    }
                }
                _ => self.vaults[vault].engines[engine].compute(inst),
            }
        }
    }
}

impl NaiveVault {
    fn crf(&self, reg: &PhysReg) -> i32 {
        self.ctrl.get(&reg.index).copied().unwrap_or(0)
    }

    fn control(&mut self, inst: &Inst<PhysReg>) {
        match inst {
            Inst::SetiVsm { vsm, imm: Imm::Value(value) } => {
                self.vsm.insert(*vsm, *value as u32);
            }
            Inst::SetiCrf { dst, imm: Imm::Value(value) } => {
                self.ctrl.insert(dst.index, *value);
            }
            Inst::CalcCrf { op, dst, src1, src2 } => {
                let value = int(*op, self.crf(dst), self.crf(src1), self.crf(src2));
                self.ctrl.insert(dst.index, value);
            }
            Inst::Jump { target } => self.pc = self.crf(target) as usize / 16,
            Inst::CJump { cond, target } => {
                if self.crf(cond) != 0 {
                    self.pc = self.crf(target) as usize / 16;
                }
            }
            other => panic!("no program for the naive machine: {other}"),
        }
    }
}

impl Engine {
    fn arf(&self, reg: &PhysReg) -> i32 {
        self.addr.get(&reg.index).copied().unwrap_or(0)
    }

    fn drf(&self, reg: &PhysReg) -> [u32; 4] {
        self.data.get(&reg.index).copied().unwrap_or([0; 4])
    }

    fn compute(&mut self, inst: &Inst<PhysReg>) {
        match inst {
            Inst::Comp { op, mode, dst, src1, src2, vec_mask, .. } => {
                let (a, b, mut out) = (self.drf(src1), self.drf(src2), self.drf(dst));
                for lane in 0..4 {
                    if vec_mask.bits() >> lane & 1 == 0 {
                        continue;
                    }
                    let a = if *mode == Mode::Sv { a[0] } else { a[lane] };
                    out[lane] = match op {
                        CompOp::Int(op) => {
                            int(*op, out[lane] as i32, a as i32, b[lane] as i32) as u32
                        }
                        CompOp::Float(op) => float(*op, out[lane], a, b[lane]),
                    };
                }
                self.data.insert(dst.index, out);
            }
            Inst::CalcArf { op, dst, src1, src2, .. } => {
                let value = int(*op, self.arf(dst), self.arf(src1), self.arf(src2));
                self.addr.insert(dst.index, value);
            }
            Inst::MovDrf { arf, drf, .. } => {
                self.data.insert(drf.index, [self.arf(arf) as u32; 4]);
            }
            Inst::MovArf { arf, drf, .. } => {
                self.addr.insert(arf.index, self.drf(drf)[0] as i32);
            }
            Inst::Reset { drf, .. } => {
                self.data.insert(drf.index, [0; 4]);
            }
            other => panic!("no computation: {other}"),
        }
    }
}
