//! Loops that need more global registers than an array has. A result may take the register of what only
//! stands there before the first iteration; and what does not change in the loop waits in words of the shared
//! memory, which the core writes when it hands the loop over, and is loaded in each iteration (spilling, with
//! the fewest readers first; what is a constant more than what has a register is computed instead: Briggs,
//! Cooper, Torczon, "Rematerialization", PLDI 1992).

use nbcc_analysis::Affine;
use nbcc_ir::Mem;
use nbcc_isa_sdpnm::config::{Memory, Opcode, Width};

use super::body::{Body, Global, Node, Numbers, Operand};

/// Bytes of a word.
const WORD: usize = 4;

/// Words that are spilled at most.
pub(crate) const MAX_SPILLED: usize = 64;

/// How registers are read.
#[derive(Clone, Copy, Default)]
struct Uses {
    /// Operands of operations.
    words: usize,
    /// Operations that it is put out by before the first iteration.
    firsts: usize,
    /// Whether it is where an access goes, or how far a sum goes on in each iteration.
    is_address: bool,
    /// Whether a result comes there.
    is_exported: bool,
}

fn uses(body: &Body) -> Vec<Uses> {
    let mut uses = vec![Uses::default(); body.globals.len()];
    for (number, node) in body.nodes.iter().enumerate() {
        let own = Operand::Node { node: number, distance: 1 };
        let goes_on = node.in1 == own || node.in2 == own;
        for (place, word) in [node.in1, node.in2].into_iter().enumerate() {
            if let Operand::Global(register) = word {
                uses[register].words += 1;
                uses[register].is_address |= goes_on || place == 0 && node.op.is_memory();
            }
        }
        if let Some(register) = node.initial {
            uses[register].firsts += 1;
        }
        if let Some(register) = node.export {
            uses[register].is_exported = true;
        }
    }
    uses
}

/// Lets results take the registers of what stands there before the first iteration only, as long as there are
/// more than so many registers; the new numbers. All of these have been read before the last iteration
/// begins, if there are as many iterations as begin until the first one ends. Those that are `apart` keep their own.
pub(super) fn share(body: &mut Body, registers: usize, apart: &[usize]) -> Numbers {
    let mut numbers = body.numbers();
    let of = uses(body);
    let is_first = |&number: &usize| of[number].words == 0 && of[number].firsts > 0;
    let mut free = (0..of.len()).filter(is_first);
    let mut left = of.len();
    for number in (0..body.nodes.len()).rev() {
        if left <= registers {
            break;
        }
        let Some(export) = body.nodes[number].export.filter(|of| !apart.contains(of)) else {
            continue;
        };
        let Some(first) = free.next() else { break };
        body.nodes[number].export = Some(first);
        numbers.globals[export] = Some(first);
        left -= 1;
    }
    numbers.then(&body.sweep())
}

/// Whether a result has the register of what stands there before the first iteration.
pub(crate) fn shares(body: &Body) -> bool {
    body.nodes.iter().filter_map(|node| node.export).any(|of| body.globals[of] != Global::Export)
}

/// A value that is another one and a constant.
fn sum(global: &Global, form: &dyn Fn(&Global) -> Option<Affine>) -> Option<(Option<Mem>, Affine)> {
    match global {
        Global::Address(mem, index, bytes) => Some((Some(*mem), index.times(*bytes as i32))),
        Global::Form(of, factor) => Some((None, of.times(*factor))),
        other => Some((None, form(other)?)),
    }
}

/// Spills what leaves so many registers; the new numbers of all, and what is in the words. `form` says which sum a
/// value is. `None` where too many hold what iterations begin with.
pub(super) fn spill(
    body: &mut Body,
    registers: usize,
    form: &dyn Fn(&Global) -> Option<Affine>,
) -> Option<(Numbers, Vec<Global>)> {
    let of = uses(body);
    let is_free = |&number: &usize| of[number].words > 0 && of[number].firsts == 0;
    let mut free: Vec<usize> = (0..of.len()).filter(is_free).collect();
    free.sort_by_key(|&number| (of[number].is_address, of[number].words));
    let forms: Vec<_> = body.globals.iter().map(|global| sum(global, form)).collect();
    // What is computed of a register that stays.
    let mut left = of.len();
    let mut made: Vec<Option<(usize, i32)>> = vec![None; left];
    for &number in &free {
        if left <= registers {
            break;
        }
        let (Some((mem, own)), true) = (&forms[number], made[number].is_none()) else { continue };
        let more = |other: &usize| {
            let (of, form) = forms[*other].as_ref()?;
            let more = own.plus(form, -1).as_constant()?;
            (of == mem).then_some((*other, more))
        };
        let is_kept =
            |other: &usize| *other != number && made[*other].is_none() && !of[*other].is_exported;
        // What is computed of this one stays as it is.
        let is_base = made.iter().flatten().any(|&(base, _): &(usize, i32)| base == number);
        let found = (0..of.len()).filter(is_kept).find_map(|other| more(&other));
        if let (Some(found), false) = (found, is_base) {
            made[number] = Some(found);
            left -= 1;
        }
    }
    let mut spilled: Vec<usize> = Vec::new();
    if left > registers {
        // One holds where the words are.
        let is_base = |number: usize| made.iter().flatten().any(|&(base, _)| base == number);
        let others: Vec<usize> =
            free.into_iter().filter(|&n| made[n].is_none() && !is_base(n)).collect();
        spilled.extend(others.get(..left + 1 - registers)?);
        if spilled.len() > MAX_SPILLED {
            return None;
        }
    }
    let place = body.globals.len();
    if !spilled.is_empty() {
        body.globals.push(Global::Spilled);
    }
    let mut nodes: Vec<Option<usize>> = vec![None; place];
    for (word, &number) in spilled.iter().enumerate() {
        nodes[number] = Some(body.nodes.len());
        body.nodes.push(Node {
            in1: Operand::Global(place),
            memory: Memory { width: Width::W32, offset: (WORD * word) as i32, stride: 0 },
            name: format!("spilled{word}"),
            ..Node::new(Opcode::Load)
        });
    }
    for (number, of) in made.iter().enumerate() {
        let Some((base, more)) = *of else { continue };
        nodes[number] = Some(body.nodes.len());
        body.nodes.push(Node {
            in1: Operand::Global(base),
            in2: Operand::Immediate(more),
            name: format!("again{number}"),
            ..Node::new(Opcode::Add)
        });
    }
    for node in &mut body.nodes {
        for word in [&mut node.in1, &mut node.in2] {
            if let Operand::Global(number) = *word
                && let Some(node) = nodes.get(number).copied().flatten()
            {
                *word = Operand::node(node);
            }
        }
    }
    let words = spilled.iter().map(|&number| body.globals[number].clone()).collect();
    // The register with the place of the words has no old number.
    let mut numbers = body.sweep();
    numbers.globals.truncate(place);
    Some((numbers, words))
}
