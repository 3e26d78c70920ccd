//! The MPU machine: Table II of the paper as a struct, read from a TOML file of `machines/`.
//! Compiler and simulator take every number from here.

use nbcc_isa::dram::Dram;
use nbcc_isa::machine::{
    self, ENTRY_BYTES, Entry, MAX_ON_CHIP_BYTES, MachineError, Override, check_mesh,
    check_multiple, check_name, check_on_chip, check_range,
};
use nbcc_isa_simt::{Latency, Limits, Unit};
use serde::{Deserialize, Serialize};

/// A whole machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// What statistics call it.
    pub name: String,
    /// How many of what.
    pub hierarchy: Hierarchy,
    /// What a core holds of warps and their instructions.
    pub core: Core,
    /// Register files.
    pub registers: Registers,
    /// Memories and the widths of their ports.
    pub memory: Memories,
    /// Banks and the controller of a near-bank unit.
    pub dram: Dram,
    /// Latencies in cycles.
    pub latency: Latencies,
    /// TSVs, networks and links.
    pub network: Network,
    /// Energies in picojoules.
    pub energy: Energy,
    /// Variants of the machine.
    pub features: Features,
}

/// Variants of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// All that computes is on the base die, as is shared memory; only banks are above.
    pub process_on_base_die: bool,
}

/// How many of what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hierarchy {
    /// Processors, a stack of dies each.
    pub processors: u32,
    /// Columns of the network of processors.
    pub processor_columns: u32,
    /// Cores of a processor.
    pub cores: u32,
    /// Columns of the mesh of cores.
    pub core_columns: u32,
    /// Subcores of a core, each with a near-bank unit.
    pub subcores: u32,
    /// Banks of a near-bank unit.
    pub banks: u32,
}

/// What a core holds of warps and their instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// Threads of a warp.
    pub simt_lanes: u32,
    /// Warps that a subcore holds.
    pub subcore_warps: u32,
    /// Threads of a block at most.
    pub block_threads: u32,
    /// Blocks that a core holds.
    pub core_blocks: u32,
    /// Barriers of a block.
    pub barriers: u32,
    /// Divergent branches within each other that a warp keeps.
    pub stack_depth: u32,
    /// Decoded instructions of a warp.
    pub decode_buffer: u32,
    /// Instructions that a warp issues a cycle.
    pub issue_ports: u32,
    /// Instructions that wait for execution, a side.
    pub execute_buffer: u32,
    /// Instructions on their way between the dies.
    pub offload_engines: u32,
    /// Operand collectors of ALUs, a side.
    pub alu_collectors: u32,
    /// Operand collectors of load-store units, a side.
    pub lsu_collectors: u32,
    /// Operand collectors of the special function unit.
    pub sfu_collectors: u32,
    /// Pending local requests of a subcore.
    pub local_requests: u32,
    /// Pending remote requests of a core.
    pub remote_requests: u32,
    /// Pending requests of a near-bank unit.
    pub near_requests: u32,
}

/// Register files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registers {
    /// 32-bit registers that a thread may name.
    pub words: u32,
    /// Register file of a subcore.
    pub far_bytes: u32,
    /// Register file of a near-bank unit.
    pub near_bytes: u32,
    /// Banks of a register file.
    pub banks: u32,
}

/// Memories, in bytes, and the widths of their ports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memories {
    /// Bytes of a bank.
    pub bank_bytes: u32,
    /// Bytes of a bank access.
    pub bank_io_bytes: u32,
    /// Activated row buffers of a bank.
    pub row_buffers: u32,
    /// Instruction cache of a core.
    pub instruction_bytes: u32,
    /// Shared memory of a core.
    pub shared_bytes: u32,
    /// Banks of shared memory, 4 bytes each.
    pub shared_banks: u32,
    /// Local memory of a thread at most.
    pub local_bytes: u32,
    /// Parameters of a kernel at most.
    pub param_bytes: u32,
    /// Shared memory is beside the banks.
    pub near_shared: bool,
}

/// Latencies in cycles of the core.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latencies {
    /// Integer, logic, comparison, move, conversion.
    pub alu: u32,
    /// Multiplication of integers.
    pub int_mul: u32,
    /// Division of integers.
    pub int_div: u32,
    /// Remainder of integers.
    pub int_rem: u32,
    /// Binary32 addition, multiplication, fma.
    pub float: u32,
    /// Binary32 division.
    pub float_div: u32,
    /// Formats of 16 bits.
    pub half: u32,
    /// Binary64.
    pub double: u32,
    /// Binary64 division.
    pub double_div: u32,
    /// Reciprocal.
    pub rcp: u32,
    /// Square root.
    pub sqrt: u32,
    /// Reciprocal of the square root.
    pub rsqrt: u32,
    /// Sine and cosine.
    pub sin_cos: u32,
    /// Logarithm.
    pub lg2: u32,
    /// Exponential.
    pub ex2: u32,
    /// Access of a register file.
    pub register: u32,
    /// Access of shared memory.
    pub shared: u32,
    /// Cycles from request to request of shared memory.
    pub shared_gap: u32,
    /// Fetch of an instruction.
    pub fetch: u32,
    /// Decoding of an instruction.
    pub decode: u32,
    /// Range check and coalescing of an access.
    pub coalesce: u32,
    /// Encoding and decoding of a packet at the interface of the network.
    pub interface: u32,
}

/// TSVs, networks and links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Bytes a tick of the TSVs of a core, each way.
    pub tsv_bytes: u32,
    /// Ticks of the TSVs a cycle.
    pub tsv_ticks: u32,
    /// An instruction or request, and its return, on the TSVs.
    pub request_bytes: u32,
    /// A predicate of a warp on the TSVs.
    pub predicate_bytes: u32,
    /// Bytes of a packet of the networks.
    pub packet_bytes: u32,
    /// Bytes of a flit.
    pub flit_bytes: u32,
    /// Flits that the queue of a router's input holds.
    pub queue_flits: u32,
    /// Ticks through a router.
    pub router_ticks: u32,
    /// Ticks of routers a cycle.
    pub router_rate: u32,
    /// Bytes a tick of an on-chip link.
    pub on_chip_bytes: u32,
    /// Bytes a tick of an off-chip link.
    pub off_chip_bytes: u32,
    /// Ticks of links a cycle.
    pub link_rate: u32,
    /// Read-only cache of remote loads, a core.
    pub remote_cache_bytes: u32,
}

/// Energies in picojoules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Energy {
    /// Bank read of 32 bytes.
    pub read: f64,
    /// Bank write of 32 bytes.
    pub write: f64,
    /// Precharge of a row.
    pub precharge: f64,
    /// Activate of a row.
    pub activate: f64,
    /// Refresh of a bank.
    pub refresh: f64,
    /// Access of a register line of 128 bytes.
    pub register: f64,
    /// Access of shared memory, a warp.
    pub shared: f64,
    /// Operand collector.
    pub collector: f64,
    /// Load-store unit extension.
    pub request_table: f64,
    /// Read of the instruction cache.
    pub instruction_cache: f64,
    /// Fetch and decode.
    pub decode: f64,
    /// Transfer of a bit over TSVs.
    pub tsv_bit: f64,
    /// Transfer of a bit over an on-chip link.
    pub on_chip_bit: f64,
    /// Transfer of a bit over an off-chip link.
    pub off_chip_bit: f64,
    /// Integer and logic of a warp.
    pub alu: f64,
    /// Multiplication of integers of a warp.
    pub int_mul: f64,
    /// Division of integers of a warp.
    pub int_div: f64,
    /// Binary32 addition of a warp.
    pub float: f64,
    /// Binary32 multiplication and fma of a warp.
    pub float_mul: f64,
    /// Binary32 division of a warp.
    pub float_div: f64,
    /// Operation on a format of 16 bits of a warp.
    pub half: f64,
    /// Binary64 operation of a warp.
    pub double: f64,
    /// Reciprocals of a warp.
    pub rcp: f64,
    /// Square roots of a warp.
    pub sqrt: f64,
    /// Reciprocals of square roots of a warp.
    pub rsqrt: f64,
    /// Sines or cosines of a warp.
    pub sin_cos: f64,
    /// Logarithms of a warp.
    pub lg2: f64,
    /// Exponentials of a warp.
    pub ex2: f64,
}

/// The built-in machines: name and TOML text.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("mpu", include_str!("../machines/mpu.toml")),
    ("mpu-core", include_str!("../machines/mpu-core.toml")),
    ("mpu-quad", include_str!("../machines/mpu-quad.toml")),
    ("mpu-far-shared", include_str!("../machines/mpu-far-shared.toml")),
    ("mpu-row-buffers-1", include_str!("../machines/mpu-row-buffers-1.toml")),
    ("mpu-row-buffers-2", include_str!("../machines/mpu-row-buffers-2.toml")),
    ("mpu-base-die", include_str!("../machines/mpu-base-die.toml")),
];

/// Cores that a machine may have in all.
const MAX_CORES: u32 = 4096;

impl Machine {
    /// The TOML text of a built-in machine.
    pub fn built_in_text(name: &str) -> Option<&'static str> {
        machine::built_in_text(BUILT_IN, name)
    }

    /// A built-in machine.
    ///
    /// # Panics
    /// `name` is not one of [`BUILT_IN`].
    pub fn built_in(name: &str) -> Machine {
        let text = Machine::built_in_text(name).expect("the name of a built-in machine");
        Machine::from_toml(text, &[]).expect("built-in machines are valid")
    }

    /// Reads a machine file and applies overrides.
    ///
    /// # Errors
    /// As [`machine::load`].
    pub fn from_toml(text: &str, overrides: &[Override]) -> Result<Machine, MachineError> {
        machine::load(text, overrides, Machine::validate)
    }

    /// The machine as TOML, the same for equal machines.
    pub fn to_toml(&self) -> String {
        machine::to_toml(self)
    }

    /// The machine as programs see it.
    pub fn as_simt(&self) -> nbcc_isa_simt::Machine {
        nbcc_isa_simt::Machine {
            isa: &crate::ISA,
            name: self.name.clone(),
            toml: self.to_toml(),
            limits: Limits {
                cores: self.cores(),
                core_warps: self.core_warps(),
                core_blocks: self.core.core_blocks,
                block_threads: self.core.block_threads,
                registers: self.registers.words,
                shared_bytes: self.memory.shared_bytes,
                local_bytes: self.memory.local_bytes,
                param_bytes: self.memory.param_bytes,
                memory_bytes: self.memory_bytes(),
            },
        }
    }

    /// Every key with its value and the comment of `text`, the file it was read from.
    pub fn list(&self, text: &str) -> Vec<Entry> {
        machine::list(self, text)
    }

    /// Checks every value for its range.
    ///
    /// # Errors
    /// The first value that is out of range, by its key.
    pub fn validate(&self) -> Result<(), MachineError> {
        check_name(&self.name)?;
        for (key, value, least, most) in [
            ("hierarchy.processors", self.hierarchy.processors, 1, 64),
            ("hierarchy.processor_columns", self.hierarchy.processor_columns, 1, 64),
            ("hierarchy.cores", self.hierarchy.cores, 1, 64),
            ("hierarchy.core_columns", self.hierarchy.core_columns, 1, 64),
            ("hierarchy.subcores", self.hierarchy.subcores, 1, 16),
            ("hierarchy.banks", self.hierarchy.banks, 1, 64),
            ("core.simt_lanes", self.core.simt_lanes, 32, 32),
            ("core.subcore_warps", self.core.subcore_warps, 1, 64),
            ("core.block_threads", self.core.block_threads, 32, 1024),
            ("core.core_blocks", self.core.core_blocks, 1, 64),
            ("core.barriers", self.core.barriers, 16, 16),
            ("core.stack_depth", self.core.stack_depth, 1, 4096),
            ("core.decode_buffer", self.core.decode_buffer, 1, 4096),
            ("core.issue_ports", self.core.issue_ports, 1, 4096),
            ("core.execute_buffer", self.core.execute_buffer, 1, 4096),
            ("core.offload_engines", self.core.offload_engines, 1, 4096),
            ("core.alu_collectors", self.core.alu_collectors, 1, 64),
            ("core.lsu_collectors", self.core.lsu_collectors, 1, 64),
            ("core.sfu_collectors", self.core.sfu_collectors, 1, 64),
            ("core.local_requests", self.core.local_requests, 1, 4096),
            ("core.remote_requests", self.core.remote_requests, 1, 4096),
            ("core.near_requests", self.core.near_requests, 1, 4096),
            ("registers.words", self.registers.words, 16, 256),
            ("registers.far_bytes", self.registers.far_bytes, 1024, 1 << 24),
            ("registers.near_bytes", self.registers.near_bytes, 1024, 1 << 24),
            ("registers.banks", self.registers.banks, 1, 64),
            ("memory.bank_bytes", self.memory.bank_bytes, 4096, 1 << 30),
            ("memory.bank_io_bytes", self.memory.bank_io_bytes, 4, 256),
            ("memory.row_buffers", self.memory.row_buffers, 1, 64),
            ("memory.instruction_bytes", self.memory.instruction_bytes, 1024, 1 << 26),
            ("memory.shared_bytes", self.memory.shared_bytes, 1024, 1 << 24),
            ("memory.shared_banks", self.memory.shared_banks, 1, 256),
            ("memory.local_bytes", self.memory.local_bytes, 16, 1 << 24),
            ("memory.param_bytes", self.memory.param_bytes, 64, 65536),
            ("latency.alu", self.latency.alu, 0, 100_000),
            ("latency.int_mul", self.latency.int_mul, 0, 100_000),
            ("latency.int_div", self.latency.int_div, 0, 100_000),
            ("latency.int_rem", self.latency.int_rem, 0, 100_000),
            ("latency.float", self.latency.float, 0, 100_000),
            ("latency.float_div", self.latency.float_div, 0, 100_000),
            ("latency.half", self.latency.half, 0, 100_000),
            ("latency.double", self.latency.double, 0, 100_000),
            ("latency.double_div", self.latency.double_div, 0, 100_000),
            ("latency.rcp", self.latency.rcp, 0, 100_000),
            ("latency.sqrt", self.latency.sqrt, 0, 100_000),
            ("latency.rsqrt", self.latency.rsqrt, 0, 100_000),
            ("latency.sin_cos", self.latency.sin_cos, 0, 100_000),
            ("latency.lg2", self.latency.lg2, 0, 100_000),
            ("latency.ex2", self.latency.ex2, 0, 100_000),
            ("latency.register", self.latency.register, 0, 100_000),
            ("latency.shared", self.latency.shared, 0, 100_000),
            ("latency.shared_gap", self.latency.shared_gap, 1, 4096),
            ("latency.fetch", self.latency.fetch, 0, 4096),
            ("latency.decode", self.latency.decode, 0, 4096),
            ("latency.coalesce", self.latency.coalesce, 0, 4096),
            ("latency.interface", self.latency.interface, 1, 4096),
            ("network.tsv_bytes", self.network.tsv_bytes, 1, 1 << 24),
            ("network.tsv_ticks", self.network.tsv_ticks, 1, 64),
            ("network.request_bytes", self.network.request_bytes, 1, 1 << 24),
            ("network.packet_bytes", self.network.packet_bytes, 1, 1 << 16),
            ("network.flit_bytes", self.network.flit_bytes, 1, 1 << 16),
            ("network.predicate_bytes", self.network.predicate_bytes, 1, 1 << 16),
            ("network.queue_flits", self.network.queue_flits, 1, 1 << 16),
            ("network.router_ticks", self.network.router_ticks, 1, 4096),
            ("network.router_rate", self.network.router_rate, 1, 64),
            ("network.on_chip_bytes", self.network.on_chip_bytes, 1, 1 << 24),
            ("network.off_chip_bytes", self.network.off_chip_bytes, 1, 1 << 24),
            ("network.link_rate", self.network.link_rate, 1, 64),
            ("network.remote_cache_bytes", self.network.remote_cache_bytes, 0, 1 << 24),
        ] {
            check_range(key, value, least, most)?;
        }
        for (name, picojoules) in [
            ("read", self.energy.read),
            ("write", self.energy.write),
            ("precharge", self.energy.precharge),
            ("activate", self.energy.activate),
            ("refresh", self.energy.refresh),
            ("register", self.energy.register),
            ("shared", self.energy.shared),
            ("collector", self.energy.collector),
            ("request_table", self.energy.request_table),
            ("instruction_cache", self.energy.instruction_cache),
            ("decode", self.energy.decode),
            ("tsv_bit", self.energy.tsv_bit),
            ("on_chip_bit", self.energy.on_chip_bit),
            ("off_chip_bit", self.energy.off_chip_bit),
            ("alu", self.energy.alu),
            ("int_mul", self.energy.int_mul),
            ("int_div", self.energy.int_div),
            ("float", self.energy.float),
            ("float_mul", self.energy.float_mul),
            ("float_div", self.energy.float_div),
            ("half", self.energy.half),
            ("double", self.energy.double),
            ("rcp", self.energy.rcp),
            ("sqrt", self.energy.sqrt),
            ("rsqrt", self.energy.rsqrt),
            ("sin_cos", self.energy.sin_cos),
            ("lg2", self.energy.lg2),
            ("ex2", self.energy.ex2),
        ] {
            check_range(&format!("energy.{name}"), picojoules, 0.0, 1e9)?;
        }
        let h = &self.hierarchy;
        let (columns, processors) = (h.processor_columns, h.processors);
        check_mesh("hierarchy.processor_columns", columns, "hierarchy.processors", processors)?;
        check_mesh("hierarchy.core_columns", h.core_columns, "hierarchy.cores", h.cores)?;
        check_range("hierarchy.cores", self.cores(), 1, MAX_CORES)?;
        let m = &self.memory;
        check_multiple("core.block_threads", self.core.block_threads, self.core.simt_lanes)?;
        if !m.bank_io_bytes.is_power_of_two() {
            return Err(MachineError::at_key(
                "memory.bank_io_bytes",
                format!("`memory.bank_io_bytes` is {}, no power of two", m.bank_io_bytes),
            ));
        }
        let n = &self.network;
        if n.packet_bytes < n.flit_bytes + m.bank_io_bytes {
            return Err(MachineError::at_key(
                "network.packet_bytes",
                format!(
                    "packets of {} bytes have no room for a flit of {} and a bank access of {}",
                    n.packet_bytes, n.flit_bytes, m.bank_io_bytes
                ),
            ));
        }
        check_multiple("memory.shared_bytes", m.shared_bytes, 16)?;
        check_multiple("memory.local_bytes", m.local_bytes, 16)?;
        if self.core_warps() * self.core.simt_lanes < self.core.block_threads {
            return Err(MachineError::at_key(
                "core.subcore_warps",
                format!(
                    "a core holds {} warps, which is too few for a block of {} threads",
                    self.core_warps(),
                    self.core.block_threads
                ),
            ));
        }
        self.dram.validate(h.banks, m.bank_bytes, m.bank_io_bytes)?;
        self.validate_on_chip()
    }

    /// Checks that all registers, memories and tables together can be simulated.
    fn validate_on_chip(&self) -> Result<(), MachineError> {
        let (c, m) = (&self.core, &self.memory);
        let cores = u64::from(self.cores());
        let subcores = cores * u64::from(self.hierarchy.subcores);
        let entries = |count: u32| u64::from(count) * ENTRY_BYTES;
        // A line of the cache is an access of the banks, which may be smaller than its tag.
        let remote_lines = self.network.remote_cache_bytes / m.bank_io_bytes;
        let remote_line = u64::from(m.bank_io_bytes.max(32));
        let parts = [
            ("registers.far_bytes", u64::from(self.registers.far_bytes) * subcores),
            ("registers.near_bytes", u64::from(self.registers.near_bytes) * subcores),
            ("memory.shared_bytes", u64::from(m.shared_bytes) * cores),
            ("memory.instruction_bytes", u64::from(m.instruction_bytes) * cores),
            ("network.remote_cache_bytes", u64::from(remote_lines) * remote_line * cores),
            ("core.subcore_warps", entries(c.subcore_warps) * subcores),
            ("core.execute_buffer", entries(c.execute_buffer) * 2 * subcores),
            ("core.offload_engines", entries(c.offload_engines) * subcores),
            ("core.local_requests", entries(c.local_requests) * subcores),
            ("core.near_requests", entries(c.near_requests) * subcores),
            ("core.remote_requests", entries(c.remote_requests) * cores),
            ("dram.request_queue", entries(self.dram.request_queue) * subcores),
            ("memory.row_buffers", entries(m.row_buffers * self.hierarchy.banks) * subcores),
        ];
        check_on_chip("registers, memories and tables", &parts, MAX_ON_CHIP_BYTES)
    }

    /// Cores of the whole machine.
    pub fn cores(&self) -> u32 {
        self.hierarchy.processors * self.hierarchy.cores
    }

    /// Warps that a core holds.
    pub fn core_warps(&self) -> u32 {
        self.core.subcore_warps * self.hierarchy.subcores
    }

    /// Bytes of all banks.
    pub fn memory_bytes(&self) -> u64 {
        let h = &self.hierarchy;
        u64::from(self.cores())
            * u64::from(h.subcores)
            * u64::from(h.banks)
            * u64::from(self.memory.bank_bytes)
    }

    /// Cycles from the start of an instruction in its unit until its result is there, of those
    /// that neither access memory nor wait for others.
    pub fn latency(&self, _unit: Unit, class: Latency) -> u32 {
        let l = &self.latency;
        match class {
            Latency::Alu | Latency::Control | Latency::Lanes | Latency::Barrier => l.alu,
            Latency::IntMul => l.int_mul,
            Latency::IntDiv => l.int_div,
            Latency::IntRem => l.int_rem,
            Latency::Float => l.float,
            Latency::FloatDiv => l.float_div,
            Latency::Half => l.half,
            Latency::Double => l.double,
            Latency::DoubleDiv => l.double_div,
            Latency::Rcp => l.rcp,
            Latency::Sqrt => l.sqrt,
            Latency::Rsqrt => l.rsqrt,
            Latency::SinCos => l.sin_cos,
            Latency::Lg2 => l.lg2,
            Latency::Ex2 => l.ex2,
            Latency::Memory => l.shared,
            Latency::Host => l.alu,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of Table II.
    #[test]
    fn built_in_machine_is_that_of_the_paper() {
        let m = Machine::built_in("mpu");
        assert_eq!((m.hierarchy.processors, m.hierarchy.cores, m.cores()), (8, 16, 128));
        assert_eq!((m.hierarchy.subcores, m.hierarchy.banks, m.memory.row_buffers), (4, 4, 4));
        assert_eq!((m.dram.t_rcd, m.dram.t_ccd, m.dram.t_rtp, m.dram.t_rp), (14, 2, 4, 14));
        assert_eq!((m.dram.t_ras, m.dram.t_rfc, m.dram.t_refi), (33, 350, 3900));
        assert_eq!(m.memory_bytes(), 32 << 30);
        assert_eq!(m.core_warps() * m.core.simt_lanes, m.core.block_threads);
        // 1024 bits of TSVs a processor are 64 a core.
        assert_eq!(m.network.tsv_bytes * 8 * m.hierarchy.cores, 1024);
    }

    #[test]
    fn every_value_has_its_source() {
        for (name, text) in BUILT_IN {
            for entry in Machine::built_in(name).list(text) {
                let c = &entry.comment;
                let sourced = ["T2", "model", "chosen", "section"].iter().any(|s| c.contains(s));
                assert!(sourced || entry.key == "name", "{name}: {} has no source", entry.key);
            }
        }
    }

    /// A variant differs from the machine of the paper in what its name says, and in nothing else.
    #[test]
    fn variants_differ_in_what_they_are_named_for() {
        let changed = |name: &str| -> Vec<(String, String)> {
            let of =
                |name: &str| Machine::built_in(name).list(Machine::built_in_text(name).unwrap());
            let (paper, variant) = (of("mpu"), of(name));
            assert_eq!(paper.len(), variant.len());
            let pairs = paper.iter().zip(&variant).filter(|(a, b)| {
                assert_eq!(a.key, b.key);
                a.value != b.value && a.key != "name"
            });
            pairs.map(|(_, b)| (b.key.clone(), b.value.to_string())).collect()
        };
        let one = |key: &str, value: &str| vec![(key.to_owned(), value.to_owned())];
        assert_eq!(changed("mpu"), []);
        assert_eq!(changed("mpu-far-shared"), one("memory.near_shared", "false"));
        assert_eq!(changed("mpu-row-buffers-1"), one("memory.row_buffers", "1"));
        assert_eq!(changed("mpu-row-buffers-2"), one("memory.row_buffers", "2"));
        assert_eq!(changed("mpu-base-die"), one("features.process_on_base_die", "true"));
        for (name, cores) in [("mpu-core", 1), ("mpu-quad", 4)] {
            assert_eq!(Machine::built_in(name).cores(), cores);
            assert!(changed(name).iter().all(|(key, _)| key.starts_with("hierarchy.")));
        }
    }

    /// What is there of each core or subcore is counted as often as there are such.
    #[test]
    fn memories_and_tables_are_bounded_together() {
        let cores =
            ["hierarchy.processors=64", "hierarchy.cores=64", "hierarchy.processor_columns=8"];
        for (changes, key) in [
            (&["network.remote_cache_bytes=16777216"][..], "network.remote_cache_bytes"),
            (&["memory.row_buffers=64", "hierarchy.banks=64"], "memory.row_buffers"),
            (&["dram.request_queue=4096"], "dram.request_queue"),
            (&[], ""),
        ] {
            let changes: Vec<_> =
                cores.iter().chain(changes).map(|text| Override::parse(text).unwrap()).collect();
            match Machine::from_toml(Machine::built_in_text("mpu").unwrap(), &changes) {
                Ok(_) => assert_eq!(key, ""),
                Err(error) => {
                    assert_eq!(error.key.as_deref(), Some(key), "{error}");
                    assert!(error.help.unwrap().contains("must not exceed"));
                }
            }
        }
    }

    /// Every number set to zero, to the largest integer, to a negative one: an error with a key,
    /// or a valid machine.
    #[test]
    fn hostile_values_are_errors() {
        let text = Machine::built_in_text("mpu").unwrap();
        for entry in Machine::built_in("mpu").list(text) {
            for value in ["0", "-1", "4294967295", "9223372036854775807", "nan", "inf", "[]", "x"] {
                let change = Override { key: entry.key.clone(), value: value.into() };
                match Machine::from_toml(text, &[change]) {
                    Ok(machine) => machine.validate().unwrap(),
                    Err(error) => assert!(error.key.is_some(), "{}={value}: {error}", entry.key),
                }
            }
        }
        for (key, value) in [
            ("core.simt_lanes", "16"),
            ("core.subcore_warps", "7"),
            ("core.block_threads", "1000"),
            ("hierarchy.cores", "6"),
            ("dram.row_bytes", "24"),
        ] {
            let change = Override { key: key.into(), value: value.into() };
            assert!(Machine::from_toml(text, &[change]).is_err(), "{key}={value}");
        }
        let unknown = text.replace("shared_bytes", "shard_bytes");
        assert!(Machine::from_toml(&unknown, &[]).unwrap_err().span.is_some());
    }
}
