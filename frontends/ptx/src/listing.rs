//! A checked kernel as a listing: its instructions, registers and branches as they are written.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::{EntityRef, SecondaryMap};
use nbcc_analysis::listing::{
    Effect, Input, Line, Listing, Meaning as Computes, Number, NumberType, Operand as Value, Reg,
    Relation,
};

use crate::ast::StateSpace;
use crate::check::{Forms, accessed_space, bits, class, is_signed, results};
use crate::forms::{Matched, Meaning, Modifier};
use crate::lower::{meaning, targets};
use crate::resolved::{
    AddressBase, Body, BodyItem, Callee, Constant, Guard, Instruction, LabelId, Operand,
    OperandKind, RegId, Resolved, ScalarType, VariableId,
};

/// The kernels of a module whose instructions passed the checks, in the order of the file.
pub(crate) fn listings(module: &Resolved<'_>, forms: &Forms) -> Vec<Listing> {
    let anywhere = (module.functions.values().filter_map(|function| function.body.as_ref()))
        .any(|body| makes_generic_shared(body, forms));
    let mut kernels: Vec<_> = module
        .functions
        .values()
        .filter(|function| function.entry)
        .filter_map(|function| Some((function, function.body.as_ref()?)))
        .collect();
    kernels.sort_by_key(|(function, _)| (function.span.source, function.span.start));
    kernels
        .into_iter()
        .map(|(function, body)| {
            // What is called may hand over such an address; another kernel's means nothing here.
            let calls = body.items.iter().any(|item| matches!(item, BodyItem::Call(_)));
            let generic_shared = makes_generic_shared(body, forms) || calls && anywhere;
            let builder = Builder { module, forms, body, generic_shared, inputs: BTreeMap::new() };
            builder.listing(module.names.text(function.name).to_string())
        })
        .collect()
}

/// Whether a function makes generic addresses of those of shared memory.
fn makes_generic_shared(body: &Body, forms: &Forms) -> bool {
    body.items.iter().any(|item| match item {
        BodyItem::Instruction(inst) => forms[inst.form].as_ref().is_some_and(|matched| {
            matched.pattern.row.meaning == Meaning::Cvta
                && accessed_space(matched) == Some(StateSpace::Shared)
        }),
        BodyItem::Call(_) | BodyItem::Label(_) => false,
    })
}

/// Special registers that differ from processor to processor or from time to time begin like this.
const PROCESSOR_STATE: [&str; 6] =
    ["%clock", "%globaltimer", "%smid", "%nsmid", "%warpid", "%nwarpid"];

/// What a kernel takes besides registers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Parameter(VariableId, i64),
    /// At a place of parameters that a register holds.
    ParameterAt(RegId, i64),
    Special(String),
}

struct Builder<'a> {
    module: &'a Resolved<'a>,
    forms: &'a Forms,
    body: &'a Body,
    generic_shared: bool,
    inputs: BTreeMap<Source, Input>,
}

impl Builder<'_> {
    fn listing(mut self, name: String) -> Listing {
        let items = &self.body.items;
        // Where each item's first instruction stands in the listing.
        let mut place = Vec::with_capacity(items.len());
        let mut count = 0;
        for item in items {
            place.push(count);
            count += u32::from(!matches!(item, BodyItem::Label(_)));
        }
        let mut label_at: SecondaryMap<LabelId, u32> = SecondaryMap::new();
        for (label, data) in &self.body.labels {
            label_at[label] = place[data.item];
        }
        let mut code = Vec::with_capacity(count as usize);
        for item in items {
            match item {
                BodyItem::Instruction(inst) => code.push(self.instruction(inst, &label_at)),
                BodyItem::Call(call) => {
                    let mut line = self.line(call.span, call.guard);
                    line.effect = Effect::Call;
                    if let Callee::Register(reg, _) = call.callee {
                        line.reads.push(Reg::from_u32(reg.as_u32()));
                    }
                    call.arguments.iter().for_each(|operand| registers(operand, &mut line.reads));
                    call.returns.iter().for_each(|operand| registers(operand, &mut line.writes));
                    code.push(line);
                }
                BodyItem::Label(_) => {}
            }
        }
        for line in &mut code {
            for list in [&mut line.reads, &mut line.writes] {
                // Order counts where two predicates are written; none is written twice.
                let mut seen = BTreeSet::new();
                list.retain(|reg| seen.insert(*reg));
            }
        }
        let (registers, inputs) = (self.body.registers.len() as u32, self.inputs.len() as u32);
        Listing { name, code, registers, inputs }
    }

    /// A line that only has its guard, and goes on with the next.
    fn line(&self, span: nbcc_base::Span, guard: Option<Guard>) -> Line {
        Line {
            span: Some(span),
            reads: guard.iter().map(|guard| Reg::from_u32(guard.register.as_u32())).collect(),
            keeps: guard.is_some(),
            falls: true,
            ..Line::default()
        }
    }

    fn instruction(&mut self, inst: &Instruction, label_at: &SecondaryMap<LabelId, u32>) -> Line {
        let Some(matched) = self.forms[inst.form] else { panic!("{} was not checked", inst.form) };
        let mut line = self.line(inst.span, inst.guard);
        let results = results(inst, &matched);
        for (number, operand) in inst.operands.iter().enumerate() {
            if results.contains(&number) {
                line.keeps |= matches!(operand.kind, OperandKind::Component(..));
                registers(operand, &mut line.writes);
            } else {
                registers(operand, &mut line.reads);
                self.specials(operand, &mut line);
            }
        }
        line.effect = line.effect.min(self.effect(&matched));
        match meaning(self.forms, inst) {
            Meaning::Bra => {
                if let OperandKind::Label(label) = inst.operands[0].kind {
                    line.targets.push(label_at[label]);
                }
                line.falls = inst.guard.is_some();
                if let Some(guard) = inst.guard {
                    let predicate = Reg::from_u32(guard.register.as_u32());
                    line.meaning = Computes::Branch { predicate, negated: guard.negated };
                }
            }
            Meaning::Brx => {
                line.targets = targets(self.body, inst).iter().map(|&l| label_at[l]).collect();
                line.falls = inst.guard.is_some();
            }
            Meaning::Ret | Meaning::Exit | Meaning::Trap => line.falls = inst.guard.is_some(),
            Meaning::Load if accessed_space(&matched) == Some(StateSpace::Param) => {
                let source = match inst.operands[1].kind {
                    OperandKind::Address(AddressBase::Variable(variable), offset) => {
                        Some(Source::Parameter(variable, offset))
                    }
                    OperandKind::Address(AddressBase::Register(reg), offset) => {
                        Some(Source::ParameterAt(reg, offset))
                    }
                    _ => None,
                };
                line.inputs.extend(source.map(|source| self.input(source)));
            }
            _ => line.meaning = self.computes(inst, &matched),
        }
        line
    }

    fn effect(&self, matched: &Matched) -> Effect {
        use Meaning::*;
        let is_shared = match accessed_space(matched) {
            Some(space) => space == StateSpace::Shared,
            None => self.generic_shared,
        };
        match matched.pattern.row.meaning {
            Ret | Exit | Trap | Brkpt | Brx => Effect::Leave,
            Load | Store | FragmentLoad | FragmentStore if is_shared => Effect::Shared,
            CpAsync | MatrixLoad | MatrixStore => Effect::Shared,
            Atom | AtomCas | Red => Effect::Atomic,
            Barrier | BarrierRed | Fence | Shfl | ShflLegacy | Vote | VoteLegacy | Ballot
            | BallotLegacy | Match | MatrixMove | MatrixProduct | Activemask | Redux
            | WarpBarrier => Effect::Synchronisation,
            Load | Store
                if [
                    Modifier::Volatile,
                    Modifier::Relaxed,
                    Modifier::Acquire,
                    Modifier::Release,
                    Modifier::Mmio,
                ]
                .iter()
                .any(|&modifier| matched.modifiers.has(modifier)) =>
            {
                Effect::Ordered
            }
            Call => Effect::Call,
            Load | Store
                if matches!(
                    accessed_space(matched),
                    Some(StateSpace::Param | StateSpace::Const)
                ) =>
            {
                Effect::None
            }
            Load | FragmentLoad => Effect::Load,
            Store | FragmentStore => Effect::Store,
            _ => Effect::None,
        }
    }

    /// The special registers that an operand reads.
    fn specials(&mut self, operand: &Operand, line: &mut Line) {
        match &operand.kind {
            OperandKind::Special(name, element) => {
                let name = self.module.names.text(*name);
                if PROCESSOR_STATE.iter().any(|stem| name.starts_with(stem)) {
                    line.effect = line.effect.min(Effect::ProcessorState);
                }
                let element = element.map_or(String::new(), |element| format!(".{element}"));
                line.inputs.push(self.input(Source::Special(format!("{name}{element}"))));
            }
            OperandKind::Vector(elements) => elements.iter().for_each(|e| self.specials(e, line)),
            OperandKind::Negated(inner) | OperandKind::Not(inner) => self.specials(inner, line),
            _ => {}
        }
    }

    fn input(&mut self, source: Source) -> Input {
        let next = Input::new(self.inputs.len());
        *self.inputs.entry(source).or_insert(next)
    }

    fn computes(&self, inst: &Instruction, matched: &Matched) -> Computes {
        let ty = matched.types[0];
        let value = |number: usize| inst.operands.get(number).and_then(|o| value(o, ty));
        let is_register = |number: usize| {
            inst.operands
                .get(number)
                .is_some_and(|o: &Operand| matches!(o.kind, OperandKind::Register(_)))
        };
        let number_type = match ty {
            ScalarType::F32 if matched.modifiers.has(Modifier::Ftz) => NumberType::FlushedF32,
            ScalarType::F32 => NumberType::F32,
            ScalarType::F64 => NumberType::F64,
            ty if class(ty) == crate::check::Class::Float || bits(ty) > 64 => NumberType::Other,
            ty if is_signed(ty) => NumberType::Signed(bits(ty)),
            ty => NumberType::Unsigned(bits(ty)),
        };
        let opcode = matched.pattern.opcode;
        // What neither wraps nor rounds to nearest is no simple sum.
        let other = [Modifier::Cc, Modifier::Sat, Modifier::Rz, Modifier::Rm, Modifier::Rp];
        let is_simple = !other.iter().any(|&modifier| matched.modifiers.has(modifier));
        match matched.pattern.row.meaning {
            Meaning::Mov | Meaning::MovPred if is_register(0) => {
                value(1).map_or(Computes::Other, Computes::Copy)
            }
            Meaning::Add | Meaning::Sub | Meaning::Float
                if matches!(opcode, "add" | "sub") && is_simple && is_register(0) =>
            {
                match (value(1), value(2)) {
                    (Some(a), Some(b)) => {
                        let subtracts = opcode == "sub";
                        Computes::Add { operands: [a, b], subtracts, ty: number_type }
                    }
                    _ => Computes::Other,
                }
            }
            Meaning::Setp if inst.operands.len() == 3 => match (value(1), value(2)) {
                (Some(a), Some(b)) => {
                    // `lo` and the like say that there is no sign.
                    let unsigned = [Modifier::Lo, Modifier::Ls, Modifier::Hi, Modifier::Hs];
                    let is_unsigned = unsigned.iter().any(|&m| matched.modifiers.has(m));
                    let ty = if is_unsigned { NumberType::Unsigned(bits(ty)) } else { number_type };
                    Computes::Compare { operands: [a, b], relation: relation(matched), ty }
                }
                _ => Computes::Other,
            },
            _ => Computes::Other,
        }
    }
}

fn relation(matched: &Matched) -> Option<Relation> {
    matched.modifiers.pick(&[
        (Modifier::Eq, Relation::Eq),
        (Modifier::Ne, Relation::Ne),
        (Modifier::Lt, Relation::Lt),
        (Modifier::Le, Relation::Le),
        (Modifier::Gt, Relation::Gt),
        (Modifier::Ge, Relation::Ge),
        (Modifier::Lo, Relation::Lt),
        (Modifier::Ls, Relation::Le),
        (Modifier::Hi, Relation::Gt),
        (Modifier::Hs, Relation::Ge),
    ])
}

/// An operand as a register or number of a type.
fn value(operand: &Operand, ty: ScalarType) -> Option<Value> {
    Some(match operand.kind {
        OperandKind::Register(reg) => Value::Reg(Reg::from_u32(reg.as_u32())),
        OperandKind::Constant(constant) => {
            let raw = match constant {
                Constant::Int { bits, .. } => bits,
                // A binary64 for a binary32 is one that was written as a decimal number.
                Constant::F64(bits) if ty == ScalarType::F32 => {
                    u64::from((f64::from_bits(bits) as f32).to_bits())
                }
                Constant::F64(bits) => bits,
                Constant::F32(bits) => u64::from(bits),
            };
            let width = bits(ty).clamp(1, 64);
            Value::Number(Number::Bits(raw & (u64::MAX >> (64 - width))))
        }
        OperandKind::Variable(variable, offset) => {
            Value::Number(Number::Address(2 * variable.as_u32(), offset))
        }
        OperandKind::Function(function) => {
            Value::Number(Number::Address(2 * function.as_u32() + 1, 0))
        }
        _ => return None,
    })
}

/// The registers of an operand.
fn registers(operand: &Operand, list: &mut Vec<Reg>) {
    match &operand.kind {
        OperandKind::Register(reg)
        | OperandKind::Component(reg, _)
        | OperandKind::Selected(reg, _)
        | OperandKind::Address(AddressBase::Register(reg), _) => {
            list.push(Reg::from_u32(reg.as_u32()));
        }
        OperandKind::Vector(elements) => elements.iter().for_each(|e| registers(e, list)),
        OperandKind::Pair(pair) => pair.iter().for_each(|e| registers(e, list)),
        OperandKind::Not(inner) | OperandKind::Negated(inner) => registers(inner, list),
        _ => {}
    }
}
