//! Loads and stores of memory objects become accesses of banks and scratchpads at byte addresses.
//!
//! Banks are read and written in atoms of 16 bytes at multiples of 16; the scratchpads take any
//! multiple of 4. What is not known to be aligned therefore goes through the engine's scratch in
//! the scratchpad of its group, and so does a lane that has to move to lane 0.

use std::collections::BTreeMap;

use cranelift_entity::{PrimaryMap, SecondaryMap};
use nbcc_ir::{BinaryOp, Block, Builder, Effect, Function, Mem, MemData, Op, Scalar, Type, Value};
use nbcc_isa_ipim::{ATOM_BYTES, ELEMENT_BYTES, LANES, Machine};

use super::rewrite::{Rewrite, rewrite};
use crate::intrinsics::{
    ARG, BANK, BASE, LD_CONST, LD_PGSM, LD_RF, PARAM, PE, PGSM, RD_PGSM, ST_PGSM, ST_RF, STAGE,
    WR_PGSM, call, call_of, extents, id,
};
use crate::kernel::Kernel;
use crate::plan::SCRATCH_BYTES;

/// Makes addresses explicit. `params` holds the bank address of each scalar parameter. What accesses
/// an object says so: the object stays among its operands.
pub fn run(kernel: &mut Kernel, machine: &Machine, params: &[u32]) {
    let scratch_base = machine.memory.pgsm_bytes - machine.hierarchy.pes * SCRATCH_BYTES;
    let extents = [SCRATCH_BYTES / ELEMENT_BYTES, machine.hierarchy.pes];
    let scratch = MemData::new("scratch", Scalar::I32, &extents, PGSM);
    let scratch = kernel.func.mems.push(scratch);
    kernel.mem_base[scratch] = scratch_base;
    kernel.scratch = Some(scratch);
    let mut pass = Addresses {
        mem_base: kernel.mem_base.clone(),
        args: kernel.args.clone().unwrap_or_default(),
        mems: kernel.func.mems.clone(),
        mask: kernel.mask,
        scratch,
        scratch_base,
        params,
        known: Known::default(),
    };
    let picks = picks_lanes(&kernel.func);
    rewrite(&mut kernel.func, |b, _, op| pass.access(b, op));
    if !picks {
        return;
    }
    // Lanes of subscripts that became lanes of distances are picked no longer.
    nbcc_opt::dce::run(&mut kernel.func);
    pass.known = Known::default();
    rewrite(&mut kernel.func, |b, _, op| match op {
        Op::Extract(vector, lane) if *lane > 0 => Rewrite::Replace(pass.pick(b, *vector, *lane)),
        _ => Rewrite::Keep,
    });
    // Not all of them are wanted.
    nbcc_opt::dce::run(&mut kernel.func);
}

/// Whether lanes have to move to lane 0.
pub fn picks_lanes(func: &Function) -> bool {
    func.insts.values().any(|data| matches!(data.op, Op::Extract(_, lane) if lane > 0))
}

struct Addresses<'a> {
    mem_base: SecondaryMap<Mem, u32>,
    /// Objects whose addresses are arguments.
    args: Vec<Mem>,
    mems: PrimaryMap<Mem, MemData>,
    mask: u32,
    /// What each engine has of the scratchpad for itself.
    scratch: Mem,
    /// Where that of the first engine begins.
    scratch_base: u32,
    params: &'a [u32],
    known: Known,
}

/// What was computed before in a block.
#[derive(Default)]
struct Known {
    block: Option<Block>,
    /// Distances in bytes by the subscripts of lanes, each with its stride.
    distances: BTreeMap<Vec<(Value, u32)>, Value>,
    /// Lanes that were picked.
    lanes: BTreeMap<(Value, u8), Value>,
}

impl Known {
    /// Forgets what was computed in another block.
    fn enter(&mut self, block: Block) {
        if self.block != Some(block) {
            *self = Known { block: Some(block), ..Known::default() };
        }
    }
}

impl Addresses<'_> {
    fn access(&mut self, b: &mut Builder<'_>, op: &Op) -> Rewrite {
        match op {
            Op::Load(ty, mem, subscripts) => {
                let address = self.address(b, *mem, subscripts);
                Rewrite::Replace(self.load(b, *ty, *mem, address))
            }
            Op::Store(mem, subscripts, value) => {
                let address = self.address(b, *mem, subscripts);
                self.store(b, *mem, address, *value);
                Rewrite::Remove
            }
            Op::Intrinsic(stage) if stage.name == STAGE => {
                let [from, to] = stage.mems[..] else { panic!("{STAGE} has two objects") };
                let split = self.mems[from].extents.len();
                let args = vec![
                    self.address(b, from, &stage.args[..split]),
                    self.address(b, to, &stage.args[split..]),
                ];
                let imms = stage.imms.clone();
                call_of(b, LD_PGSM, Effect::Write, args, vec![from, to], imms, None);
                Rewrite::Remove
            }
            Op::Intrinsic(base) if base.name == BASE => {
                Rewrite::Replace(self.base(b, base.mems[0]))
            }
            Op::Intrinsic(param) if param.name == PARAM => {
                let ty = param.result.expect("parameters have a value");
                let address = i64::from(self.params[param.imms[0] as usize]);
                // The host writes a parameter to every lane of its atom.
                let value = call(b, LD_CONST, Effect::Pure, vec![], vec![address], Some(ty));
                Rewrite::Replace(value.expect("constants have a value"))
            }
            _ => Rewrite::Keep,
        }
    }

    /// Subscripts that are lanes of vectors are multiplied and added as vectors, so that it is done once
    /// for all lanes and for all accesses with the same ones.
    fn address(&mut self, b: &mut Builder<'_>, mem: Mem, subscripts: &[Value]) -> Value {
        let extents = extents(&self.mems[mem]);
        let mut stride = ELEMENT_BYTES;
        let mut terms: Vec<Value> = Vec::new();
        let mut picks: BTreeMap<u8, Vec<(Value, u32)>> = BTreeMap::new();
        for (&subscript, extent) in subscripts.iter().zip(extents) {
            match b.func.def_op(subscript) {
                Some(&Op::Extract(vector, lane)) => {
                    picks.entry(lane).or_default().push((vector, stride));
                }
                _ => terms.push(b.imul_imm(subscript, stride as i32)),
            }
            stride = stride.wrapping_mul(extent);
        }
        for (lane, vectors) in picks {
            let distances = self.distances(b, vectors);
            terms.push(b.value(Op::Extract(distances, lane)));
        }
        let sum = terms.into_iter().reduce(|sum, term| b.iadd(sum, term));
        if !self.args.contains(&mem) {
            let base = self.mem_base[mem] as i32;
            return match sum {
                None => b.i32(base),
                Some(sum) => b.iadd_imm(sum, base),
            };
        }
        let base = self.base(b, mem);
        match sum {
            None => base,
            Some(sum) => b.iadd(sum, base),
        }
    }

    /// Where an object begins.
    fn base(&self, b: &mut Builder<'_>, mem: Mem) -> Value {
        match self.args.iter().position(|arg| *arg == mem) {
            Some(number) => {
                let imms = vec![number as i64];
                let arg = call(b, ARG, Effect::Pure, vec![], imms, Some(Type::I32));
                arg.expect("arguments have a value")
            }
            None => b.i32(self.mem_base[mem] as i32),
        }
    }

    fn load(&self, b: &mut Builder<'_>, ty: Type, mem: Mem, address: Value) -> Value {
        if self.mems[mem].space == PGSM {
            return self.read(b, RD_PGSM, mem, address, ty);
        }
        assert_eq!(self.mems[mem].space, BANK, "{mem} is in no memory that has objects");
        let residue = residue(b.func, address, ATOM_BYTES, 12);
        if residue == Some(0) {
            return self.read(b, LD_RF, mem, address, ty);
        }
        let (atom, inside) = self.split(b, address, residue);
        let scratch = self.scratch(b);
        self.to_scratch(b, Some(mem), atom, scratch);
        if ty.lanes > 1 {
            self.second_to_scratch(b, atom, scratch);
        }
        let place = b.iadd(scratch, inside);
        self.read(b, RD_PGSM, self.scratch, place, ty)
    }

    fn store(&self, b: &mut Builder<'_>, mem: Mem, address: Value, value: Value) {
        let lanes = b.func.ty(value).lanes;
        if self.mems[mem].space == PGSM {
            if lanes > 1 {
                return self.write(b, WR_PGSM, mem, address, value);
            }
            return self.merge(b, None, address, value);
        }
        let residue = residue(b.func, address, ATOM_BYTES, 12);
        if lanes > 1 && residue == Some(0) {
            return self.write(b, ST_RF, mem, address, value);
        }
        let (atom, inside) = self.split(b, address, residue);
        let scratch = self.scratch(b);
        self.to_scratch(b, Some(mem), atom, scratch);
        let place = b.iadd(scratch, inside);
        if lanes > 1 {
            self.second_to_scratch(b, atom, scratch);
            self.write(b, WR_PGSM, self.scratch, place, value);
        } else {
            self.merge(b, Some(self.scratch), place, value);
        }
        self.write_back(b, Some(mem), atom, scratch, 0);
        if lanes > 1 {
            self.write_back(b, None, atom, scratch, ATOM_BYTES);
        }
    }

    /// Replaces one word of the scratchpad; the words behind it, which are written back, are in `mem`,
    /// if that is given.
    fn merge(&self, b: &mut Builder<'_>, mem: Option<Mem>, place: Value, value: Value) {
        let vector = b.func.ty(value).with_lanes(LANES as u8);
        let old = self.read(b, RD_PGSM, mem, place, vector);
        let new = b.value(Op::Insert(old, value, 0));
        self.write(b, WR_PGSM, mem, place, new);
    }

    fn read(
        &self,
        b: &mut Builder<'_>,
        name: &'static str,
        mem: impl Into<Option<Mem>>,
        address: Value,
        ty: Type,
    ) -> Value {
        let (mems, imms) = (mem.into().into_iter().collect(), vec![i64::from(self.mask)]);
        call_of(b, name, Effect::Read, vec![address], mems, imms, Some(ty))
            .expect("reads have a result")
    }

    fn write(
        &self,
        b: &mut Builder<'_>,
        name: &'static str,
        mem: impl Into<Option<Mem>>,
        address: Value,
        value: Value,
    ) {
        let (mems, imms) = (mem.into().into_iter().collect(), vec![i64::from(self.mask)]);
        call_of(b, name, Effect::Write, vec![address, value], mems, imms, None);
    }

    /// The address of the atom and the offset in it.
    fn split(&self, b: &mut Builder<'_>, address: Value, residue: Option<u32>) -> (Value, Value) {
        match residue {
            Some(offset) => {
                let atom = b.iadd_imm(address, -(offset as i32));
                (atom, b.i32(offset as i32))
            }
            None => {
                let high = b.i32(-(ATOM_BYTES as i32));
                let low = b.i32(ATOM_BYTES as i32 - 1);
                let atom = b.binary(BinaryOp::And, address, high);
                (atom, b.binary(BinaryOp::And, address, low))
            }
        }
    }

    fn scratch(&self, b: &mut Builder<'_>) -> Value {
        let pe = id(b, PE);
        let own = b.imul_imm(pe, SCRATCH_BYTES as i32);
        b.iadd_imm(own, self.scratch_base as i32)
    }

    /// Copies between an atom of the bank and the scratch. The atom is one of `mem`, if that is
    /// given.
    fn copy(
        &self,
        b: &mut Builder<'_>,
        name: &'static str,
        mem: Option<Mem>,
        atom: Value,
        scratch: Value,
    ) {
        let imms = vec![i64::from(self.mask)];
        let mems = mem.map_or(vec![], |mem| vec![mem, self.scratch]);
        call_of(b, name, Effect::Write, vec![atom, scratch], mems, imms, None);
    }

    fn to_scratch(&self, b: &mut Builder<'_>, mem: Option<Mem>, atom: Value, scratch: Value) {
        self.copy(b, LD_PGSM, mem, atom, scratch);
    }

    /// The atom behind one: where the first holds all that is wanted, it may be another object's.
    fn second_to_scratch(&self, b: &mut Builder<'_>, atom: Value, scratch: Value) {
        let atom = b.iadd_imm(atom, ATOM_BYTES as i32);
        let scratch = b.iadd_imm(scratch, ATOM_BYTES as i32);
        self.to_scratch(b, None, atom, scratch);
    }

    fn write_back(
        &self,
        b: &mut Builder<'_>,
        mem: Option<Mem>,
        atom: Value,
        scratch: Value,
        offset: u32,
    ) {
        let atom = b.iadd_imm(atom, offset as i32);
        let scratch = b.iadd_imm(scratch, offset as i32);
        self.copy(b, ST_PGSM, mem, atom, scratch);
    }

    /// The sum of vectors of subscripts times strides.
    fn distances(&mut self, b: &mut Builder<'_>, vectors: Vec<(Value, u32)>) -> Value {
        self.known.enter(b.block());
        if let Some(&known) = self.known.distances.get(&vectors) {
            return known;
        }
        let product = |b: &mut Builder<'_>, &(vector, stride): &(Value, u32)| {
            let stride = b.constant(b.func.ty(vector), stride.into());
            b.imul(vector, stride)
        };
        let products: Vec<Value> = vectors.iter().map(|term| product(b, term)).collect();
        let sum = products.into_iter().reduce(|x, y| b.iadd(x, y)).expect("a subscript");
        self.known.distances.insert(vectors, sum);
        sum
    }

    /// Brings a lane to lane 0: the vector goes to the second half of the scratch and is read back
    /// from that lane on. The other lanes are read with it, so that it goes there once.
    fn pick(&mut self, b: &mut Builder<'_>, vector: Value, lane: u8) -> Value {
        self.known.enter(b.block());
        if let Some(&known) = self.known.lanes.get(&(vector, lane)) {
            return known;
        }
        let half = (SCRATCH_BYTES / 2) as i32;
        let scratch = self.scratch(b);
        let place = b.iadd_imm(scratch, half);
        self.write(b, WR_PGSM, self.scratch, place, vector);
        let ty = b.func.ty(vector);
        for lane in 1..ty.lanes {
            let place = b.iadd_imm(place, i32::from(lane) * ELEMENT_BYTES as i32);
            let picked = self.read(b, RD_PGSM, self.scratch, place, ty.with_lanes(1));
            self.known.lanes.insert((vector, lane), picked);
        }
        self.known.lanes[&(vector, lane)]
    }
}

/// What is left of a value divided by `modulus` (a power of two), if every way of computing it
/// agrees; looks through at most `depth` operations.
fn residue(func: &Function, value: Value, modulus: u32, depth: u32) -> Option<u32> {
    let (known, rest) = low_bits(func, value, depth);
    (known >= modulus.ilog2()).then_some(rest & (modulus - 1))
}

/// How many low bits of a value are known, and which they are.
fn low_bits(func: &Function, value: Value, depth: u32) -> (u32, u32) {
    const UNKNOWN: (u32, u32) = (0, 0);
    if depth == 0 {
        return UNKNOWN;
    }
    if let Some(bits) = func.splat_constant(value) {
        return (32, bits as u32);
    }
    let (op, x, y) = match func.def_op(value) {
        Some(Op::Binary(op, x, y)) => (op, x, y),
        Some(Op::Extract(vector, _)) => return low_bits(func, *vector, depth - 1),
        // Objects begin with an atom.
        Some(Op::Intrinsic(call)) if call.name == ARG => return (ATOM_BYTES.ilog2(), 0),
        _ => return UNKNOWN,
    };
    let identity = match op {
        BinaryOp::Iadd => Some(0),
        BinaryOp::Imul => Some(1),
        _ => None,
    };
    let depth = depth - u32::from(identity.is_none() || func.splat_constant(*y) != identity);
    let (kx, x) = low_bits(func, *x, depth);
    let (ky, y) = low_bits(func, *y, depth);
    let masked =
        |known: u32, bits: u32| (known, if known >= 32 { bits } else { bits & ((1 << known) - 1) });
    match op {
        BinaryOp::Iadd => masked(kx.min(ky), x.wrapping_add(y)),
        BinaryOp::Isub => masked(kx.min(ky), x.wrapping_sub(y)),
        BinaryOp::Imul => {
            // Trailing zeros add up: known low bits of one shift what is unknown of the other.
            let zeros = |known: u32, bits: u32| bits.trailing_zeros().min(known);
            let known = (kx + zeros(ky, y)).min(ky + zeros(kx, x)).min(32);
            masked(known, x.wrapping_mul(y))
        }
        BinaryOp::Shl if ky == 32 && y < 32 => {
            masked((kx + y).min(32), x.checked_shl(y).unwrap_or(0))
        }
        BinaryOp::And if ky == 32 => {
            // A bit is known where it is known of the one, or cleared by the other.
            let of_x = if kx >= 32 { u32::MAX } else { (1 << kx) - 1 };
            masked((y & !of_x).trailing_zeros(), x & y)
        }
        _ => UNKNOWN,
    }
}
