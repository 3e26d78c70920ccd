//! Conservative coalescing: the two sides of a copy become one register where they do not
//! interfere and the merged one has fewer neighbours of significant degree than would keep it from
//! being coloured (Briggs, Cooper, Torczon, TOPLAS 1994, section 4).

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use nbcc_isa::Instruction;

use super::graph::Seen;
use super::{File, Graph};
use crate::{Function, VReg};

/// Registers with more neighbours than this are left alone, to bound the work.
const MANY: usize = 4096;

struct Merged {
    into: SecondaryMap<VReg, PackedOption<VReg>>,
}

impl Merged {
    fn find(&mut self, vreg: VReg) -> VReg {
        let mut end = vreg;
        while let Some(next) = self.into[end].expand() {
            end = next;
        }
        let mut at = vreg;
        while let Some(next) = self.into[at].expand() {
            self.into[at] = end.into();
            at = next;
        }
        end
    }
}

/// Merges what can be, rewrites the function, and removes copies of a register to itself. How many
/// went away.
pub fn coalesce<I: Instruction<Reg = VReg>>(
    func: &mut Function<I>,
    file: &File<I::Class>,
    graph: &mut Graph,
    copy: impl Fn(&I) -> Option<(VReg, VReg)>,
) -> u32
where
    I::Class: Copy + PartialEq,
{
    let mut copies: Vec<(u32, VReg, VReg)> = Vec::new();
    for data in func.blocks.values() {
        for inst in &data.insts {
            let Some((to, from)) = copy(&inst.inst) else { continue };
            if file.width(func.vregs[to].class).is_some() {
                copies.push((data.loop_depth, to, from));
            }
        }
    }
    copies.sort_by_key(|(depth, ..)| std::cmp::Reverse(*depth));
    let mut merged = Merged { into: SecondaryMap::new() };
    let mut seen: SecondaryMap<VReg, u32> = SecondaryMap::new();
    let mut any = false;
    for (stamp, (_, to, from)) in (1..).zip(copies) {
        let (a, b) = (merged.find(to), merged.find(from));
        let (na, nb) = (graph.neighbours[a].len(), graph.neighbours[b].len());
        if a == b || na > MANY || nb > MANY || func.vregs[a].class != func.vregs[b].class {
            continue;
        }
        let (mut interferes, mut significant) = (false, 0);
        let entries = u32::from(file.entries);
        for (own, other) in [(a, b), (b, a)] {
            for at in 0..graph.neighbours[own].len() {
                let n = merged.find(graph.neighbours[own][at]);
                interferes |= n == other;
                if std::mem::replace(&mut seen[n], stamp) != stamp
                    && 2 * graph.neighbours[n].len() as u32 >= entries
                {
                    significant += u32::from(graph.width[n].max(graph.width[a]));
                }
            }
        }
        if interferes || significant + u32::from(graph.width[a]) > entries {
            continue;
        }
        // The longer list is kept.
        let (keep, gone) = if na >= nb { (a, b) } else { (b, a) };
        let list = std::mem::take(&mut graph.neighbours[gone]);
        graph.neighbours[keep].extend(list);
        graph.cost[keep] += graph.cost[gone];
        merged.into[gone] = keep.into();
        any = true;
    }
    if !any {
        return 0;
    }
    let mut removed = 0;
    for data in func.blocks.values_mut() {
        for inst in &mut data.insts {
            inst.inst.for_each_operand_mut(|operand| *operand.reg = merged.find(*operand.reg));
        }
        let before = data.insts.len();
        data.insts.retain(|inst| copy(&inst.inst).is_none_or(|(to, from)| to != from));
        removed += (before - data.insts.len()) as u32;
    }
    graph.nodes.retain(|&node| merged.into[node].is_none());
    let mut seen = Seen::default();
    let nodes = graph.nodes.clone();
    for node in nodes {
        let mut list = std::mem::take(&mut graph.neighbours[node]);
        for other in &mut list {
            *other = merged.find(*other);
        }
        seen.keep_first(&mut list);
        graph.neighbours[node] = list;
    }
    removed
}
