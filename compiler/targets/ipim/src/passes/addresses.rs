//! Loads and stores of memory objects become accesses of banks and scratchpads at byte addresses.
//!
//! Banks are read and written in atoms of 16 bytes at multiples of 16; the scratchpads take any
//! multiple of 4. What is not known to be aligned therefore goes through the engine's scratch in
//! the scratchpad of its group, and so does a lane that has to move to lane 0. The scratch has several
//! slots where the kernel leaves room for them, which take turns: what one holds is no reason to wait
//! for what goes through another. A word is written by way of its atom in registers, where lanes are
//! known by their number or by a mask.

use std::collections::BTreeMap;

use cranelift_entity::{PrimaryMap, SecondaryMap};
use nbcc_analysis::sum::sum_of;
use nbcc_ir::{
    BinaryOp, Block, Builder, Constant, ConvertOp, Effect, Function, Mem, MemData, Op, Scalar,
    Type, Value,
};
use nbcc_isa_ipim::{ATOM_BYTES, ELEMENT_BYTES, LANES, Machine};

use super::forward;
use super::rewrite::{Rewrite, rewrite};
use crate::backend::provenance;
use crate::intrinsics::{
    ARG, BANK, BASE, LD_CONST, LD_PGSM, LD_RF, PARAM, PE, PGSM, RD_PGSM, ST_PGSM, ST_RF, STAGE,
    WR_PGSM, call, call_of, extents, id,
};
use crate::kernel::{Kernel, KernelCall};
use crate::plan::{SCRATCH_BYTES, dump_base};

/// Bytes of a slot of the scratch: from any word of an atom in it, an atom can be read.
const SLOT_BYTES: u32 = 2 * ATOM_BYTES;

/// The most slots: each takes an address.
const MOST_SLOTS: usize = 8;

/// The most operations that an address is looked through.
const BUDGET: u32 = 128;

/// Makes addresses explicit. `params` holds the bank address of each scalar parameter. What accesses
/// an object says so: the object stays among its operands. Atoms of words are read and written once
/// where that is enough, if `forwards`.
pub fn run(
    kernel: &mut Kernel,
    calls: &[&KernelCall],
    machine: &Machine,
    params: &[u32],
    forwards: bool,
) {
    let words = forwards && has_words(&kernel.func);
    let mut pass = Addresses {
        mem_base: kernel.mem_base.clone(),
        args: kernel.args.clone().unwrap_or_default(),
        mems: kernel.func.mems.clone(),
        mask: kernel.mask,
        bases: slot_bases(kernel, machine, words),
        engines: machine.hierarchy.pes,
        slots: vec![],
        next: 0,
        params,
        known: Known::default(),
    };
    rewrite(&mut kernel.func, |b, _, op| pass.access(b, op));
    pass.name_slots(kernel, calls);
    if words {
        forward::run(kernel);
        nbcc_opt::fold::run(&mut kernel.func);
    }
    if !picks_lanes(&kernel.func) {
        return;
    }
    // Lanes of subscripts that became lanes of distances are picked no longer.
    nbcc_opt::dce::run(&mut kernel.func);
    pass.known = Known::default();
    rewrite(&mut kernel.func, |b, _, op| match op {
        Op::Extract(vector, lane) if *lane > 0 => Rewrite::Replace(pass.pick(b, *vector, *lane)),
        _ => Rewrite::Keep,
    });
    pass.name_slots(kernel, calls);
    // Not all of them are wanted.
    nbcc_opt::dce::run(&mut kernel.func);
}

/// Whether lanes have to move to lane 0.
pub fn picks_lanes(func: &Function) -> bool {
    func.insts.values().any(|data| matches!(data.op, Op::Extract(_, lane) if lane > 0))
}

/// Whether single words of banks are read or written.
pub fn has_words(func: &Function) -> bool {
    func.insts.values().any(|data| match data.op {
        Op::Load(ty, mem, _) => ty.lanes == 1 && func.mems[mem].space == BANK,
        Op::Store(mem, _, value) => func.ty(value).lanes == 1 && func.mems[mem].space == BANK,
        _ => false,
    })
}

/// Where slots of what each engine has of the scratchpad for itself may lie. Where vectors alone are
/// accessed, one is enough, and takes the fewest registers for addresses. For words there are two at
/// least, and as many as lie between what the kernel keeps in the scratchpad and where writes go that
/// are not wanted, as far as that is known.
fn slot_bases(kernel: &Kernel, machine: &Machine, words: bool) -> Vec<u32> {
    let engines = machine.hierarchy.pes;
    let bytes = engines * SLOT_BYTES;
    let fixed = machine.memory.pgsm_bytes - engines * SCRATCH_BYTES;
    let mut bases: Vec<u32> = (0..SCRATCH_BYTES / SLOT_BYTES).map(|k| fixed + k * bytes).collect();
    let func = &kernel.func;
    let anywhere = func.insts.values().any(|data| match &data.op {
        Op::Intrinsic(call) => [LD_PGSM, ST_PGSM, RD_PGSM, WR_PGSM].contains(&call.name),
        _ => false,
    });
    if !words {
        bases.truncate(1);
    }
    if anywhere || !words {
        return bases;
    }
    let scratchpad = func.mems.iter().filter(|(_, data)| data.space == PGSM);
    let end = |(mem, data): (Mem, &MemData)| {
        kernel.mem_base[mem] + extents(data).into_iter().product::<u32>() * ELEMENT_BYTES
    };
    let end = scratchpad.map(end).max().unwrap_or(0);
    let mut base = dump_base(machine);
    while bases.len() < MOST_SLOTS && base >= end + bytes {
        base -= bytes;
        bases.push(base);
    }
    bases
}

struct Addresses<'a> {
    mem_base: SecondaryMap<Mem, u32>,
    /// Objects whose addresses are arguments.
    args: Vec<Mem>,
    mems: PrimaryMap<Mem, MemData>,
    mask: u32,
    /// Where slots of the scratch may lie.
    bases: Vec<u32>,
    /// Engines of a group.
    engines: u32,
    /// The slots that are used.
    slots: Vec<Mem>,
    /// The slot that is used next.
    next: usize,
    params: &'a [u32],
    known: Known,
}

/// A sum of values with their factors, and a constant.
type Address = (Vec<(Value, u32)>, u32);

/// What was computed before in a block.
#[derive(Default)]
struct Known {
    block: Option<Block>,
    /// Distances in bytes by the subscripts of lanes, each with its stride.
    distances: BTreeMap<Vec<(Value, u32)>, Value>,
    /// Lanes that were picked.
    lanes: BTreeMap<(Value, u8), Value>,
    /// Atoms and places in them by addresses, each the sum of values and a constant.
    atoms: BTreeMap<Address, (Value, Value)>,
    /// The lane at a place of an atom, and the others, as masks.
    masks: BTreeMap<Value, [Value; 2]>,
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

    fn load(&mut self, b: &mut Builder<'_>, ty: Type, mem: Mem, address: Value) -> Value {
        if self.mems[mem].space == PGSM {
            return self.read(b, RD_PGSM, mem, address, ty);
        }
        assert_eq!(self.mems[mem].space, BANK, "{mem} is in no memory that has objects");
        let vector = ty.with_lanes(LANES as u8);
        let residue = residue(b.func, address, ATOM_BYTES, 12);
        match residue {
            Some(0) if ty.lanes > 1 => return self.read(b, LD_RF, mem, address, ty),
            Some(inside) if ty.lanes == 1 => {
                let atom = b.iadd_imm(address, -(inside as i32));
                let atom = self.read(b, LD_RF, mem, atom, vector);
                return b.value(Op::Extract(atom, (inside / ELEMENT_BYTES) as u8));
            }
            _ => {}
        }
        let (atom, inside) = self.split(b, address, residue);
        let (slot, scratch) = self.slot(b);
        if ty.lanes == 1 {
            let atom = self.read(b, LD_RF, mem, atom, vector);
            self.write(b, WR_PGSM, slot, scratch, atom);
        } else {
            self.copy(b, LD_PGSM, Some((mem, slot)), atom, scratch);
            self.second(b, LD_PGSM, atom, scratch);
        }
        let place = b.iadd(scratch, inside);
        self.read(b, RD_PGSM, slot, place, ty)
    }

    fn store(&mut self, b: &mut Builder<'_>, mem: Mem, address: Value, value: Value) {
        let ty = b.func.ty(value);
        if self.mems[mem].space == PGSM {
            if ty.lanes > 1 {
                return self.write(b, WR_PGSM, mem, address, value);
            }
            // The words behind it are written back as they are.
            let vector = ty.with_lanes(LANES as u8);
            let old = self.read(b, RD_PGSM, None, address, vector);
            let new = b.value(Op::Insert(old, value, 0));
            return self.write(b, WR_PGSM, None, address, new);
        }
        let residue = residue(b.func, address, ATOM_BYTES, 12);
        if ty.lanes > 1 && residue == Some(0) {
            return self.write(b, ST_RF, mem, address, value);
        }
        let (atom, inside) = self.split(b, address, residue);
        if ty.lanes == 1 {
            let old = self.read(b, LD_RF, mem, atom, ty.with_lanes(LANES as u8));
            let new = match residue {
                Some(inside) => b.value(Op::Insert(old, value, (inside / ELEMENT_BYTES) as u8)),
                None => self.with_word(b, old, value, inside),
            };
            return self.write(b, ST_RF, mem, atom, new);
        }
        let (slot, scratch) = self.slot(b);
        self.copy(b, LD_PGSM, Some((mem, slot)), atom, scratch);
        self.second(b, LD_PGSM, atom, scratch);
        let place = b.iadd(scratch, inside);
        self.write(b, WR_PGSM, slot, place, value);
        self.copy(b, ST_PGSM, Some((mem, slot)), atom, scratch);
        self.second(b, ST_PGSM, atom, scratch);
    }

    /// An atom in which a word takes the place of the one at `inside`, in bytes.
    fn with_word(&mut self, b: &mut Builder<'_>, old: Value, word: Value, inside: Value) -> Value {
        let [of, others] = self.masks(b, inside);
        let (ty, int) = (b.func.ty(old), b.func.ty(of));
        let word = b.value(Op::Splat(word, LANES as u8));
        let [old, word] = [old, word].map(|v| match ty.is_float() {
            true => b.convert(ConvertOp::Bitcast, v, int),
            false => v,
        });
        let old = b.binary(BinaryOp::And, old, others);
        let word = b.binary(BinaryOp::And, word, of);
        let new = b.binary(BinaryOp::Or, old, word);
        if ty.is_float() { b.convert(ConvertOp::Bitcast, new, ty) } else { new }
    }

    /// All bits of the lane at a place of an atom, and those of the others.
    fn masks(&mut self, b: &mut Builder<'_>, inside: Value) -> [Value; 2] {
        self.known.enter(b.block());
        if let Some(&masks) = self.known.masks.get(&inside) {
            return masks;
        }
        let int = Type::I32.with_lanes(LANES as u8);
        let places = (0..LANES as u64).map(|lane| lane * u64::from(ELEMENT_BYTES)).collect();
        let places = b.value(Op::Const(int, Constant::Lanes(places)));
        let all = b.value(Op::Splat(inside, LANES as u8));
        let distance = b.binary(BinaryOp::Xor, all, places);
        let [one, sign, ones] = [1, 31, u64::from(u32::MAX)].map(|n| b.constant(int, n));
        let below = b.binary(BinaryOp::Isub, distance, one);
        let of = b.binary(BinaryOp::Ashr, below, sign);
        let others = b.binary(BinaryOp::Xor, of, ones);
        self.known.masks.insert(inside, [of, others]);
        [of, others]
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
    fn split(
        &mut self,
        b: &mut Builder<'_>,
        address: Value,
        residue: Option<u32>,
    ) -> (Value, Value) {
        if let Some(offset) = residue {
            let atom = b.iadd_imm(address, -(offset as i32));
            return (atom, b.i32(offset as i32));
        }
        self.known.enter(b.block());
        let sum = sum_of(b.func, address, BUDGET, |_| None);
        let key = (sum.terms, sum.constant);
        if let Some(&known) = self.known.atoms.get(&key) {
            return known;
        }
        let high = b.i32(-(ATOM_BYTES as i32));
        let low = b.i32(ATOM_BYTES as i32 - 1);
        let atom = b.binary(BinaryOp::And, address, high);
        let split = (atom, b.binary(BinaryOp::And, address, low));
        self.known.atoms.insert(key, split);
        split
    }

    /// The slot whose turn it is, and where the engine's own part of it begins.
    fn slot(&mut self, b: &mut Builder<'_>) -> (Mem, Value) {
        let number = self.next % self.bases.len();
        self.next += 1;
        if number == self.slots.len() {
            let extents = [SLOT_BYTES / ELEMENT_BYTES, self.engines];
            let data = MemData::new(format!("scratch{number}"), Scalar::I32, &extents, PGSM);
            self.slots.push(b.func.mems.push(data));
        }
        let pe = id(b, PE);
        let own = b.imul_imm(pe, SLOT_BYTES as i32);
        (self.slots[number], b.iadd_imm(own, self.bases[number] as i32))
    }

    /// Tells the kernel of the slots, and which objects share no byte.
    fn name_slots(&self, kernel: &mut Kernel, calls: &[&KernelCall]) {
        for (&slot, &base) in self.slots.iter().zip(&self.bases) {
            kernel.mem_base[slot] = base;
        }
        kernel.scratch = self.slots.clone();
        (kernel.objects, kernel.neighbours) = provenance::objects(kernel, calls);
    }

    /// Copies between an atom of the bank and the scratch: one of an object and a slot, if these
    /// are given.
    fn copy(
        &self,
        b: &mut Builder<'_>,
        name: &'static str,
        mems: Option<(Mem, Mem)>,
        atom: Value,
        scratch: Value,
    ) {
        let imms = vec![i64::from(self.mask)];
        let mems = mems.map_or(vec![], |(mem, slot)| vec![mem, slot]);
        call_of(b, name, Effect::Write, vec![atom, scratch], mems, imms, None);
    }

    /// The atom behind one: where the first holds all that is wanted, it may be another object's.
    fn second(&self, b: &mut Builder<'_>, name: &'static str, atom: Value, scratch: Value) {
        let atom = b.iadd_imm(atom, ATOM_BYTES as i32);
        let scratch = b.iadd_imm(scratch, ATOM_BYTES as i32);
        self.copy(b, name, None, atom, scratch);
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

    /// Brings a lane to lane 0: the vector goes to a slot and is read back from that lane on. The
    /// other lanes are read with it, so that it goes there once.
    fn pick(&mut self, b: &mut Builder<'_>, vector: Value, lane: u8) -> Value {
        self.known.enter(b.block());
        if let Some(&known) = self.known.lanes.get(&(vector, lane)) {
            return known;
        }
        let (slot, place) = self.slot(b);
        self.write(b, WR_PGSM, slot, place, vector);
        let ty = b.func.ty(vector);
        for lane in 1..ty.lanes {
            let place = b.iadd_imm(place, i32::from(lane) * ELEMENT_BYTES as i32);
            let picked = self.read(b, RD_PGSM, slot, place, ty.with_lanes(1));
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
