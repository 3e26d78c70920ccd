//! Branches that are decided by which constants the parameters of a block can be together: two that go on as
//! each other, as the numbers of buffers whose pointers are exchanged, begin apart and stay so. What branches on
//! the way to a block said of them leaves some of these cases, and where all that are left agree, a branch is a
//! jump (constant propagation by sets of values, of tuples here).

use std::collections::BTreeSet;

use nbcc_ir::{
    Block, BlockCall, Cfg, Dominators, Function, IntCond, Op, Terminator, Value, ValueDef,
};

use crate::unreachable;

/// Cases of a block's parameters at most.
const MAX_CASES: usize = 8;

/// Makes jumps of such branches.
pub fn run(func: &mut Function) -> bool {
    let (cfg, dominators) = (Cfg::new(func), Dominators::new(func));
    let mut decided: Vec<(Block, BlockCall)> = Vec::new();
    for &block in func.layout.iter().filter(|&&block| cfg.is_reachable(block)) {
        let Some((asked, then, other)) = branch(func, block) else { continue };
        let cases = Cases::new(func, &cfg, asked.of);
        let Some(left) = cases.map(|cases| cases.left(func, &cfg, &dominators, block)) else {
            continue;
        };
        let truths: BTreeSet<bool> = left.iter().map(|case| asked.holds(case)).collect();
        if truths.len() == 1 && !left.iter().any(|case| asked.is_unknown(case)) {
            decided.push((block, if truths.contains(&true) { then } else { other }));
        }
    }
    for (block, to) in &decided {
        func.blocks[*block].terminator = Some(Terminator::Jump(to.clone()));
    }
    if !decided.is_empty() {
        unreachable::run(func);
    }
    !decided.is_empty()
}

/// Whether a parameter of a block is, or is not, a constant.
struct Asked {
    of: Block,
    number: usize,
    constant: u64,
    is: bool,
}

impl Asked {
    fn is_unknown(&self, case: &[Option<u64>]) -> bool {
        case[self.number].is_none()
    }

    fn holds(&self, case: &[Option<u64>]) -> bool {
        (case[self.number] == Some(self.constant)) == self.is
    }
}

/// What a block asks of a parameter, and where it leads to.
fn branch(func: &Function, block: Block) -> Option<(Asked, BlockCall, BlockCall)> {
    let Terminator::Branch(cond, then, other) = func.terminator(block) else { return None };
    let (value, constant, is) = compared(func, *cond)?;
    let ValueDef::Param(of, number) = func.values[value].def else { return None };
    let asked = Asked { of, number: number as usize, constant, is };
    (then.block != other.block).then(|| (asked, then.clone(), other.clone()))
}

/// The value that is compared with a constant, that constant, and whether they are to be equal.
pub fn compared(func: &Function, cond: Value) -> Option<(Value, u64, bool)> {
    let &Op::Icmp(cond @ (IntCond::Eq | IntCond::Ne), a, b) = func.def_op(cond)? else {
        return None;
    };
    let (value, constant) = match (func.splat_constant(a), func.splat_constant(b)) {
        (None, Some(constant)) => (a, constant),
        (Some(constant), None) => (b, constant),
        _ => return None,
    };
    Some((value, constant, cond == IntCond::Eq))
}

/// The constants that the parameters of a block are together; nothing for those that may be anything else.
struct Cases {
    of: Block,
    all: BTreeSet<Vec<Option<u64>>>,
}

/// What a parameter is on a way to its block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    Constant(u64),
    /// What another one of them was before.
    Own(usize),
    Other,
}

impl Cases {
    /// Those of a block; nothing where there are too many.
    fn new(func: &Function, cfg: &Cfg, of: Block) -> Option<Cases> {
        let params = &func.blocks[of].params;
        let from = |&arg: &Value| match func.splat_constant(arg) {
            Some(constant) => From::Constant(constant),
            None => params.iter().position(|&p| p == arg).map_or(From::Other, From::Own),
        };
        let mut ways: Vec<Vec<From>> = Vec::new();
        for &block in cfg.predecessors(of).iter().collect::<BTreeSet<_>>().into_iter() {
            let to = func.terminator(block).successors().into_iter().filter(|to| to.block == of);
            ways.extend(to.map(|to| to.args.iter().map(from).collect()));
        }
        // What may be anything, and what goes on as that.
        let mut known = vec![!ways.is_empty(); params.len()];
        loop {
            let is_known = |way: &[From], number: usize| match way[number] {
                From::Constant(_) => true,
                From::Own(other) => known[other],
                From::Other => false,
            };
            let next: Vec<bool> =
                (0..known.len()).map(|n| known[n] && ways.iter().all(|w| is_known(w, n))).collect();
            if next == known {
                break;
            }
            known = next;
        }
        let mut all: BTreeSet<Vec<Option<u64>>> = BTreeSet::new();
        loop {
            let mut more = all.clone();
            for way in &ways {
                let on = |before: Option<&Vec<Option<u64>>>| -> Option<Vec<Option<u64>>> {
                    let each = (0..known.len()).map(|n| match (known[n], way[n]) {
                        (false, _) => Some(None),
                        (true, From::Constant(bits)) => Some(Some(bits)),
                        (true, From::Own(other)) => Some(before?[other]),
                        (true, From::Other) => None,
                    });
                    each.collect()
                };
                match on(None) {
                    Some(case) => drop(more.insert(case)),
                    None => more.extend(all.iter().filter_map(|before| on(Some(before)))),
                }
            }
            if more == all {
                break;
            }
            all = more;
            if all.len() > MAX_CASES {
                return None;
            }
        }
        Some(Cases { of, all })
    }

    /// Those that may be where a block runs.
    fn left(
        self,
        func: &Function,
        cfg: &Cfg,
        dominators: &Dominators,
        block: Block,
    ) -> BTreeSet<Vec<Option<u64>>> {
        let Cases { of, mut all } = self;
        let mut at = block;
        while at != of
            && let Some(before) = dominators.immediate(at)
        {
            // The only way to it is one of the branch.
            if let (Some((asked, then, other)), [_]) = (branch(func, before), cfg.predecessors(at))
                && asked.of == of
                && (then.block == at || other.block == at)
            {
                let holds = then.block == at;
                all.retain(|case| asked.is_unknown(case) || asked.holds(case) == holds);
            }
            at = before;
        }
        all
    }
}
