//! Kernels in instructions as listings: the code that runs, over the registers of the machine. A
//! register of 64 bits is the two of 32 that it is made of, and goes by the lower one where a value
//! is followed.

use nbcc_analysis::listing::{
    Effect, Input, Line, Listing, Meaning, Number, NumberType, Operand, Reg, Relation,
};
use nbcc_base::Span;
use nbcc_isa::{Instruction, MachineInstruction, Role};
use nbcc_isa_simt::operands::{
    Base, FloatOp, Format, IntOp, IntTest, Order, Source, Space, Special, SpecialWide, WideOp,
};
use nbcc_isa_simt::{Category, Inst, Kernel, Op, PhysReg, Program, RegClass};

/// Registers of 32 bits come first, predicates behind them.
const WORDS: u32 = 256;
const REGISTERS: u32 = WORDS + nbcc_isa_simt::operands::PREDICATES as u32;

/// The kernels of a program; `spans` say where its instructions come from.
pub fn listings(program: &Program, spans: &[Option<Span>]) -> Vec<Listing> {
    let makes_generic =
        |inst: &Inst<PhysReg>| matches!(inst.op, Op::ToGeneric { space: Space::Shared, .. });
    let generic_shared = program.code.text.iter().any(makes_generic);
    program.kernels.iter().map(|kernel| listing(program, kernel, spans, generic_shared)).collect()
}

fn listing(
    program: &Program,
    kernel: &Kernel,
    spans: &[Option<Span>],
    generic_shared: bool,
) -> Listing {
    let range = kernel.entry as usize..(kernel.entry + kernel.instructions) as usize;
    let mut inputs = Vec::new();
    let code = range
        .map(|at| {
            let mut line = line(&program.code.text[at], kernel.entry, generic_shared, &mut inputs);
            line.span = spans.get(at).copied().flatten();
            line
        })
        .collect();
    let inputs = inputs.len() as u32;
    Listing { name: kernel.name.clone(), code, registers: REGISTERS, inputs }
}

/// What a kernel takes besides registers.
#[derive(PartialEq)]
enum Taken {
    Param(u32, i32),
    Special(Special),
    SpecialWide(SpecialWide),
}

/// The registers that make up one of the machine.
fn parts(reg: PhysReg) -> impl Iterator<Item = Reg> {
    let index = u32::from(reg.index);
    let (first, count) = match reg.class {
        RegClass::Word => (index, 1),
        RegClass::Wide => (index, 2),
        RegClass::Pred => (WORDS + index, 1),
    };
    (first..first + count).map(Reg::from_u32)
}

/// The register of the machine that one of a listing is: a word or a predicate.
pub fn register(reg: Reg) -> PhysReg {
    match reg.as_u32().checked_sub(WORDS) {
        None => PhysReg::new(RegClass::Word, reg.as_u32() as u16),
        Some(predicate) => PhysReg::new(RegClass::Pred, predicate as u16),
    }
}

/// The register by which a value is followed.
fn main_part(reg: PhysReg) -> Reg {
    parts(reg).next().expect("a register has a part")
}

fn line(inst: &Inst<PhysReg>, entry: u32, generic_shared: bool, inputs: &mut Vec<Taken>) -> Line {
    let mut line = Line { falls: true, keeps: inst.guard.is_some(), ..Line::default() };
    line.reads.extend(inst.guard.iter().flat_map(|guard| parts(guard.reg)));
    inst.op.for_each_operand(|operand| {
        if operand.role != Role::Def {
            line.reads.extend(parts(*operand.reg));
        }
        if operand.role != Role::Use {
            line.writes.extend(parts(*operand.reg));
        }
    });
    line.effect = effect(inst, generic_shared);
    let mut take = |taken: Taken| {
        let number = inputs.iter().position(|known| *known == taken).unwrap_or_else(|| {
            inputs.push(taken);
            inputs.len() - 1
        });
        line.inputs.push(Input::from_u32(number as u32));
    };
    match &inst.op {
        Op::Sreg { special, .. } => take(Taken::Special(*special)),
        Op::SregWide { special, .. } => take(Taken::SpecialWide(*special)),
        op if op.space() == Some(Space::Param) && op.category() == Category::Memory => {
            if let Some((&Base::Imm(base), offset)) = op.address() {
                take(Taken::Param(base, offset.0));
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
                let predicate = main_part(guard.reg);
                line.meaning = Meaning::Branch { predicate, negated: guard.negated };
            }
        }
        Op::Exit {} | Op::Trap { .. } | Op::Brkpt {} => line.falls = inst.guard.is_some(),
        _ => line.meaning = meaning(&inst.op),
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
        _ => match op {
            Op::Sreg {
                special:
                    Special::Clock
                    | Special::ClockHi
                    | Special::GlobaltimerLo
                    | Special::GlobaltimerHi
                    | Special::Smid
                    | Special::Nsmid
                    | Special::Warpid
                    | Special::Nwarpid,
                ..
            }
            | Op::SregWide { special: SpecialWide::Clock | SpecialWide::Globaltimer, .. } => {
                Effect::ProcessorState
            }
            _ => Effect::None,
        },
    }
}

fn word(source: Source<PhysReg>) -> Operand {
    match source {
        Source::Imm(bits) => Operand::Number(Number::Bits(bits.into())),
        Source::Reg(reg) => Operand::Reg(main_part(reg)),
    }
}

/// A source of 64 bits: numbers are sign-extended.
fn wide(source: Source<PhysReg>) -> Operand {
    match source {
        Source::Imm(bits) => Operand::Number(Number::Bits(i64::from(bits as i32) as u64)),
        Source::Reg(reg) => Operand::Reg(main_part(reg)),
    }
}

fn meaning(op: &Op<PhysReg>) -> Meaning {
    let reg = |reg: PhysReg| Operand::Reg(main_part(reg));
    match *op {
        Op::Mov { src, .. } => Meaning::Copy(word(src)),
        Op::MovWide { src, .. } => Meaning::Copy(reg(src)),
        Op::MovBits { bits, .. } => Meaning::Copy(Operand::Number(Number::Bits(bits.0))),
        Op::PredMov { src, .. } => Meaning::Copy(reg(src)),
        Op::Addr { object, offset, .. } => {
            Meaning::Copy(Operand::Number(Number::Address(object, offset.0.into())))
        }
        Op::Int { op: op @ (IntOp::Add | IntOp::Sub), a, b, .. } => Meaning::Add {
            operands: [reg(a), word(b)],
            subtracts: op == IntOp::Sub,
            ty: NumberType::Signed(32),
        },
        Op::IntWide { op: op @ (WideOp::Add | WideOp::Sub), a, b, .. } => Meaning::Add {
            operands: [reg(a), wide(b)],
            subtracts: op == WideOp::Sub,
            ty: NumberType::Signed(64),
        },
        Op::Float { op: op @ (FloatOp::Add | FloatOp::Sub), format: Format::F32, a, b, .. } => {
            let subtracts = op == FloatOp::Sub;
            Meaning::Add { operands: [reg(a), word(b)], subtracts, ty: NumberType::F32 }
        }
        Op::Cmp { test, a, b, .. } => compare(test, [reg(a), word(b)], 32),
        Op::CmpWide { test, a, b, .. } => compare(test, [reg(a), wide(b)], 64),
        _ => Meaning::Other,
    }
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
