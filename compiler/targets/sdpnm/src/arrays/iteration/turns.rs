//! What counts the loops of a nest that is one loop and whose trips are known at run time only
//! ([`crate::arrays::loops::chain`]): operations of a target that stand for what an array does with an adder, of which
//! no core ever runs one.
//!
//! A word that turns over after as many iterations as a loop has says where that loop ends: it grows by
//! `2^32 / n` in each iteration, and carries in each n-th one.

use nbcc_analysis::Affine;
use nbcc_ir::{Block, Builder, Effect, Function, IntrinsicCall, Op, Type, Value, ValueDef};
use nbcc_isa_sdpnm::config::{Opcode, Options};

use super::body::{Global, Operand};
use super::build::{Builder as Body, Building, Truth};

/// What loops count of an iteration: quotient by the trips of some, rest of it by those of others, by
/// how many there are of the first.
pub const DIGIT: &str = "sdpnm.digit";
/// Whether loops begin in an iteration: of the iteration and their trips, or their [`mark`].
pub const FIRST: &str = "sdpnm.first";
/// Whether they end.
pub const LAST: &str = "sdpnm.last";
/// A [`Walk`].
pub const WALK: &str = "sdpnm.walk";

/// What must hold for an array to run the loop of a header.
pub const REQUIRED: &str = "sdpnm.required";

/// That iterations of the outermost of the loops that the loop of a header was made of do not look at each
/// other: how often it runs, and all inside it.
pub const BANDS: &str = "sdpnm.bands";

/// How these name the header.
pub fn tag(header: Block) -> i64 {
    header.as_u32().into()
}

/// What holds once a loop was put on an array.
pub const MAY: &str = "sdpnm.may";

/// A call of one of these.
pub fn call(b: &mut Builder<'_>, name: &'static str, args: Vec<Value>, imms: Vec<i64>) -> Value {
    let result = Some(if matches!(name, FIRST | LAST | MAY) { Type::I1 } else { Type::I32 });
    let effect = Effect::Pure;
    b.value(Op::Intrinsic(IntrinsicCall { name, effect, args, mems: vec![], imms, result }))
}

/// The operation of that name that makes a value.
pub fn called<'a>(func: &'a Function, value: Value, name: &str) -> Option<&'a IntrinsicCall> {
    match func.def_op(value)? {
        Op::Intrinsic(call) if call.name == name => Some(call),
        _ => None,
    }
}

/// Whether a value is what counts iterations, and not a later iteration of several at a time, in which
/// words that turn over would be others.
pub fn counts(func: &Function, iteration: Value) -> bool {
    matches!(func.values[iteration].def, ValueDef::Param(..))
}

/// A word that grows with the loops of a nest, the innermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Where it begins, but for a constant.
    pub start: Value,
    /// How often each loop runs.
    pub counts: Vec<Value>,
    /// What an iteration of each loop adds.
    pub strides: Vec<Value>,
    /// What is added where that loop goes on and all inside it begin again.
    pub turns: Vec<Value>,
    /// By what a word grows that carries where the loops inside that one begin again; not of the
    /// innermost one.
    pub marks: Vec<Value>,
    /// A power of two that divides all strides.
    pub unit: i32,
    /// The least stride, where each of the others is as much as the loops inside it lead through, but for
    /// those of 0; otherwise 0.
    pub lead: i32,
    /// Whether it comes back to a word only after as many iterations as the innermost loop has.
    pub is_apart: bool,
}

impl Walk {
    /// The walk that a value is, and the constant that is added.
    pub fn of(func: &Function, value: Value) -> Option<(Walk, i32)> {
        let call = called(func, value, WALK)?;
        let (&[iteration, start], rest) = call.args.split_at_checked(2)? else { return None };
        if !counts(func, iteration) {
            return None;
        }
        let depth = rest.len().div_ceil(4);
        let parts: Vec<&[Value]> = rest.chunks(depth).collect();
        let [counts, strides, turns, marks] = parts[..] else { return None };
        let [counts, strides, turns, marks] = [counts, strides, turns, marks].map(<[_]>::to_vec);
        let &[constant, unit, lead, is_apart] = &call.imms[..] else { return None };
        let (unit, lead, is_apart) = (unit as i32, lead as i32, is_apart != 0);
        let walk = Walk { start, counts, strides, turns, marks, unit, lead, is_apart };
        Some((walk, constant as i32))
    }

    /// The value of it and a constant in an iteration.
    pub fn make(&self, b: &mut Builder<'_>, iteration: Value, constant: i32) -> Value {
        let parts = [&self.counts, &self.strides, &self.turns, &self.marks];
        let args = [iteration, self.start].into_iter();
        let args = args.chain(parts.into_iter().flatten().copied()).collect();
        call(
            b,
            WALK,
            args,
            vec![constant.into(), self.unit.into(), self.lead.into(), self.is_apart.into()],
        )
    }
}

impl Body<'_> {
    /// A word that carries where loops begin.
    fn turning(&mut self, mark: Value) -> Building<usize> {
        let (step, _) = self.word(mark)?;
        let initial = self.global_of(Global::Constant(-1));
        if let Some(&known) = self.turning.get(&mark) {
            return Ok(known);
        }
        let node = self.fresh(Opcode::Add, Options::default(), Operand::None, step, None);
        self.body.nodes[node].in1 = Operand::Node { node, distance: 1 };
        self.body.nodes[node].initial = Some(initial);
        self.turning.insert(mark, node);
        Ok(node)
    }

    /// Whether loops begin or end.
    pub(crate) fn turn(&mut self, is_last: bool, mark: Value) -> Building<Truth> {
        let now = self.turning(mark)?;
        let node = match is_last {
            false => now,
            true => {
                let (step, _) = self.word(mark)?;
                self.node(Opcode::Add, Options::default(), Operand::node(now), step, None)
            }
        };
        Ok(Truth::Bit { node, inverted: false })
    }

    /// The sum that makes a walk from a form on, in units of as many bytes; `initial` gives what holds a
    /// form.
    pub(crate) fn walk(
        &mut self,
        walk: &Walk,
        start: &Affine,
        bytes: i32,
        initial: impl Fn(Affine) -> Global,
    ) -> Building<Operand> {
        let forms: Vec<Affine> =
            walk.turns.iter().map(|&turn| self.evolutions.fixed(turn)).collect();
        let step = |this: &mut Self, form: &Affine| match form.as_constant() {
            Some(constant) => Self::immediate(constant.wrapping_mul(bytes)),
            None => this.global(Global::Form(form.clone(), bytes)),
        };
        let mut grows = step(self, &forms[0]);
        for level in 1..forms.len() {
            if forms[level] != forms[level - 1] {
                let more = step(self, &forms[level]);
                let begins = self.turn(false, walk.marks[level - 1])?;
                grows = self.choose(begins, more, grows);
            }
        }
        // All loops begin in the first iteration.
        let before = start.plus(&forms[forms.len() - 1], -1);
        let initial = initial(before);
        let first = self.global_of(initial);
        let known = self.body.nodes.iter().enumerate().position(|(node, data)| {
            let own = Operand::Node { node, distance: 1 };
            data.op == Opcode::Add
                && (data.in1, data.in2) == (own, grows)
                && data.initial == Some(first)
        });
        let node = known.unwrap_or_else(|| {
            let node = self.fresh(Opcode::Add, Options::default(), Operand::None, grows, None);
            self.body.nodes[node].in1 = Operand::Node { node, distance: 1 };
            self.body.nodes[node].initial = Some(first);
            node
        });
        if let Some(&stride) = walk.strides.last() {
            self.walks.push((first, (stride, bytes)));
        }
        Ok(Operand::node(node))
    }
}
