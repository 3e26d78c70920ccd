//! Where accesses to memory come from: which object, at which address as a sum of values, each of
//! which is one while a block runs once. Instructions carry it (`nbcc_mach::MemoryAccess`), so that a
//! scheduler knows which of them may pass each other.
//!
//! An address that is made from that of one object reaches that object only, as in the languages
//! that PTX is made of. A pointer that comes from elsewhere, a parameter say, may point into any
//! object. Other threads do not change what weak accesses reach unless something that stays in its
//! place orders them (PTX's memory model; `dependence.rs`), so addresses tell weak accesses of
//! a thread apart.

use cranelift_entity::SecondaryMap;
use nbcc_analysis::sum::sum_of;
use nbcc_ir::{Function, Inst, Module, Object, Op, Ordering, SimtOp, Space, Type, Value};
use nbcc_isa_simt::{LOCAL_WINDOW, Memory, PARAM_WINDOW, SHARED_WINDOW};
use nbcc_mach::{AffineAddress, MemoryAccess};

use super::space::space;

/// The number of what spilled values are kept in, behind those of objects.
const SLOTS: u32 = u32::MAX;

/// The most operations that an address is looked through.
const BUDGET: u32 = 16;

/// The object of each access, where one is known.
pub type Origins = SecondaryMap<Inst, Option<Object>>;

/// An access of an instruction of the IR.
struct Access {
    space: Space,
    address: Value,
    offset: i64,
    bytes: u32,
}

fn bytes(ty: Type) -> u32 {
    u32::from(ty.lanes) * ty.scalar.bytes()
}

/// The access of an instruction, if it has one that orders no others.
fn access(func: &Function, inst: Inst) -> Option<Access> {
    let plain =
        |space, address, offset, ty| Some(Access { space, address, offset, bytes: bytes(ty) });
    match &func.insts[inst].op {
        Op::LoadRaw(ty, space, address, offset) => plain(*space, *address, *offset, *ty),
        Op::StoreRaw(space, address, offset, value) => {
            plain(*space, *address, *offset, func.ty(*value))
        }
        Op::Simt(SimtOp::Load(access) | SimtOp::Store(access), args)
            if access.ordering == Ordering::Weak =>
        {
            plain(access.space, args[0], access.offset, access.ty)
        }
        _ => None,
    }
}

/// Windows do not show in the low bits of generic addresses.
const _: () = assert!((SHARED_WINDOW | LOCAL_WINDOW | PARAM_WINDOW) as u32 == 0);

fn same(op: &Op) -> Option<Value> {
    match op {
        Op::Simt(SimtOp::ToGeneric(_) | SimtOp::FromGeneric(_), args) => Some(args[0]),
        _ => None,
    }
}

/// The objects that the accesses of a kernel reach; to be found before they have places, which are
/// constants like others.
pub fn origins(module: &Module, func: &Function) -> Origins {
    let mut origins = Origins::new();
    let insts = || func.layout.iter().flat_map(|&block| &func.blocks[block].insts);
    let takes = |&inst: &Inst| matches!(func.insts[inst].op, Op::Simt(SimtOp::Address(_), _));
    if !insts().any(takes) {
        return origins;
    }
    for &inst in insts() {
        let Some(access) = access(func, inst) else { continue };
        let sum = sum_of(func, access.address, BUDGET, same);
        let mut found = sum.terms.iter().filter_map(|&(value, factor)| match func.def_op(value) {
            Some(&Op::Simt(SimtOp::Address(object), _)) => Some((object, factor)),
            _ => None,
        });
        if let (Some((object, 1)), None) = (found.next(), found.next()) {
            origins[inst] = Some(representative(module, object));
        }
    }
    origins
}

/// Dynamic objects of a space begin at one address: they are one.
fn representative(module: &Module, object: Object) -> Object {
    let data = &module.objects[object];
    let mut all = module.objects.iter();
    let first = all.find(|(_, other)| other.dynamic && other.space == data.space);
    if data.dynamic { first.map_or(object, |(first, _)| first) } else { object }
}

/// What is known of the accesses of an instruction of the IR: one of each memory that it may reach.
/// None where it orders others.
pub fn accesses(func: &Function, origins: &Origins, inst: Inst) -> Vec<MemoryAccess<Memory>> {
    let Some(access) = access(func, inst) else { return vec![] };
    let sum = sum_of(func, access.address, BUDGET, same);
    let terms = sum.terms.iter().map(|&(value, factor)| (value.as_u32(), factor));
    let constant = sum.constant.wrapping_add(access.offset as u32);
    let address = AffineAddress::new(terms, constant);
    let reached = space(access.space).memories().iter();
    let known = |&memory| MemoryAccess {
        memory,
        object: origins[inst].map(Object::as_u32),
        rows: None,
        address: Some(address.clone()),
        bytes: access.bytes,
    };
    reached.map(known).collect()
}

/// What is known of an access to where a spilled value is kept.
pub fn slot(address: u32, bytes: u32) -> MemoryAccess<Memory> {
    let address = Some(AffineAddress::constant(address));
    MemoryAccess { memory: Memory::Local, object: Some(SLOTS), rows: None, address, bytes }
}
