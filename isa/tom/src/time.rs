//! What a machine file says of how long instructions take: the pipeline of a multiprocessor, its units,
//! and the interconnect.

use nbcc_isa::machine::{MachineError, check_range};
use nbcc_isa_simt::Latency;
use serde::{Deserialize, Serialize};

/// How a multiprocessor takes instructions. Times are cycles of its clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// Warp schedulers, each of which issues an instruction a cycle.
    pub schedulers: u32,
    /// Banks of the register file.
    pub register_banks: u32,
    /// Banks of shared memory, 4 bytes each.
    pub shared_banks: u32,
    /// Accesses of memory that wait for the load-store unit.
    pub memory_collectors: u32,
    /// Stores and atomic operations of lines that are on their way.
    pub stores: u32,
    /// Fetching what a branch goes to.
    pub fetch: u32,
    /// Decoding it.
    pub decode: u32,
    /// Reading or writing registers.
    pub register: u32,
    /// From an access of shared memory to what it holds.
    pub shared: u32,
}

impl Pipeline {
    /// Checks every value for its range.
    ///
    /// # Errors
    /// The first value that is out of range, by its key.
    pub fn validate(&self) -> Result<(), MachineError> {
        for (key, value, least, most) in [
            ("pipeline.schedulers", self.schedulers, 1, 16),
            ("pipeline.register_banks", self.register_banks, 1, 64),
            ("pipeline.shared_banks", self.shared_banks, 1, 256),
            ("pipeline.memory_collectors", self.memory_collectors, 1, 64),
            ("pipeline.stores", self.stores, 1, 1 << 16),
            ("pipeline.fetch", self.fetch, 0, 1000),
            ("pipeline.decode", self.decode, 0, 1000),
            ("pipeline.register", self.register, 1, 1000),
            ("pipeline.shared", self.shared, 1, 10_000),
        ] {
            check_range(key, value, least, most)?;
        }
        Ok(())
    }
}

/// Cycles of classes of instructions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cycles {
    /// Integers, logic, comparison, moves, conversion, lanes, branches.
    pub alu: u32,
    /// Multiplication of integers.
    pub int_mul: u32,
    /// Division and remainder of integers.
    pub int_div: u32,
    /// Binary32.
    pub float: u32,
    /// Division of binary32.
    pub float_div: u32,
    /// Formats of 16 bits.
    pub half: u32,
    /// Binary64.
    pub double: u32,
    /// Division of binary64.
    pub double_div: u32,
    /// Approximate functions.
    pub special: u32,
}

impl Cycles {
    /// The cycles of a class.
    pub fn of(&self, class: Latency) -> u32 {
        match class {
            Latency::Alu
            | Latency::Control
            | Latency::Lanes
            | Latency::Barrier
            | Latency::Memory
            | Latency::Host => self.alu,
            Latency::IntMul => self.int_mul,
            Latency::IntDiv | Latency::IntRem => self.int_div,
            Latency::Float => self.float,
            Latency::FloatDiv => self.float_div,
            Latency::Half => self.half,
            Latency::Double => self.double,
            Latency::DoubleDiv => self.double_div,
            Latency::Rcp
            | Latency::Sqrt
            | Latency::Rsqrt
            | Latency::SinCos
            | Latency::Lg2
            | Latency::Ex2 => self.special,
        }
    }

    /// Checks every value for its range; `section` is that of the machine file.
    ///
    /// # Errors
    /// The first value that is out of range, by its key.
    pub fn validate(&self, section: &str) -> Result<(), MachineError> {
        for (key, value) in [
            ("alu", self.alu),
            ("int_mul", self.int_mul),
            ("int_div", self.int_div),
            ("float", self.float),
            ("float_div", self.float_div),
            ("half", self.half),
            ("double", self.double),
            ("double_div", self.double_div),
            ("special", self.special),
        ] {
            check_range(&format!("{section}.{key}"), value, 1, 100_000)?;
        }
        Ok(())
    }
}

/// Between clusters and shared cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interconnect {
    /// Bytes that a port of a cluster or of a part of the cache moves a cycle of the interconnect, each
    /// way.
    pub flit_bytes: u32,
    /// Bytes of a packet besides its data: what is asked, and the address.
    pub header_bytes: u32,
    /// Cycles of the interconnect from port to port.
    pub latency: u32,
}

impl Interconnect {
    /// Checks every value for its range.
    ///
    /// # Errors
    /// The first value that is out of range, by its key.
    pub fn validate(&self) -> Result<(), MachineError> {
        for (key, value, least, most) in [
            ("interconnect.flit_bytes", self.flit_bytes, 1, 4096),
            ("interconnect.header_bytes", self.header_bytes, 1, 4096),
            ("interconnect.latency", self.latency, 1, 10_000),
        ] {
            check_range(key, value, least, most)?;
        }
        Ok(())
    }
}
