//! The target: passes from the IR to a program.

use std::collections::BTreeMap;

use nbcc_base::{CodeInfo, Diagnostic, Failed};
use nbcc_ir::{
    BinaryOp, BlockCall, Constant, Func, IntCond, InterfaceParam, Mem, Module, Op, PrintOptions,
    Terminator, Type, Value, print_function, verify_module,
};
use nbcc_isa::Imm;
use nbcc_mach::emit::{CodeBuilder, source_place};
use nbcc_mach::regalloc::{self, Allocation, Policy, RegisterFile, Spiller};
use nbcc_mach::{Block, BlockData, Function, InstData, VReg, copies};
use nbcc_pipeline::{
    Artifact, Context, Dump, MachineInfo, PassDesc, PassInfo, Program as Source, ProgramKind,
    Request, State, Target, pass, run_passes, signature,
};

use super::isa::{self, Class, Inst, Machine, PhysReg, Program, REGISTERS};

nbcc_base::codes! {
    /// The codes of the target.
    CODES;

    UNSUPPORTED = "E9101", "the machine has no instruction for this",
    "Tally adds, subtracts, multiplies and compares words, and has eight registers.",
    by test "what_does_not_fit_is_refused";

    BAD_MACHINE = "E9102", "the machine description is wrong",
    "A machine has a name and `load_cycles`.",
    by test "what_does_not_fit_is_refused";
}

/// The target.
pub struct Tally;

/// Passes in order.
const PASSES: &[PassDesc<Compilation>] = &[
    pass("select", "choose instructions", select, &[], &[]),
    pass("allocate", "give registers", allocate, &[], &[]),
    pass("emit", "put the program together", emit, &[], &[]),
];

/// What the passes work on.
struct Compilation {
    module: Module,
    func: Func,
    machine: Machine,
    selected: Option<Function<Inst<VReg>>>,
    allocation: Option<Allocation>,
    program: Option<Program>,
}

impl State for Compilation {
    fn dumps(&self) -> Vec<Dump> {
        let func = &self.module.functions[self.func];
        let text = match (&self.selected, &self.allocation) {
            (Some(selected), Some(done)) => selected.text(|vreg| done.entries[vreg]),
            (Some(selected), None) => selected.text(|vreg| vreg.as_u32() as u16),
            (None, _) => print_function(func, &PrintOptions::default()),
        };
        vec![Dump { function: func.name.clone(), text }]
    }

    fn verify(&self) -> Result<(), String> {
        verify_module(&self.module).first().map_or(Ok(()), |error| Err(error.to_string()))
    }
}

impl Target for Tally {
    fn name(&self) -> &'static str {
        isa::NAME
    }

    fn about(&self) -> &'static str {
        "Tally: a core of eight registers"
    }

    fn machines(&self) -> &'static [MachineInfo] {
        const MACHINES: &[MachineInfo] =
            &[MachineInfo { name: "tally", about: "the only one", text: isa::TOML }];
        MACHINES
    }

    fn accepts(&self) -> ProgramKind {
        ProgramKind::Function
    }

    fn passes(&self) -> Vec<PassInfo> {
        PASSES.iter().map(PassDesc::info).collect()
    }

    fn codes(&self) -> Vec<&'static CodeInfo> {
        CODES.to_vec()
    }

    fn compile(
        &self,
        program: Source,
        request: &Request,
        cx: &mut Context<'_>,
    ) -> Result<Artifact, Failed> {
        let Source::Function(module, func) = program else { panic!("Tally takes functions") };
        let machine = request.read_machine(Machine::from_toml, &BAD_MACHINE, cx.diagnostics)?;
        let (selected, allocation, program) = (None, None, None);
        let mut state = Compilation { module, func, machine, selected, allocation, program };
        run_passes(request.emit.passes(PASSES), &mut state, cx)?;
        let program = || state.program.as_ref().expect("the last pass makes the program");
        let made = request.emit.artifact(&state, || program().to_elf(), isa::disassemble);
        made.or_else(|message| cx.diagnostics.fail(Diagnostic::error(&UNSUPPORTED, message)))
    }

    fn explain(&self, program: Source, _: &Request, _: &mut Context<'_>) -> Result<String, Failed> {
        let Source::Function(module, func) = program else { panic!("Tally takes functions") };
        Ok(format!("{} runs on the core\n", module.functions[func].name))
    }
}

fn select(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    let ir = &state.module.functions[state.func];
    let mut selector = Selector { ir, func: Function::new(&ir.name), values: BTreeMap::new() };
    for _ in &ir.layout {
        selector.func.blocks.push(BlockData { insts: vec![], successors: vec![], loop_depth: 0 });
    }
    match selector.blocks() {
        Ok(()) => {
            state.selected = Some(selector.func);
            Ok(())
        }
        Err(what) => {
            let message = format!("Tally has no instruction for {what}");
            let help = "add, subtract and multiply words";
            cx.diagnostics.fail(Diagnostic::error(&UNSUPPORTED, message).help(help))
        }
    }
}

struct Selector<'a> {
    ir: &'a nbcc_ir::Function,
    func: Function<Inst<VReg>>,
    values: BTreeMap<Value, VReg>,
}

impl Selector<'_> {
    fn reg(&mut self, value: Value) -> VReg {
        let func = &mut self.func;
        *self.values.entry(value).or_insert_with(|| func.vreg(Class::Word))
    }

    fn blocks(&mut self) -> Result<(), String> {
        let ir = self.ir;
        for (number, &block) in ir.layout.iter().enumerate() {
            let at = Block::from_u32(number as u32);
            if block == ir.entry() {
                self.arguments(at);
            }
            for &inst in &ir.blocks[block].insts {
                self.inst(at, inst)?;
            }
            self.terminator(at, ir.terminator(block))?;
        }
        Ok(())
    }

    fn push(&mut self, at: Block, inst: Inst<VReg>, span: Option<nbcc_base::Span>) {
        self.func.blocks[at].insts.push(InstData::new(inst, span));
    }

    /// The parameters of the call, with their numbers.
    fn params(&self) -> impl Iterator<Item = (u32, Option<Mem>)> {
        let params = self.ir.interface.iter().flat_map(|interface| &interface.params);
        let mem = |param: &InterfaceParam| param.array.as_ref().map(|array| array.mem);
        (0..).zip(params.map(mem))
    }

    /// The number of the argument that is an array.
    fn array(&self, mem: Mem) -> u32 {
        let found = self.params().find(|(_, array)| *array == Some(mem));
        found.expect("a parameter of the interface").0
    }

    fn arguments(&mut self, at: Block) {
        let scalars = self.params().filter(|(_, array)| array.is_none());
        let scalars: Vec<u32> = scalars.map(|(number, _)| number).collect();
        for (number, &param) in scalars.into_iter().zip(&self.ir.blocks[self.ir.entry()].params) {
            let dst = self.reg(param);
            self.push(at, Inst::Arg { dst, number }, None);
        }
    }

    fn inst(&mut self, at: Block, inst: nbcc_ir::Inst) -> Result<(), String> {
        let data = &self.ir.insts[inst];
        let span = data.span;
        if let Op::Store(mem, subscripts, value) = &data.op {
            let array = self.array(*mem);
            let [src, index] = [*value, subscripts[0]].map(|value| self.reg(value));
            self.push(at, Inst::Store { src, index, array }, span);
            return Ok(());
        }
        let dst = self.reg(data.results[0]);
        let done = match &data.op {
            Op::Const(Type::I32, Constant::Splat(bits)) => Inst::Set { dst, value: *bits as u32 },
            Op::Load(Type::I32, mem, subscripts) => {
                let array = self.array(*mem);
                Inst::Load { dst, index: self.reg(subscripts[0]), array }
            }
            Op::Icmp(IntCond::Slt, a, b) => {
                let (a, b) = (self.reg(*a), self.reg(*b));
                Inst::Less { dst, a, b }
            }
            Op::Binary(op, a, b) => {
                let (a, b) = (self.reg(*a), self.reg(*b));
                match op {
                    BinaryOp::Iadd => Inst::Add { dst, a, b },
                    BinaryOp::Isub => Inst::Sub { dst, a, b },
                    BinaryOp::Imul => Inst::Mul { dst, a, b },
                    other => return Err(format!("{other:?}")),
                }
            }
            other => return Err(format!("{other:?}")),
        };
        self.push(at, done, span);
        Ok(())
    }

    /// Hands arguments to the parameters of a block, all at once; the number of the block.
    fn hand(&mut self, at: Block, to: &BlockCall) -> u32 {
        let params = &self.ir.blocks[to.block].params;
        let pairs = params.iter().zip(&to.args);
        let copies: Vec<_> = pairs.map(|(&to, &from)| (self.reg(to), self.reg(from))).collect();
        for (dst, src) in copies::sequence(&copies, |_| self.func.vreg(Class::Word)) {
            self.push(at, Inst::Move { dst, src }, None);
        }
        let number = self.ir.layout.iter().position(|&block| block == to.block);
        let number = number.expect("a block of the layout") as u32;
        self.func.blocks[at].successors.push(Block::from_u32(number));
        number
    }

    fn terminator(&mut self, at: Block, terminator: &Terminator) -> Result<(), String> {
        match terminator {
            Terminator::Jump(to) => {
                let to = self.hand(at, to);
                self.push(at, Inst::Jump { to: Imm::Label(to) }, None);
            }
            Terminator::Branch(on, then, other)
                if then.args.is_empty() && other.args.is_empty() =>
            {
                let on = self.reg(*on);
                let [then, other] = [then, other].map(|to| self.hand(at, to));
                self.push(at, Inst::Branch { on, to: Imm::Label(then) }, None);
                self.push(at, Inst::Jump { to: Imm::Label(other) }, None);
            }
            Terminator::Return(values) if values.len() == 1 => {
                let value = self.reg(values[0]);
                self.push(at, Inst::Return { value }, None);
            }
            other => return Err(format!("{other:?}")),
        }
        Ok(())
    }
}

/// Nothing is kept in memory: what finds no register makes the program too large.
struct NoSpilling;

impl Spiller<Inst<VReg>> for NoSpilling {
    type Recipe = ();

    fn copy(&self, inst: &Inst<VReg>) -> Option<(VReg, VReg)> {
        match *inst {
            Inst::Move { dst, src } => Some((dst, src)),
            _ => None,
        }
    }
}

fn allocate(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    let func = state.selected.as_mut().expect("instructions are selected");
    let file = RegisterFile {
        bank: 0,
        classes: &[(Class::Word, 1)],
        entries: 0..REGISTERS,
        policy: Policy::Min,
        pressure: None,
    };
    match regalloc::allocate(func, &[file], &mut NoSpilling, true) {
        Ok(done) => {
            state.allocation = Some(done);
            Ok(())
        }
        Err(_) => {
            let message = format!("the expression needs more than {REGISTERS} registers");
            let error = Diagnostic::error(&UNSUPPORTED, message);
            cx.diagnostics.fail(error.help("use fewer parameters"))
        }
    }
}

fn emit(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    let func = state.selected.as_ref().expect("instructions are selected");
    let done = state.allocation.as_ref().expect("registers are allocated");
    let place_of = |span| source_place(cx.sources, span);
    let mut code: CodeBuilder<'_, Inst<PhysReg>> = CodeBuilder::new(&place_of);
    code.function(func, &done.entries);
    code.name_function(func.name.clone(), 0);
    let code = code.finish();
    let signature = Some(signature(&state.module.functions[state.func]));
    state.program = Some(Program { machine: state.machine.clone(), code, signature });
    Ok(())
}
