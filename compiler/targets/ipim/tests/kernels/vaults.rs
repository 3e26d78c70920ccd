//! Kernels in IR, run as the machine would: the engines of a vault in lockstep, the control core
//! beside them, memories with nothing but bytes. It knows nothing of time, registers or encodings,
//! and nothing of how kernels were made.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use cranelift_entity::SecondaryMap;
use nbcc_analysis::{Lanes, evaluate};
use nbcc_ir::{Block, IntrinsicCall, MAX_LANES, Mem, Op, Scalar, Terminator, Type, Value};
use nbcc_isa_ipim::Machine;
use nbcc_isa_ipim::layout::{Layout, Location};
use nbcc_target_ipim::intrinsics as names;
use nbcc_target_ipim::kernel::Kernel;

/// Elements around an object that a vector may touch.
const MARGIN: i64 = 3;

/// All vaults of a machine.
pub struct Vaults<'a> {
    machine: &'a Machine,
    vaults: Vec<Vault>,
    params: &'a [u32],
}

struct Vault {
    banks: Vec<Vec<u32>>,
    pgsm: Vec<Vec<u32>>,
    vsm: Vec<u32>,
}

/// A value: the lanes of all engines one after another, or those that are the same in all engines
/// and the control core.
#[derive(Clone)]
struct Held {
    ty: Type,
    lanes: Rc<[u64]>,
}

impl Held {
    fn same(lanes: Lanes) -> Held {
        Held { ty: lanes.ty(), lanes: lanes.bits().into() }
    }

    fn is_same(&self) -> bool {
        self.lanes.len() == usize::from(self.ty.lanes)
    }

    fn bits(&self, engine: usize) -> &[u64] {
        let lanes = usize::from(self.ty.lanes);
        if self.is_same() { &self.lanes } else { &self.lanes[engine * lanes..][..lanes] }
    }

    fn of(&self, engine: usize) -> Lanes {
        Lanes::new(self.ty, self.bits(engine))
    }

    /// The lanes of some engines as those of one value.
    fn side_by_side(&self, engines: Range<usize>) -> Lanes {
        let lanes = usize::from(self.ty.lanes);
        let ty = self.ty.with_lanes((lanes * engines.len()) as u8);
        if self.is_same() {
            return Lanes::from_fn(ty, |lane| self.lanes[lane % lanes]);
        }
        Lanes::new(ty, &self.lanes[engines.start * lanes..engines.end * lanes])
    }

    /// The value as the control core knows it.
    fn uniform(&self, what: &str) -> i64 {
        assert!(self.is_same(), "{what} depends on the engine");
        i64::from(self.lanes[0] as u32 as i32)
    }
}

/// The operation on the lanes of several engines at once, where a lane of its result is made of the
/// same lane of its operands.
fn widen(op: &Op, engines: usize) -> Option<Op> {
    match op {
        Op::Unary(..)
        | Op::Binary(..)
        | Op::Fma(..)
        | Op::MulAdd(..)
        | Op::Icmp(..)
        | Op::Fcmp(..)
        | Op::Select(..) => Some(op.clone()),
        Op::Convert(convert, a, to) => {
            Some(Op::Convert(*convert, *a, to.with_lanes(to.lanes * engines as u8)))
        }
        _ => None,
    }
}

impl<'a> Vaults<'a> {
    /// Memories full of words that nobody wrote.
    pub fn new(machine: &'a Machine, bank_bytes: u32, params: &'a [u32]) -> Vaults<'a> {
        let h = &machine.hierarchy;
        let memory = |bytes: u32| vec![0xdead_beef; bytes as usize / 4];
        let vault = || Vault {
            banks: (0..machine.engines()).map(|_| memory(bank_bytes)).collect(),
            pgsm: (0..h.pgs).map(|_| memory(machine.memory.pgsm_bytes)).collect(),
            vsm: memory(machine.memory.vsm_bytes),
        };
        Vaults { machine, vaults: (0..machine.vaults()).map(|_| vault()).collect(), params }
    }

    /// The word at a place.
    pub fn word(&mut self, at: &Location) -> &mut u32 {
        let h = &self.machine.hierarchy;
        let vault = &mut self.vaults[(at.cube * h.vaults + at.vault) as usize];
        &mut vault.banks[(at.pg * h.pes + at.pe) as usize][at.address as usize / 4]
    }

    /// Runs kernels in order. Between two barriers vaults run one after another, in ascending or
    /// descending order, as far apart as they can get.
    pub fn run(&mut self, kernels: &[Kernel], descending: bool) {
        let starts = |k: &usize| *k == 0 || kernels[*k].sync.is_some();
        let mut marks: Vec<usize> = (0..kernels.len()).filter(starts).collect();
        marks.push(kernels.len());
        for pair in marks.windows(2) {
            let mut order: Vec<usize> = (0..self.vaults.len()).collect();
            if descending {
                order.reverse();
            }
            for vault in order {
                for kernel in &kernels[pair[0]..pair[1]] {
                    Run { all: self, kernel, vault, values: SecondaryMap::new() }.run();
                }
            }
        }
    }
}

/// One vault running one kernel.
struct Run<'r, 'a> {
    all: &'r mut Vaults<'a>,
    kernel: &'r Kernel,
    vault: usize,
    values: SecondaryMap<Value, Option<Held>>,
}

impl Run<'_, '_> {
    fn run(&mut self) {
        let func = &self.kernel.func;
        let mut block = func.entry();
        loop {
            for &inst in &func.blocks[block].insts {
                if let Some(held) = self.step(&func.insts[inst].op) {
                    let result = func.result(inst).expect("the operation has a result");
                    self.values[result] = Some(held);
                }
            }
            let to = match func.terminator(block) {
                Terminator::Jump(to) => to,
                Terminator::Branch(condition, yes, no) => {
                    if self.held(*condition).uniform("a branch") & 1 != 0 { yes } else { no }
                }
                Terminator::Return(_) => return,
                other => panic!("{other:?}"),
            };
            let args: Vec<Held> = to.args.iter().map(|&v| self.held(v).clone()).collect();
            let target: Block = to.block;
            for (&param, held) in func.blocks[target].params.iter().zip(args) {
                self.values[param] = Some(held);
            }
            block = target;
        }
    }

    fn held(&self, value: Value) -> &Held {
        self.values[value].as_ref().unwrap_or_else(|| panic!("{value} has no value yet"))
    }

    fn engines(&self) -> usize {
        self.all.machine.engines() as usize
    }

    /// A value in every engine.
    fn each(&self, mut f: impl FnMut(usize) -> Lanes) -> Held {
        let first = f(0);
        let mut lanes = first.bits().to_vec();
        for engine in 1..self.engines() {
            lanes.extend_from_slice(f(engine).bits());
        }
        Held { ty: first.ty(), lanes: lanes.into() }
    }

    fn step(&mut self, op: &Op) -> Option<Held> {
        match op {
            Op::Load(ty, mem, subscripts) => {
                let places = self.places(*mem, subscripts, ty.lanes);
                Some(self.each(|e| self.read(*mem, e, places[e], *ty)))
            }
            Op::Store(mem, subscripts, value) => {
                let value = self.held(*value).clone();
                let lanes = self.kernel.func.ty(match op {
                    Op::Store(_, _, value) => *value,
                    _ => unreachable!(),
                });
                let places = self.places(*mem, subscripts, lanes.lanes);
                for e in self.masked(self.kernel.mask) {
                    self.write(*mem, e, places[e], value.bits(e));
                }
                None
            }
            Op::Intrinsic(call) => self.intrinsic(call),
            _ => {
                let result = |result: Option<Result<Lanes, _>>| {
                    let result = result.unwrap_or_else(|| panic!("{op:?} is not pure"));
                    result.unwrap_or_else(|_| panic!("{op:?} divides by zero"))
                };
                let (mut same, mut lanes) = (true, 1);
                op.for_each_arg(|v| {
                    same &= self.held(v).is_same();
                    lanes = lanes.max(self.held(v).ty.lanes);
                });
                if same {
                    return Some(Held::same(result(evaluate(op, |v| self.held(v).of(0)))));
                }
                let all = self.engines();
                let together = all.min(usize::from(MAX_LANES / lanes));
                let Some(wide) = widen(op, together).filter(|_| all.is_multiple_of(together))
                else {
                    return Some(self.each(|e| result(evaluate(op, |v| self.held(v).of(e)))));
                };
                let mut ty = Type::I32;
                let mut bits = Vec::with_capacity(all * usize::from(lanes));
                for first in (0..all).step_by(together) {
                    let engines = || first..first + together;
                    let of = |v| self.held(v).side_by_side(engines());
                    let found = result(evaluate(&wide, of));
                    ty = found.ty().with_lanes(lanes);
                    bits.extend_from_slice(found.bits());
                }
                Some(Held { ty, lanes: bits.into() })
            }
        }
    }

    fn masked(&self, mask: u32) -> Vec<usize> {
        (0..self.engines()).filter(|e| mask >> e & 1 == 1).collect()
    }

    /// Word numbers of an access to an object, in its memory.
    fn places(&self, mem: Mem, subscripts: &[Value], lanes: u8) -> Vec<i64> {
        let data = &self.kernel.func.mems[mem];
        let subscripts: Vec<&Held> = subscripts.iter().map(|&s| self.held(s)).collect();
        let extents = nbcc_target_ipim::intrinsics::extents(data);
        let size: i64 = extents.iter().map(|&e| i64::from(e)).product();
        let base = i64::from(self.kernel.mem_base[mem]) / 4;
        (0..self.engines())
            .map(|e| {
                let mut index = 0;
                for (held, &extent) in subscripts.iter().zip(&extents).rev() {
                    index = index * i64::from(extent) + i64::from(held.bits(e)[0] as i32);
                }
                let inside = -MARGIN <= index && index + i64::from(lanes) <= size + MARGIN;
                let active = self.kernel.mask >> e & 1 == 1;
                assert!(
                    inside || !active,
                    "{}: element {index} of {} ({:?}) in engine {e} of vault {}",
                    self.kernel.func.name,
                    data.name,
                    data.extents,
                    self.vault
                );
                base + index
            })
            .collect()
    }

    fn memory(&mut self, mem: Mem, engine: usize) -> &mut Vec<u32> {
        let space = self.kernel.func.mems[mem].space;
        let pes = self.all.machine.hierarchy.pes as usize;
        let vault = &mut self.all.vaults[self.vault];
        if space == names::BANK { &mut vault.banks[engine] } else { &mut vault.pgsm[engine / pes] }
    }

    fn read(&self, mem: Mem, engine: usize, place: i64, ty: Type) -> Lanes {
        if self.kernel.mask >> engine & 1 == 0 {
            return Lanes::splat(ty, 0);
        }
        let space = self.kernel.func.mems[mem].space;
        let pes = self.all.machine.hierarchy.pes as usize;
        let vault = &self.all.vaults[self.vault];
        let memory =
            if space == names::BANK { &vault.banks[engine] } else { &vault.pgsm[engine / pes] };
        Lanes::from_fn(ty, |lane| u64::from(memory[place as usize + lane]))
    }

    fn write(&mut self, mem: Mem, engine: usize, place: i64, value: &[u64]) {
        let memory = self.memory(mem, engine);
        for (lane, &bits) in value.iter().enumerate() {
            memory[place as usize + lane] = bits as u32;
        }
    }

    /// The word that an address names, in one engine.
    fn address(&self, value: Value, engine: usize, multiple: u64) -> usize {
        let address = self.held(value).bits(engine)[0];
        assert_eq!(address % multiple, 0, "{}: address {address:#x}", self.kernel.func.name);
        address as usize / 4
    }

    fn intrinsic(&mut self, call: &IntrinsicCall) -> Option<Held> {
        let h = &self.all.machine.hierarchy;
        let pes = h.pes as usize;
        let chip = self.vault as u32 / h.vaults;
        let vault = self.vault as u32 % h.vaults;
        let same = |n: u32| Some(Held::same(Lanes::i32(n as i32)));
        let mesh = self.all.machine.vault_mesh();
        match call.name {
            names::PE => return Some(self.each(|e| Lanes::i32((e % pes) as i32))),
            names::PG => return Some(self.each(|e| Lanes::i32((e / pes) as i32))),
            names::VAULT => return same(vault),
            names::CHIP => return same(chip),
            names::VAULT_COLUMN => {
                return same(chip % h.cube_columns * mesh[0] + vault % mesh[0]);
            }
            names::VAULT_ROW => return same(chip / h.cube_columns * mesh[1] + vault / mesh[0]),
            names::PARAM => {
                let ty = call.result.expect("parameters have a value");
                let word = self.all.params[call.imms[0] as usize];
                return Some(Held::same(Lanes::splat(ty, word.into())));
            }
            names::RANGE | names::ANY => return Some(self.held(call.args[0]).clone()),
            names::BASE => return same(self.kernel.mem_base[call.mems[0]]),
            names::REQ => {
                let [chip, vault, pg, pe, from, to] =
                    [0, 1, 2, 3, 4, 5].map(|n| self.held(call.args[n]).uniform("a request") as u32);
                assert!(chip < h.cubes && vault < h.vaults && pg < h.pgs && pe < h.pes, "{call:?}");
                assert!(from % 16 == 0 && to % 4 == 0, "{}: {call:?}", self.kernel.func.name);
                let bank = &self.all.vaults[(chip * h.vaults + vault) as usize].banks;
                let bank = &bank[(pg * h.pes + pe) as usize];
                let atom = bank[from as usize / 4..][..4].to_vec();
                let to = to as usize / 4;
                self.all.vaults[self.vault].vsm[to..to + 4].copy_from_slice(&atom);
                return None;
            }
            names::STAGE => {
                let [from, to] = call.mems[..] else { panic!("{call:?}") };
                let split = self.kernel.func.mems[from].extents.len();
                let reads = self.places(from, &call.args[..split], 4);
                let writes = self.places(to, &call.args[split..], 4);
                let vector = Type { scalar: Scalar::I32, lanes: 4 };
                for e in self.masked(call.imms[0] as u32) {
                    assert!(reads[e] % 4 == 0, "{}: atoms", self.kernel.func.name);
                    let value = self.read(from, e, reads[e], vector);
                    self.write(to, e, writes[e], value.bits());
                }
                return None;
            }
            _ => {}
        }
        let mask = call.imms[0] as u32;
        let multiple = if matches!(call.name, names::LD_RF | names::ST_RF) { 16 } else { 4 };
        let engines = self.masked(mask);
        match call.name {
            names::LD_RF | names::RD_PGSM | names::RD_VSM => {
                let ty = call.result.expect("reads have a result");
                let vault = &self.all.vaults[self.vault];
                Some(self.each(|e| {
                    if !engines.contains(&e) {
                        return Lanes::splat(ty, 0xdead_beef);
                    }
                    let place = self.address(call.args[0], e, multiple);
                    let memory = match call.name {
                        names::LD_RF => &vault.banks[e],
                        names::RD_PGSM => &vault.pgsm[e / pes],
                        _ => &vault.vsm,
                    };
                    let words = &memory[place..place + 4];
                    Lanes::from_fn(ty, |lane| u64::from(words[lane]))
                }))
            }
            names::ST_RF | names::WR_PGSM | names::WR_VSM => {
                let value = self.held(call.args[1]).clone();
                for e in engines {
                    let place = self.address(call.args[0], e, multiple);
                    let vault = &mut self.all.vaults[self.vault];
                    let memory = match call.name {
                        names::ST_RF => &mut vault.banks[e],
                        names::WR_PGSM => &mut vault.pgsm[e / pes],
                        _ => &mut vault.vsm,
                    };
                    for (word, &bits) in memory[place..place + 4].iter_mut().zip(value.bits(e)) {
                        *word = bits as u32;
                    }
                }
                None
            }
            other => panic!("{other} is not of kernels in IR"),
        }
    }
}

/// The places of an element that the host writes: one, or one in every bank.
pub fn places(machine: &Machine, layout: &Layout, at: Location) -> Vec<Location> {
    if *layout != Layout::Replicated {
        return vec![at];
    }
    let h = &machine.hierarchy;
    let mut all = BTreeMap::new();
    for cube in 0..h.cubes {
        for vault in 0..h.vaults {
            for pg in 0..h.pgs {
                for pe in 0..h.pes {
                    all.insert((cube, vault, pg, pe), Location { cube, vault, pg, pe, ..at });
                }
            }
        }
    }
    all.into_values().collect()
}
