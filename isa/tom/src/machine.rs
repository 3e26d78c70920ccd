//! The machines of TOM: Table 1 of the paper as a struct, read from a TOML file of `machines/`.
//! Compiler and simulator take every number from here.

use nbcc_isa::dram::Dram;
use nbcc_isa::machine::{
    self, ENTRY_BYTES, Entry, MAX_ON_CHIP_BYTES, MachineError, Override, check_multiple,
    check_name, check_on_chip, check_range,
};
use nbcc_isa_simt::Limits;
use serde::{Deserialize, Serialize};

use crate::address::StackBits;
use crate::time::{Cycles, Interconnect, Pipeline};

/// A whole machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// What statistics call it.
    pub name: String,
    /// The GPU.
    pub gpu: Gpu,
    /// A multiprocessor.
    pub sm: Sm,
    /// How a multiprocessor takes instructions.
    pub pipeline: Pipeline,
    /// Cycles from an instruction's begin in its unit to its result.
    pub latency: Cycles,
    /// Cycles from the begin of an instruction in a unit to that of the next.
    pub interval: Cycles,
    /// Between clusters and shared cache.
    pub interconnect: Interconnect,
    /// The private cache of a multiprocessor.
    pub l1: Cache,
    /// The shared cache of the GPU.
    pub l2: Cache,
    /// What both caches have.
    pub cache: Lines,
    /// Memory stacks.
    pub stack: Stack,
    /// The banks of a vault and their controller.
    pub dram: Dram,
    /// Links off the chips.
    pub link: Link,
    /// Offloading.
    pub offload: Offload,
    /// The constants of the cost of offloading.
    pub cost: Cost,
    /// The mapping of addresses to stacks.
    pub map: Map,
    /// The way to host memory.
    pub pcie: Pcie,
    /// Energies in picojoules.
    pub energy: Energy,
}

/// The GPU. Frequencies are GHz.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gpu {
    /// Multiprocessors.
    pub sms: u32,
    /// Multiprocessors of a cluster.
    pub cluster_sms: u32,
    /// Clock of a multiprocessor.
    pub clock: f64,
    /// Clock of the shared cache.
    pub l2_clock: f64,
    /// Clock between clusters and shared cache.
    pub interconnect_clock: f64,
}

/// A multiprocessor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sm {
    /// Threads of a warp.
    pub lanes: u32,
    /// Warps.
    pub warps: u32,
    /// Blocks.
    pub blocks: u32,
    /// Threads of a block at most.
    pub block_threads: u32,
    /// 32-bit registers.
    pub registers: u32,
    /// 32-bit registers that a thread may name.
    pub thread_registers: u32,
    /// Bytes of shared memory.
    pub shared_bytes: u32,
    /// Bytes of local memory of a thread at most.
    pub local_bytes: u32,
    /// Bytes of the parameters of a kernel at most.
    pub param_bytes: u32,
}

/// A cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Bytes.
    pub bytes: u32,
    /// Lines of a set.
    pub ways: u32,
    /// Parts that serve a request a cycle each.
    pub slices: u32,
    /// Cycles of its clock from a request to what the cache holds.
    pub latency: u32,
    /// Lines of a part that are asked for at a time.
    pub misses: u32,
}

/// What caches have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lines {
    /// Bytes of a line.
    pub line_bytes: u32,
}

/// Memory stacks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// How many there are.
    pub count: u32,
    /// Multiprocessors in the logic layer of each.
    pub sms: u32,
    /// Warps of such a multiprocessor.
    pub warps: u32,
    /// Vaults of a stack.
    pub vaults: u32,
    /// Banks of a vault.
    pub banks: u32,
    /// Through-silicon vias of a vault.
    pub vault_tsvs: u32,
    /// Gigabits a second of each.
    pub tsv_rate: f64,
    /// GB/s inside a stack.
    pub internal_bandwidth: f64,
    /// Bytes of a stack.
    pub bytes: u64,
    /// Nanoseconds through the switch of the logic layer.
    pub switch_ns: f64,
    /// Bytes of an access of the banks, of which some make a line.
    pub burst_bytes: u32,
    /// Nanoseconds that the controller of a vault adds to an access.
    pub controller_ns: f64,
}

/// Links off the chips.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// GB/s between GPU and a stack, each direction.
    pub bandwidth: f64,
    /// The share of it that a link between stacks has.
    pub cross_ratio: f64,
    /// Nanoseconds from the end of a packet on one side to its end on the other.
    pub latency_ns: f64,
    /// Bytes of a packet besides what the cost model counts.
    pub header_bytes: u32,
    /// Bytes of an address in a packet.
    pub address_bytes: u32,
    /// Bytes that acknowledge a store.
    pub acknowledgment_bytes: u32,
}

/// Offloading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offload {
    /// Cycles of the pipeline for an offloaded task.
    pub latency: u32,
    /// Entries of the table of candidates.
    pub entries: u32,
    /// Bits of an entry.
    pub entry_bits: u32,
    /// The share of a channel's slots in use from which it is busy.
    pub busy_threshold: f64,
    /// Cycles over which that is measured.
    pub busy_window: u32,
    /// Whether the three steps of coherence are taken (section 4.4.2); else all caches hold what memory does.
    pub coherence: bool,
}

/// The constants of the cost of offloading (section 3.1.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// SW: words of a register of a warp.
    pub warp_words: u32,
    /// SC: words of a line.
    pub line_words: u32,
    /// Coal_LD: lines that a load of a warp takes.
    pub coalescing_loads: f64,
    /// Coal_ST: lines that a store of a warp takes.
    pub coalescing_stores: f64,
    /// Miss_LD: share of the lines loaded that miss.
    pub load_misses: f64,
    /// Words that answer a store.
    pub acknowledgment: f64,
}

/// The mapping of addresses to stacks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// The lowest bit that may choose the stack.
    pub lowest_bit: u32,
    /// The highest.
    pub highest_bit: u32,
    /// Entries of the table of allocations.
    pub entries: u32,
    /// Bits of an entry.
    pub entry_bits: u32,
    /// The share of the instances that the mapping is learnt from.
    pub learn_share: f64,
}

/// The way to host memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pcie {
    /// Microseconds of an access.
    pub latency_us: f64,
    /// GB/s.
    pub bandwidth: f64,
}

/// Energies in picojoules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Energy {
    /// Moving a bit over a link.
    pub link_bit: f64,
    /// An unused slot of a bit of a link, a cycle.
    pub link_idle_bit: f64,
    /// Activating a row.
    pub activate: f64,
    /// Reading a bit of the row buffer.
    pub row_buffer_bit: f64,
    /// Fetching and decoding an instruction.
    pub front_end: f64,
    /// Reading or writing a register of a warp.
    pub register: f64,
    /// An operand collector, an instruction.
    pub collector: f64,
    /// An operation of a warp on integers.
    pub alu: f64,
    /// An operation of a warp on binary32.
    pub float: f64,
    /// An operation of a warp on binary64.
    pub double: f64,
    /// An operation of a warp of the special function unit.
    pub special: f64,
    /// Asking the banks of shared memory once.
    pub shared: f64,
    /// Looking a line up in a private cache.
    pub l1: f64,
    /// Looking a line up in the shared cache.
    pub l2: f64,
    /// Moving a bit between cluster and shared cache.
    pub interconnect_bit: f64,
    /// A multiprocessor's leakage, a cycle.
    pub sm_cycle: f64,
}

/// The built-in machines: name and TOML text.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("tom", include_str!("../machines/tom.toml")),
    ("tom-baseline", include_str!("../machines/tom-baseline.toml")),
];

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

    /// Every key with its value and the comment of `text`, the file it was read from.
    pub fn list(&self, text: &str) -> Vec<Entry> {
        machine::list(self, text)
    }

    /// The machine as programs see it.
    pub fn as_simt(&self) -> nbcc_isa_simt::Machine {
        nbcc_isa_simt::Machine {
            isa: &crate::ISA,
            name: self.name.clone(),
            toml: machine::to_toml(self),
            limits: Limits {
                cores: self.gpu.sms,
                core_warps: self.sm.warps,
                core_blocks: self.sm.blocks,
                block_threads: self.sm.block_threads,
                registers: self.sm.thread_registers,
                shared_bytes: self.sm.shared_bytes,
                local_bytes: self.sm.local_bytes,
                param_bytes: self.sm.param_bytes,
                memory_bytes: u64::from(self.stack.count) * self.stack.bytes,
            },
        }
    }

    /// Bytes of a bank.
    pub fn bank_bytes(&self) -> u64 {
        self.stack.bytes / (u64::from(self.stack.vaults) * u64::from(self.stack.banks))
    }

    /// Bytes of an access of the banks: a line at most.
    pub fn burst_bytes(&self) -> u32 {
        self.stack.burst_bytes.min(self.cache.line_bytes)
    }

    /// Accesses of the banks that make a line.
    pub fn line_bursts(&self) -> u32 {
        (self.cache.line_bytes / self.burst_bytes()).max(1)
    }

    /// Multiprocessors of the whole machine, those of the GPU first.
    pub fn sms(&self) -> u32 {
        self.gpu.sms + self.stack.count * self.stack.sms
    }

    /// The mappings that the analyzer chooses from: consecutive bits, the lowest first (section 3.2).
    pub fn mappings(&self) -> Vec<StackBits> {
        let count = self.stack.count.trailing_zeros();
        let last = self.map.highest_bit + 1 - count;
        (self.map.lowest_bit..=last).map(|low| StackBits { low, count }).collect()
    }

    /// Checks every value for its range.
    ///
    /// # Errors
    /// The first value that is out of range, by its key.
    pub fn validate(&self) -> Result<(), MachineError> {
        check_name(&self.name)?;
        for (key, value, least, most) in [
            ("gpu.sms", self.gpu.sms, 1, 4096),
            ("gpu.cluster_sms", self.gpu.cluster_sms, 1, 4096),
            ("sm.lanes", self.sm.lanes, 32, 32),
            ("sm.warps", self.sm.warps, 1, 1024),
            ("sm.blocks", self.sm.blocks, 1, 64),
            ("sm.block_threads", self.sm.block_threads, 32, 1024),
            ("sm.registers", self.sm.registers, 1024, 1 << 24),
            ("sm.thread_registers", self.sm.thread_registers, 16, 256),
            ("sm.shared_bytes", self.sm.shared_bytes, 1024, 1 << 24),
            ("sm.local_bytes", self.sm.local_bytes, 16, 1 << 24),
            ("sm.param_bytes", self.sm.param_bytes, 64, 65536),
            ("l1.bytes", self.l1.bytes, 128, 1 << 30),
            ("l1.ways", self.l1.ways, 1, 1024),
            ("l2.bytes", self.l2.bytes, 128, 1 << 30),
            ("l2.ways", self.l2.ways, 1, 1024),
            ("cache.line_bytes", self.cache.line_bytes, 32, 4096),
            ("stack.count", self.stack.count, 1, 64),
            ("stack.sms", self.stack.sms, 0, 64),
            ("stack.warps", self.stack.warps, 1, 1024),
            ("stack.vaults", self.stack.vaults, 1, 256),
            ("stack.banks", self.stack.banks, 1, 256),
            ("stack.vault_tsvs", self.stack.vault_tsvs, 1, 1 << 16),
            ("stack.burst_bytes", self.stack.burst_bytes, 16, 4096),
            ("l1.slices", self.l1.slices, 1, 1),
            ("l1.latency", self.l1.latency, 1, 10_000),
            ("l1.misses", self.l1.misses, 1, 1 << 16),
            ("l2.slices", self.l2.slices, 1, 1024),
            ("l2.latency", self.l2.latency, 1, 10_000),
            ("l2.misses", self.l2.misses, 1, 1 << 16),
            ("link.header_bytes", self.link.header_bytes, 0, 4096),
            ("link.address_bytes", self.link.address_bytes, 1, 64),
            ("link.acknowledgment_bytes", self.link.acknowledgment_bytes, 1, 64),
            ("offload.latency", self.offload.latency, 0, 1 << 20),
            ("offload.entries", self.offload.entries, 0, 1 << 16),
            ("offload.entry_bits", self.offload.entry_bits, 1, 1 << 16),
            ("offload.busy_window", self.offload.busy_window, 1, 1 << 24),
            ("cost.warp_words", self.cost.warp_words, 1, 1024),
            ("cost.line_words", self.cost.line_words, 1, 1024),
            ("map.lowest_bit", self.map.lowest_bit, 0, 47),
            ("map.highest_bit", self.map.highest_bit, 0, 47),
            ("map.entries", self.map.entries, 0, 1 << 20),
            ("map.entry_bits", self.map.entry_bits, 1, 1 << 16),
        ] {
            check_range(key, value, least, most)?;
        }
        for (key, value, least, most) in [
            ("gpu.clock", self.gpu.clock, 0.001, 1000.0),
            ("gpu.l2_clock", self.gpu.l2_clock, 0.001, 1000.0),
            ("gpu.interconnect_clock", self.gpu.interconnect_clock, 0.001, 1000.0),
            ("stack.tsv_rate", self.stack.tsv_rate, 0.001, 1e6),
            ("stack.internal_bandwidth", self.stack.internal_bandwidth, 0.001, 1e9),
            ("stack.switch_ns", self.stack.switch_ns, 0.001, 1e6),
            ("stack.controller_ns", self.stack.controller_ns, 0.0, 1e6),
            ("link.bandwidth", self.link.bandwidth, 0.001, 1e9),
            ("link.latency_ns", self.link.latency_ns, 0.0, 1e6),
            ("link.cross_ratio", self.link.cross_ratio, 0.001, 1000.0),
            ("offload.busy_threshold", self.offload.busy_threshold, 0.0, 1.0),
            ("cost.coalescing_loads", self.cost.coalescing_loads, 0.0, 32.0),
            ("cost.coalescing_stores", self.cost.coalescing_stores, 0.0, 32.0),
            ("cost.load_misses", self.cost.load_misses, 0.0, 1.0),
            ("cost.acknowledgment", self.cost.acknowledgment, 0.0, 32.0),
            ("map.learn_share", self.map.learn_share, 1e-9, 1.0),
            ("pcie.latency_us", self.pcie.latency_us, 0.0, 1e6),
            ("pcie.bandwidth", self.pcie.bandwidth, 0.001, 1e9),
            ("energy.link_bit", self.energy.link_bit, 0.0, 1e9),
            ("energy.link_idle_bit", self.energy.link_idle_bit, 0.0, 1e9),
            ("energy.activate", self.energy.activate, 0.0, 1e9),
            ("energy.row_buffer_bit", self.energy.row_buffer_bit, 0.0, 1e9),
            ("energy.front_end", self.energy.front_end, 0.0, 1e9),
            ("energy.register", self.energy.register, 0.0, 1e9),
            ("energy.collector", self.energy.collector, 0.0, 1e9),
            ("energy.alu", self.energy.alu, 0.0, 1e9),
            ("energy.float", self.energy.float, 0.0, 1e9),
            ("energy.double", self.energy.double, 0.0, 1e9),
            ("energy.special", self.energy.special, 0.0, 1e9),
            ("energy.shared", self.energy.shared, 0.0, 1e9),
            ("energy.l1", self.energy.l1, 0.0, 1e9),
            ("energy.l2", self.energy.l2, 0.0, 1e9),
            ("energy.interconnect_bit", self.energy.interconnect_bit, 0.0, 1e9),
            ("energy.sm_cycle", self.energy.sm_cycle, 0.0, 1e9),
        ] {
            check_range(key, value, least, most)?;
        }
        self.pipeline.validate()?;
        self.latency.validate("latency")?;
        self.interval.validate("interval")?;
        self.interconnect.validate()?;
        let line = self.cache.line_bytes;
        for (key, cache) in [("l1", &self.l1), ("l2", &self.l2)] {
            let set = u64::from(line) * u64::from(cache.ways) * u64::from(cache.slices);
            if u64::from(cache.bytes) < set {
                let message = format!("`{key}.bytes` is {}, less than a set", cache.bytes);
                return Err(MachineError::at_key(format!("{key}.bytes"), message));
            }
        }
        for (key, value) in [
            ("stack.vaults", self.stack.vaults),
            ("stack.banks", self.stack.banks),
            ("stack.burst_bytes", self.stack.burst_bytes),
        ] {
            if !value.is_power_of_two() {
                let message = format!("`{key}` is {value}, which is no power of two");
                return Err(MachineError::at_key(key, message));
            }
        }
        let bank = self.bank_bytes();
        let Ok(bank) = u32::try_from(bank) else {
            let message = format!("banks would have {bank} bytes, which is too many");
            return Err(MachineError::at_key("stack.bytes", message));
        };
        self.dram.validate(self.stack.banks, bank, line)?;
        check_range("stack.bytes", self.stack.bytes, 1 << 20, 1 << 40)?;
        check_multiple("gpu.sms", self.gpu.sms, self.gpu.cluster_sms)?;
        check_multiple("sm.block_threads", self.sm.block_threads, self.sm.lanes)?;
        check_multiple("sm.shared_bytes", self.sm.shared_bytes, 16)?;
        check_multiple("sm.local_bytes", self.sm.local_bytes, 16)?;
        for (key, value) in
            [("stack.count", self.stack.count), ("cache.line_bytes", self.cache.line_bytes)]
        {
            if !value.is_power_of_two() {
                let message = format!("`{key}` is {value}, which is no power of two");
                return Err(MachineError::at_key(key, message));
            }
        }
        if self.line_bursts() > 32 {
            let message =
                format!("`stack.burst_bytes` is {}, a line more than 32", self.stack.burst_bytes);
            return Err(MachineError::at_key("stack.burst_bytes", message));
        }
        if self.sm.warps * self.sm.lanes < self.sm.block_threads {
            let message = format!(
                "a multiprocessor holds {} warps, too few for a block of {} threads",
                self.sm.warps, self.sm.block_threads
            );
            return Err(MachineError::at_key("sm.warps", message));
        }
        let bits = self.stack.count.trailing_zeros();
        if bits > 0 && self.map.highest_bit + 1 < self.map.lowest_bit + bits {
            let message = format!(
                "bits {} to {} are too few for {} stacks",
                self.map.lowest_bit, self.map.highest_bit, self.stack.count
            );
            return Err(MachineError::at_key("map.highest_bit", message));
        }
        // A bit inside of a line cannot say where the line lies.
        let least = line.trailing_zeros();
        if bits > 0 && self.map.lowest_bit < least {
            let message = format!(
                "`map.lowest_bit` is {}, which is inside of a line of {line} bytes",
                self.map.lowest_bit
            );
            return Err(MachineError::at_key("map.lowest_bit", message).with_help(format!(
                "with `cache.line_bytes` of {line} it must be at least {least}"
            )));
        }
        self.validate_on_chip()
    }

    /// Checks that all registers, memories and tables together can be simulated.
    fn validate_on_chip(&self) -> Result<(), MachineError> {
        let sms = u64::from(self.sms());
        let entries = |count: u32| u64::from(count) * ENTRY_BYTES;
        let vaults = u64::from(self.stack.count * self.stack.vaults);
        let parts = [
            ("sm.registers", u64::from(self.sm.registers) * 4 * sms),
            ("sm.shared_bytes", u64::from(self.sm.shared_bytes) * sms),
            ("sm.warps", entries(self.sm.warps.max(self.stack.warps)) * sms),
            ("l1.bytes", u64::from(self.l1.bytes) * sms),
            ("l2.bytes", u64::from(self.l2.bytes)),
            ("stack.banks", entries(self.stack.banks) * vaults),
            ("dram.request_queue", entries(self.dram.request_queue) * vaults),
        ];
        check_on_chip("registers, memories and tables", &parts, MAX_ON_CHIP_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of Table 1 and what the paper says follows from them.
    #[test]
    fn built_in_machines_are_those_of_the_paper() {
        let (tom, baseline) = (Machine::built_in("tom"), Machine::built_in("tom-baseline"));
        let total = |m: &Machine| m.gpu.sms + m.stack.count * m.stack.sms;
        assert_eq!((total(&tom), total(&baseline), baseline.stack.sms), (68, 68, 0));
        // 64 vias of 1.25 Gb/s are 10 GB/s a vault, 16 vaults 160 GB/s a stack.
        let vault = f64::from(tom.stack.vault_tsvs) * tom.stack.tsv_rate / 8.0;
        assert_eq!(vault, 10.0);
        assert_eq!(vault * f64::from(tom.stack.vaults), tom.stack.internal_bandwidth);
        assert_eq!(tom.stack.internal_bandwidth, 2.0 * tom.link.bandwidth);
        let pairs: Vec<[u32; 2]> = tom.mappings().iter().map(|bits| bits.pair()).collect();
        assert_eq!((pairs.len(), pairs[0], pairs[9]), (10, [7, 8], [16, 17]));
        assert_eq!(tom.offload.entries * tom.offload.entry_bits, 10_320);
        assert_eq!(tom.map.entries * tom.map.entry_bits, 9_700);
    }

    #[test]
    fn every_value_has_its_source() {
        for (name, text) in BUILT_IN {
            for entry in Machine::built_in(name).list(text) {
                let c = &entry.comment;
                let sourced = ["T1", "chosen", "section"].iter().any(|s| c.contains(s));
                assert!(sourced || entry.key == "name", "{} has no source", entry.key);
            }
        }
    }

    fn changed(changes: &[&str]) -> Result<Machine, MachineError> {
        let changes: Vec<_> = changes.iter().map(|text| Override::parse(text).unwrap()).collect();
        Machine::from_toml(Machine::built_in_text("tom").unwrap(), &changes)
    }

    /// A bit inside of a line does not choose the stack of the line.
    #[test]
    fn bits_of_mappings_are_above_lines() {
        let error = changed(&["cache.line_bytes=256"]).unwrap_err();
        assert_eq!(error.key.as_deref(), Some("map.lowest_bit"));
        assert!(error.help.unwrap().ends_with("at least 8"));
        changed(&["cache.line_bytes=256", "map.lowest_bit=8"]).unwrap();
        changed(&["cache.line_bytes=256", "stack.count=1"]).unwrap();
    }

    /// What is there of each multiprocessor or vault is counted as often as there are such.
    #[test]
    fn memories_and_tables_are_bounded_together() {
        for (changes, key) in [
            (&["l1.bytes=1073741824"][..], "l1.bytes"),
            (&["gpu.sms=2048", "l1.bytes=1048576"], "l1.bytes"),
            (&["sm.registers=16777216"], "sm.registers"),
            (
                &["stack.count=64", "stack.vaults=256", "dram.request_queue=4096"],
                "dram.request_queue",
            ),
        ] {
            let error = changed(changes).unwrap_err();
            assert_eq!(error.key.as_deref(), Some(key), "{error}");
            assert!(error.help.unwrap().contains("must not exceed"));
        }
        changed(&["gpu.sms=4096"]).unwrap();
    }

    /// Every value set to what no machine has: an error with a key, or a valid machine.
    #[test]
    fn hostile_values_are_errors() {
        let text = Machine::built_in_text("tom").unwrap();
        for entry in Machine::built_in("tom").list(text) {
            for value in ["0", "-1", "3", "4294967295", "9223372036854775807", "nan", "[]", "x"] {
                let change = Override { key: entry.key.clone(), value: value.into() };
                match Machine::from_toml(text, &[change]) {
                    Ok(machine) => {
                        machine.validate().unwrap();
                        let _ = machine.mappings();
                    }
                    Err(error) => assert!(error.key.is_some(), "{}={value}: {error}", entry.key),
                }
            }
        }
    }
}
