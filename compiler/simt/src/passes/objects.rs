//! Places for the shared and local objects of a kernel: their addresses become constants. Dynamic
//! shared memory begins behind the static one, where the machine puts it.

use std::collections::BTreeMap;

use nbcc_ir::{Constant, Function, Module, Object, Op, SimtOp, Space, Type};

/// What a kernel takes of the memories of a block and a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Bytes of static shared memory, a multiple of 16.
    pub shared_bytes: u64,
    /// Bytes of local memory of a thread.
    pub local_bytes: u64,
}

/// Places the objects that a kernel without calls uses.
pub fn run(module: &mut Module, id: nbcc_ir::Func) -> Frame {
    let mut frame = Frame::default();
    let mut addresses: BTreeMap<Object, u64> = BTreeMap::new();
    let used = used_objects(&module.functions[id]);
    for &object in &used {
        let data = &module.objects[object];
        let size = match data.space {
            Space::Shared if !data.dynamic => &mut frame.shared_bytes,
            Space::Local => &mut frame.local_bytes,
            _ => continue,
        };
        let address = size.next_multiple_of(data.align.into());
        addresses.insert(object, address);
        *size = address.saturating_add(data.size);
    }
    let dynamic = |object: &&Object| module.objects[**object].dynamic;
    let align = used.iter().filter(dynamic).map(|&object| module.objects[object].align).max();
    let align = u64::from(align.unwrap_or(1)).max(16);
    frame.shared_bytes = frame.shared_bytes.checked_next_multiple_of(align).unwrap_or(u64::MAX);
    for &object in used.iter().filter(dynamic) {
        addresses.insert(object, frame.shared_bytes);
    }
    let func = &mut module.functions[id];
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let op = &mut func.insts[inst].op;
            if let Op::Simt(SimtOp::Address(object), _) = op
                && let Some(&address) = addresses.get(object)
            {
                *op = Op::Const(Type::I64, Constant::Splat(address));
            }
        }
    }
    frame
}

/// The objects whose address a function takes, in order.
fn used_objects(func: &Function) -> Vec<Object> {
    let mut found = Vec::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            if let Op::Simt(SimtOp::Address(object), _) = func.insts[inst].op {
                found.push(object);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
