//! One thread of a grid: frames of called functions, and a step at a time until it ends or waits
//! for others.

use cranelift_entity::SecondaryMap;
use nbcc_analysis::{Lanes, atomic, evaluate, evaluate_simt, loop_order};
use nbcc_base::Span;
use nbcc_ir::{
    Access, AtomOp, Atomic, BinaryOp, Block, BlockCall, Cfg, Constant, ConvertOp, Func, Function,
    Inst, IntCond, Module, NumType, Op, SimtOp, Space, SpecialReg, Terminator, Type, Value,
};

use super::fault::FaultKind;
use super::local::LocalMemory;
use super::memory::{View, resolve, window, word};
use super::printf;

/// The most calls within each other.
const CALL_DEPTH: usize = 256;

/// A function with the place of each value in a frame.
pub(super) struct Prepared<'a> {
    pub func: &'a Function,
    slot: SecondaryMap<Value, u32>,
    slots: usize,
    /// Where each block stands in an order that follows control flow.
    order: SecondaryMap<Block, u32>,
}

impl<'a> Prepared<'a> {
    pub fn new(func: &'a Function) -> Prepared<'a> {
        let mut slot = SecondaryMap::new();
        let mut slots = 0u32;
        for (value, data) in &func.values {
            slot[value] = slots;
            slots += u32::from(data.ty.lanes);
        }
        let mut order = SecondaryMap::new();
        for (number, block) in loop_order(func, &Cfg::new(func)).into_iter().enumerate() {
            order[block] = number as u32;
        }
        Prepared { func, slot, slots: slots as usize, order }
    }
}

/// What all threads of a launch share.
pub(super) struct Context<'a> {
    pub module: &'a Module,
    pub functions: Vec<Prepared<'a>>,
    /// Addresses of shared and local objects.
    pub objects: SecondaryMap<nbcc_ir::Object, u64>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared_bytes: [u64; 2],
}

/// Why a thread does not go on.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Status {
    Ready,
    /// It waits for others at an operation, with its operands.
    Waiting(SimtOp, Vec<u64>),
    Done,
}

struct Frame {
    func: Func,
    block: Block,
    next: usize,
    base: usize,
}

pub(super) struct Thread {
    pub position: [u32; 3],
    pub number: u32,
    pub status: Status,
    pub local: LocalMemory,
    frames: Vec<Frame>,
    slots: Vec<u64>,
}

fn mask(ty: Type) -> u64 {
    u64::MAX >> (64 - ty.scalar.bits())
}

fn bytes_of(ty: Type) -> u64 {
    u64::from(ty.scalar.bytes())
}

impl Thread {
    pub fn new(context: &Context<'_>, kernel: Func, number: u32, local: u64) -> Thread {
        let [x, y, _] = context.block;
        let position = [number % x, number / x % y, number / x / y];
        let prepared = &context.functions[kernel.as_u32() as usize];
        let frame = Frame { func: kernel, block: prepared.func.entry(), next: 0, base: 0 };
        Thread {
            position,
            number,
            status: Status::Ready,
            local: LocalMemory::new(local),
            frames: vec![frame],
            slots: vec![0; prepared.slots],
        }
    }

    /// Bytes of its state.
    pub fn bytes(&self) -> u64 {
        let frames = size_of::<Thread>() + self.frames.capacity() * size_of::<Frame>();
        (frames + self.slots.capacity() * size_of::<u64>()) as u64 + self.local.bytes()
    }

    /// The source of the instruction that comes next.
    pub fn span(&self, context: &Context<'_>) -> Option<Span> {
        let frame = self.frames.last()?;
        let func = context.functions[frame.func.as_u32() as usize].func;
        let data = &func.blocks[frame.block];
        match data.insts.get(frame.next) {
            Some(&inst) => func.insts[inst].span.or(data.span),
            None => data.span,
        }
    }

    /// The instruction that it waits at, with the calls around it, in the order of control flow.
    pub fn place(&self, context: &Context<'_>) -> Vec<(u32, usize)> {
        let order = |frame: &Frame| {
            let prepared = &context.functions[frame.func.as_u32() as usize];
            (prepared.order[frame.block], frame.next)
        };
        self.frames.iter().map(order).collect()
    }

    /// Goes on behind the operation that it waits at, with these results.
    pub fn release(&mut self, context: &Context<'_>, results: [u64; 2]) {
        let Some(frame) = self.frames.last() else { return };
        let prepared = &context.functions[frame.func.as_u32() as usize];
        let inst = prepared.func.blocks[frame.block].insts[frame.next];
        self.define(prepared, inst, results);
        if let Some(frame) = self.frames.last_mut() {
            frame.next += 1;
        }
        self.status = Status::Ready;
    }

    fn define(&mut self, prepared: &Prepared<'_>, inst: Inst, results: [u64; 2]) {
        let base = self.frames.last().map_or(0, |frame| frame.base);
        for (&value, bits) in prepared.func.insts[inst].results.iter().zip(results) {
            self.slots[base + prepared.slot[value] as usize] = bits & mask(prepared.func.ty(value));
        }
    }

    /// Runs up to that many steps; how many were left.
    pub fn run(
        &mut self,
        context: &Context<'_>,
        view: &mut View<'_>,
        block: [u32; 3],
        mut steps: u64,
        print: &mut dyn FnMut(&[u8]),
    ) -> Result<u64, FaultKind> {
        while steps > 0 && self.status == Status::Ready {
            steps -= 1;
            self.step(context, view, block, print)?;
        }
        Ok(steps)
    }

    fn step(
        &mut self,
        context: &Context<'_>,
        view: &mut View<'_>,
        block: [u32; 3],
        print: &mut dyn FnMut(&[u8]),
    ) -> Result<(), FaultKind> {
        let Some(frame) = self.frames.last() else {
            self.status = Status::Done;
            return Ok(());
        };
        let base = frame.base;
        let prepared = &context.functions[frame.func.as_u32() as usize];
        let func = prepared.func;
        let data = &func.blocks[frame.block];
        let Some(&inst) = data.insts.get(frame.next) else {
            return self.terminator(context, prepared, func.terminator(frame.block));
        };
        let slot = |value: Value| base + prepared.slot[value] as usize;
        let slots = &self.slots;
        let get = |value: Value| slots[slot(value)];
        let op = &func.insts[inst].op;
        if let Some(bits) = scalar(func, op, get) {
            let result = func.insts[inst].results[0];
            self.slots[slot(result)] = bits & mask(func.ty(result));
        } else {
            match op {
                Op::Call(callee, args) => {
                    if self.frames.len() >= CALL_DEPTH {
                        return Err(FaultKind::CallDepth(CALL_DEPTH));
                    }
                    let target = &context.functions[callee.as_u32() as usize];
                    let entry = target.func.entry();
                    let base = self.slots.len();
                    self.slots.resize(base + target.slots, 0);
                    for (&param, &arg) in target.func.blocks[entry].params.iter().zip(args) {
                        let to = base + target.slot[param] as usize;
                        let lanes = usize::from(func.ty(arg).lanes);
                        self.slots.copy_within(slot(arg)..slot(arg) + lanes, to);
                    }
                    self.frames.push(Frame { func: *callee, block: entry, next: 0, base });
                    return Ok(());
                }
                Op::LoadRaw(ty, space, address, offset) => {
                    let address = get(*address).wrapping_add(*offset as u64);
                    let to = slot(func.insts[inst].results[0]);
                    load(view, &mut self.slots[to..], *ty, *space, address)?;
                }
                Op::StoreRaw(space, address, offset, value) => {
                    let address = get(*address).wrapping_add(*offset as u64);
                    let from = slot(*value);
                    store(view, &slots[from..], func.ty(*value), *space, address)?;
                }
                Op::Simt(op, args) => {
                    let values: Vec<u64> = args.iter().map(|&arg| get(arg)).collect();
                    let results = func.insts[inst].results.first().map(|&value| slot(value));
                    match op {
                        SimtOp::Load(access) => {
                            self.guarded_load(view, access, args, &values, slot, results)?;
                        }
                        SimtOp::Store(access) => {
                            if !access.guarded || values[2] != 0 {
                                let address = values[0].wrapping_add(access.offset as u64);
                                let from = slot(args[1]);
                                store(view, &slots[from..], access.ty, access.space, address)?;
                            }
                        }
                        _ => match self.simt(context, view, block, op, &values, print)? {
                            Some(results) => self.define(prepared, inst, results),
                            None => {
                                self.status = Status::Waiting(*op, values);
                                return Ok(());
                            }
                        },
                    }
                }
                op => {
                    let lanes = |value: Value| {
                        let ty = func.ty(value);
                        Lanes::new(ty, &slots[slot(value)..][..usize::from(ty.lanes)])
                    };
                    let result = evaluate(op, lanes).ok_or_else(|| {
                        FaultKind::Launch(format!("{inst} is no instruction of a grid"))
                    })?;
                    let result =
                        result.map_err(|_| FaultKind::Trap("a division has no result".into()))?;
                    let to = slot(func.insts[inst].results[0]);
                    self.slots[to..to + result.bits().len()].copy_from_slice(result.bits());
                }
            }
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.next += 1;
        }
        Ok(())
    }

    fn guarded_load(
        &mut self,
        view: &View<'_>,
        access: &Access,
        args: &[Value],
        values: &[u64],
        slot: impl Fn(Value) -> usize,
        to: Option<usize>,
    ) -> Result<(), FaultKind> {
        let Some(to) = to else { return Ok(()) };
        if !access.guarded || values[1] != 0 {
            let address = values[0].wrapping_add(access.offset as u64);
            return load(view, &mut self.slots[to..], access.ty, access.space, address);
        }
        let from = slot(args[2]);
        self.slots.copy_within(from..from + usize::from(access.ty.lanes), to);
        Ok(())
    }

    /// Results of an operation; `None` where the thread waits for others.
    fn simt(
        &mut self,
        context: &Context<'_>,
        view: &mut View<'_>,
        block: [u32; 3],
        op: &SimtOp,
        values: &[u64],
        print: &mut dyn FnMut(&[u8]),
    ) -> Result<Option<[u64; 2]>, FaultKind> {
        if let Some(results) = evaluate_simt(op, values) {
            return Ok(Some(results));
        }
        let none = Ok(Some([0, 0]));
        Ok(Some([
            match op {
                SimtOp::Special(reg) => self.special(context, block, *reg),
                SimtOp::Atom(atom) | SimtOp::Red(atom) => {
                    let number = if atom.op == AtomOp::Cas { 3 } else { 2 };
                    if atom.guarded && values[number] == 0 {
                        // What a guarded one gives where it does not happen.
                        let old = values.get(number + 1).copied().unwrap_or(0);
                        return Ok(Some([old, 0]));
                    }
                    change(view, atom, &values[..number])?
                }
                SimtOp::ToGeneric(space) => {
                    window(*space).map_or(values[0], |base| base.wrapping_add(values[0]))
                }
                SimtOp::FromGeneric(space) => {
                    window(*space).map_or(values[0], |base| values[0].wrapping_sub(base))
                }
                SimtOp::IsSpace(space) => {
                    let (found, address) = resolve(Space::Generic, values[0]);
                    let constant = found == Space::Global && view.global.is_read_only(address);
                    let holds = match space {
                        Space::Global => found == Space::Global && !constant,
                        Space::Const => constant,
                        space => found == *space,
                    };
                    u64::from(holds)
                }
                SimtOp::Address(object) => match context.module.objects[*object].space {
                    Space::Global | Space::Const => view.global.object(*object),
                    _ => context.objects[*object],
                },
                SimtOp::Vprintf => {
                    let text = view.bytes_of_text(values[0])?;
                    let (out, count) = printf::format(view, &text, values[1])?;
                    print(&out);
                    u64::from(count)
                }
                SimtOp::AssertFail => {
                    return Err(FaultKind::Assertion {
                        message: view.text(values[0])?,
                        file: view.text(values[1])?,
                        line: values[2] as u32,
                        function: view.text(values[3])?,
                    });
                }
                SimtOp::Brkpt => return Err(FaultKind::Breakpoint),
                SimtOp::Fence(_) | SimtOp::Nanosleep => return none,
                _ => return Ok(None),
            },
            0,
        ]))
    }

    fn special(&self, context: &Context<'_>, block: [u32; 3], reg: SpecialReg) -> u64 {
        let lane = self.number % 32;
        let dim = |of: [u32; 3], d: u8| of[usize::from(d)];
        u64::from(match reg {
            SpecialReg::Tid(d) => dim(self.position, d),
            SpecialReg::Ntid(d) => dim(context.block, d),
            SpecialReg::Ctaid(d) => dim(block, d),
            SpecialReg::Nctaid(d) => dim(context.grid, d),
            SpecialReg::Laneid => lane,
            SpecialReg::Warpid => self.number / 32,
            SpecialReg::Nwarpid => 32,
            SpecialReg::Nsmid => 1,
            SpecialReg::LanemaskEq => 1 << lane,
            SpecialReg::LanemaskLe => u32::MAX >> (31 - lane),
            SpecialReg::LanemaskLt => (1 << lane) - 1,
            SpecialReg::LanemaskGe => u32::MAX << lane,
            SpecialReg::LanemaskGt => (u32::MAX << lane) << 1,
            SpecialReg::TotalSmemSize => context.shared_bytes[0] as u32,
            SpecialReg::DynamicSmemSize => context.shared_bytes[1] as u32,
            // Clocks stand still: nothing here takes time.
            SpecialReg::Smid
            | SpecialReg::Gridid
            | SpecialReg::Clock
            | SpecialReg::ClockHi
            | SpecialReg::Clock64
            | SpecialReg::Globaltimer
            | SpecialReg::GlobaltimerLo
            | SpecialReg::GlobaltimerHi
            | SpecialReg::Pm(_)
            | SpecialReg::Pm64(_)
            | SpecialReg::Envreg(_) => 0,
        })
    }

    fn terminator(
        &mut self,
        context: &Context<'_>,
        prepared: &Prepared<'_>,
        terminator: &Terminator,
    ) -> Result<(), FaultKind> {
        let base = self.frames.last().map_or(0, |frame| frame.base);
        let slot = |value: Value| base + prepared.slot[value] as usize;
        match terminator {
            Terminator::Jump(to) => self.go(prepared, to),
            Terminator::Branch(cond, then, other) => {
                let to = if self.slots[slot(*cond)] != 0 { then } else { other };
                self.go(prepared, to);
            }
            Terminator::Switch(value, cases, default) => {
                let number = usize::try_from(self.slots[slot(*value)]).ok();
                let to = number.and_then(|number| cases.get(number)).unwrap_or(default);
                self.go(prepared, to);
            }
            Terminator::Trap(message) => return Err(FaultKind::Trap(message.clone())),
            Terminator::Exit => {
                self.frames.clear();
                self.slots = Vec::new();
                self.status = Status::Done;
            }
            Terminator::Return(values) => {
                let mut bits = Vec::new();
                for &value in values {
                    let lanes = usize::from(prepared.func.ty(value).lanes);
                    bits.extend_from_slice(&self.slots[slot(value)..][..lanes]);
                }
                self.leave(context, &bits, base);
            }
        }
        Ok(())
    }

    /// Returns to the caller, whose call has these results.
    fn leave(&mut self, context: &Context<'_>, bits: &[u64], base: usize) {
        self.frames.pop();
        self.slots.truncate(base);
        let Some(frame) = self.frames.last_mut() else {
            self.status = Status::Done;
            return;
        };
        let prepared = &context.functions[frame.func.as_u32() as usize];
        let inst = prepared.func.blocks[frame.block].insts[frame.next];
        frame.next += 1;
        let mut at = 0;
        for &result in &prepared.func.insts[inst].results {
            let lanes = usize::from(prepared.func.ty(result).lanes);
            let to = frame.base + prepared.slot[result] as usize;
            self.slots[to..to + lanes].copy_from_slice(&bits[at..at + lanes]);
            at += lanes;
        }
    }

    fn go(&mut self, prepared: &Prepared<'_>, to: &BlockCall) {
        let base = self.frames.last().map_or(0, |frame| frame.base);
        let slot = |value: Value| base + prepared.slot[value] as usize;
        // All arguments are read before a parameter changes.
        let mut bits = Vec::new();
        for &arg in &to.args {
            let lanes = usize::from(prepared.func.ty(arg).lanes);
            bits.extend_from_slice(&self.slots[slot(arg)..][..lanes]);
        }
        let mut at = 0;
        for &param in &prepared.func.blocks[to.block].params {
            let lanes = usize::from(prepared.func.ty(param).lanes);
            self.slots[slot(param)..][..lanes].copy_from_slice(&bits[at..at + lanes]);
            at += lanes;
        }
        if let Some(frame) = self.frames.last_mut() {
            (frame.block, frame.next) = (to.block, 0);
        }
    }
}

/// The common operations on scalars, without vectors in between.
fn scalar(func: &Function, op: &Op, get: impl Fn(Value) -> u64) -> Option<u64> {
    match op {
        Op::Const(ty, Constant::Splat(bits)) if ty.lanes == 1 => Some(*bits),
        Op::Binary(op, a, b) if !op.is_float() && func.ty(*a).lanes == 1 => {
            let bits = func.ty(*a).scalar.bits();
            let (a, b) = (get(*a), get(*b));
            match op {
                BinaryOp::Iadd => Some(a.wrapping_add(b)),
                BinaryOp::Isub => Some(a.wrapping_sub(b)),
                BinaryOp::Imul => Some(a.wrapping_mul(b)),
                BinaryOp::And => Some(a & b),
                BinaryOp::Or => Some(a | b),
                BinaryOp::Xor => Some(a ^ b),
                BinaryOp::Shl => Some(if b < u64::from(bits) { a << b } else { 0 }),
                BinaryOp::Lshr => Some(if b < u64::from(bits) { a >> b } else { 0 }),
                _ => None,
            }
        }
        Op::Icmp(cond, a, b) if func.ty(*a).lanes == 1 => {
            let up = 64 - func.ty(*a).scalar.bits();
            let (x, y) = (get(*a), get(*b));
            let (s, t) = ((x << up) as i64, (y << up) as i64);
            Some(u64::from(match cond {
                IntCond::Eq => x == y,
                IntCond::Ne => x != y,
                IntCond::Slt => s < t,
                IntCond::Sle => s <= t,
                IntCond::Sgt => s > t,
                IntCond::Sge => s >= t,
                IntCond::Ult => x < y,
                IntCond::Ule => x <= y,
                IntCond::Ugt => x > y,
                IntCond::Uge => x >= y,
            }))
        }
        Op::Select(cond, a, b) if func.ty(*a).lanes == 1 => {
            Some(if get(*cond) != 0 { get(*a) } else { get(*b) })
        }
        Op::Convert(op, a, to) if to.lanes == 1 => match op {
            ConvertOp::Truncate | ConvertOp::ZeroExtend | ConvertOp::Bitcast => Some(get(*a)),
            ConvertOp::SignExtend => {
                let up = 64 - func.ty(*a).scalar.bits();
                Some(((get(*a) << up) as i64 >> up) as u64)
            }
            _ => None,
        },
        _ => None,
    }
}

fn load(
    view: &View<'_>,
    to: &mut [u64],
    ty: Type,
    space: Space,
    address: u64,
) -> Result<(), FaultKind> {
    let size = bytes_of(ty);
    let bytes = view.read(space, address, size * u64::from(ty.lanes))?;
    for (slot, bytes) in to.iter_mut().zip(bytes.chunks(size as usize)) {
        *slot = word(bytes);
    }
    Ok(())
}

fn store(
    view: &mut View<'_>,
    from: &[u64],
    ty: Type,
    space: Space,
    address: u64,
) -> Result<(), FaultKind> {
    let size = bytes_of(ty) as usize;
    let bytes = view.write(space, address, (size * usize::from(ty.lanes)) as u64)?;
    for (bytes, word) in bytes.chunks_mut(size).zip(from) {
        bytes.copy_from_slice(&word.to_le_bytes()[..size]);
    }
    Ok(())
}

/// An atomic operation; what memory held before.
fn change(view: &mut View<'_>, atom: &Atomic, values: &[u64]) -> Result<u64, FaultKind> {
    let size = bytes_of(atom.ty.ty());
    let address = values[0].wrapping_add(atom.offset as u64);
    let (space, _) = resolve(atom.space, address);
    let bytes = view.write(atom.space, address, size)?;
    let old = word(bytes);
    let operands = [values[1], values.get(2).copied().unwrap_or(0)];
    let global = space == Space::Global && matches!(atom.ty, NumType::Float(_));
    let new = atomic(atom.op, atom.ty, global, old, operands);
    bytes.copy_from_slice(&new.to_le_bytes()[..size as usize]);
    Ok(old)
}
