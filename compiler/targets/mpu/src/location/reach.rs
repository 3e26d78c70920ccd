//! Which accesses a near-bank unit is expected to do whole (paper, section IV-B2): the threads of a warp
//! access consecutive elements that fill the words of its banks side by side. Of all others the
//! load-store unit asks for each word, gathers what is loaded and sends what is stored where it is
//! itself, far.

use cranelift_entity::{PrimaryMap, SecondaryMap};
use nbcc_analysis::{PostDominators, Strides, parted_blocks};
use nbcc_ir::{Cfg, Function, Value};
use nbcc_isa_mpu::Machine;
use nbcc_isa_simt::operands::Space;
use nbcc_isa_simt::{Inst, LANES};
use nbcc_mach::{Block, InstData, VReg};

use super::budget::block_bound;

/// What is known of the accesses of a kernel.
pub struct Reach {
    strides: Strides,
    /// Blocks where threads of warps are expected to be missing.
    parted: SecondaryMap<Block, bool>,
    /// Bytes that lie side by side in the banks of a unit.
    row: u32,
    /// Warps have threads for all their lanes.
    full: bool,
    /// They are all in one row of their block.
    straight: bool,
}

impl Reach {
    /// What is known of those of a kernel: its IR, the block of it that each of its blocks is of.
    pub fn new(
        ir: &Function,
        blocks: &PrimaryMap<Block, Option<nbcc_ir::Block>>,
        machine: &Machine,
    ) -> Reach {
        let strides = Strides::new(ir, &Cfg::new(ir), LANES as u32);
        let found = parted_blocks(ir, &PostDominators::new(ir), &strides);
        let mut parted = SecondaryMap::new();
        for (block, of) in blocks {
            parted[block] = of.is_some_and(|of| found[of]);
        }
        let kernel = ir.kernel.clone().unwrap_or_default();
        let width = kernel.required_threads.or(kernel.max_threads).map(|[x, ..]| x);
        let at_least = |threads: Option<u32>| threads.is_none_or(|threads| threads >= LANES as u32);
        Reach {
            strides,
            parted,
            row: machine.hierarchy.banks * machine.memory.bank_io_bytes,
            full: at_least(block_bound(&kernel)),
            straight: at_least(width),
        }
    }

    /// Whether an access is expected to be done whole. So is one of which nothing is known: values
    /// are loaded to the near side in either case.
    pub fn is_whole(&self, block: Block, data: &InstData<Inst<VReg>>) -> bool {
        let Some(access) = data.accesses.first() else { return true };
        let Some(address) = &access.address else { return true };
        let stride = address.terms.iter().try_fold(0u32, |sum, &(value, factor)| {
            let stride = self.strides.get(Value::from_u32(value))? as u32;
            Some(sum.wrapping_add(stride.wrapping_mul(factor)))
        });
        // Equal addresses in the local memories of threads lie side by side.
        let local = data.inst.op.space() == Some(Space::Local);
        let in_order = match local {
            true => stride == Some(0) && self.full,
            false => stride == Some(access.bytes) && self.straight,
        };
        in_order && !self.parted[block] && access.bytes.checked_mul(LANES as u32) == Some(self.row)
    }
}
