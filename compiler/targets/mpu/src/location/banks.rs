//! The banks in which registers get entries ([`nbcc_simt::backend::banks`]): each has entries of the far file, of
//! the near file, or of both.

use nbcc_isa_mpu::files::Files;
use nbcc_isa_mpu::location::Side;
use nbcc_mach::VReg;
use nbcc_placement::Placement;

/// Registers that are far only.
pub const FAR: u8 = 0;
/// Registers that are near only.
pub const NEAR: u8 = 1;
/// Registers that are on both sides.
pub const BOTH: u8 = 2;

/// The bank of a register.
pub fn bank(places: &Placement<VReg, Side>, vreg: VReg) -> u8 {
    match (places.has(vreg, Side::Near), places.has(vreg, Side::Far)) {
        (true, true) => BOTH,
        (true, false) => NEAR,
        (false, _) => FAR,
    }
}

/// The registers of each file, by the banks that the allocator gave.
pub fn files_of(banks: &[std::ops::Range<u16>]) -> Files {
    let mut files = Files::default();
    for (bank, entries) in (0..).zip(banks) {
        for entry in entries.clone() {
            if bank != NEAR {
                files.insert(Side::Far, entry);
            }
            if bank != FAR {
                files.insert(Side::Near, entry);
            }
        }
    }
    files
}
