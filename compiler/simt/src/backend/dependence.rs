//! Which instructions of a block must stay in order: `nbcc_mach::dependence` on what a thread's
//! instructions are.

use nbcc_isa::Instruction;
use nbcc_isa_simt::operands::Order;
use nbcc_isa_simt::{Inst, Unit};
use nbcc_mach::dependence::DependenceGraph;
use nbcc_mach::{Block, VReg};

use super::select::MachFunction;

/// The dependence graph of a block over virtual registers.
pub fn graph(func: &MachFunction, block: Block) -> DependenceGraph {
    let unit = |vreg: VReg| vreg.as_u32()..vreg.as_u32() + 1;
    DependenceGraph::new(&func.blocks[block].insts, unit, is_fixed)
}

/// Whether nothing moves over an instruction: it ends the block, orders what threads see of each
/// other's accesses, needs lanes together, calls the host, or looks at a clock.
pub fn is_fixed(inst: &Inst<VReg>) -> bool {
    match inst.op.unit() {
        Unit::Control | Unit::Sync | Unit::Lanes | Unit::Host => true,
        Unit::Lsu => inst.op.order() != Some(Order::Weak),
        Unit::Alu | Unit::Sfu => inst.op.reads_clock(),
    }
}
