//! An instruction: what it does ([`Op`]), for which threads (the guard), and a hint to the machine
//! on how to execute it, if it knows any.
//!
//! In the text guard and hint stand before the mnemonic: `if !P0 near float.add.f32.rn R1, R2, R3`.

use std::fmt::{self, Display, Write};

use nbcc_isa::row::Row;
use nbcc_isa::text::Cursor;
use nbcc_isa::{
    DecodeError, EncodeError, Imm, Instruction, LabelNames, MachineInstruction, Operand,
    RegisterClass, Role, SyntaxError,
};

use crate::classes::{Category, Latency, Memory, Unit};
use crate::operands::{PREDICATES, PhysReg, RegClass};
use crate::ops::{Op, ROWS};

/// The bits of the encoding that guard and hint take: predicate 8..11 (7 for none), complement
/// 11, hint 12..14.
pub const COMMON_BITS: u128 = 0x3f00;

/// Whether a field of any row lies in the bits that belong to every instruction.
const fn uses_common_bits() -> bool {
    let mut i = 0;
    while i < ROWS.len() {
        if nbcc_isa::table::covered_bits(&ROWS[i]) & COMMON_BITS != 0 {
            return true;
        }
        i += 1;
    }
    false
}

const _: () = assert!(!uses_common_bits(), "a row uses the bits of guard and hint");

/// How an instruction should be executed, of which results do not depend. Each instruction set has
/// some of them, see [`crate::Isa::hints`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hint {
    /// The hardware decides.
    #[default]
    None,
    /// In the unit beside the memory banks.
    Near,
    /// In the core itself.
    Far,
}

/// The predicate of the threads that an instruction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard<R> {
    /// The predicate register.
    pub reg: R,
    /// Those for which it does not hold.
    pub negated: bool,
}

/// An instruction over registers `R`. A guarded one leaves its destinations as they were in
/// threads that it is not for, so it reads them as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inst<R> {
    /// For which threads; `None` for all.
    pub guard: Option<Guard<R>>,
    /// How.
    pub hint: Hint,
    /// What.
    pub op: Op<R>,
}

impl<R> From<Op<R>> for Inst<R> {
    fn from(op: Op<R>) -> Inst<R> {
        Inst { guard: None, hint: Hint::None, op }
    }
}

impl<R> Inst<R> {
    /// The operation for the threads of a guard.
    pub fn guarded(op: Op<R>, reg: R, negated: bool) -> Inst<R> {
        Inst { guard: Some(Guard { reg, negated }), hint: Hint::None, op }
    }

    /// Whether it may go on elsewhere than with the next instruction.
    pub fn is_branch(&self) -> bool {
        matches!(self.op, Op::Bra { .. } | Op::Exit {} | Op::Trap { .. } | Op::Brkpt {})
    }
}

/// A destination of a guarded instruction keeps its value in some threads.
fn guarded_role(guarded: bool, role: Role) -> Role {
    if guarded && role == Role::Def { Role::UseDef } else { role }
}

impl<R> Instruction for Inst<R> {
    type Reg = R;
    type Class = RegClass;
    type Unit = Unit;
    type Latency = Latency;
    type Memory = Memory;
    type Category = Category;
    type With<S> = Inst<S>;

    fn opcode(&self) -> u8 {
        self.op.opcode()
    }

    fn mnemonic(&self) -> &'static str {
        self.op.mnemonic()
    }

    fn unit(&self) -> Unit {
        self.op.unit()
    }

    fn latency(&self) -> Latency {
        self.op.latency()
    }

    fn category(&self) -> Category {
        self.op.category()
    }

    fn memory_reads(&self) -> &'static [Memory] {
        self.op.memories(self.op.memory_reads())
    }

    fn memory_writes(&self) -> &'static [Memory] {
        self.op.memories(self.op.memory_writes())
    }

    fn for_each_operand<'a>(&'a self, mut f: impl FnMut(Operand<RegClass, &'a R>)) {
        let guarded = self.guard.is_some();
        if let Some(guard) = &self.guard {
            f(Operand { role: Role::Use, class: RegClass::Pred, reg: &guard.reg });
        }
        self.op.for_each_operand(|operand| {
            f(Operand { role: guarded_role(guarded, operand.role), ..operand });
        });
    }

    fn for_each_operand_mut<'a>(&'a mut self, mut f: impl FnMut(Operand<RegClass, &'a mut R>)) {
        let guarded = self.guard.is_some();
        if let Some(guard) = &mut self.guard {
            f(Operand { role: Role::Use, class: RegClass::Pred, reg: &mut guard.reg });
        }
        self.op.for_each_operand_mut(|operand| {
            f(Operand { role: guarded_role(guarded, operand.role), ..operand });
        });
    }

    fn map_regs<S>(&self, mut f: impl FnMut(Operand<RegClass, &R>) -> S) -> Inst<S> {
        let guard = self.guard.as_ref().map(|guard| Guard {
            reg: f(Operand { role: Role::Use, class: RegClass::Pred, reg: &guard.reg }),
            negated: guard.negated,
        });
        let guarded = guard.is_some();
        let op = self.op.map_regs(|operand| {
            f(Operand { role: guarded_role(guarded, operand.role), ..operand })
        });
        Inst { guard, hint: self.hint, op }
    }

    fn symbolic(&self) -> Option<Imm> {
        self.op.symbolic()
    }

    fn symbolic_mut(&mut self) -> Option<&mut Imm> {
        self.op.symbolic_mut()
    }

    fn for_each_symbolic_mut(&mut self, f: impl FnMut(&mut Imm)) {
        self.op.for_each_symbolic_mut(f);
    }
}

impl<R: Display> Inst<R> {
    /// Writes the text, with `labels` naming the labels.
    pub fn write_with(&self, f: &mut dyn Write, labels: &dyn LabelNames) -> fmt::Result {
        if let Some(guard) = &self.guard {
            write!(f, "if {}{} ", if guard.negated { "!" } else { "" }, guard.reg)?;
        }
        f.write_str(match self.hint {
            Hint::None => "",
            Hint::Near => "near ",
            Hint::Far => "far ",
        })?;
        self.op.write_with(f, labels)
    }
}

impl<R: Display> Display for Inst<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_with(f, &())
    }
}

impl MachineInstruction for Inst<PhysReg> {
    const BYTES: usize = 16;
    const ROWS: &'static [Row] = ROWS;

    fn encode(&self) -> Result<u128, EncodeError> {
        let mnemonic = self.op.mnemonic();
        let mut common = match &self.guard {
            None => u128::from(PREDICATES),
            Some(guard) if guard.reg.class != RegClass::Pred => {
                let register = guard.reg.to_string();
                return Err(EncodeError::WrongClass { mnemonic, field: "guard", register });
            }
            Some(guard) if guard.reg.index >= PREDICATES => {
                let value = u64::from(guard.reg.index);
                return Err(EncodeError::DoesNotFit { mnemonic, field: "guard", bits: 3, value });
            }
            Some(guard) => u128::from(guard.reg.index) | u128::from(guard.negated) << 3,
        };
        common |= match self.hint {
            Hint::None => 0,
            Hint::Near => 1 << 4,
            Hint::Far => 2 << 4,
        };
        Ok(self.op.encode()? | common << 8)
    }

    fn decode(word: u128) -> Result<Self, DecodeError> {
        let op = Op::decode(word & !COMMON_BITS)?;
        let mnemonic = op.mnemonic();
        let bad = |field, value: u128| {
            Err(DecodeError::BadField { mnemonic, field, value: value as u64 })
        };
        let index = (word >> 8 & 7) as u16;
        let negated = word >> 11 & 1 != 0;
        let guard = if index < PREDICATES {
            Some(Guard { reg: PhysReg::new(RegClass::Pred, index), negated })
        } else if negated {
            return bad("guard", word >> 8 & 0xf);
        } else {
            None
        };
        let hint = match word >> 12 & 3 {
            0 => Hint::None,
            1 => Hint::Near,
            2 => Hint::Far,
            other => return bad("hint", other),
        };
        Ok(Inst { guard, hint, op })
    }

    fn write_text(&self, f: &mut dyn Write, labels: &dyn LabelNames) -> fmt::Result {
        self.write_with(f, labels)
    }

    fn parse_text(cursor: &mut Cursor<'_>) -> Result<Self, SyntaxError> {
        let start = cursor.position();
        if cursor.eat("@") {
            return Err(SyntaxError::new("a guard is not written with `@`", start..start + 1)
                .with_help("write `if P0` or `if !P0` before the instruction"));
        }
        let guard = if cursor.name() == Some("if") {
            let negated = cursor.eat("!");
            let start = cursor.position();
            let class = RegClass::Pred;
            let index = cursor.register(class.prefix(), class.name())?;
            if index >= PREDICATES {
                let end = cursor.position();
                return Err(SyntaxError::new(format!("P{index} is out of range"), start..end)
                    .with_help(format!("predicates are P0 to P{}", PREDICATES - 1)));
            }
            Some(Guard { reg: PhysReg::new(class, index), negated })
        } else {
            cursor.rewind(start);
            None
        };
        let start = cursor.position();
        let hint = match cursor.name() {
            Some("near") => Hint::Near,
            Some("far") => Hint::Far,
            _ => {
                cursor.rewind(start);
                Hint::None
            }
        };
        Ok(Inst { guard, hint, op: Op::parse_text(cursor)? })
    }
}
