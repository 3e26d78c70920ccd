//! What all of lowering shares: the plan and machine, and kernels under construction.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use nbcc_ir::{Builder, ExecutionModel, Function, Mem, MemData, Scalar, Type};
use nbcc_isa_ipim::Machine;
use nbcc_isa_ipim::layout::{Element, Layout, Tiled};
use nbcc_stages::bounds::Interval;

use crate::intrinsics::{BANK, PGSM};
use crate::kernel::{Kernel, Size};
use crate::plan::{BufferId, Jam, Plan, groups_in_use};

/// What lowering a plan needs and hands out.
pub(crate) struct Lowering<'a> {
    pub plan: &'a Plan,
    pub machine: &'a Machine,
    pub size: Size,
    /// Steps, by their numbers, of which vectors are computed together.
    pub jammed: &'a BTreeMap<usize, Jam>,
    /// Atoms that an exchange moves together.
    pub batch: u32,
    /// The next barrier's number.
    pub(super) phase: u32,
    pub(super) used: u32,
}

impl Lowering<'_> {
    /// The number of the next barrier.
    pub fn next_phase(&mut self) -> u32 {
        self.phase += 1;
        self.phase - 1
    }

    /// Whether more than one vault works, so that barriers are needed.
    pub fn several_vaults(&self) -> bool {
        self.machine.hierarchy.cubes * self.machine.hierarchy.vaults > 1
    }

    /// A builder at the entry of a kernel's function. Where kernels are to be merged, all that
    /// differ in constants only are to have the same instructions.
    pub fn builder<'f>(&self, func: &'f mut Function) -> Builder<'f> {
        let entry = func.entry();
        let mut b = Builder::at(func, entry);
        b.keep_identities(self.size >= Size::Merged);
        b
    }

    /// The engines of a vault that have tiles which reach `reach` behind a region, or all where kernels
    /// are to be merged.
    pub fn mask_of(&self, tiled: &Tiled, region: &[Interval], reach: [u32; 2]) -> u32 {
        if self.size >= Size::Merged {
            return self.full_mask();
        }
        let [columns, rows] = groups_in_use(tiled, region, reach);
        let engines = self.machine.hierarchy.pes;
        let of_group = ((1u64 << engines) - 1) as u32;
        let groups = (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y)));
        groups.fold(0, |mask, (x, y)| mask | of_group << ((y * tiled.grid.groups[0] + x) * engines))
    }

    /// All engines of a vault.
    pub fn full_mask(&self) -> u32 {
        self.machine.full_mask()
    }
}

/// A kernel under construction: the function and the memory objects of buffers in it.
pub(crate) struct KernelCx {
    pub func: Function,
    pub mem_base: SecondaryMap<Mem, u32>,
    beside: SecondaryMap<Mem, u32>,
    /// The barrier before it.
    pub sync: Option<u32>,
    buffers: BTreeMap<BufferId, Mem>,
}

impl KernelCx {
    pub fn new(cx: &mut Lowering<'_>, name: &str) -> KernelCx {
        cx.used += 1;
        KernelCx {
            func: Function::new(name, ExecutionModel::Engines),
            mem_base: SecondaryMap::new(),
            beside: SecondaryMap::new(),
            sync: None,
            buffers: BTreeMap::new(),
        }
    }

    /// The memory object of a buffer. Tiled: `[x in tile, row, column, inner...]`; whole: rows
    /// padded to atoms, then the other dimensions.
    pub fn buffer(&mut self, plan: &Plan, id: BufferId) -> Mem {
        if let Some(&mem) = self.buffers.get(&id) {
            return mem;
        }
        let buffer = &plan.buffers[id];
        let extents = match &buffer.layout {
            Layout::Tiled(tiled) => {
                let mut extents = vec![tiled.pitch(), tiled.height(), tiled.columns()];
                extents.extend(buffer.inner_extents());
                extents
            }
            Layout::Single { .. } | Layout::Replicated => {
                let mut extents: Vec<u32> = buffer.region.iter().map(|i| i.extent()).collect();
                if extents.is_empty() {
                    extents.push(1);
                }
                extents[0] = extents[0].next_multiple_of(nbcc_isa_ipim::LANES as u32);
                extents
            }
        };
        let element = scalar(buffer.element);
        let name = buffer.name.replace('.', "_");
        let mem = self.func.mems.push(MemData::new(name, element, &extents, BANK));
        self.mem_base[mem] = buffer.base;
        if let Layout::Tiled(tiled) = &buffer.layout {
            self.beside[mem] = tiled.beside * nbcc_isa_ipim::ELEMENT_BYTES;
        }
        self.buffers.insert(id, mem);
        mem
    }

    /// A memory object in the group's scratchpad.
    pub fn pgsm(&mut self, name: &str, element: Element, extents: Vec<u32>, base: u32) -> Mem {
        let data = MemData::new(name, scalar(element), &extents, PGSM);
        let mem = self.func.mems.push(data);
        self.mem_base[mem] = base;
        mem
    }

    pub fn finish(self, mask: u32) -> Kernel {
        let KernelCx { func, mem_base, beside, sync, .. } = self;
        let (objects, neighbours) = Default::default();
        let (args, step, place, scratch) = (None, 0, None, vec![]);
        Kernel {
            func,
            mem_base,
            mask,
            sync,
            args,
            step,
            place,
            scratch,
            beside,
            objects,
            neighbours,
        }
    }
}

/// A vector of words of such elements.
pub(super) fn vector(element: Element) -> Type {
    Type { scalar: scalar(element), lanes: nbcc_isa_ipim::LANES as u8 }
}

pub(super) fn scalar(element: Element) -> Scalar {
    if element == Element::F32 { Scalar::F32 } else { Scalar::I32 }
}
