//! How large the blocks of kernels get, and how many there are of them, as far as their launches are known
//! when they are compiled.

use nbcc_ir::Module;

use crate::kinds::grids::GridLaunch;

/// Says of kernels how many blocks their largest launch has, and bounds the blocks of those whose source
/// does not, by the largest that any launch asks for: a kernel whose blocks are small or few may take
/// registers that would not be there for the largest blocks of all. Kernels that nothing launches stay as
/// they are.
pub fn bound_blocks(module: &mut Module, launches: &[GridLaunch]) {
    for function in module.functions.values_mut() {
        let of_kernel = || launches.iter().filter(|launch| launch.kernel == function.name);
        let threads = of_kernel().map(|launch| launch.block.iter().product::<u32>()).max();
        let blocks = |launch: &GridLaunch| launch.grid.iter().copied().map(u64::from).product();
        let blocks: Option<u64> = of_kernel().map(blocks).max();
        let Some(kernel) = &mut function.kernel else { continue };
        kernel.grid_blocks = blocks.filter(|&blocks| blocks > 0);
        if kernel.max_threads.or(kernel.required_threads).is_none() {
            kernel.max_threads = threads.map(|threads| [threads, 1, 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use nbcc_base::{Diagnostics, SourceId};

    use super::*;
    use crate::kinds::grids::Repeat;

    const KERNELS: &str = "\
define grid @free() {
  kernel
block0:
  return
}

define grid @bounded() {
  kernel max(256, 1, 1)
block0:
  return
}

define grid @still() {
  kernel
block0:
  return
}
";

    fn launch(kernel: &str, grid: [u32; 3], block: [u32; 3]) -> GridLaunch {
        let repeat = Repeat { times: 1, until: None };
        let args = vec![];
        let (kernel, dynamic_shared_bytes) = (kernel.into(), 0);
        let (at, until_at) = (None, None);
        GridLaunch { kernel, grid, block, dynamic_shared_bytes, args, repeat, at, until_at }
    }

    #[test]
    fn blocks_are_bounded_by_the_largest_launch_where_the_source_has_no_bound() {
        let mut module =
            nbcc_ir::parse_module(SourceId(0), KERNELS, &[], &mut Diagnostics::default())
                .expect("it parses");
        let launches = [
            launch("free", [1; 3], [32, 2, 1]),
            launch("free", [7, 3, 1], [16, 1, 1]),
            launch("bounded", [u32::MAX, 2, 1], [8, 1, 1]),
        ];
        bound_blocks(&mut module, &launches);
        let bound = |function: &nbcc_ir::Function| function.kernel.as_ref()?.max_threads;
        let bounds: Vec<_> = module.functions.values().map(bound).collect();
        assert_eq!(bounds, [Some([64, 1, 1]), Some([256, 1, 1]), None]);
        let blocks = |function: &nbcc_ir::Function| function.kernel.as_ref()?.grid_blocks;
        let blocks: Vec<_> = module.functions.values().map(blocks).collect();
        assert_eq!(blocks, [Some(21), Some(2 * u64::from(u32::MAX)), None]);
    }
}
