//! Random kernels that end, stay within their buffers and do not depend on the order of threads.
//! Everything follows from a seed.

use std::collections::BTreeMap;
use std::str::FromStr;

use nbcc_ir::{
    BinaryOp, Block, BlockCall, Builder, ConvertOp, DataObject, ExecutionModel, Function, IntCond,
    Kernel, KernelParam, LoopInfo, Module, NumType, Object, Op, SimtOp, Space, Terminator, Type,
    UnaryOp, Value,
};
use nbcc_testing::Rng;

/// Blocks of the grid.
pub const GRID: [u32; 3] = [2, 1, 1];
/// Threads of a block.
pub const BLOCK: [u32; 3] = [40, 2, 1];
/// Bytes that are read.
pub const INPUT: usize = 64 * 8;
/// Bytes that threads write, each its own.
pub const OUTPUT: usize = 2 * 80 * SLOTS * 8;
/// Bytes of counters that all threads change.
pub const COUNTERS: usize = 16 * 8;
const SLOTS: usize = 16;

const TYPES: [Type; 6] = [Type::I1, Type::I16, Type::I32, Type::I64, Type::F32, Type::F64];

/// Operations of a value or more of one type, with the types of operands and result.
const ARITHMETIC: &[&str] = &[
    "add.rn.f32",
    "add.rz.ftz.f32",
    "sub.rm.f32",
    "mul.rp.f32",
    "mul.rn.ftz.sat.f32",
    "fma.rn.f32",
    "fma.rz.ftz.f32",
    "div.rn.f32",
    "rcp.rn.ftz.f32",
    "sqrt.rn.f32",
    "min.f32",
    "max.nan.f32",
    "min.ftz.xorsign.f32",
    "abs.f32",
    "neg.ftz.f32",
    "add.rn.f64",
    "fma.rn.f64",
    "mul.rz.f64",
    "div.rn.f64",
    "sqrt.rp.f64",
    "min.f64",
    "max.f64",
    "adiv.f32",
    "divfull.ftz.f32",
    "arcp.f32",
    "rsqrt.f32",
    "sin.f32",
    "cos.ftz.f32",
    "lg2.f32",
    "ex2.ftz.f32",
    "tanh.f32",
    "add.rn.f16",
    "fma.rn.f16x2",
    "mul.rn.bf16x2",
    "min.f16x2",
    "add.rn.sat.f16",
    "cvt.rn.f32.s32",
    "cvt.rz.f32.u64",
    "cvt.rzi.s32.f32",
    "cvt.rni.u64.f64",
    "cvt.rmi.s16.f32",
    "cvt.rn.f16.f32",
    "cvt.rn.f32.f64",
    "cvt.exact.f64.f32",
    "cvt.exact.f32.f16",
    "cvt.rpi.f32.f32",
    "cvt.exact.sat.s16.s32",
    "cvt.rn.sat.f32.f64",
    "cvt.rn.f16x2.f32",
    "setp.lt.f32",
    "setp.geu.ftz.f32",
    "setp.neu.f64",
    "setp.nan.f32",
    "testp.normal.f32",
    "copysign.f32",
    "mulhi.s32",
    "mulhi.u64",
    "mulhi.s16",
    "idiv.s32",
    "idiv.u64",
    "irem.s64",
    "irem.u32",
    "idiv.s16",
    "addsat",
    "subsat",
    "madhisat",
    "popc.b32",
    "popc.b64",
    "clz.b64",
    "bfind.s32",
    "bfind.shiftamt.u64",
    "brev.b32",
    "brev.b64",
    "fns",
    "bfe.s32",
    "bfe.u64",
    "bfi.b32",
    "bfi.b64",
    "bmsk.clamp",
    "szext.wrap.s",
    "prmt.idx",
    "prmt.rc16",
    "lop3.150",
    "lop3.42",
    "shf.l.clamp",
    "shf.r.wrap",
    "dp4a.s.u",
    "dp2a.hi.u.s",
    "vabsdiff.x4.u.u.u.add.15",
    "vadd.x2.s.s.s.sat.3",
];

const BINARY: &[BinaryOp] = &[
    BinaryOp::Iadd,
    BinaryOp::Isub,
    BinaryOp::Imul,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Shl,
    BinaryOp::Lshr,
    BinaryOp::Ashr,
    BinaryOp::Smin,
    BinaryOp::Smax,
    BinaryOp::Umin,
    BinaryOp::Umax,
];

struct Generator {
    rng: Rng,
    func: Function,
    block: Block,
    values: BTreeMap<Type, Vec<Value>>,
    input: Value,
    output: Value,
    counters: Value,
    thread: Value,
    /// The next slot of the output.
    slot: usize,
    budget: u32,
}

/// A module with the kernel `main` and a function that it calls.
pub fn module(seed: u64) -> Module {
    let mut module = Module::default();
    for (name, space, size) in
        [("tile", Space::Shared, 80 * 8), ("frame", Space::Local, 64), ("table", Space::Const, 64)]
    {
        let bytes = if space == Space::Const { (0..48).map(|n| n * 5).collect() } else { vec![] };
        module.objects.push(DataObject {
            name: name.to_string(),
            space,
            align: 8,
            size,
            dynamic: false,
            bytes,
            relocations: vec![],
        });
    }
    let mut func = Function::new("main", ExecutionModel::Grid);
    let param = |name: &str, offset| KernelParam {
        name: name.to_string(),
        offset,
        size: 8,
        align: 8,
        ty: NumType::from_name("u64"),
    };
    func.kernel =
        Some(Kernel { params: vec![param("in", 0), param("out", 8)], ..Kernel::default() });
    let block = func.entry();
    let mut b = Builder::at(&mut func, block);
    let zero = b.constant(Type::I64, 0);
    let input = b.value(Op::LoadRaw(Type::I64, Space::Param, zero, 0));
    let out = b.value(Op::LoadRaw(Type::I64, Space::Param, zero, 8));
    let special = |b: &mut Builder<'_>, name: &str| {
        b.value(Op::Simt(SimtOp::from_str(name).unwrap(), vec![]))
    };
    let x = special(&mut b, "special.tid_x");
    let y = special(&mut b, "special.tid_y");
    let block_number = special(&mut b, "special.ctaid_x");
    let width = b.i32(40);
    let row = b.imul(y, width);
    let thread = b.iadd(row, x);
    let size = b.i32(80);
    let start = b.imul(block_number, size);
    let number = b.iadd(start, thread);
    let wide = b.convert(ConvertOp::ZeroExtend, number, Type::I64);
    let bytes = b.constant(Type::I64, SLOTS as u64 * 8);
    let at = b.imul(wide, bytes);
    let output = b.iadd(out, at);
    let past = b.constant(Type::I64, OUTPUT as u64);
    let counters = b.iadd(out, past);
    let mut generator = Generator {
        rng: Rng::new(seed),
        func,
        block,
        values: BTreeMap::new(),
        input,
        output,
        counters,
        thread,
        slot: 0,
        budget: 90,
    };
    for value in [thread, number, block_number, wide] {
        generator.keep(value);
    }
    for ty in TYPES {
        for _ in 0..2 {
            generator.load_input(ty);
        }
    }
    generator.region(0);
    generator.store_all();
    generator.end(Terminator::Exit);
    module.functions.push(generator.func);
    module
}

impl Generator {
    fn op(&mut self, op: Op) -> Vec<Value> {
        let types = self.func.result_types(&op);
        let inst = self.func.make_inst(op, &types, None);
        self.func.blocks[self.block].insts.push(inst);
        self.func.insts[inst].results.clone()
    }

    fn value(&mut self, op: Op) -> Value {
        self.op(op)[0]
    }

    fn simt(&mut self, name: &str, args: Vec<Value>) -> Vec<Value> {
        let op = SimtOp::from_str(name).unwrap_or_else(|_| panic!("{name}"));
        self.op(Op::Simt(op, args))
    }

    fn constant(&mut self, ty: Type, bits: u64) -> Value {
        self.value(Op::Const(ty, nbcc_ir::Constant::Splat(bits)))
    }

    fn keep(&mut self, value: Value) {
        let ty = self.func.ty(value);
        self.values.entry(ty).or_default().push(value);
    }

    fn end(&mut self, terminator: Terminator) {
        self.func.blocks[self.block].terminator = Some(terminator);
    }

    fn any(&mut self, ty: Type) -> Value {
        if ty == Type::I8 || self.rng.one_in(8) {
            let mask = u64::MAX >> (64 - ty.scalar.bits());
            let bits = match self.rng.below(3) {
                0 => self.rng.below(40),
                1 => self.rng.bits(),
                _ => *self.rng.pick(&[0, 1, u64::MAX, 0x3f80_0000, 1 << 31, 0x3ff0 << 48]),
            };
            return self.constant(ty, bits & mask);
        }
        let list = &self.values[&ty];
        let from = list.len().saturating_sub(12) as u64;
        let number = from + self.rng.below(list.len() as u64 - from);
        list[number as usize]
    }

    /// A byte offset below `limit` that is a multiple of 8, from a random value.
    fn offset(&mut self, limit: u64) -> Value {
        let number = self.any(Type::I32);
        let mask = self.constant(Type::I32, limit / 8 - 1);
        let index = self.value(Op::Binary(BinaryOp::And, number, mask));
        let wide = self.value(Op::Convert(ConvertOp::ZeroExtend, index, Type::I64));
        let eight = self.constant(Type::I64, 8);
        self.value(Op::Binary(BinaryOp::Imul, wide, eight))
    }

    fn load_input(&mut self, ty: Type) {
        let offset = self.offset(INPUT as u64);
        let address = self.value(Op::Binary(BinaryOp::Iadd, self.input, offset));
        let value = self.load(ty, Space::Global, address);
        self.keep(value);
    }

    /// Loads a value; a truth value is made of a byte.
    fn load(&mut self, ty: Type, space: Space, address: Value) -> Value {
        if ty != Type::I1 {
            return self.value(Op::LoadRaw(ty, space, address, 0));
        }
        let byte = self.value(Op::LoadRaw(Type::I8, space, address, 0));
        let one = self.constant(Type::I8, 1);
        let bit = self.value(Op::Binary(BinaryOp::And, byte, one));
        self.value(Op::Icmp(IntCond::Eq, bit, one))
    }

    fn store(&mut self, space: Space, address: Value, offset: i64, value: Value) {
        let value = match self.func.ty(value) {
            Type::I1 => self.value(Op::Convert(ConvertOp::ZeroExtend, value, Type::I32)),
            _ => value,
        };
        self.op(Op::StoreRaw(space, address, offset, value));
    }

    fn store_next(&mut self, value: Value) {
        let offset = (self.slot % SLOTS * 8) as i64;
        self.slot += 1;
        self.store(Space::Global, self.output, offset, value);
    }

    fn store_all(&mut self) {
        for ty in TYPES {
            let list = self.values[&ty].clone();
            for &value in list.iter().rev().take(2) {
                self.store_next(value);
            }
        }
    }

    /// Statements; values of inner regions are not used outside.
    fn region(&mut self, depth: u32) {
        let count = 4 + self.rng.below(10);
        for _ in 0..count {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            match self.rng.below(20) {
                0 | 1 if depth < 3 => self.branch(depth),
                2 if depth < 3 => self.repeat(depth),
                3 => {
                    let ty = *self.rng.pick(&TYPES);
                    let value = self.any(ty);
                    self.store_next(value);
                }
                4 => {
                    let ty = *self.rng.pick(&TYPES);
                    self.load_input(ty);
                }
                5 => self.local(),
                6 => self.count(),
                7 => self.guarded(),
                8 if depth == 0 => self.exchange(),
                9 | 10 if depth == 0 => self.warp(),
                11 | 12 => self.core(),
                13 => self.vector(),
                _ => self.arithmetic(),
            }
        }
    }

    fn arithmetic(&mut self) {
        let &name = self.rng.pick(ARITHMETIC);
        let op = SimtOp::from_str(name).unwrap_or_else(|_| panic!("{name}"));
        let signature = op.signature().unwrap_or_else(|error| panic!("{name}: {error}"));
        let args = signature.operands.iter().map(|&ty| self.any(ty)).collect();
        for result in self.op(Op::Simt(op, args)) {
            self.keep(result);
        }
    }

    fn core(&mut self) {
        let int = *self.rng.pick(&[Type::I16, Type::I32, Type::I64]);
        let (a, b) = (self.any(int), self.any(int));
        let value = match self.rng.below(8) {
            0 => {
                let &cond = self.rng.pick(IntCond::ALL);
                self.value(Op::Icmp(cond, a, b))
            }
            1 => {
                let ty = *self.rng.pick(&TYPES);
                let (c, x, y) = (self.any(Type::I1), self.any(ty), self.any(ty));
                self.value(Op::Select(c, x, y))
            }
            2 => {
                let &op = self.rng.pick(&[BinaryOp::And, BinaryOp::Or, BinaryOp::Xor]);
                let (x, y) = (self.any(Type::I1), self.any(Type::I1));
                let not = self.value(Op::Unary(UnaryOp::Not, y));
                self.value(Op::Binary(op, x, not))
            }
            3 => {
                let word = self.any(Type::I32);
                let &op = self.rng.pick(&[ConvertOp::ZeroExtend, ConvertOp::SignExtend]);
                self.value(Op::Convert(op, word, Type::I64))
            }
            4 => {
                let wide = self.any(Type::I64);
                let to = *self.rng.pick(&[Type::I16, Type::I32, Type::I1]);
                self.value(Op::Convert(ConvertOp::Truncate, wide, to))
            }
            5 => {
                let half = self.any(Type::I16);
                let &op = self.rng.pick(&[ConvertOp::ZeroExtend, ConvertOp::SignExtend]);
                let to = *self.rng.pick(&[Type::I32, Type::I64]);
                self.value(Op::Convert(op, half, to))
            }
            _ => {
                let &op = self.rng.pick(BINARY);
                self.value(Op::Binary(op, a, b))
            }
        };
        self.keep(value);
    }

    /// Two or four neighbours at once.
    fn vector(&mut self) {
        let lanes = *self.rng.pick(&[2, 4]);
        let ty = *self.rng.pick(&[Type::I32, Type::F32, Type::I16]);
        let mask = self.constant(Type::I64, !15);
        let offset = self.offset(INPUT as u64);
        let offset = self.value(Op::Binary(BinaryOp::And, offset, mask));
        let address = self.value(Op::Binary(BinaryOp::Iadd, self.input, offset));
        let loaded = self.value(Op::LoadRaw(ty.with_lanes(lanes), Space::Generic, address, 0));
        for lane in 0..lanes {
            let value = self.value(Op::Extract(loaded, lane));
            self.keep(value);
        }
        let value = self.any(ty);
        let changed = self.value(Op::Insert(loaded, value, 1));
        self.slot = self.slot.next_multiple_of(2);
        let at = (self.slot % SLOTS * 8) as i64;
        self.slot += 2;
        self.op(Op::StoreRaw(Space::Global, self.output, at, changed));
    }

    fn local(&mut self) {
        let frame = self.value(Op::Simt(SimtOp::Address(Object::from_u32(1)), vec![]));
        let offset = self.offset(64);
        let address = self.value(Op::Binary(BinaryOp::Iadd, frame, offset));
        let ty = *self.rng.pick(&[Type::I16, Type::I32, Type::I64, Type::F32, Type::F64]);
        if self.rng.one_in(2) {
            let value = self.any(ty);
            self.store(Space::Local, address, 0, value);
            return;
        }
        let value = match self.rng.below(3) {
            0 => {
                let generic = self.simt("togeneric.local", vec![address])[0];
                self.load(ty, Space::Generic, generic)
            }
            1 => {
                let table = self.value(Op::Simt(SimtOp::Address(Object::from_u32(2)), vec![]));
                let address = self.value(Op::Binary(BinaryOp::Iadd, table, offset));
                self.load(ty, Space::Const, address)
            }
            _ => self.load(ty, Space::Local, address),
        };
        self.keep(value);
    }

    /// Changes a counter in a way that does not depend on order.
    fn count(&mut self) {
        let kinds = ["add.u32", "add.s32", "xor.u64", "min.s32", "max.u64", "add.u64", "or.u32"];
        let number = self.rng.below(kinds.len() as u64) as usize;
        let (op, ty) = kinds[number].split_once('.').unwrap();
        let value = self.any(NumType::from_name(ty).unwrap().ty());
        let offset = number * 8;
        let guard = self.any(Type::I1);
        let name = match self.rng.below(2) {
            0 => format!("red.{op}.guarded.global.{ty}+{offset}"),
            _ => format!("red.{op}.guarded.generic.{ty}+{offset}"),
        };
        let name = name.replace("+0", "");
        self.simt(&name, vec![self.counters, value, guard]);
    }

    fn guarded(&mut self) {
        let guard = self.any(Type::I1);
        let guard = match self.rng.below(2) {
            0 => guard,
            _ => self.value(Op::Unary(UnaryOp::Not, guard)),
        };
        let ty = *self.rng.pick(&[Type::I32, Type::I64, Type::F32]);
        let old = self.any(ty);
        if self.rng.one_in(3) {
            let offset = self.slot % SLOTS * 8;
            self.slot += 1;
            let name = format!("store.volatile.guarded.global.{ty}+{offset}").replace("+0", "");
            self.simt(&name, vec![self.output, old, guard]);
            return;
        }
        let offset = self.offset(INPUT as u64);
        let address = self.value(Op::Binary(BinaryOp::Iadd, self.input, offset));
        let name = format!("load.weak.guarded.global.{ty}");
        let value = self.simt(&name, vec![address, guard, old])[0];
        self.keep(value);
    }

    /// Every thread writes its place in shared memory, and reads that of another.
    fn exchange(&mut self) {
        let tile = self.value(Op::Simt(SimtOp::Address(Object::from_u32(0)), vec![]));
        let barrier = self.constant(Type::I32, 0);
        let eight = self.constant(Type::I64, 8);
        let wide = self.value(Op::Convert(ConvertOp::ZeroExtend, self.thread, Type::I64));
        let at = self.value(Op::Binary(BinaryOp::Imul, wide, eight));
        let place = self.value(Op::Binary(BinaryOp::Iadd, tile, at));
        let ty = *self.rng.pick(&[Type::I32, Type::I64, Type::F32, Type::F64]);
        let value = self.any(ty);
        self.store(Space::Shared, place, 0, value);
        self.simt("barrier.sync.aligned", vec![barrier]);
        let offset = self.offset(512);
        let other = self.value(Op::Binary(BinaryOp::Iadd, tile, offset));
        let read = self.load(ty, Space::Shared, other);
        self.keep(read);
        let predicate = self.any(Type::I1);
        let name = *self.rng.pick(&["redpopc", "redand", "redor"]);
        let found = self.simt(&format!("barrier.{name}.aligned"), vec![barrier, predicate])[0];
        self.keep(found);
    }

    /// Operations of warps where all lanes are together.
    fn warp(&mut self) {
        let all = self.simt("activemask", vec![])[0];
        let results = match self.rng.below(8) {
            0 | 1 => {
                let mode = *self.rng.pick(&["up", "down", "bfly", "idx"]);
                let old = if self.rng.one_in(2) { ".old" } else { "" };
                let (a, b) = (self.any(Type::I32), self.any(Type::I32));
                let clamps = [0x1f, 0, 0x101f, 0x1807];
                let &clamp = self.rng.pick(&clamps);
                let c = self.constant(Type::I32, clamp);
                let mut args = vec![a, b, c];
                if old.is_empty() {
                    args.push(all);
                }
                self.simt(&format!("shfl{old}.{mode}"), args)
            }
            2 | 3 => {
                let mode = *self.rng.pick(&["all", "any", "uni", "ballot"]);
                let predicate = self.any(Type::I1);
                match self.rng.below(2) {
                    0 => self.simt(&format!("vote.old.{mode}"), vec![predicate]),
                    _ => self.simt(&format!("vote.{mode}"), vec![predicate, all]),
                }
            }
            4 => {
                let value = self.any(Type::I32);
                self.simt("match.any.b32", vec![value, all])
            }
            5 => {
                let value = self.any(Type::I64);
                self.simt("match.all.b64", vec![value, all])
            }
            6 => {
                let op = *self.rng.pick(&["add.u32", "min.s32", "max.u32", "xor.u32"]);
                let value = self.any(Type::I32);
                self.simt(&format!("redux.{op}"), vec![value, all])
            }
            _ => vec![all],
        };
        for value in results {
            self.keep(value);
        }
    }

    fn sizes(&self) -> BTreeMap<Type, usize> {
        self.values.iter().map(|(&ty, list)| (ty, list.len())).collect()
    }

    fn shrink(&mut self, sizes: &BTreeMap<Type, usize>) {
        for (ty, list) in &mut self.values {
            list.truncate(sizes.get(ty).copied().unwrap_or(0));
        }
    }

    fn branch(&mut self, depth: u32) {
        let cond = self.any(Type::I1);
        let [then, other, join] = [0; 3].map(|_| self.func.add_block());
        let to = |block| BlockCall { block, args: vec![] };
        if self.rng.one_in(5) {
            // More than two ways.
            let value = self.any(Type::I32);
            let three = self.constant(Type::I32, 3);
            let number = self.value(Op::Binary(BinaryOp::And, value, three));
            let cases = vec![to(then), to(other), to(then)];
            self.end(Terminator::Switch(number, cases, to(other)));
        } else {
            self.end(Terminator::Branch(cond, to(then), to(other)));
        }
        let types: Vec<Type> = (0..3).map(|_| *self.rng.pick(&TYPES)).collect();
        let sizes = self.sizes();
        for block in [then, other] {
            self.block = block;
            if block == then || !self.rng.one_in(3) {
                self.region(depth + 1);
            }
            let args = types.iter().map(|&ty| self.any(ty)).collect();
            self.end(Terminator::Jump(BlockCall { block: join, args }));
            self.shrink(&sizes);
        }
        self.block = join;
        for ty in types {
            let param = self.func.add_param(join, ty);
            self.keep(param);
        }
    }

    /// A loop whose number of rounds differs between threads.
    fn repeat(&mut self, depth: u32) {
        let seed = self.any(Type::I32);
        let three = self.constant(Type::I32, 3);
        let rounds = self.value(Op::Binary(BinaryOp::And, seed, three));
        let types: Vec<Type> = (0..2).map(|_| *self.rng.pick(&TYPES)).collect();
        let [header, exit] = [0; 2].map(|_| self.func.add_block());
        let zero = self.constant(Type::I32, 0);
        let first = types.iter().map(|&ty| self.any(ty));
        let args: Vec<Value> = std::iter::once(zero).chain(first.collect::<Vec<_>>()).collect();
        self.end(Terminator::Jump(BlockCall { block: header, args }));
        self.block = header;
        let counter = self.func.add_param(header, Type::I32);
        let sizes = self.sizes();
        let carried: Vec<Value> = types.iter().map(|&ty| self.func.add_param(header, ty)).collect();
        self.keep(counter);
        carried.iter().for_each(|&value| self.keep(value));
        let name = format!("l{}", header.as_u32());
        self.func.blocks[header].loop_info = Some(LoopInfo { name, trips: None, counter: None });
        self.region(depth + 1);
        if self.rng.one_in(4) {
            // A way out from the middle.
            let leave = self.any(Type::I1);
            let body = self.func.add_block();
            let args = types.iter().map(|&ty| self.any(ty)).collect();
            let exit = BlockCall { block: exit, args };
            self.end(Terminator::Branch(leave, exit, BlockCall { block: body, args: vec![] }));
            self.block = body;
            self.region(depth + 1);
        }
        let one = self.constant(Type::I32, 1);
        let next = self.value(Op::Binary(BinaryOp::Iadd, counter, one));
        let again = self.value(Op::Icmp(IntCond::Ult, counter, rounds));
        let new: Vec<Value> = types.iter().map(|&ty| self.any(ty)).collect();
        let leaving: Vec<Value> = types.iter().map(|&ty| self.any(ty)).collect();
        let back = std::iter::once(next).chain(new).collect();
        self.end(Terminator::Branch(
            again,
            BlockCall { block: header, args: back },
            BlockCall { block: exit, args: leaving },
        ));
        self.shrink(&sizes);
        self.block = exit;
        for ty in types {
            let param = self.func.add_param(exit, ty);
            self.keep(param);
        }
    }
}
