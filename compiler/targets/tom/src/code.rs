//! Kernels in instructions as listings: the code that runs. Its registers are webs (`isa/tom`), so that
//! each counts 1 whatever its width, and one that is used again for something else is another.

use nbcc_analysis::listing::{
    Effect, Input, Line, Listing, Meaning, Number, NumberType, Operand, Reg, Relation,
};
use nbcc_base::Span;
use nbcc_isa::{Instruction, MachineInstruction, Role};
use nbcc_isa_simt::operands::{
    Base, FloatOp, Format, IntOp, IntTest, Order, Rounding, Source, Space, Special, SpecialWide,
    WideOp,
};
use nbcc_isa_simt::{Category, Inst, Kernel, Op, PhysReg, Program, RegClass};
use nbcc_isa_tom::offload::{KernelCode, Webs};

/// The kernels of a program over the webs of each; `spans` say where its instructions come from.
pub fn listings(program: &Program, webs: &[Webs], spans: &[Option<Span>]) -> Vec<Listing> {
    let kernels = program.kernels.iter().zip(webs);
    kernels.map(|(kernel, webs)| listing(program, kernel, webs, spans)).collect()
}

fn listing(program: &Program, kernel: &Kernel, webs: &Webs, spans: &[Option<Span>]) -> Listing {
    let generic_shared = KernelCode::new(program, kernel).makes_generic_shared();
    let mut inputs = Vec::new();
    let code = (kernel.entry..kernel.entry + kernel.instructions)
        .map(|at| {
            let inst = &program.code.text[at as usize];
            let names = Names { webs, at };
            let mut line = line(inst, &names, kernel.entry, generic_shared, &mut inputs);
            line.span = spans.get(at as usize).copied().flatten();
            line
        })
        .collect();
    let inputs = inputs.len() as u32;
    Listing { name: kernel.name.clone(), code, registers: webs.count(), inputs }
}

/// The webs of an instruction.
struct Names<'a> {
    webs: &'a Webs,
    at: u32,
}

impl Names<'_> {
    fn read(&self, reg: PhysReg) -> Reg {
        Reg::from_u32(self.webs.read(self.at, reg).expect("it is read"))
    }

    fn written(&self, reg: PhysReg) -> Reg {
        Reg::from_u32(self.webs.written(self.at, reg).expect("it is written"))
    }

    /// Whether a register is a half of one of 64 bits.
    fn is_half(&self, reg: PhysReg, web: Reg) -> bool {
        reg.class == RegClass::Word && self.webs.is_wide(web.as_u32())
    }

    /// A register that is followed; `None` for a half of one.
    fn operand(&self, reg: PhysReg) -> Option<Operand> {
        let web = self.read(reg);
        (!self.is_half(reg, web)).then_some(Operand::Reg(web))
    }
}

/// What a kernel takes besides registers.
#[derive(PartialEq)]
enum InputSource {
    Param(u32, i32),
    /// At a place of parameters that a register holds.
    ParamAt(Reg, i32),
    Special(Special),
    SpecialWide(SpecialWide),
}

fn line(
    inst: &Inst<PhysReg>,
    names: &Names<'_>,
    entry: u32,
    generic_shared: bool,
    inputs: &mut Vec<InputSource>,
) -> Line {
    let mut line = Line { falls: true, keeps: inst.guard.is_some(), ..Line::default() };
    line.reads.extend(inst.guard.iter().map(|guard| names.read(guard.reg)));
    let mut is_half = false;
    inst.op.for_each_operand(|operand| {
        if operand.role != Role::Def {
            line.reads.push(names.read(*operand.reg));
        }
        if operand.role != Role::Use {
            let web = names.written(*operand.reg);
            is_half |= names.is_half(*operand.reg, web);
            line.writes.push(web);
        }
    });
    // The other half stays.
    line.keeps |= is_half;
    line.effect = effect(inst, generic_shared);
    let mut take = |source: InputSource| {
        let number = inputs.iter().position(|known| *known == source).unwrap_or_else(|| {
            inputs.push(source);
            inputs.len() - 1
        });
        line.inputs.push(Input::from_u32(number as u32));
    };
    match &inst.op {
        Op::Sreg { special, .. } => take(InputSource::Special(*special)),
        Op::SregWide { special, .. } => take(InputSource::SpecialWide(*special)),
        op if op.space() == Some(Space::Param) && op.category() == Category::Memory => {
            match op.address() {
                Some((&Base::Imm(base), offset)) => take(InputSource::Param(base, offset.0)),
                Some((&Base::Reg(reg), offset)) => {
                    take(InputSource::ParamAt(names.read(reg), offset.0));
                }
                None => {}
            }
        }
        _ => {}
    }
    match inst.op {
        Op::Bra { target: nbcc_isa::Imm::Value(target), .. } => {
            let bytes = <Inst<PhysReg> as MachineInstruction>::BYTES as u32;
            line.targets.push((target as u32 / bytes).wrapping_sub(entry));
            line.falls = inst.guard.is_some();
            if let Some(guard) = inst.guard {
                let predicate = names.read(guard.reg);
                line.meaning = Meaning::Branch { predicate, negated: guard.negated };
            }
        }
        Op::Exit {} | Op::Trap { .. } | Op::Brkpt {} => line.falls = inst.guard.is_some(),
        _ if is_half => {}
        _ => line.meaning = meaning(&inst.op, names).unwrap_or_default(),
    }
    line
}

fn effect(inst: &Inst<PhysReg>, generic_shared: bool) -> Effect {
    let op = &inst.op;
    match op.category() {
        Category::Memory => match (op.space(), op.order()) {
            (Some(Space::Shared), _) => Effect::Shared,
            (Some(Space::Generic), _) if generic_shared => Effect::Shared,
            (Some(Space::Param | Space::Const), _) => Effect::None,
            (_, Some(order)) if order != Order::Weak => Effect::Ordered,
            _ if inst.memory_writes().is_empty() => Effect::Load,
            _ => Effect::Store,
        },
        Category::Atomic => Effect::Atomic,
        Category::Lanes | Category::Synchronization => Effect::Synchronisation,
        Category::ControlFlow => match op {
            Op::Exit {} | Op::Trap { .. } | Op::Brkpt {} => Effect::Leave,
            Op::Vprintf { .. } | Op::AssertFail { .. } => Effect::Call,
            _ => Effect::None,
        },
        _ if op.reads_processor_state() => Effect::ProcessorState,
        _ => Effect::None,
    }
}

/// What an operation computes; `None` where it takes a half of a register.
fn meaning(op: &Op<PhysReg>, names: &Names<'_>) -> Option<Meaning> {
    let bits = |bits: u64| Operand::Number(Number::Bits(bits));
    let reg = |reg: PhysReg| names.operand(reg);
    let word = |source: Source<PhysReg>| match source {
        Source::Imm(number) => Some(bits(number.into())),
        Source::Reg(reg) => names.operand(reg),
    };
    // Numbers of 64 bits are sign-extended.
    let wide = |source: Source<PhysReg>| match source {
        Source::Imm(number) => Some(bits(i64::from(number as i32) as u64)),
        Source::Reg(reg) => names.operand(reg),
    };
    Some(match *op {
        Op::Mov { src, .. } => Meaning::Copy(word(src)?),
        Op::MovWide { src, .. } | Op::PredMov { src, .. } => Meaning::Copy(reg(src)?),
        Op::PredSet { value, .. } => Meaning::Copy(bits(u64::from(value & 1))),
        Op::MovBits { bits: number, .. } => Meaning::Copy(bits(number.0)),
        Op::Addr { object, offset, .. } => {
            Meaning::Copy(Operand::Number(Number::Address(object, offset.0.into())))
        }
        Op::Int { op: op @ (IntOp::Add | IntOp::Sub), a, b, .. } => Meaning::Add {
            operands: [reg(a)?, word(b)?],
            subtracts: op == IntOp::Sub,
            ty: NumberType::Signed(32),
        },
        Op::IntWide { op: op @ (WideOp::Add | WideOp::Sub), a, b, .. } => Meaning::Add {
            operands: [reg(a)?, wide(b)?],
            subtracts: op == WideOp::Sub,
            ty: NumberType::Signed(64),
        },
        Op::Float {
            op: op @ (FloatOp::Add | FloatOp::Sub),
            format: Format::F32,
            mods,
            a,
            b,
            ..
        } if mods.rounding == Rounding::Rn && !mods.sat => {
            let subtracts = op == FloatOp::Sub;
            let ty = if mods.ftz { NumberType::FlushedF32 } else { NumberType::F32 };
            Meaning::Add { operands: [reg(a)?, word(b)?], subtracts, ty }
        }
        Op::Cmp { test, a, b, .. } => compare(test, [reg(a)?, word(b)?], 32),
        Op::CmpWide { test, a, b, .. } => compare(test, [reg(a)?, wide(b)?], 64),
        _ => Meaning::Other,
    })
}

fn compare(test: IntTest, operands: [Operand; 2], bits: u32) -> Meaning {
    let (relation, is_signed) = match test {
        IntTest::Eq => (Relation::Eq, true),
        IntTest::Ne => (Relation::Ne, true),
        IntTest::LtS => (Relation::Lt, true),
        IntTest::LeS => (Relation::Le, true),
        IntTest::GtS => (Relation::Gt, true),
        IntTest::GeS => (Relation::Ge, true),
        IntTest::LtU => (Relation::Lt, false),
        IntTest::LeU => (Relation::Le, false),
        IntTest::GtU => (Relation::Gt, false),
        IntTest::GeU => (Relation::Ge, false),
    };
    let ty = if is_signed { NumberType::Signed(bits) } else { NumberType::Unsigned(bits) };
    Meaning::Compare { operands, relation: Some(relation), ty }
}
