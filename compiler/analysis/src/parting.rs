//! Blocks that only a part of the threads of a warp is expected to run: those that are control dependent
//! (Ferrante, Ottenstein, Warren, "The Program Dependence Graph and Its Use in Optimization", ACM TOPLAS
//! 9(3), 1987) on a branch at which neighbours decide by numbers that have nothing to do with each other.
//! A comparison of numbers that grow evenly from thread to thread, as at the end of a row, is not such a
//! branch: most warps lie on one side of it.

use cranelift_entity::SecondaryMap;
use nbcc_ir::cfg::successors;
use nbcc_ir::{BinaryOp, Block, Function, IntCond, Op, Terminator, UnaryOp, Value};

use crate::postdominators::PostDominators;
use crate::strides::Strides;

/// Blocks that are looked at, at most; what is left then counts as run by all threads.
const STEPS: usize = 1 << 22;

/// Terms of a condition that are looked at, at most.
const TERMS: usize = 16;

/// For each block whether threads are expected to be missing there.
pub fn parted_blocks(
    func: &Function,
    post: &PostDominators,
    strides: &Strides,
) -> SecondaryMap<Block, bool> {
    let mut parted: SecondaryMap<Block, bool> = SecondaryMap::new();
    let parts = |&block: &Block| match func.terminator(block) {
        Terminator::Branch(condition, ..) => !agree(func, strides, *condition),
        Terminator::Switch(value, ..) => !strides.is_uniform(*value),
        _ => false,
    };
    let mut work: Vec<Block> = func.layout.iter().copied().filter(parts).collect();
    let mut steps = 0;
    while let Some(branch) = work.pop() {
        let end = post.immediate(branch);
        for to in successors(func, branch) {
            let mut at = Some(to);
            while let Some(block) = at.filter(|_| at != end && steps < STEPS) {
                steps += 1;
                if !std::mem::replace(&mut parted[block], true) {
                    work.push(block);
                }
                at = post.immediate(block);
            }
        }
    }
    parted
}

/// Whether the threads of most warps find a condition alike.
fn agree(func: &Function, strides: &Strides, condition: Value) -> bool {
    let mut work = vec![condition];
    let mut left = TERMS;
    while let Some(condition) = work.pop() {
        if strides.is_uniform(condition) {
            continue;
        }
        match (func.def_op(condition), left.checked_sub(1)) {
            (Some(Op::Icmp(cond, a, b)), _) => {
                let (Some(a), Some(b)) = (strides.get(*a), strides.get(*b)) else { return false };
                if a != b && matches!(cond, IntCond::Eq | IntCond::Ne) {
                    return false;
                }
            }
            (Some(Op::Unary(UnaryOp::Not, a)), Some(rest)) => {
                left = rest;
                work.push(*a);
            }
            (Some(Op::Binary(BinaryOp::And | BinaryOp::Or, a, b)), Some(rest)) => {
                left = rest;
                work.extend([*a, *b]);
            }
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use nbcc_base::{Diagnostics, SourceId};
    use nbcc_ir::{Cfg, Module, parse_module};

    use super::*;

    /// Which of the blocks of a function are parted.
    fn parted(body: &str) -> Vec<u32> {
        let text = format!("define grid @f(v0: i32) {{\n  kernel\nblock0:\n{body}}}\n");
        let mut diagnostics = Diagnostics::default();
        let module: Module = parse_module(SourceId(0), &text, &[], &mut diagnostics)
            .unwrap_or_else(|_| panic!("{diagnostics:?}\n{text}"));
        let func = module.functions.values().next().unwrap();
        let strides = Strides::new(func, &Cfg::new(func), 32);
        let parted = parted_blocks(func, &PostDominators::new(func), &strides);
        let blocks = func.layout.iter().filter(|&&block| parted[block]);
        blocks.map(|block| block.as_u32()).collect()
    }

    /// The end of a row parts few warps; one thread of all, or what was loaded, parts them.
    #[test]
    fn branches_on_data_part_warps() {
        let start = "  v1: i32 = simt \"special.tid_x\"()\n  v2: i64 = sign_extend v1\n  \
                     v3: i32 = load global [v2]\n";
        let diamond = |compare: &str| {
            parted(&format!(
                "{start}  v4: i1 = icmp {compare}\n  branch v4, block1, block3\n\
                 block1:\n  v5: i1 = icmp eq v0, v0\n  branch v5, block2, block3\n\
                 block2:\n  jump block3\nblock3:\n  return\n"
            ))
        };
        assert_eq!(diamond("slt v1, v0"), [0u32; 0]);
        assert_eq!(diamond("eq v1, v0"), [1, 2]);
        assert_eq!(diamond("slt v3, v0"), [1, 2]);
        let left = "  jump block1\nblock1:\n  v4: i32 = load global [v2]\n  \
                    v5: i1 = icmp slt v4, v0\n  branch v5, block1, block2\nblock2:\n  return\n";
        assert_eq!(parted(&format!("{start}{left}")), [1]);
    }
}
