//! What addresses say about banks: of each access of a body, where it is relative to others. Addresses
//! that grow by constants are known up to where their object or a form over unknown values begins; of
//! those that are computed on the way their residues count, so that `table[i & 255]` and
//! `table[(i + 64) & 255]` are known to take the same bank.

use nbcc_analysis::Affine;
use nbcc_ir::Mem;
use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::config::{Opcode, Options};

use super::addresses;
use super::body::{Body, Global, Operand};
use crate::map::banks::{Banks, Begin, LISTED, Stream};

/// What addresses are relative to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Region {
    /// The element of that number, of bytes as given.
    Object(Mem, Affine, u32),
    /// The words that the core leaves.
    Spilled,
    /// What is computed of constants and the beginning of an object, which that register holds.
    Listed(usize),
    /// A sum of words, each times a factor, modulo the bytes of a row of banks.
    Residue(Vec<(Operand, u32)>),
}

/// The addresses of the accesses of a body that is started for about so many iterations. Homes begin
/// at the first bank.
pub fn banks(body: &Body, machine: &Machine, iterations: u32) -> Banks {
    let row = 4 * machine.shared.banks;
    let mut regions: Vec<Region> = Vec::new();
    let sequences = addresses::sequences(body, LISTED);
    let mut lists: Vec<Vec<i64>> = Vec::new();
    let stream = |node: &super::body::Node| {
        if !node.op.is_memory() {
            return None;
        }
        let (region, begin, first) = match node.in1 {
            Operand::Global(number) if body.globals[number] == Global::Spilled => {
                (Region::Spilled, Begin::Bank0, 0)
            }
            Operand::Global(number) if is_address(&body.globals[number]) => {
                let Global::Address(mem, index, bytes) = &body.globals[number] else { return None };
                let is_row = |factor: i32| factor.wrapping_mul(*bytes as i32) % row as i32 == 0;
                let is_aligned = index.terms.iter().all(|&(_, factor)| is_row(factor));
                let first = i64::from(index.constant) * i64::from(*bytes);
                let index = Affine { constant: 0, ..index.clone() };
                let begin = if is_aligned { Begin::Bank0 } else { Begin::Fixed };
                (Region::Object(*mem, index, *bytes), begin, first)
            }
            Operand::Node { node: from, distance: 0 }
                if let (Some(list), Some(base)) =
                    (&sequences[from], addresses::base(body, node.in1)) =>
            {
                lists.push(list.iter().map(|&address| address.into()).collect());
                (Region::Listed(base), Begin::Listed(lists.len() - 1), 0)
            }
            address if row.is_power_of_two() => {
                let mut terms = Vec::new();
                let constant = residue(body, address, row, 1, &mut terms, MAX_FOLLOWED);
                terms.sort_unstable();
                (Region::Residue(terms), Begin::Anywhere, constant.into())
            }
            address => (Region::Residue(vec![(address, 1)]), Begin::Anywhere, 0),
        };
        let known = regions.iter().position(|other| *other == region);
        Some(Stream {
            region: known.unwrap_or_else(|| {
                regions.push(region);
                regions.len() - 1
            }),
            begin,
            offset: first + i64::from(node.memory.offset),
            stride: node.memory.stride.into(),
            bytes: node.memory.width.bytes().into(),
        })
    };
    let streams = body.nodes.iter().map(stream).collect();
    Banks { count: machine.shared.banks.into(), iterations: iterations.into(), streams, lists }
}

/// How many words an iteration takes of the bank that it takes most of, about, but for accesses that only
/// some iterations make.
pub fn busiest(body: &Body, machine: &Machine, iterations: u32) -> f64 {
    let mut banks = banks(body, machine, iterations);
    for (stream, node) in banks.streams.iter_mut().zip(&body.nodes) {
        if node.condition.is_some() {
            *stream = None;
        }
    }
    banks.busiest()
}

/// Whether a product of a coefficient takes the low half of a word, and is not shifted.
fn is_low_product(options: &Options) -> bool {
    !options.high1 && !options.halves && options.scale == 0
}

fn is_address(global: &Global) -> bool {
    matches!(global, Global::Address(..))
}

/// How deep operands are followed.
const MAX_FOLLOWED: u32 = 12;

/// The constant of a word times a factor, modulo a power of two; its other terms.
fn residue(
    body: &Body,
    word: Operand,
    modulo: u32,
    factor: u32,
    terms: &mut Vec<(Operand, u32)>,
    depth: u32,
) -> u32 {
    let symbol = |terms: &mut Vec<(Operand, u32)>| {
        terms.push((word, factor % modulo));
        0
    };
    // What the factor leaves of the modulus.
    let left = modulo >> factor.trailing_zeros().min(31);
    if left <= 1 {
        return 0;
    }
    let node = match word {
        Operand::None => return 0,
        Operand::Immediate(value) => return (value as u32).wrapping_mul(factor) % modulo,
        // Homes begin at the first bank.
        Operand::Global(number) => {
            return match &body.globals[number] {
                Global::Address(_, index, _) if index.as_constant() == Some(0) => 0,
                _ => symbol(terms),
            };
        }
        Operand::Node { node, distance: 0 } if depth > 0 => &body.nodes[node],
        _ => return symbol(terms),
    };
    if node.in3.is_some() || node.initial.is_some() {
        return symbol(terms);
    }
    let mut of = |word: Operand, factor: u32| residue(body, word, modulo, factor, terms, depth - 1);
    match (node.op, node.in2) {
        (Opcode::Add, _) => of(node.in1, factor).wrapping_add(of(node.in2, factor)) % modulo,
        (Opcode::Sub, _) => {
            let negated = factor.wrapping_neg();
            of(node.in1, factor).wrapping_add(of(node.in2, negated)) % modulo
        }
        // Of the half the low bits are those of the word.
        (Opcode::RFa, _) if is_low_product(&node.options) => {
            let by = node.options.coefficient;
            of(node.in1, factor.wrapping_mul(by)).wrapping_add(of(node.in2, factor)) % modulo
        }
        (Opcode::LSftS | Opcode::Lls, Operand::Immediate(amount))
            if !node.options.halves && (0..32).contains(&amount) =>
        {
            of(node.in1, factor.wrapping_shl(amount as u32))
        }
        (Opcode::And, Operand::Immediate(mask)) if mask as u32 & (left - 1) == left - 1 => {
            of(node.in1, factor)
        }
        _ => symbol(terms),
    }
}

#[cfg(test)]
mod tests {
    use nbcc_ir::Value;
    use nbcc_isa_sdpnm::config::Memory;

    use super::*;
    use crate::arrays::iteration::body::Node;

    /// Loads from `table[(x + more) & mask]` of halves, where `x` is the same, made of an operand.
    fn table(mask: i32, of: Operand) -> Body {
        let mem = Mem::from_u32(0);
        let global = Global::Address(mem, Affine::default(), 2);
        let value = Global::Value(Value::from_u32(0));
        let mut body = Body { globals: vec![global, value], ..Body::default() };
        let mut add = |op: Opcode, in1: Operand, in2: Operand| {
            body.nodes.push(Node { in1, in2, memory: Memory::default(), ..Node::new(op) });
            Operand::node(body.nodes.len() - 1)
        };
        let x = add(Opcode::Lrs, of, Operand::Immediate(5));
        for more in [0, 256, 32, 33] {
            let sum = add(Opcode::Add, x, Operand::Immediate(more));
            let index = add(Opcode::And, sum, Operand::Immediate(mask));
            let bytes = add(Opcode::LSftS, index, Operand::Immediate(1));
            let address = add(Opcode::Add, bytes, Operand::Global(0));
            add(Opcode::Load, address, Operand::None);
        }
        body
    }

    #[test]
    fn masks_that_keep_the_low_bits_keep_the_bank() {
        let machine = Machine::built_in("sdpnm");
        let streams = |mask| {
            let banks = banks(&table(mask, Operand::Global(1)), &machine, 64);
            banks.streams.into_iter().flatten().collect::<Vec<_>>()
        };
        let known = streams(1023);
        assert!(known.iter().all(|stream| stream.region == known[0].region));
        let offsets: Vec<i64> = known.iter().map(|stream| stream.offset).collect();
        assert_eq!(offsets, [0, 0, 0, 2]);
        // Four bits are less than a row of 32 halves.
        let unknown = streams(15);
        assert!(unknown[1..].iter().all(|stream| stream.region != unknown[0].region));
    }

    #[test]
    fn addresses_made_of_constants_are_listed() {
        let machine = Machine::built_in("sdpnm");
        // x grows by 64 an iteration, from 0 on.
        let mut body = table(1023, Operand::None);
        body.globals.push(Global::Constant(0));
        let x = body.nodes.len();
        body.nodes.push(Node {
            in1: Operand::Node { node: x, distance: 1 },
            in2: Operand::Immediate(64),
            initial: Some(2),
            ..Node::new(Opcode::Add)
        });
        body.nodes[0].in1 = Operand::Node { node: x, distance: 1 };
        let banks = banks(&body, &machine, 64);
        let lists: Vec<&[i64]> = banks.lists.iter().map(|list| &list[..3]).collect();
        // Of iteration 0 what was there before: (x >> 5) + more, in halves.
        assert_eq!(lists, [[0, 4, 8], [512, 516, 520], [64, 68, 72], [66, 70, 74]]);
        let known: Vec<_> = banks.streams.iter().flatten().map(|stream| stream.region).collect();
        assert!(known.iter().all(|region| *region == known[0]));
    }
}
