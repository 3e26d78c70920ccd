//! What iPIM adds to the shared IR: engine ids, the scratchpads, remote requests.
//!
//! Addresses are byte addresses, `i32`. Operations that run on engines carry the engine mask as
//! their last constant. The first group is in the IR from the start; the second takes the place of
//! loads and stores of memory objects when addresses are made explicit (`passes/addresses.rs`); its
//! operations may name the objects that they reach, one for each address.

use nbcc_ir::{BinaryOp, Builder, Effect, IntrinsicCall, Mem, MemData, Op, Space, Type, Value};
use nbcc_isa_ipim::Machine;

/// The engine's number in its group; differs between engines.
pub const PE: &str = "ipim.pe";
/// The group's number in its vault; differs between engines.
pub const PG: &str = "ipim.pg";
/// The vault's number in its cube; the same in a vault.
pub const VAULT: &str = "ipim.vault";
/// The cube's number; the same in a vault.
pub const CHIP: &str = "ipim.chip";
/// Column of the vault in the mesh of all vaults of all cubes; the same in a vault, and known to
/// the control core only.
pub const VAULT_COLUMN: &str = "ipim.vault_column";
/// Row of the vault in that mesh.
pub const VAULT_ROW: &str = "ipim.vault_row";
/// The byte address of the bank object `mems[0]`; the same in all engines.
pub const BASE: &str = "ipim.base";
/// An argument of a kernel that is called several times: the byte address of a bank object, a
/// multiple of 16. Constants: its number.
pub const ARG: &str = "ipim.arg";
/// A merged constant parameter of a kernel that stands for several: an integer that the control core
/// has in a register, and engines in every lane of an atom of their banks; vectors and floats
/// engines only. Constants: which.
pub const PASSED: &str = "ipim.passed";
/// A scalar parameter in every lane: constants are its number and the lanes.
pub const PARAM: &str = "ipim.param";
/// `(integer)`: the same, with a value range: two constants, both included, in every lane that holds
/// a point.
pub const RANGE: &str = "ipim.range";
/// `(integer)`: the same, which may be any in lanes that hold no point, whatever is known of what
/// it is computed from.
pub const ANY: &str = "ipim.any";

/// 16 bytes at a fixed address of the engine's bank that never change while a program runs.
/// Constants: address.
pub const LD_CONST: &str = "ipim.ld_const";

/// `(subscripts of mems[0]..., subscripts of mems[1]...)`: copies four elements from a bank object
/// to a scratchpad object. Constants: mask.
pub const STAGE: &str = "ipim.stage";
/// `(chip, vault, pg, pe, bank address, vault scratchpad address)`: 16 bytes from any bank.
pub const REQ: &str = "ipim.req";

/// `(address)`: 16 bytes of the engine's bank, at a multiple of 16. Constants: mask.
pub const LD_RF: &str = "ipim.ld_rf";
/// `(address, value)`. Constants: mask.
pub const ST_RF: &str = "ipim.st_rf";
/// `(bank address, group scratchpad address)`: bank to scratchpad. Constants: mask.
pub const LD_PGSM: &str = "ipim.ld_pgsm";
/// `(bank address, group scratchpad address)`: scratchpad to bank. Constants: mask.
pub const ST_PGSM: &str = "ipim.st_pgsm";
/// `(address)`: 16 bytes of the group's scratchpad, at a multiple of 4. Constants: mask.
pub const RD_PGSM: &str = "ipim.rd_pgsm";
/// `(address, value)`. Constants: mask.
pub const WR_PGSM: &str = "ipim.wr_pgsm";
/// `(address)`: 16 bytes of the vault's scratchpad, at a multiple of 4. Constants: mask.
pub const RD_VSM: &str = "ipim.rd_vsm";
/// `(address, value)`. Constants: mask.
pub const WR_VSM: &str = "ipim.wr_vsm";

/// Every name, for the parser of the IR's text form.
pub const ALL: &[&str] = &[
    PE,
    PG,
    VAULT,
    CHIP,
    VAULT_COLUMN,
    VAULT_ROW,
    BASE,
    ARG,
    PASSED,
    PARAM,
    RANGE,
    ANY,
    LD_CONST,
    STAGE,
    REQ,
    LD_RF,
    ST_RF,
    LD_PGSM,
    ST_PGSM,
    RD_PGSM,
    WR_PGSM,
    RD_VSM,
    WR_VSM,
];

/// Which IR space stands for which memory: a bank, the group's and the vault's scratchpad.
pub const BANK: Space = Space::Local;
/// The group's scratchpad.
pub const PGSM: Space = Space::Shared;
/// The vault's scratchpad.
pub const VSM: Space = Space::Global;

/// Appends an intrinsic.
pub fn call(
    b: &mut Builder<'_>,
    name: &'static str,
    effect: Effect,
    args: Vec<Value>,
    imms: Vec<i64>,
    result: Option<Type>,
) -> Option<Value> {
    call_of(b, name, effect, args, vec![], imms, result)
}

/// Appends an intrinsic that reaches these objects and no other: one of each memory that it
/// accesses, in the order of its addresses.
pub fn call_of(
    b: &mut Builder<'_>,
    name: &'static str,
    effect: Effect,
    args: Vec<Value>,
    mems: Vec<Mem>,
    imms: Vec<i64>,
    result: Option<Type>,
) -> Option<Value> {
    b.op(Op::Intrinsic(IntrinsicCall { name, effect, args, mems, imms, result }))
}

/// An engine or vault id.
pub fn id(b: &mut Builder<'_>, name: &'static str) -> Value {
    call(b, name, Effect::Pure, vec![], vec![], Some(Type::I32)).expect("ids have a result")
}

/// Where a bank object lies.
pub fn base(b: &mut Builder<'_>, mem: Mem) -> Value {
    b.value(Op::Intrinsic(IntrinsicCall {
        name: BASE,
        effect: Effect::Pure,
        args: vec![],
        mems: vec![mem],
        imms: vec![],
        result: Some(Type::I32),
    }))
}

/// A read through one of the `LD_`/`RD_` operations of this many lanes.
pub fn read(b: &mut Builder<'_>, name: &'static str, address: Value, mask: u32, ty: Type) -> Value {
    call(b, name, Effect::Read, vec![address], vec![i64::from(mask)], Some(ty))
        .expect("reads have a result")
}

/// A write through one of the `ST_`/`WR_` operations.
pub fn write(b: &mut Builder<'_>, name: &'static str, address: Value, value: Value, mask: u32) {
    call(b, name, Effect::Write, vec![address, value], vec![i64::from(mask)], None);
}

/// Copies four elements from a bank object to a scratchpad object.
pub fn stage(
    b: &mut Builder<'_>,
    (from, at): (Mem, &[Value]),
    (to, there): (Mem, &[Value]),
    mask: u32,
) {
    let args = at.iter().chain(there).copied().collect();
    b.op(Op::Intrinsic(IntrinsicCall {
        name: STAGE,
        effect: Effect::Write,
        args,
        mems: vec![from, to],
        imms: vec![i64::from(mask)],
        result: None,
    }));
}

/// A subscript that data decides, brought to `last` or less: lanes that hold no point may have any.
pub fn at_most(b: &mut Builder<'_>, subscript: Value, last: Value) -> Value {
    let ty = b.func.ty(subscript);
    let any = call(b, ANY, Effect::Pure, vec![subscript], vec![], Some(ty));
    b.binary(BinaryOp::Umin, any.expect("integers have a value"), last)
}

/// The least and the greatest number that an engine, a group, a vault or a cube has, by the name of
/// what gives it.
pub fn id_range(machine: &Machine, name: &str) -> Option<(i64, i64)> {
    let hierarchy = &machine.hierarchy;
    let (cubes, vaults) = (machine.cube_mesh(), machine.vault_mesh());
    let count = match name {
        PE => hierarchy.pes,
        PG => hierarchy.pgs,
        VAULT => hierarchy.vaults,
        CHIP => hierarchy.cubes,
        VAULT_COLUMN => cubes[0] * vaults[0],
        VAULT_ROW => cubes[1] * vaults[1],
        _ => return None,
    };
    Some((0, i64::from(count) - 1))
}

/// Elements of an object along each dimension, the fastest first: a plan fixes those of all buffers.
pub fn extents(object: &MemData) -> Vec<u32> {
    object.fixed_extents().expect("a plan fixes extents")
}
