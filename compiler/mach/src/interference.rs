//! The interference graph of one register class: two registers that must not share an entry.

use cranelift_entity::SecondaryMap;
use nbcc_isa::Instruction;

use crate::liveness::{Liveness, step};
use crate::{Function, VReg};

/// Neighbours of every register of the class, sorted, without doubles; and the cost of keeping
/// each in memory instead: accesses weighted by ten for every loop around them.
#[derive(Clone, Debug)]
pub struct Interference {
    /// Sorted neighbours.
    pub neighbours: SecondaryMap<VReg, Vec<VReg>>,
    /// Weighted accesses.
    pub cost: SecondaryMap<VReg, f64>,
}

impl Interference {
    /// Whether two registers must not share an entry.
    pub fn interferes(&self, a: VReg, b: VReg) -> bool {
        self.neighbours[a].binary_search(&b).is_ok()
    }
}

/// Builds the graph of `class`. A definition interferes with everything live after it, also when
/// the defined register itself is never read.
pub fn interference<I: Instruction<Reg = VReg>>(
    func: &Function<I>,
    class: I::Class,
    liveness: &Liveness,
) -> Interference {
    let mut edges: Vec<(VReg, VReg)> = Vec::new();
    let mut cost: SecondaryMap<VReg, f64> = SecondaryMap::new();
    let ours = |v: VReg| func.vregs[v].class == class && func.vregs[v].fixed.is_none();
    for (block, data) in func.blocks.iter() {
        let weight = 10f64.powi(data.loop_depth.min(8) as i32);
        let mut live = liveness.live_out[block].clone();
        for inst in data.insts.iter().rev() {
            let (uses, defs) = Function::uses_and_defs(&inst.inst);
            for &v in uses.iter().chain(&defs) {
                cost[v] += weight;
            }
            for &def in defs.iter().filter(|&&d| ours(d)) {
                for other in live.iter().filter(|&o| o != def && ours(o)) {
                    edges.push((def, other));
                    edges.push((other, def));
                }
            }
            step(func, &mut live, &inst.inst);
        }
    }
    edges.sort_unstable();
    edges.dedup();
    let mut neighbours: SecondaryMap<VReg, Vec<VReg>> = SecondaryMap::new();
    for (a, b) in edges {
        neighbours[a].push(b);
    }
    Interference { neighbours, cost }
}
