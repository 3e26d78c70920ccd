//! Loads, stores and atomic operations of a warp: each lane has an address of its own in one of
//! the spaces, or a generic one that names its space by the window it lies in.

use crate::atomic::{self, Operation, Type};
use crate::format::Format;
use crate::memory::AccessError;
use crate::sparse::Sparse;
use crate::{LANES, Mask, Words, lanes_of};
use nbcc_isa_simt::operands::{AtomOp, AtomType, AtomWideType, Space};
use nbcc_isa_simt::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_BYTES};

use crate::machine::ahead::Change;
use crate::machine::fault::FaultKind;
use crate::machine::view::View;
use crate::machine::warp::{ALL, Wides, local_stride};

/// The memories that a warp sees.
pub struct Spaces<'a> {
    /// That of the machine.
    pub memory: View<'a>,
    /// That of the block.
    pub shared: &'a mut [u8],
    /// Those of the threads, one after another.
    pub local: &'a mut Sparse,
    /// The bytes of one thread there.
    pub local_bytes: u32,
    /// The kernel's parameters.
    pub params: &'a [u8],
    /// The allocation that was used last.
    pub near: &'a mut usize,
}

/// What a lane moves: `count` units of `unit` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// 1, 2 or 4 bytes.
    pub unit: usize,
    /// Units.
    pub count: usize,
    /// Whether loaded units are sign-extended.
    pub signed: bool,
}

impl Shape {
    fn bytes(self) -> usize {
        self.unit * self.count
    }
}

/// A fault, and the lane that met it.
pub type LaneFault = (usize, FaultKind);

/// The space of a generic address, and the address in it.
pub fn resolve(address: u64) -> (Space, u64) {
    for (window, space) in
        [(SHARED_WINDOW, Space::Shared), (LOCAL_WINDOW, Space::Local), (PARAM_WINDOW, Space::Param)]
    {
        let offset = address.wrapping_sub(window);
        if offset < WINDOW_BYTES {
            return (space, offset);
        }
    }
    (Space::Global, address)
}

/// The space in which a model of time takes an access to be, with the addresses there: generic addresses
/// are all in the space of the first lane.
pub fn resolve_all(space: Space, lanes: Mask, addresses: [u64; LANES]) -> (Space, [u64; LANES]) {
    if space != Space::Generic {
        return (space, addresses);
    }
    let (seen, _) = resolve(addresses[lanes.trailing_zeros() as usize % LANES]);
    match seen {
        Space::Global => (seen, addresses),
        _ => (seen, addresses.map(|address| resolve(address).1)),
    }
}

/// The generic address of an address of a space.
pub fn to_generic(space: Space, address: u64) -> u64 {
    match space {
        Space::Shared => address.wrapping_add(SHARED_WINDOW),
        Space::Local => address.wrapping_add(LOCAL_WINDOW),
        Space::Param => address.wrapping_add(PARAM_WINDOW),
        Space::Generic | Space::Global | Space::Const => address,
    }
}

/// The address in a space of a generic address.
pub fn from_generic(space: Space, address: u64) -> u64 {
    match space {
        Space::Shared => address.wrapping_sub(SHARED_WINDOW),
        Space::Local => address.wrapping_sub(LOCAL_WINDOW),
        Space::Param => address.wrapping_sub(PARAM_WINDOW),
        Space::Generic | Space::Global | Space::Const => address,
    }
}

fn aligned(address: u64, bytes: usize) -> Result<(), AccessError> {
    if address & (bytes as u64 - 1) == 0 { Ok(()) } else { Err(AccessError::Misaligned) }
}

/// An address in the memory of a block or thread: they have 32 bits, so a sum with an offset wraps.
fn low(address: u64) -> u64 {
    address & u64::from(u32::MAX)
}

fn within(memory: &[u8], address: u64, bytes: usize) -> Result<&[u8], AccessError> {
    let start = usize::try_from(address).map_err(|_| AccessError::OutOfBounds)?;
    let end = start.checked_add(bytes).ok_or(AccessError::OutOfBounds)?;
    memory.get(start..end).ok_or(AccessError::OutOfBounds)
}

fn within_mut(memory: &mut [u8], address: u64, bytes: usize) -> Result<&mut [u8], AccessError> {
    let start = usize::try_from(address).map_err(|_| AccessError::OutOfBounds)?;
    let end = start.checked_add(bytes).ok_or(AccessError::OutOfBounds)?;
    memory.get_mut(start..end).ok_or(AccessError::OutOfBounds)
}

/// Whether lanes access consecutive words.
#[inline(always)]
fn consecutive(addresses: &Wides) -> bool {
    let first = addresses[0];
    let mut same = true;
    for (lane, address) in addresses.iter().enumerate() {
        same &= address.wrapping_sub(first) == lane as u64 * 4;
    }
    same
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().expect("four bytes"))
}

/// Loads a word a lane; lanes with the address of the one before get what that got where they are `alike`.
#[inline(always)]
fn words(
    addresses: &Wides,
    mask: Mask,
    alike: bool,
    out: &mut Words,
    mut load: impl FnMut(usize, u64) -> Result<u32, AccessError>,
) -> Result<(), (usize, AccessError)> {
    let mut before = None;
    for lane in lanes_of(mask) {
        let address = addresses[lane];
        if let Some((same, word)) = before
            && same == address
        {
            out[lane] = word;
            continue;
        }
        out[lane] = load(lane, address).map_err(|error| (lane, error))?;
        before = alike.then_some((address, out[lane]));
    }
    Ok(())
}

impl Spaces<'_> {
    /// Where an access of a lane is in the local memories of its warp.
    fn local_place(&self, lane: usize, address: u64, bytes: usize) -> Result<u64, AccessError> {
        let end = address.checked_add(bytes as u64).filter(|&end| end <= self.local_bytes.into());
        end.ok_or(AccessError::OutOfBounds)?;
        Ok(lane as u64 * local_stride(self.local_bytes) + address)
    }

    #[inline(always)]
    fn bytes(
        &mut self,
        space: Space,
        lane: usize,
        address: u64,
        bytes: usize,
    ) -> Result<&[u8], AccessError> {
        let (space, address) =
            if space == Space::Generic { resolve(address) } else { (space, address) };
        aligned(address, bytes)?;
        match space {
            Space::Shared => within(self.shared, low(address), bytes),
            Space::Local => {
                let at = self.local_place(lane, low(address), bytes)?;
                self.local.read(at, bytes).ok_or(AccessError::OutOfBounds)
            }
            Space::Param => within(self.params, low(address), bytes),
            Space::Generic | Space::Global | Space::Const => {
                self.memory.read(address, bytes, self.near)
            }
        }
    }

    #[inline(always)]
    fn bytes_mut(
        &mut self,
        space: Space,
        lane: usize,
        address: u64,
        bytes: usize,
    ) -> Result<&mut [u8], AccessError> {
        let (space, address) =
            if space == Space::Generic { resolve(address) } else { (space, address) };
        aligned(address, bytes)?;
        match space {
            Space::Shared => within_mut(self.shared, low(address), bytes),
            Space::Local => {
                let at = self.local_place(lane, low(address), bytes)?;
                self.local.write(at, bytes).ok_or(AccessError::OutOfBounds)
            }
            Space::Param => Err(AccessError::ReadOnly),
            Space::Generic | Space::Global | Space::Const => {
                self.memory.write(address, bytes, self.near)
            }
        }
    }

    #[cold]
    fn fault(
        &self,
        error: AccessError,
        what: &'static str,
        (space, address, bytes): (Space, u64, usize),
    ) -> FaultKind {
        let (seen, offset) =
            if space == Space::Generic { resolve(address) } else { (space, address) };
        let near = match seen {
            Space::Shared => Some((0, self.shared.len() as u64)),
            Space::Local => Some((0, u64::from(self.local_bytes))),
            Space::Param => Some((0, self.params.len() as u64)),
            Space::Generic | Space::Global | Space::Const => self.memory.nearest(offset),
        };
        FaultKind::Access { error, what, space, address, bytes: bytes as u64, near }
    }

    /// Loads into `out`, a register a unit.
    pub fn load(
        &mut self,
        space: Space,
        shape: Shape,
        addresses: &Wides,
        mask: Mask,
        out: &mut [Words],
    ) -> Result<(), LaneFault> {
        if mask == ALL && shape.unit == 4 && shape.count == 1 && consecutive(addresses) {
            let first = addresses[0];
            let whole = match space {
                Space::Global if first & 3 == 0 => {
                    self.memory.read(first, 4 * LANES, self.near).ok()
                }
                Space::Shared if first & 3 == 0 => within(self.shared, first, 4 * LANES).ok(),
                _ => None,
            };
            if let Some(bytes) = whole {
                for (word, bytes) in out[0].iter_mut().zip(bytes.as_chunks::<4>().0) {
                    *word = u32::from_le_bytes(*bytes);
                }
                return Ok(());
            }
        }
        if shape.unit == 4 && shape.count == 1 {
            let [out] = out else { panic!("a register a unit") };
            let loaded = match space {
                Space::Global | Space::Const => words(addresses, mask, true, out, |_, address| {
                    aligned(address, 4)?;
                    self.memory.read(address, 4, self.near).map(word)
                }),
                Space::Local => words(addresses, mask, false, out, |lane, address| {
                    aligned(address, 4)?;
                    let at = self.local_place(lane, low(address), 4)?;
                    self.local.read(at, 4).map(word).ok_or(AccessError::OutOfBounds)
                }),
                _ => words(addresses, mask, space != Space::Generic, out, |lane, address| {
                    self.bytes(space, lane, address, 4).map(word)
                }),
            };
            return loaded.map_err(|(lane, error)| {
                (lane, self.fault(error, "load", (space, addresses[lane], 4)))
            });
        }
        let total = shape.bytes();
        // Lanes beside each other often want the same; local memory is another one for each.
        let alike = !matches!(space, Space::Local | Space::Generic);
        let mut before = None;
        for lane in lanes_of(mask) {
            let address = addresses[lane];
            if let Some((same, at)) = before
                && same == address
            {
                out.iter_mut().for_each(|word| word[lane] = word[at]);
                continue;
            }
            before = alike.then_some((address, lane));
            let bytes = match self.bytes(space, lane, address, total) {
                Ok(bytes) => bytes,
                Err(error) => {
                    return Err((lane, self.fault(error, "load", (space, address, total))));
                }
            };
            match shape.unit {
                4 => {
                    for (word, bytes) in out.iter_mut().zip(bytes.as_chunks::<4>().0) {
                        word[lane] = u32::from_le_bytes(*bytes);
                    }
                }
                2 => {
                    for (word, bytes) in out.iter_mut().zip(bytes.as_chunks::<2>().0) {
                        let half = u16::from_le_bytes(*bytes);
                        word[lane] = if shape.signed { half as i16 as u32 } else { half.into() };
                    }
                }
                _ => {
                    for (word, byte) in out.iter_mut().zip(bytes) {
                        word[lane] = if shape.signed { *byte as i8 as u32 } else { (*byte).into() };
                    }
                }
            }
        }
        Ok(())
    }

    /// Stores `values`, a register a unit. Of lanes with one address the highest wins.
    pub fn store(
        &mut self,
        space: Space,
        shape: Shape,
        addresses: &Wides,
        mask: Mask,
        values: &[&Words],
    ) -> Result<(), LaneFault> {
        if mask == ALL && shape.unit == 4 && shape.count == 1 && consecutive(addresses) {
            let first = addresses[0];
            let whole = match space {
                Space::Global if first & 3 == 0 => {
                    self.memory.write(first, 4 * LANES, self.near).ok()
                }
                Space::Shared if first & 3 == 0 => within_mut(self.shared, first, 4 * LANES).ok(),
                _ => None,
            };
            if let Some(bytes) = whole {
                for (word, bytes) in values[0].iter().zip(bytes.as_chunks_mut::<4>().0) {
                    *bytes = word.to_le_bytes();
                }
                return Ok(());
            }
        }
        let total = shape.bytes();
        for lane in lanes_of(mask) {
            let address = addresses[lane];
            let bytes = match self.bytes_mut(space, lane, address, total) {
                Ok(bytes) => bytes,
                Err(error) => {
                    return Err((lane, self.fault(error, "store", (space, address, total))));
                }
            };
            for (word, bytes) in values.iter().zip(bytes.chunks_exact_mut(shape.unit)) {
                bytes.copy_from_slice(&word[lane].to_le_bytes()[..shape.unit]);
            }
        }
        Ok(())
    }

    /// Changes memory lane by lane, in ascending order: `f` gives the new contents from the old
    /// ones. Returns the old ones.
    pub fn atomic(
        &mut self,
        space: Space,
        bytes: usize,
        addresses: &Wides,
        mask: Mask,
        f: impl Fn(usize, bool, u64) -> u64,
    ) -> Result<Wides, LaneFault> {
        let mut out = [0; LANES];
        for lane in lanes_of(mask) {
            let address = addresses[lane];
            let seen = if space == Space::Generic { resolve(address).0 } else { space };
            if matches!(seen, Space::Global | Space::Const) {
                self.memory.see(address, bytes, self.near);
            }
            let error = match self.bytes_mut(space, lane, address, bytes) {
                Ok(place) => {
                    let mut old = [0; 8];
                    old[..bytes].copy_from_slice(place);
                    let old = u64::from_le_bytes(old);
                    let new = f(lane, seen == Space::Global, old);
                    place.copy_from_slice(&new.to_le_bytes()[..bytes]);
                    out[lane] = old;
                    continue;
                }
                Err(error) => error,
            };
            let what = "atomic operation";
            return Err((lane, self.fault(error, what, (space, address, bytes))));
        }
        Ok(out)
    }

    /// As [`Spaces::atomic`], where nobody looks at the old contents.
    pub fn reduce(
        &mut self,
        space: Space,
        addresses: &Wides,
        mask: Mask,
        of_lane: impl Fn(usize) -> Change,
    ) -> Result<(), LaneFault> {
        for lane in lanes_of(mask) {
            let (address, change) = (addresses[lane], of_lane(lane));
            let seen = if space == Space::Generic { resolve(address).0 } else { space };
            if matches!(seen, Space::Global | Space::Const) {
                let done = aligned(address, change.bytes)
                    .and_then(|()| self.memory.change(address, change, self.near));
                match done {
                    Ok(true) => continue,
                    Ok(false) => {}
                    Err(error) => {
                        let what = "atomic operation";
                        let fault = self.fault(error, what, (space, address, change.bytes));
                        return Err((lane, fault));
                    }
                }
            }
            self.atomic(space, change.bytes, addresses, 1 << lane, |_, global, old| {
                atomic_result(change.op, change.ty, global, old, change.operand)
            })?;
        }
        Ok(())
    }

    /// The bytes at a generic address of a lane up to a zero.
    ///
    /// # Errors
    /// They cannot be read, or do not end.
    pub fn text(&mut self, lane: usize, address: u64) -> Result<Vec<u8>, FaultKind> {
        let mut out = Vec::new();
        while out.len() < MAX_TEXT {
            let at = address.wrapping_add(out.len() as u64);
            match self.bytes(Space::Generic, lane, at, 1) {
                Ok([0]) => return Ok(out),
                Ok(byte) => out.extend_from_slice(byte),
                Err(_) => break,
            }
        }
        Err(FaultKind::Text(address))
    }

    /// Up to 8 bytes at a generic address of a lane.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn number(&mut self, lane: usize, address: u64, bytes: usize) -> Result<u64, FaultKind> {
        match self.bytes(Space::Generic, lane, address, bytes) {
            Ok(found) => {
                let mut out = [0; 8];
                out[..bytes].copy_from_slice(found);
                Ok(u64::from_le_bytes(out))
            }
            Err(error) => Err(self.fault(error, "load", (Space::Generic, address, bytes))),
        }
    }
}

/// The longest text that is printed.
const MAX_TEXT: usize = 1 << 16;

/// An atomic operation as the library takes it.
pub fn atomic_operation(op: AtomOp) -> Operation {
    match op {
        AtomOp::And => Operation::And,
        AtomOp::Or => Operation::Or,
        AtomOp::Xor => Operation::Xor,
        AtomOp::Exch => Operation::Exchange,
        AtomOp::Add => Operation::Add,
        AtomOp::Inc => Operation::Increment,
        AtomOp::Dec => Operation::Decrement,
        AtomOp::Min => Operation::Min,
        AtomOp::Max => Operation::Max,
    }
}

/// A type of 32 bits as the library takes it.
pub fn atomic_type(ty: AtomType) -> Type {
    match ty {
        AtomType::U32 => Type::Unsigned { bits: 32 },
        AtomType::S32 => Type::Signed { bits: 32 },
        AtomType::F32 => Type::Float(Format::F32),
        AtomType::F16 => Type::Float(Format::F16),
        AtomType::Bf16 => Type::Float(Format::Bf16),
        AtomType::F16x2 => Type::Packed(Format::F16),
        AtomType::Bf16x2 => Type::Packed(Format::Bf16),
        AtomType::B16 => Type::Unsigned { bits: 16 },
    }
}

/// A type of 64 bits as the library takes it.
pub fn atomic_wide_type(ty: AtomWideType) -> Type {
    match ty {
        AtomWideType::U64 => Type::Unsigned { bits: 64 },
        AtomWideType::S64 => Type::Signed { bits: 64 },
        AtomWideType::F64 => Type::Float(Format::F64),
    }
}

/// The new contents; binary32 sums in global memory flush subnormal numbers.
pub fn atomic_result(op: Operation, ty: Type, global: bool, old: u64, operand: u64) -> u64 {
    let flush = global && op == Operation::Add && ty == Type::Float(Format::F32);
    atomic::apply(op, ty, flush, old, operand)
}
