//! What lies where in the memories that a program shares with its images: the reserved part of each bank, and
//! the vault's scratchpad.
//!
//! | bytes of each bank | what lies there, an atom each |
//! | --- | --- |
//! | from 0 on, up to a half of [`BANK_RESERVED`] | literals |
//! | from a half on | merged constants of kernels ([`constant`]) |
//! | behind these | spilled values ([`slots`]) |
//! | up to the end, the first one last | parameters of the pipeline ([`param`]) |
//! | from [`BANK_RESERVED`] on | images |
//!
//! A scratchpad holds the program from 0 on, and from [`data_begin`] on what goes from bank to bank.

use std::ops::Range;

use nbcc_isa_ipim::{ATOM_BYTES, INSTRUCTION_BYTES, Machine};

use crate::kernel::MAX_CONSTANTS;

/// Bytes at the start of every bank that hold no images.
pub const BANK_RESERVED: u32 = 1 << 16;

/// The most bytes of literals.
pub const MAX_LITERAL_BYTES: u32 = BANK_RESERVED / 2;

/// The most parameters: a quarter of the reserved part.
pub const MAX_PARAMS: u32 = BANK_RESERVED / 4 / ATOM_BYTES;

/// The byte address in every bank of a merged constant of a kernel.
pub fn constant(number: u16) -> u32 {
    MAX_LITERAL_BYTES + u32::from(number) * ATOM_BYTES
}

/// The byte addresses of each bank at which spilled values lie, where there are so many parameters.
pub fn slots(params: usize) -> Range<u32> {
    constant(MAX_CONSTANTS as u16)..BANK_RESERVED - params as u32 * ATOM_BYTES
}

/// The byte address in every bank of a parameter by its number.
pub fn param(number: u32) -> u32 {
    BANK_RESERVED - (number + 1) * ATOM_BYTES
}

/// Bytes of the vault's scratchpad for data, where it has twice as many.
const DATA_BYTES: u32 = 32 << 10;

/// The byte of the vault's scratchpad at which data begins.
pub fn data_begin(machine: &Machine) -> u32 {
    machine.memory.vsm_bytes - data_bytes(machine)
}

/// Bytes of the vault's scratchpad for data.
pub fn data_bytes(machine: &Machine) -> u32 {
    DATA_BYTES.min(machine.memory.vsm_bytes / 2)
}

/// Instructions for which the vault's scratchpad has room.
pub fn code_room(machine: &Machine) -> u32 {
    data_begin(machine) / INSTRUCTION_BYTES
}
