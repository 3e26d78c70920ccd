//! Barriers of a whole grid. What compilers make of `grid.sync()` of cooperative groups reads the
//! address of the barrier from `%envreg1` and `%envreg2`, and traps where it is zero, as it is
//! without a cooperative launch: such a trap says so.

use std::collections::BTreeSet;

use nbcc_base::{Diagnostic, Diagnostics, Span};
use nbcc_ir::{Cfg, Function, Op, SimtOp, SpecialReg, Terminator, Value, ValueDef};

use crate::check::{Forms, codes};
use crate::forms::Meaning;
use crate::resolved::{BodyItem, Operand, OperandKind, Resolved};

/// What the traps of such barriers say.
const MESSAGE: &str = "the kernel waits for its whole grid (`grid.sync()` of cooperative groups), \
                       but grids are not launched cooperatively: %envreg1 and %envreg2 are 0";

/// Gives the traps that a function reaches because `%envreg1` or `%envreg2` is zero their message.
pub fn explain_traps(func: &mut Function) {
    let is_plain = |terminator: &Option<Terminator>| matches!(terminator, Some(Terminator::Trap(message)) if message == "trap");
    let blocks = func.layout.iter().copied();
    let traps: Vec<_> = blocks.filter(|&b| is_plain(&func.blocks[b].terminator)).collect();
    if traps.is_empty() {
        return;
    }
    let cfg = Cfg::new(func);
    for trap in traps {
        let mut at = trap;
        let mut passed = BTreeSet::new();
        while let [from] = *cfg.predecessors(at)
            && passed.insert(from)
        {
            if let Terminator::Branch(condition, ..) = *func.terminator(from) {
                if depends_on_barrier(func, condition) {
                    func.blocks[trap].terminator = Some(Terminator::Trap(MESSAGE.to_string()));
                }
                break;
            }
            at = from;
        }
    }
}

fn depends_on_barrier(func: &Function, value: Value) -> bool {
    let mut seen = BTreeSet::from([value]);
    let mut work = vec![value];
    while let Some(value) = work.pop() {
        let ValueDef::Result(inst, _) = func.values[value].def else { continue };
        let op = &func.insts[inst].op;
        if let Op::Simt(SimtOp::Special(SpecialReg::Envreg(1 | 2)), _) = op {
            return true;
        }
        op.for_each_arg(|arg| {
            if seen.insert(arg) {
                work.push(arg);
            }
        });
    }
    false
}

/// Warns of a module that traps and reads where the barrier of the grid would be.
pub fn warn(module: &Resolved<'_>, forms: &Forms, diagnostics: &mut Diagnostics) {
    let bodies = module.functions.values().filter_map(|function| function.body.as_ref());
    let mut traps = false;
    let mut read: Option<Span> = None;
    for item in bodies.flat_map(|body| &body.items) {
        let BodyItem::Instruction(inst) = item else { continue };
        let matched = forms[inst.form].as_ref();
        traps |= matched.is_some_and(|matched| matched.pattern.row.meaning == Meaning::Trap);
        let place = |operand: &&Operand| match operand.kind {
            OperandKind::Special(name, None) => {
                matches!(module.names.text(name), "%envreg1" | "%envreg2")
            }
            _ => false,
        };
        read = read.or_else(|| inst.operands.iter().find(place).map(|operand| operand.span));
    }
    if let Some(span) = read.filter(|_| traps) {
        let message = "there is no barrier of a whole grid";
        diagnostics.push(
            Diagnostic::warning(&codes::GRID_BARRIER, message)
                .at(span, "reads 0: a wait for the grid (`grid.sync()`) traps")
                .help("split the kernel in two where it waits, and launch one after the other"),
        );
    }
}
