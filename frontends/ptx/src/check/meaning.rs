//! Checks that depend on what an instruction means: how operands go together.

use nbcc_base::Diagnostic;

use super::operand::{accessed_space, vector_length};
use super::types::{bits, class};
use super::{Checker, Class, codes};
use crate::ast::StateSpace;
use crate::forms::{Matched, Meaning, Modifier};
use crate::resolved::{Constant, Instruction, Operand, OperandKind, ScalarType, TableKind};

impl Checker<'_, '_> {
    /// Checks what the pattern of operands does not say.
    pub(super) fn meaning(&mut self, inst: &Instruction, matched: &Matched) -> Option<()> {
        match matched.pattern.row.meaning {
            Meaning::Setp | Meaning::Set => self.condition(inst, matched),
            Meaning::Load | Meaning::Store | Meaning::MovVector => self.vector_width(inst, matched),
            Meaning::Barrier | Meaning::BarrierRed => self.barrier(inst, matched),
            Meaning::Bra => self.branch(inst),
            Meaning::Brx => self.indexed_branch(inst),
            Meaning::Cvta | Meaning::CvtaTo => self.cvta(inst, matched),
            Meaning::Video | Meaning::Vset | Meaning::Vmad | Meaning::Simd => {
                self.secondary(inst, matched)?;
                self.selectors(inst, matched)
            }
            Meaning::CvtTf32 => match inst.operands[0].kind {
                OperandKind::Register(reg) if class(self.register(reg).ty) != Class::Bits => {
                    self.wrong_type(inst, inst.operands[0].span, reg, ScalarType::B32, false)
                }
                _ => Some(()),
            },
            Meaning::Float if matches!(matched.pattern.opcode, "min" | "max") => {
                // Extremes of three came later than those of two.
                let three = inst.operands.len() == 4;
                if three {
                    self.since(&self.form_text(inst.form), inst.span, 88, 100)
                } else {
                    Some(())
                }
            }
            Meaning::MatrixLoad => self.braces(inst, &inst.operands[0]),
            Meaning::MatrixStore => self.braces(inst, &inst.operands[1]),
            Meaning::Bfe => self.numbers(inst, &[2, 3], 0..=255),
            Meaning::Bfi => self.numbers(inst, &[3, 4], 0..=255),
            Meaning::Nothing if matched.pattern.opcode == "pmevent" => {
                let most = if matched.modifiers.has(Modifier::Mask) { 0xffff } else { 15 };
                self.numbers(inst, &[0], 0..=most)
            }
            Meaning::Nothing if inst.operands.len() == 2 => self.numbers(inst, &[1], 128..=128),
            _ => Some(()),
        }
    }

    /// A vector of registers, even of one.
    fn braces(&mut self, inst: &Instruction, operand: &Operand) -> Option<()> {
        match operand.kind {
            OperandKind::Vector(_) => Some(()),
            _ => self.kind(inst, operand.span, "registers in braces"),
        }
    }

    fn condition(&mut self, inst: &Instruction, matched: &Matched) -> Option<()> {
        let combined = [Modifier::And, Modifier::Or, Modifier::Xor]
            .iter()
            .any(|&modifier| matched.modifiers.has(modifier));
        if combined == (inst.operands.len() == 4) {
            return Some(());
        }
        let text = self.form_text(inst.form);
        let (label, help) = if combined {
            ("the predicate is missing", "add a fourth operand, or drop the boolean operation")
        } else {
            ("nothing says how to combine the predicate", "add `.and`, `.or` or `.xor`")
        };
        self.fail(
            Diagnostic::error(&codes::CONDITION, format!("`{text}` is not complete"))
                .at(inst.span, label)
                .help(help),
        )
    }

    /// The second operation of a video instruction goes with a third source.
    fn secondary(&mut self, inst: &Instruction, matched: &Matched) -> Option<()> {
        let second = [Modifier::Add, Modifier::Min, Modifier::Max]
            .iter()
            .any(|&modifier| matched.modifiers.has(modifier));
        let merges = matches!(inst.operands[0].kind, OperandKind::Selected(..));
        if !(second || merges) || inst.operands.len() == 4 {
            return Some(());
        }
        let text = self.form_text(inst.form);
        self.fail(
            Diagnostic::error(&codes::OPERAND_COUNT, format!("`{text}` takes 4 operands"))
                .at(inst.span, "the operand of the second operation is missing")
                .help("add the operand of the second operation as the last one"),
        )
    }

    /// Selectors of video instructions: `.b0` to `.b3` and `.h0` to `.h1` of scalars, bytes or
    /// halves as the operation has lanes of the others; results of scalars are selected only where
    /// the rest comes from the third source.
    fn selectors(&mut self, inst: &Instruction, matched: &Matched) -> Option<()> {
        let meaning = matched.pattern.row.meaning;
        let second = [Modifier::Add, Modifier::Min, Modifier::Max]
            .iter()
            .any(|&modifier| matched.modifiers.has(modifier));
        for (number, operand) in inst.operands.iter().enumerate() {
            let inner = match &operand.kind {
                OperandKind::Negated(inner) => &inner.kind,
                kind => kind,
            };
            let OperandKind::Selected(_, name) = *inner else { continue };
            let text = self.module.names.text(name).as_bytes();
            let digits = text[1..].iter().map(|digit| digit - b'0');
            let fits = match (meaning, number) {
                (Meaning::Simd, 0) => {
                    let lanes = if text[0] == b'h' { 2 } else { 4 };
                    let down = text[1..].windows(2).all(|pair| pair[0] > pair[1]);
                    matched.pattern.opcode.ends_with(if lanes == 2 { '2' } else { '4' })
                        && down
                        && digits.clone().all(|digit| digit < lanes)
                }
                (Meaning::Simd, 1 | 2) => {
                    let lanes = if text[0] == b'h' { 2 } else { 4 };
                    text.len() == lanes + 1
                        && matched.pattern.opcode.ends_with(if lanes == 2 { '2' } else { '4' })
                }
                (Meaning::Vmad, 0) | (_, 3) => false,
                (_, 0) if second => false,
                _ => text.len() == 2 && text[1] < if text[0] == b'h' { b'2' } else { b'4' },
            };
            if !fits {
                return self.kind(inst, operand.span, "another selector, or none,");
            }
        }
        Some(())
    }

    /// That some operands, where they are numbers, are in a range.
    fn numbers(
        &mut self,
        inst: &Instruction,
        operands: &[usize],
        range: std::ops::RangeInclusive<u64>,
    ) -> Option<()> {
        for &number in operands {
            let Some(operand) = inst.operands.get(number) else { continue };
            let OperandKind::Constant(Constant::Int { bits, .. }) = operand.kind else { continue };
            if !range.contains(&bits) {
                let text = self.form_text(inst.form);
                let (least, most) = (range.start(), range.end());
                return self.fail(
                    Diagnostic::error(&codes::RANGE, format!("number out of range in `{text}`"))
                        .at(operand.span, format!("not between {least} and {most}"))
                        .help(format!("write a number from {least} to {most}")),
                );
            }
        }
        Some(())
    }

    /// `mov.b64 {a, b}, c` and `mov.b64 c, {a, b}`, which have a check of their own.
    pub(super) fn vector_move(&mut self, inst: &Instruction, matched: &Matched) -> Option<()> {
        let ty = matched.types[0];
        let [to, from] = inst.operands.as_slice() else { return Some(()) };
        let (vector, scalar, packs) = match (&to.kind, &from.kind) {
            (OperandKind::Vector(_), OperandKind::Vector(_)) => {
                return self.kind(inst, from.span, "a register");
            }
            (OperandKind::Vector(elements), _) => (elements, from, false),
            (_, OperandKind::Vector(elements)) => (elements, to, true),
            _ => return Some(()),
        };
        let span = if packs { from.span } else { to.span };
        if class(ty) != Class::Bits {
            let text = self.form_text(inst.form);
            return self.fail(
                Diagnostic::error(&codes::VECTOR, format!("`{text}` takes no vector"))
                    .at(span, "a vector")
                    .help(format!("use `mov.b{}`", bits(ty))),
            );
        }
        let size = bits(ty) / u32::try_from(vector.len()).unwrap_or(u32::MAX).max(1);
        let element = match (vector.len(), size) {
            (1, _) => ty,
            (2 | 4, 8) => ScalarType::B8,
            (2 | 4, 16) => ScalarType::B16,
            (2 | 4, 32) => ScalarType::B32,
            _ => return self.elements(inst, span, ty, vector.len()),
        };
        for part in vector {
            self.element(inst, part, element, packs)?;
        }
        self.alike(inst, vector)?;
        match &scalar.kind {
            OperandKind::Constant(constant) if !packs => {
                self.constant(inst, scalar.span, *constant, ty)
            }
            OperandKind::Variable(..) if !packs && bits(ty) >= 32 => Some(()),
            OperandKind::Function(function) if !packs && bits(ty) >= 32 => {
                self.function_address(*function, scalar.span)
            }
            _ => self.element(inst, scalar, ty, !packs),
        }
    }

    fn elements(
        &mut self,
        inst: &Instruction,
        span: nbcc_base::Span,
        ty: ScalarType,
        count: usize,
    ) -> Option<()> {
        let text = self.form_text(inst.form);
        self.fail(
            Diagnostic::error(
                &codes::VECTOR,
                format!("`{text}` cannot split {} bits into {count}", bits(ty)),
            )
            .at(span, format!("{count} elements"))
            .help("use 2 or 4 elements of the same size"),
        )
    }

    /// One operand of a vector move.
    fn element(
        &mut self,
        inst: &Instruction,
        operand: &Operand,
        ty: ScalarType,
        source: bool,
    ) -> Option<()> {
        match &operand.kind {
            OperandKind::Register(reg) | OperandKind::Component(reg, _) => {
                let register = self.register(*reg);
                if super::types::fits(register.ty, ty) {
                    return Some(());
                }
                self.wrong_type(inst, operand.span, *reg, ty, false)
            }
            OperandKind::Sink if !source => Some(()),
            OperandKind::Special(..) if source => self.special(inst, operand, ty, true),
            OperandKind::Constant(constant) if source => {
                self.constant(inst, operand.span, *constant, ty)
            }
            _ => self.kind(inst, operand.span, "a register"),
        }
    }

    fn vector_width(&mut self, inst: &Instruction, matched: &Matched) -> Option<()> {
        let (length, ty) = (vector_length(matched), matched.types[0]);
        let width = u32::try_from(length).unwrap_or(8) * bits(ty);
        let version = self.module.version;
        let wide = (version.major, version.minor) >= (8, 8)
            && self.module.target.sm >= 100
            && matches!(accessed_space(matched), None | Some(StateSpace::Global))
            && bits(ty) >= 32
            && matched.pattern.row.meaning != Meaning::MovVector;
        if width <= 128 || (wide && width <= 256) {
            return Some(());
        }
        let text = self.form_text(inst.form);
        self.fail(
            Diagnostic::error(&codes::VECTOR, format!("`{text}` accesses {width} bits"))
                .at(inst.form_span, "vectors have up to 128 bits, in global memory of sm_100 256")
                .help("split the access in two"),
        )
    }

    fn barrier(&mut self, inst: &Instruction, matched: &Matched) -> Option<()> {
        let red = matched.pattern.row.meaning == Meaning::BarrierRed;
        let operands = &inst.operands[usize::from(red)..];
        let operands = &operands[..operands.len() - usize::from(red)];
        let number = |operand: &Operand| match operand.kind {
            OperandKind::Constant(Constant::Int { bits, .. }) => Some(bits),
            _ => None,
        };
        let fault = match operands {
            [barrier, ..] if number(barrier).is_some_and(|n| n > 15) => {
                Some((barrier, "barriers are numbered from 0 to 15"))
            }
            [_, threads] if number(threads).is_some_and(|n| n % 32 != 0) => {
                Some((threads, "the number of threads is a multiple of 32"))
            }
            [_, threads]
                if number(threads) == Some(0) && matched.modifiers.has(Modifier::Arrive) =>
            {
                Some((threads, "the number of threads is not zero"))
            }
            _ => None,
        };
        let Some((operand, label)) = fault else { return Some(()) };
        let text = self.form_text(inst.form);
        self.fail(
            Diagnostic::error(&codes::RANGE, format!("number out of range in `{text}`"))
                .at(operand.span, label)
                .help("write a number that the instruction takes, or hold it in a register"),
        )
    }

    fn branch(&mut self, inst: &Instruction) -> Option<()> {
        match inst.operands.as_slice() {
            [Operand { kind: OperandKind::Label(_), .. }] => Some(()),
            [operand] => self.kind(inst, operand.span, "a label"),
            _ => self.kind(inst, inst.span, "one label"),
        }
    }

    fn indexed_branch(&mut self, inst: &Instruction) -> Option<()> {
        let [index, table] = inst.operands.as_slice() else {
            return self.kind(inst, inst.span, "an index and a list of targets");
        };
        match &index.kind {
            OperandKind::Register(reg) | OperandKind::Component(reg, _) => {
                let ty = self.register(*reg).ty;
                if !super::types::fits(ty, ScalarType::U32) {
                    return self.wrong_type(inst, index.span, *reg, ScalarType::U32, false);
                }
            }
            OperandKind::Constant(Constant::Int { .. }) => {}
            _ => return self.kind(inst, index.span, "a register"),
        }
        match table.kind {
            OperandKind::Table(id)
                if matches!(self.body.tables[id].kind, TableKind::BranchTargets(_)) =>
            {
                Some(())
            }
            _ => self.kind(inst, table.span, "the name of a `.branchtargets`"),
        }
    }

    /// The variable whose address becomes generic is in the space that is named.
    fn cvta(&mut self, inst: &Instruction, matched: &Matched) -> Option<()> {
        if matched.types[0] == ScalarType::U32 && self.module.target.sm >= 90 {
            let text = self.form_text(inst.form);
            return self.fail(
                Diagnostic::error(&codes::ARCHITECTURE, format!("`{text}` is gone on sm_90"))
                    .at(inst.form_span, "addresses have 64 bits")
                    .help("use .u64"),
            );
        }
        if let Some(operand) = inst.operands.get(1)
            && matches!(operand.kind, OperandKind::Special(..))
        {
            return self.kind(inst, operand.span, "a register or a variable");
        }
        let Some(Operand { kind: OperandKind::Variable(variable, _), span }) = inst.operands.get(1)
        else {
            return Some(());
        };
        let data = &self.module.variables[*variable];
        let space = accessed_space(matched);
        if space == Some(data.space) {
            return Some(());
        }
        let (text, name) = (self.form_text(inst.form), self.module.names.text(data.name));
        let accessed = space.map_or("no state space", StateSpace::name);
        self.fail(
            Diagnostic::error(&codes::SPACE, format!("`{text}` takes addresses of .{accessed}"))
                .at(*span, format!("`{name}` is in .{}", data.space.name()))
                .and(data.span, "declared here")
                .help(format!(
                    "write `.{}` in place of the space, or take a variable of that space",
                    data.space.name()
                )),
        )
    }
}
