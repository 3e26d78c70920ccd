//! The machine: a stack of frames, each with a value for every SSA value of its function.

use nbcc_analysis::{Lanes, evaluate};
use nbcc_base::Span;
use nbcc_ir::{
    Block, Extent, Func, Function, IntrinsicCall, Mem, MemData, Module, Object, Op, Space, Storage,
    Terminator, Type, Value,
};

use super::memory::elements;
use super::{Array, Memory, Trap, TrapKind};

/// What is run: a function, and the module its calls lead to.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// The function that is run. The verifier accepts it.
    pub func: &'a Function,
    /// Where called functions are found.
    pub module: Option<&'a Module>,
}

impl<'a> Program<'a> {
    /// A function that calls none.
    pub fn function(func: &'a Function) -> Program<'a> {
        Program { func, module: None }
    }

    /// A function of a module.
    pub fn of_module(module: &'a Module, func: Func) -> Program<'a> {
        Program { func: &module.functions[func], module: Some(module) }
    }
}

/// Limits, and what is a trap.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Instructions and terminators to run at most.
    pub step_limit: u64,
    /// Frames at most.
    pub call_depth: usize,
    /// Elements of local memory objects at most.
    pub local_elements: u64,
    /// Bytes of the arrays of a function that [`call`](super::call) calls at most, its own ones included.
    pub array_bytes: u64,
    /// Whether a read of what was never written is a trap; else it reads zero.
    pub trap_uninitialised: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            step_limit: 1_000_000_000,
            call_depth: 256,
            local_elements: 1 << 26,
            array_bytes: 1 << 30,
            trap_uninitialised: false,
        }
    }
}

/// What an intrinsic sees.
pub struct IntrinsicContext<'a> {
    /// The call.
    pub call: &'a IntrinsicCall,
    /// Its operands.
    pub args: &'a [Lanes],
    /// All memory.
    pub memory: &'a mut Memory,
    /// The source of the call.
    pub span: Option<Span>,
    func: &'a Function,
    /// Where the memory objects of the calling function are.
    mems: &'a [usize],
}

impl IntrinsicContext<'_> {
    /// The contents of a memory object of the calling function.
    pub fn array(&mut self, mem: Mem) -> &mut Array {
        &mut self.memory.arrays[self.mems[mem.as_u32() as usize]]
    }

    /// The name of a memory object of the calling function.
    pub fn name(&self, mem: Mem) -> String {
        self.func.mems[mem].name.clone()
    }
}

/// What an intrinsic answers.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// It is done, with this result if the call has one.
    Done(Option<Lanes>),
    /// The same, and [`Execution::step`] returns [`Step::Paused`]: at a barrier, say.
    Pause(Option<Lanes>),
}

/// The callback for intrinsics: an answer, or what is wrong.
pub type Intrinsics<'a> = dyn FnMut(&mut IntrinsicContext<'_>) -> Result<Answer, String> + 'a;

/// Runs a function to its end; its results.
pub fn run(
    program: Program<'_>,
    args: &[Lanes],
    memory: &mut Memory,
    intrinsics: &mut Intrinsics<'_>,
    options: &Options,
) -> Result<Vec<Lanes>, Trap> {
    let mut execution = Execution::start(program, args, memory, options)?;
    loop {
        if let Step::Returned(values) = execution.step(memory, intrinsics)? {
            return Ok(values);
        }
    }
}

/// Runs a function without memory, calls and intrinsics; its results.
pub fn eval(func: &Function, args: &[Lanes]) -> Result<Vec<Lanes>, Trap> {
    let mut none = |context: &mut IntrinsicContext<'_>| {
        Err(format!("{} has no meaning here", context.call.name))
    };
    run(Program::function(func), args, &mut Memory::new(), &mut none, &Options::default())
}

/// What a step did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// An instruction or terminator ran.
    Ran,
    /// An intrinsic ran and asked for a pause.
    Paused,
    /// The function that was started returned.
    Returned(Vec<Lanes>),
}

/// The extents of a memory object where the function is called with these arguments, of which the
/// caller gives `given`; `None` where one of them is negative or too large.
fn extents(
    func: &Function,
    mem: &MemData,
    args: &[Lanes],
    given: Option<&Array>,
) -> Option<Vec<u32>> {
    let count = |count: i64| i32::try_from(count).ok().and_then(|count| u32::try_from(count).ok());
    let interface = func.interface.as_ref();
    let scalars = interface.map(|interface| interface.params.iter().filter(|p| p.array.is_none()));
    let is_signed: Option<Vec<bool>> =
        scalars.map(|scalars| scalars.map(|param| param.ty.is_signed()).collect());
    let param = |number: u32| {
        let lanes = args.get(number as usize)?;
        let signed = is_signed.as_ref().and_then(|all| all.get(number as usize)).copied();
        Some(if signed.unwrap_or(true) { lanes.as_i64() } else { lanes.lane(0) as i64 })
    };
    let extent = |(dimension, extent): (usize, &Extent)| match extent {
        Extent::Fixed(count) => Some(*count),
        Extent::Param(number) => count(param(*number)?),
        Extent::Expr(expr) => count(expr.evaluate(param)?),
        Extent::Given => given?.extents.get(dimension).copied(),
    };
    mem.extents.iter().enumerate().map(extent).collect()
}

/// The name under which memory holds a data object of the module; no memory object has it.
fn object_name(object: Object) -> String {
    format!("@{object}")
}

/// Gives memory the data objects of a module that are memory objects somewhere, as they are at the
/// start, unless it has them.
fn add_objects(module: &Module, memory: &mut Memory) -> Result<(), TrapKind> {
    for mem in module.functions.values().flat_map(|func| func.mems.values()) {
        let (Storage::Object(object), Some(extents)) = (mem.storage, mem.fixed_extents()) else {
            continue;
        };
        let name = object_name(object);
        if memory.named(&name).is_none() {
            let bytes = &module.objects[object].bytes;
            memory.insert(&name, array_of(mem, &extents, bytes)?);
        }
    }
    Ok(())
}

/// The array of a memory object that begins with these bytes.
pub(super) fn array_of(mem: &MemData, extents: &[u32], bytes: &[u8]) -> Result<Array, TrapKind> {
    Array::from_bytes(mem.element, extents, bytes)
        .ok_or_else(|| TrapKind::NoMemory { mem: mem.name.clone(), elements: elements(extents) })
}

struct Frame<'a> {
    func: &'a Function,
    values: Vec<Lanes>,
    block: Block,
    /// The number of the next instruction of the block.
    next: usize,
    /// Where each memory object is among the arrays.
    mems: Vec<usize>,
    /// How many arrays there were before.
    arrays: usize,
}

/// A run between two steps.
pub struct Execution<'a> {
    module: Option<&'a Module>,
    frames: Vec<Frame<'a>>,
    options: Options,
    steps: u64,
}

impl<'a> Execution<'a> {
    /// A run that is about to start. Memory objects of the function are found by their names;
    /// local ones are made where there are none.
    pub fn start(
        program: Program<'a>,
        args: &[Lanes],
        memory: &mut Memory,
        options: &Options,
    ) -> Result<Execution<'a>, Trap> {
        let mut execution =
            Execution { module: program.module, frames: Vec::new(), options: *options, steps: 0 };
        let func = program.func;
        let added = program.module.map_or(Ok(()), |module| add_objects(module, memory));
        added
            .and_then(|()| execution.enter(func, args, memory))
            .map_err(|kind| Trap::at_start(func, kind))?;
        Ok(execution)
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Nested calls: 1 in the function that was started.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// The block that runs, and the number of its instruction that is next.
    pub fn at(&self) -> (Block, usize) {
        let frame = self.frame();
        (frame.block, frame.next)
    }

    /// A value of the function that runs. Meaningless before its definition ran.
    pub fn value(&self, value: Value) -> Lanes {
        self.frame().values[value.as_u32() as usize]
    }

    fn frame(&self) -> &Frame<'a> {
        self.frames.last().expect("a run has a frame until it returns")
    }

    fn enter(
        &mut self,
        func: &'a Function,
        args: &[Lanes],
        memory: &mut Memory,
    ) -> Result<(), TrapKind> {
        let arrays = memory.arrays.len();
        let entered = self.open_frame(func, args, memory);
        if entered.is_err() {
            memory.arrays.truncate(arrays);
        }
        entered
    }

    fn open_frame(
        &mut self,
        func: &'a Function,
        args: &[Lanes],
        memory: &mut Memory,
    ) -> Result<(), TrapKind> {
        if self.frames.len() >= self.options.call_depth {
            return Err(TrapKind::CallDepth(self.options.call_depth));
        }
        let entry = func.entry();
        let params = &func.blocks[entry].params;
        let fit = params.iter().zip(args).all(|(&param, arg)| func.ty(param) == arg.ty());
        if params.len() != args.len() || !fit {
            return Err(TrapKind::Arguments);
        }
        let arrays = memory.arrays.len();
        let mut mems = Vec::new();
        for mem in func.mems.values() {
            if let Storage::Object(object) = mem.storage {
                let name = object_name(object);
                mems.push(memory.named(&name).ok_or(TrapKind::NoObject(name))?);
                continue;
            }
            let outer = mem.space == Space::Local && !self.frames.is_empty();
            let named = memory.named(&mem.name).filter(|_| !outer);
            let given = named.map(|index| &memory.arrays[index]);
            let extents = extents(func, mem, args, given).ok_or(TrapKind::Arguments)?;
            let index = match named {
                Some(index) => index,
                None if mem.space == Space::Local => {
                    let size: u64 = extents.iter().map(|&e| u64::from(e)).product();
                    let made: usize = memory.arrays[arrays..].iter().map(|a| a.data.len()).sum();
                    if size + made as u64 > self.options.local_elements {
                        return Err(TrapKind::LocalSize(self.options.local_elements));
                    }
                    memory.arrays.push(Array::unwritten(mem));
                    memory.arrays.len() - 1
                }
                None => return Err(TrapKind::NoObject(mem.name.clone())),
            };
            let array = &memory.arrays[index];
            if array.element != mem.element || array.extents != extents {
                return Err(TrapKind::WrongObject(mem.name.clone()));
            }
            mems.push(index);
        }
        let mut values = vec![Lanes::bool(false); func.values.len()];
        for (&param, &arg) in params.iter().zip(args) {
            values[param.as_u32() as usize] = arg;
        }
        self.frames.push(Frame { func, values, block: entry, next: 0, mems, arrays });
        Ok(())
    }

    /// Runs one instruction or terminator.
    pub fn step(
        &mut self,
        memory: &mut Memory,
        intrinsics: &mut Intrinsics<'_>,
    ) -> Result<Step, Trap> {
        self.step_inner(memory, intrinsics).map_err(|kind| {
            let frame = self.frame();
            let data = &frame.func.blocks[frame.block];
            let span = match data.insts.get(frame.next) {
                Some(&inst) => frame.func.insts[inst].span,
                None => data.span,
            };
            Trap { kind: Box::new(kind), function: frame.func.name.clone(), span }
        })
    }

    fn step_inner(
        &mut self,
        memory: &mut Memory,
        intrinsics: &mut Intrinsics<'_>,
    ) -> Result<Step, TrapKind> {
        if self.steps >= self.options.step_limit {
            return Err(TrapKind::StepLimit(self.options.step_limit));
        }
        self.steps += 1;
        let frame = self.frames.last_mut().expect("a run has a frame until it returns");
        let func = frame.func;
        let Some(&inst) = func.blocks[frame.block].insts.get(frame.next) else {
            return self.terminator(memory);
        };
        let op = &func.insts[inst].op;
        let mut step = Step::Ran;
        let result = if let Some(result) = evaluate(op, |v| frame.get(v)) {
            Some(result.map_err(|_| TrapKind::Division)?)
        } else {
            match op {
                Op::Load(ty, mem, subscripts) => {
                    let trap = self.options.trap_uninitialised;
                    Some(frame.load(memory, *ty, *mem, subscripts, trap)?)
                }
                Op::Store(mem, subscripts, value) => {
                    frame.store(memory, *mem, subscripts, *value)?;
                    None
                }
                Op::LoadRaw(ty, space, address, offset) => {
                    Some(memory.load_raw(*ty, *space, frame.address(*address, *offset))?)
                }
                Op::StoreRaw(space, address, offset, value) => {
                    let at = frame.address(*address, *offset);
                    memory.store_raw(*space, at, &frame.get(*value))?;
                    None
                }
                Op::Call(callee, args) => {
                    let module = self.module.ok_or(TrapKind::NoModule)?;
                    let args: Vec<Lanes> = args.iter().map(|&v| frame.get(v)).collect();
                    self.enter(&module.functions[*callee], &args, memory)?;
                    return Ok(Step::Ran);
                }
                Op::Intrinsic(call) => {
                    let args: Vec<Lanes> = call.args.iter().map(|&v| frame.get(v)).collect();
                    let (span, mems) = (func.insts[inst].span, &frame.mems);
                    let mut context =
                        IntrinsicContext { call, args: &args, memory, span, func, mems };
                    let refuse = |message: String| {
                        let name = call.name.to_string();
                        TrapKind::Intrinsic { name, message }
                    };
                    let result = match intrinsics(&mut context).map_err(refuse)? {
                        Answer::Done(result) => result,
                        Answer::Pause(result) => {
                            step = Step::Paused;
                            result
                        }
                    };
                    if result.map(|r| r.ty()) != call.result {
                        return Err(refuse(format!("answered {result:?}")));
                    }
                    result
                }
                Op::Simt(op, _) => return Err(TrapKind::Grid(op.to_string())),
                _ => unreachable!("{inst} of {} is evaluated", func.name),
            }
        };
        if let (Some(result), Some(value)) = (result, func.result(inst)) {
            frame.values[value.as_u32() as usize] = result;
        }
        frame.next += 1;
        Ok(step)
    }

    fn terminator(&mut self, memory: &mut Memory) -> Result<Step, TrapKind> {
        let frame = self.frames.last_mut().expect("a run has a frame until it returns");
        let to = match frame.func.terminator(frame.block) {
            Terminator::Jump(to) => to,
            Terminator::Branch(cond, then, other) => {
                if frame.get(*cond).lane(0) != 0 {
                    then
                } else {
                    other
                }
            }
            Terminator::Switch(value, cases, default) => {
                let number = usize::try_from(frame.get(*value).lane(0)).ok();
                number.and_then(|number| cases.get(number)).unwrap_or(default)
            }
            Terminator::Trap(message) => return Err(TrapKind::Explicit(message.clone())),
            Terminator::Exit => return Err(TrapKind::Grid("exit".to_string())),
            Terminator::Return(values) => {
                let values: Vec<Lanes> = values.iter().map(|&v| frame.get(v)).collect();
                return Ok(self.leave(values, memory));
            }
        };
        // All arguments are read before a parameter changes.
        let args: Vec<Lanes> = to.args.iter().map(|&v| frame.get(v)).collect();
        for (&param, arg) in frame.func.blocks[to.block].params.iter().zip(args) {
            frame.values[param.as_u32() as usize] = arg;
        }
        frame.block = to.block;
        frame.next = 0;
        Ok(Step::Ran)
    }

    fn leave(&mut self, values: Vec<Lanes>, memory: &mut Memory) -> Step {
        let frame = self.frames.pop().expect("a run has a frame until it returns");
        memory.arrays.truncate(frame.arrays);
        let Some(caller) = self.frames.last_mut() else { return Step::Returned(values) };
        let inst = caller.func.blocks[caller.block].insts[caller.next];
        for (&result, value) in caller.func.insts[inst].results.iter().zip(values) {
            caller.values[result.as_u32() as usize] = value;
        }
        caller.next += 1;
        Step::Ran
    }
}

impl Frame<'_> {
    fn get(&self, value: Value) -> Lanes {
        self.values[value.as_u32() as usize]
    }

    /// An address in bytes: the operand unsigned, the offset signed.
    fn address(&self, address: Value, offset: i64) -> i128 {
        i128::from(self.get(address).lane(0)) + i128::from(offset)
    }

    fn locate(
        &self,
        memory: &Memory,
        mem: Mem,
        subscripts: &[Value],
        lanes: u8,
    ) -> Result<usize, TrapKind> {
        let array = &memory.arrays[self.mems[mem.as_u32() as usize]];
        let subscripts: Vec<i64> = subscripts.iter().map(|&v| self.get(v).as_i64()).collect();
        array.index(&subscripts, lanes).ok_or_else(|| TrapKind::OutOfBounds {
            mem: self.func.mems[mem].name.clone(),
            subscripts,
            extents: array.extents.clone(),
        })
    }

    fn load(
        &self,
        memory: &Memory,
        ty: Type,
        mem: Mem,
        subscripts: &[Value],
        trap_uninitialised: bool,
    ) -> Result<Lanes, TrapKind> {
        let start = self.locate(memory, mem, subscripts, ty.lanes)?;
        let array = &memory.arrays[self.mems[mem.as_u32() as usize]];
        let count = usize::from(ty.lanes);
        if trap_uninitialised && array.written[start..start + count].contains(&false) {
            return Err(TrapKind::Uninitialised {
                mem: self.func.mems[mem].name.clone(),
                subscripts: subscripts.iter().map(|&v| self.get(v).as_i64()).collect(),
            });
        }
        Ok(Lanes::new(ty, &array.data[start..start + count]))
    }

    fn store(
        &self,
        memory: &mut Memory,
        mem: Mem,
        subscripts: &[Value],
        value: Value,
    ) -> Result<(), TrapKind> {
        let value = self.get(value);
        let start = self.locate(memory, mem, subscripts, value.ty().lanes)?;
        let array = &mut memory.arrays[self.mems[mem.as_u32() as usize]];
        let count = value.bits().len();
        array.data[start..start + count].copy_from_slice(value.bits());
        array.written[start..start + count].fill(true);
        Ok(())
    }
}
