//! Truth values, and values that depend on them: bits of operations, conditions under which blocks run,
//! what is chosen where ways meet.

use std::collections::BTreeMap;

use nbcc_ir::{Block, BlockCall, Terminator, Value, ValueDef};
use nbcc_isa_sdpnm::config::{Opcode, Options};

use super::body::{Global, Node, Operand};
use super::build::{Builder, Building, Meetings, Truth};
use crate::narrow::Upper;

/// Where a word comes from that is one of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    /// It is the same on all ways.
    Word(Operand),
    /// A branch at the end of a block decides.
    Branch(Block),
}

/// How words come to a block.
struct Gates {
    /// The block, and which of its parameters.
    to: (Block, u32),
    /// What is handed to it.
    words: BTreeMap<Value, Operand>,
    /// From where, as far as that was looked at.
    known: BTreeMap<Block, Option<Gate>>,
    /// The words that branches let through, as far as they were made.
    made: BTreeMap<Block, Operand>,
    /// How many branches decide.
    count: usize,
    /// Whether there is another way to choose.
    has_switch: bool,
}

impl Builder<'_> {
    /// A truth value.
    pub(super) fn truth(&mut self, value: Value) -> Building<Truth> {
        if let Some(&known) = self.truths.get(&value) {
            return Ok(known);
        }
        let before = self.span;
        self.enter()?;
        let truth = match self.known(value) {
            Some(known) => Truth::Known(known != 0),
            None if !self.shape.defines(self.func, value) => {
                Truth::Word(self.global(Global::Value(value)))
            }
            None => match self.func.values[value].def {
                ValueDef::Param(block, number) if block == self.shape.header => {
                    Truth::Word(self.carry(number))
                }
                ValueDef::Param(block, number) => Truth::Word(self.phi(block, number, value)?.0),
                ValueDef::Result(inst, _) => {
                    self.span = self.func.insts[inst].span.or(self.span);
                    self.truth_operation(inst)?
                }
            },
        };
        self.depth -= 1;
        self.span = before;
        self.truths.insert(value, truth);
        Ok(truth)
    }

    /// A truth value as a word, 0 or 1.
    pub(super) fn word_of(&mut self, truth: Truth) -> Operand {
        match truth {
            Truth::Known(known) => Self::immediate(known.into()),
            Truth::Word(word) => word,
            Truth::Bit { node, inverted } => {
                let (a, b) = match inverted {
                    false => (Operand::Immediate(1), Operand::None),
                    true => (Operand::None, Operand::Immediate(1)),
                };
                Operand::node(self.node(Opcode::Mux, Options::default(), a, b, Some(node)))
            }
        }
    }

    /// A truth value as the bit of an operation, or its opposite.
    pub(super) fn bit_of(&mut self, truth: Truth) -> (usize, bool) {
        let word = match truth {
            Truth::Bit { node, inverted } => return (node, inverted),
            Truth::Word(word) => word,
            Truth::Known(known) => Self::immediate(known.into()),
        };
        if let Operand::Node { node, distance: 0 } = word
            && self.has_zero_bit(node)
        {
            return (node, true);
        }
        // The bit of a copy says whether it is zero.
        (self.node(Opcode::Pass, Options::default(), word, Operand::None, None), true)
    }

    /// Whether the bit of an operation says that its result is zero.
    fn has_zero_bit(&self, node: usize) -> bool {
        let node = &self.body.nodes[node];
        node.op.has_zero_bit(node.in3.is_some())
    }

    /// An operation whose bit is a truth value.
    pub(super) fn straight_bit(&mut self, truth: Truth) -> usize {
        match self.bit_of(truth) {
            (node, false) => node,
            // The bit of 0 or 1 says whether it is 0.
            (node, true) => self.node(
                Opcode::Mux,
                Options::default(),
                Operand::Immediate(1),
                Operand::None,
                Some(node),
            ),
        }
    }

    /// One of two words by a truth value.
    pub(super) fn choose(&mut self, truth: Truth, then: Operand, other: Operand) -> Operand {
        if then == other {
            return then;
        }
        match truth {
            Truth::Known(true) => then,
            Truth::Known(false) => other,
            _ => {
                let (node, inverted) = self.bit_of(truth);
                let (a, b) = if inverted { (other, then) } else { (then, other) };
                // The smaller or larger one of two words that were compared.
                let Node { op, options, in1, in2, .. } = self.body.nodes[node];
                if op == Opcode::Cmp && in1 != in2 {
                    if (a, b) == (in1, in2) {
                        return Operand::node(node);
                    }
                    if (b, a) == (in1, in2) {
                        let options = Options { larger: !options.larger, ..options };
                        return Operand::node(self.node(op, options, in1, in2, None));
                    }
                }
                Operand::node(self.node(Opcode::Mux, Options::default(), a, b, Some(node)))
            }
        }
    }

    /// The opposite.
    pub(super) fn not(&mut self, truth: Truth) -> Truth {
        match truth {
            Truth::Known(known) => Truth::Known(!known),
            Truth::Bit { node, inverted } => Truth::Bit { node, inverted: !inverted },
            Truth::Word(word) => Truth::Word(self.op(Opcode::Xor, word, Operand::Immediate(1))),
        }
    }

    /// Both, or one of both.
    pub(super) fn join(&mut self, op: Opcode, a: Truth, b: Truth) -> Truth {
        let neutral = op == Opcode::And;
        match (a, b) {
            (Truth::Known(known), other) | (other, Truth::Known(known)) => {
                if known == neutral {
                    other
                } else {
                    Truth::Known(known)
                }
            }
            _ => {
                let (a, b) = (self.word_of(a), self.word_of(b));
                Truth::Word(self.op(op, a, b))
            }
        }
    }

    /// Under which condition a block runs; `None` where it always does.
    pub(super) fn predicate(&mut self, block: Block) -> Building<Option<Truth>> {
        if block == self.shape.header {
            return Ok(None);
        }
        if let Some(&known) = self.predicates.get(&block) {
            return Ok(known);
        }
        let predicate = if self.is_always(block) {
            None
        } else {
            let mut any: Option<Truth> = None;
            for (from, truth) in self.edges_into(block)? {
                let before = self.predicate(from)?;
                let here = match (before, truth) {
                    (None, truth) => truth,
                    (Some(before), truth) => self.join(Opcode::And, before, truth),
                };
                any = Some(match any {
                    None => here,
                    Some(any) => self.join(Opcode::Or, any, here),
                });
            }
            any
        };
        self.predicates.insert(block, predicate);
        Ok(predicate)
    }

    /// The blocks that lead to a block, and under which condition.
    fn edges_into(&mut self, block: Block) -> Building<Vec<(Block, Truth)>> {
        let mut edges = Vec::new();
        for &from in &self.shape.blocks.clone() {
            if from == self.shape.latch {
                continue;
            }
            match self.func.terminator(from).clone() {
                Terminator::Jump(to) if to.block == block => edges.push((from, Truth::Known(true))),
                Terminator::Branch(cond, then, other) => {
                    let ways = (then.block == block, other.block == block);
                    if ways == (false, false) {
                        continue;
                    }
                    let truth = self.truth(cond)?;
                    edges.push((
                        from,
                        match ways {
                            (true, true) => Truth::Known(true),
                            (true, false) => truth,
                            _ => self.not(truth),
                        },
                    ));
                }
                Terminator::Switch(_, cases, default) => {
                    let is_it = |to: &BlockCall| to.block == block;
                    if cases.iter().any(is_it) || is_it(&default) {
                        return self.refuse("`switch`");
                    }
                }
                _ => {}
            }
        }
        Ok(edges)
    }

    /// Whether each way through an iteration goes through a block.
    pub(super) fn is_always(&self, block: Block) -> bool {
        self.shape.is_passed(self.func, self.shape.header, block)
    }

    /// The parameter of a block at which ways meet.
    pub(super) fn phi(
        &mut self,
        block: Block,
        number: u32,
        value: Value,
    ) -> Building<(Operand, Upper)> {
        let args = self.args(block, number);
        let bits = self.func.ty(value).scalar.bits();
        let mut words = Vec::new();
        for &way in &args {
            words.push(self.word(way)?);
        }
        let signed = words.iter().all(|(_, upper)| upper.has(true));
        let zeros = words.iter().all(|(_, upper)| upper.has(false));
        let upper = match (signed, zeros) {
            _ if bits >= 32 => Upper::Both,
            (true, true) => Upper::Both,
            (true, false) => Upper::Signs,
            (false, true) => Upper::Zeros,
            (false, false) => Upper::Any,
        };
        let words: Vec<Operand> = words.into_iter().map(|(word, _)| word).collect();
        Ok((self.meeting(block, number, &args, &words)?, upper))
    }

    /// What a parameter of a block is on each way to it.
    pub(super) fn args(&self, block: Block, number: u32) -> Vec<Value> {
        let before = self.shape.blocks.iter().filter(|&&from| from != self.shape.latch);
        let ways = before.flat_map(|&from| self.func.terminator(from).successors());
        ways.filter(|to| to.block == block).map(|to| to.args[number as usize]).collect()
    }

    /// One of several words where ways to a block meet: branch by branch, from the inside out (the gated form
    /// of Ottenstein, Ballance, MacCabe, "The program dependence web", PLDI 1990), or, where many branches lead to
    /// few words, as [`Meetings`] says.
    pub(super) fn meeting(
        &mut self,
        block: Block,
        number: u32,
        args: &[Value],
        words: &[Operand],
    ) -> Building<Operand> {
        let of: BTreeMap<Value, Operand> =
            args.iter().copied().zip(words.iter().copied()).collect();
        let (known, made) = (BTreeMap::new(), BTreeMap::new());
        let mut gates =
            Gates { to: (block, number), words: of, known, made, count: 0, has_switch: false };
        let gate = self.gate(self.shape.header, &mut gates);
        let is_deep = gates.count > args.len();
        self.differs |= is_deep;
        match gate {
            _ if gates.has_switch => self.refuse("`switch`"),
            Some(gate) if !is_deep || self.meetings == Meetings::ByBranch => {
                self.gated(gate, &mut gates)
            }
            _ => {
                let ways = self.ways(block, number)?;
                self.chosen(&ways, words)
            }
        }
    }

    /// What stands for the word that comes to a block from another one; nothing where no way leads there.
    fn gate(&self, from: Block, gates: &mut Gates) -> Option<Gate> {
        if let Some(&known) = gates.known.get(&from) {
            return known;
        }
        let (to, number) = gates.to;
        let mut along = |way: &BlockCall| match way.block == to {
            true => gates.words.get(&way.args[number as usize]).map(|&word| Gate::Word(word)),
            false if self.shape.contains(way.block) => self.gate(way.block, gates),
            false => None,
        };
        let gate = match self.func.terminator(from) {
            _ if from == self.shape.latch => None,
            Terminator::Jump(way) => along(way),
            Terminator::Branch(_, then, other) => match (along(then), along(other)) {
                (Some(then), Some(other)) if then != other => {
                    gates.count += 1;
                    Some(Gate::Branch(from))
                }
                (then, other) => then.or(other),
            },
            _ => {
                gates.has_switch = true;
                None
            }
        };
        gates.known.insert(from, gate);
        gate
    }

    /// The word that a gate lets through.
    fn gated(&mut self, gate: Gate, gates: &mut Gates) -> Building<Operand> {
        let from = match gate {
            Gate::Word(word) => return Ok(word),
            Gate::Branch(from) => from,
        };
        if let Some(&made) = gates.made.get(&from) {
            return Ok(made);
        }
        let Terminator::Branch(cond, then, other) = self.func.terminator(from).clone() else {
            return self.refuse("a block that nothing leads to");
        };
        self.enter()?;
        let mut along = |this: &mut Self, way: &BlockCall| {
            let gate = match way.block == gates.to.0 {
                true => {
                    gates.words.get(&way.args[gates.to.1 as usize]).map(|&word| Gate::Word(word))
                }
                false => gates.known.get(&way.block).copied().flatten(),
            };
            match gate {
                Some(gate) => this.gated(gate, gates),
                None => this.refuse("a block that nothing leads to"),
            }
        };
        let (then, other) = (along(self, &then)?, along(self, &other)?);
        let truth = self.truth(cond)?;
        self.depth -= 1;
        let word = self.choose(truth, then, other);
        gates.made.insert(from, word);
        Ok(word)
    }

    /// One of several words by the ways on which they come.
    fn chosen(&mut self, ways: &[(Truth, Value)], words: &[Operand]) -> Building<Operand> {
        // The last way needs no condition: each iteration that looks comes on one of them.
        let Some(&(mut chosen)) = words.last() else {
            return self.refuse("a block that nothing leads to");
        };
        for (&(truth, _), &word) in ways.iter().zip(words).rev().skip(1) {
            chosen = self.choose(truth, word, chosen);
        }
        Ok(chosen)
    }

    /// The ways to a block, with what its parameter is on each.
    fn ways(&mut self, block: Block, number: u32) -> Building<Vec<(Truth, Value)>> {
        let mut ways: Vec<(Truth, Value)> = Vec::new();
        for &from in &self.shape.blocks.clone() {
            if from == self.shape.latch {
                continue;
            }
            // What runs behind the block may depend on the value.
            let terminator = self.func.terminator(from).clone();
            if !terminator.successors().iter().any(|to| to.block == block) {
                continue;
            }
            let before = self.predicate(from)?;
            let mut add = |this: &mut Self, to: &BlockCall, truth: Truth| {
                if to.block == block {
                    let here = match before {
                        None => truth,
                        Some(before) => this.join(Opcode::And, before, truth),
                    };
                    ways.push((here, to.args[number as usize]));
                }
            };
            match terminator {
                Terminator::Jump(to) => add(self, &to, Truth::Known(true)),
                Terminator::Branch(cond, then, other)
                    if then.block == block || other.block == block =>
                {
                    let truth = self.truth(cond)?;
                    add(self, &then, truth);
                    let not = self.not(truth);
                    add(self, &other, not);
                }
                _ => {}
            }
        }
        Ok(ways)
    }
}
