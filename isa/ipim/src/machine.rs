//! The iPIM machine: Table III of the iPIM paper as a struct, read from a TOML file
//! of `machines/`. Compiler and simulator take every number from here.

use nbcc_isa::dram::Dram;
use nbcc_isa::machine::{
    self, Entry, MachineError, Override, check_mesh, check_multiple, check_name, check_on_chip,
    check_range,
};
use serde::{Deserialize, Serialize};

use crate::ops::{Latency, Unit};
use crate::{ATOM_BYTES, LANES};

/// A whole machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// What statistics call it.
    pub name: String,
    /// How many of what.
    pub hierarchy: Hierarchy,
    /// The control core of a vault.
    pub control: Control,
    /// Register files.
    pub registers: Registers,
    /// Memories and the widths of their ports.
    pub memory: Memories,
    /// Banks and the controller of a group.
    pub dram: Dram,
    /// Latencies in cycles.
    pub latency: Latencies,
    /// TSVs, the network of a cube, the links between cubes.
    pub network: Network,
    /// Energies in picojoules.
    pub energy: Energy,
    /// Variants of the machine.
    pub features: Features,
}

/// How many of what. An engine's number in its vault is `pg * pes + pe`, the bit of
/// the engine mask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hierarchy {
    /// Cubes; cube `i` is at column `i % cube_columns`, row `i / cube_columns`.
    pub cubes: u32,
    /// Columns of the mesh of cubes.
    pub cube_columns: u32,
    /// Vaults of a cube; vault `i` is at column `i % vault_columns`, and so on.
    pub vaults: u32,
    /// Columns of the mesh of vaults of a cube.
    pub vault_columns: u32,
    /// Process groups of a vault.
    pub pgs: u32,
    /// Process engines of a group.
    pub pes: u32,
}

/// The control core of a vault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Control {
    /// Issued instructions that have not retired.
    pub instruction_queue: u32,
    /// Cycles of a step of the core.
    #[serde(rename = "tCtrl")]
    pub t_ctrl: u32,
    /// Cycles without issue after a taken jump.
    pub branch_penalty: u32,
}

/// Entries of the register files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registers {
    /// CtrlRF, a vault.
    pub ctrl: u32,
    /// AddrRF, an engine.
    pub addr: u32,
    /// DataRF, an engine.
    pub data: u32,
}

/// Memories, in bytes, and the widths of their ports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memories {
    /// 32-bit lanes of the SIMD unit; the instruction set has four.
    pub simd_lanes: u32,
    /// Bytes of a bank access; the instruction set has 16.
    pub atom_bytes: u32,
    /// Bytes of a bank.
    pub bank_bytes: u32,
    /// Bytes of a group's scratchpad.
    pub pgsm_bytes: u32,
    /// Ports of an engine into its group's scratchpad: one to read and one to write, or one for both.
    pub pgsm_ports: u32,
    /// Bytes of a vault's scratchpad.
    pub vsm_bytes: u32,
}

/// Latencies in cycles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latencies {
    /// AddrRF access.
    #[serde(rename = "tADDRRF")]
    pub t_addr_rf: u32,
    /// DataRF access.
    #[serde(rename = "tDATARF")]
    pub t_data_rf: u32,
    /// Access of the group's scratchpad.
    #[serde(rename = "tPGSM")]
    pub t_pgsm: u32,
    /// Access of the vault's scratchpad.
    #[serde(rename = "tVSM")]
    pub t_vsm: u32,
    /// Addition, subtraction.
    #[serde(rename = "tADD")]
    pub t_add: u32,
    /// Multiplication.
    #[serde(rename = "tMUL")]
    pub t_mul: u32,
    /// Multiplication and addition.
    #[serde(rename = "tMAC")]
    pub t_mac: u32,
    /// Shifts, bitwise operations, crops.
    #[serde(rename = "tLOGIC")]
    pub t_logic: u32,
    /// Transfer between bank, engine and group scratchpad.
    #[serde(rename = "tPEbus")]
    pub t_pe_bus: u32,
    /// Transfer over the TSVs of a vault.
    #[serde(rename = "tTSV")]
    pub t_tsv: u32,
}

/// TSVs, the network of a cube, the links between cubes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Cycles of a hop between vaults.
    #[serde(rename = "tNoC")]
    pub t_noc: u32,
    /// Nanoseconds of a hop between cubes.
    #[serde(rename = "tSERDES")]
    pub t_serdes: f64,
    /// Serial links of a cube.
    pub serdes_links: u32,
    /// Bytes a cycle of a serial link, each way.
    pub serdes_bytes: u32,
    /// Bytes a cycle of the TSVs of a vault.
    pub tsv_bytes: u32,
    /// Bytes of a flit between vaults, one a cycle.
    pub noc_bytes: u32,
    /// Flits that an input of a router holds.
    pub router_queue: u32,
    /// Bytes of a packet's header.
    pub packet_header: u32,
    /// Global number (cube * vaults + vault) of the vault that counts arrivals at `sync`.
    pub sync_master: u32,
}

impl Network {
    /// Flits of a packet with so many bytes behind its header.
    pub fn flits(&self, bytes: u32) -> u32 {
        (self.packet_header + bytes).div_ceil(self.noc_bytes)
    }
}

/// Energies in picojoules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Energy {
    /// Bank read of an atom.
    pub read: f64,
    /// Bank write of an atom.
    pub write: f64,
    /// Precharge of a row.
    pub precharge: f64,
    /// Activate of a row.
    pub activate: f64,
    /// Refresh of a bank.
    pub refresh: f64,
    /// AddrRF access.
    pub addr_rf: f64,
    /// DataRF access.
    pub data_rf: f64,
    /// SIMD unit operation of all lanes.
    pub simd: f64,
    /// Integer ALU operation.
    pub int_alu: f64,
    /// Access of the group's scratchpad.
    pub pgsm: f64,
    /// Access of the vault's scratchpad.
    pub vsm: f64,
    /// Transfer of a bit on the engines' bus.
    pub pe_bus_bit: f64,
    /// Transfer of a bit over TSVs.
    pub tsv_bit: f64,
    /// Transfer of a bit over a serial link.
    pub serdes_bit: f64,
    /// Transfer of a bit over a hop between vaults.
    pub noc_bit: f64,
    /// An instruction of the control core.
    pub control: f64,
}

/// Variants of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// Engines, register files and group scratchpads are on the base die: all bank
    /// traffic goes over the TSVs.
    pub process_on_base_die: bool,
}

/// The built-in machines: name and TOML text.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("ipim", include_str!("../machines/ipim.toml")),
    ("ipim-cube", include_str!("../machines/ipim-cube.toml")),
    ("ipim-vault", include_str!("../machines/ipim-vault.toml")),
    ("ipim-base-die", include_str!("../machines/ipim-base-die.toml")),
];

/// The bytes of registers and scratchpads that a machine may have in all.
const MAX_ON_CHIP_BYTES: u64 = 1 << 30;

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

    /// 16 hexadecimal digits that identify the machine.
    pub fn hash(&self) -> String {
        machine::hash(self)
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
        let h = &self.hierarchy;
        check_name(&self.name)?;
        check_range("hierarchy.cubes", h.cubes, 1, 256)?;
        check_range("hierarchy.vaults", h.vaults, 1, 256)?;
        check_range("hierarchy.pgs", h.pgs, 1, 32)?;
        check_range("hierarchy.pes", h.pes, 1, 32)?;
        if h.pgs * h.pes > 32 {
            return Err(MachineError::at_key(
                "hierarchy.pes",
                format!("a vault has {} engines, more than an engine mask has bits", h.pgs * h.pes),
            )
            .with_help("`hierarchy.pgs` times `hierarchy.pes` must be 32 or less"));
        }
        for (key, columns, of, count) in [
            ("hierarchy.cube_columns", h.cube_columns, "hierarchy.cubes", h.cubes),
            ("hierarchy.vault_columns", h.vault_columns, "hierarchy.vaults", h.vaults),
        ] {
            check_range(key, columns, 1, count)?;
            check_mesh(key, columns, of, count)?;
        }

        check_range("control.instruction_queue", self.control.instruction_queue, 1, 4096)?;
        check_range("control.tCtrl", self.control.t_ctrl, 1, 1000)?;
        check_range("control.branch_penalty", self.control.branch_penalty, 0, 1000)?;

        check_range("registers.ctrl", self.registers.ctrl, 16, 128)?;
        check_range("registers.addr", self.registers.addr, 16, 128)?;
        check_range("registers.data", self.registers.data, 16, 128)?;

        let m = &self.memory;
        check_range("memory.simd_lanes", m.simd_lanes, LANES as u32, LANES as u32)?;
        check_range("memory.atom_bytes", m.atom_bytes, ATOM_BYTES, ATOM_BYTES)?;
        for (key, bytes, least, most) in [
            ("memory.bank_bytes", m.bank_bytes, 4096, 1 << 30),
            ("memory.pgsm_bytes", m.pgsm_bytes, 64, 1 << 24),
            ("memory.vsm_bytes", m.vsm_bytes, 1024, 1 << 26),
        ] {
            check_range(key, bytes, least, most)?;
            check_multiple(key, bytes, ATOM_BYTES)?;
        }
        check_range("memory.pgsm_ports", m.pgsm_ports, 1, 2)?;
        let r = &self.registers;
        let vaults = u64::from(self.vaults());
        let engines = vaults * u64::from(h.pgs * h.pes);
        let parts = [
            ("registers.ctrl", u64::from(r.ctrl) * 4 * vaults),
            ("registers.addr", u64::from(r.addr) * 4 * engines),
            ("registers.data", u64::from(r.data) * u64::from(ATOM_BYTES) * engines),
            ("memory.pgsm_bytes", u64::from(m.pgsm_bytes) * vaults * u64::from(h.pgs)),
            ("memory.vsm_bytes", u64::from(m.vsm_bytes) * vaults),
        ];
        check_on_chip("registers and scratchpads", &parts, MAX_ON_CHIP_BYTES)?;

        self.dram.validate(h.pes, m.bank_bytes, m.atom_bytes)?;

        let l = &self.latency;
        for (name, cycles) in [
            ("tADDRRF", l.t_addr_rf),
            ("tDATARF", l.t_data_rf),
            ("tPGSM", l.t_pgsm),
            ("tVSM", l.t_vsm),
            ("tADD", l.t_add),
            ("tMUL", l.t_mul),
            ("tMAC", l.t_mac),
            ("tLOGIC", l.t_logic),
            ("tPEbus", l.t_pe_bus),
            ("tTSV", l.t_tsv),
        ] {
            check_range(&format!("latency.{name}"), cycles, 1, 1000)?;
        }

        let n = &self.network;
        check_range("network.tNoC", n.t_noc, 1, 1000)?;
        check_range("network.tSERDES", n.t_serdes, 0.0, 1000.0)?;
        check_range("network.serdes_links", n.serdes_links, 1, 64)?;
        check_range("network.serdes_bytes", n.serdes_bytes, 1, 4096)?;
        check_range("network.tsv_bytes", n.tsv_bytes, 1, 4096)?;
        check_range("network.noc_bytes", n.noc_bytes, 1, 4096)?;
        check_range("network.router_queue", n.router_queue, 1, 4096)?;
        check_range("network.packet_header", n.packet_header, 0, 4096)?;
        check_range("network.sync_master", n.sync_master, 0, self.vaults() - 1)?;

        let e = &self.energy;
        for (name, picojoules) in [
            ("read", e.read),
            ("write", e.write),
            ("precharge", e.precharge),
            ("activate", e.activate),
            ("refresh", e.refresh),
            ("addr_rf", e.addr_rf),
            ("data_rf", e.data_rf),
            ("simd", e.simd),
            ("int_alu", e.int_alu),
            ("pgsm", e.pgsm),
            ("vsm", e.vsm),
            ("pe_bus_bit", e.pe_bus_bit),
            ("tsv_bit", e.tsv_bit),
            ("serdes_bit", e.serdes_bit),
            ("noc_bit", e.noc_bit),
            ("control", e.control),
        ] {
            check_range(&format!("energy.{name}"), picojoules, 0.0, 1e9)?;
        }
        Ok(())
    }

    /// Vaults of the whole machine.
    pub fn vaults(&self) -> u32 {
        self.hierarchy.cubes * self.hierarchy.vaults
    }

    /// Engines of a vault.
    pub fn engines(&self) -> u32 {
        self.hierarchy.pgs * self.hierarchy.pes
    }

    /// The mask of all engines of a vault.
    pub fn full_mask(&self) -> u32 {
        if self.engines() == 32 { u32::MAX } else { (1 << self.engines()) - 1 }
    }

    /// Columns and rows of the mesh of cubes.
    pub fn cube_mesh(&self) -> [u32; 2] {
        let h = &self.hierarchy;
        [h.cube_columns, h.cubes / h.cube_columns]
    }

    /// Columns and rows of the mesh of vaults of a cube.
    pub fn vault_mesh(&self) -> [u32; 2] {
        let h = &self.hierarchy;
        [h.vault_columns, h.vaults / h.vault_columns]
    }

    /// Cycles from the start of an instruction in its unit to its retirement when
    /// nothing stands in its way; a bank access hits the open row, a request goes one
    /// hop.
    pub fn latency(&self, unit: Unit, class: Latency) -> u32 {
        let l = &self.latency;
        let registers = match unit {
            Unit::IntAlu => l.t_addr_rf,
            Unit::Control => 0,
            _ => l.t_data_rf,
        };
        let bank = self.dram.t_cl + self.dram.t_bl + l.t_pe_bus;
        let alu = |cycles: u32| match unit {
            Unit::Control => self.control.t_ctrl,
            _ => cycles + registers,
        };
        match class {
            Latency::Control => self.control.t_ctrl,
            Latency::Add => alu(l.t_add),
            Latency::Mul => alu(l.t_mul),
            Latency::Mac => alu(l.t_mac),
            Latency::Logic => alu(l.t_logic),
            Latency::Move => l.t_addr_rf + l.t_data_rf,
            Latency::Reset => l.t_data_rf,
            Latency::Bank => bank + l.t_data_rf,
            Latency::Pgsm => l.t_pgsm + l.t_pe_bus + l.t_data_rf,
            Latency::Vsm => l.t_vsm + l.t_tsv + l.t_data_rf,
            Latency::Network => 2 * self.network.t_noc + bank + 2 * l.t_tsv + l.t_vsm,
            Latency::Sync => 2 * self.network.t_noc,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_machines_are_valid_and_explained() {
        for (name, text) in BUILT_IN {
            let machine = Machine::from_toml(text, &[]).unwrap();
            assert_eq!(machine.name, *name);
            for entry in machine.list(text) {
                assert!(!entry.comment.is_empty(), "{name}: `{}` has no comment", entry.key);
            }
            assert_eq!(Machine::from_toml(&machine.to_toml(), &[]).unwrap(), machine);
        }
    }

    /// Table III as printed, against the file.
    #[test]
    fn ipim_is_table_iii() {
        let m = Machine::built_in("ipim");
        let h = &m.hierarchy;
        assert_eq!([h.cubes, h.vaults, h.pgs, h.pes], [8, 16, 8, 4]);
        assert_eq!([m.control.instruction_queue, m.dram.request_queue], [64, 16]);
        assert_eq!([m.registers.addr * 4, m.registers.data * 16], [256, 1024]);
        assert_eq!([m.memory.pgsm_bytes, m.memory.vsm_bytes], [8 << 10, 256 << 10]);
        let d = &m.dram;
        assert_eq!([d.t_rcd, d.t_ccd, d.t_rtp, d.t_rp, d.t_ras], [14, 2, 4, 14, 33]);
        assert_eq!([d.t_rrd_s, d.t_rrd_l, d.t_faw], [4, 6, 16]);
        assert_eq!(m.latency(Unit::Simd, Latency::Mac), 9);
        assert_eq!(m.latency(Unit::IntAlu, Latency::Logic), 2);
        assert_eq!(m.latency(Unit::Control, Latency::Control), 1);
        assert_eq!(m.full_mask(), u32::MAX);
    }

    /// The other machines differ from `ipim` in what their names say only.
    #[test]
    fn variants_differ_by_name() {
        let ipim = Machine::built_in("ipim");
        let cube = Machine::built_in("ipim-cube");
        let vault = Machine::built_in("ipim-vault");
        let base_die = Machine::built_in("ipim-base-die");
        let hierarchy = Hierarchy { cubes: 1, cube_columns: 1, ..ipim.hierarchy.clone() };
        assert_eq!(cube, Machine { name: cube.name.clone(), hierarchy, ..ipim.clone() });
        let hierarchy = Hierarchy { vaults: 1, vault_columns: 1, ..cube.hierarchy.clone() };
        assert_eq!(vault, Machine { name: vault.name.clone(), hierarchy, ..ipim.clone() });
        let features = Features { process_on_base_die: true };
        assert_eq!(base_die, Machine { name: base_die.name.clone(), features, ..ipim.clone() });
    }

    /// Every number set to zero, to the largest integer, to a negative one: an error
    /// with a key, or a valid machine; and counts may not be absurd.
    #[test]
    fn hostile_values_are_errors() {
        let text = Machine::built_in_text("ipim").unwrap();
        let ipim = Machine::built_in("ipim");
        for entry in ipim.list(text) {
            for value in ["0", "-1", "4294967295", "9223372036854775807", "nan", "inf", "[]", "x"] {
                let change = Override { key: entry.key.clone(), value: value.into() };
                match Machine::from_toml(text, &[change]) {
                    Ok(machine) => machine.validate().unwrap(),
                    Err(error) => assert!(error.key.is_some(), "{}={value}: {error}", entry.key),
                }
            }
        }
        for (key, value) in [
            ("hierarchy.pes", "8"),
            ("hierarchy.cubes", "0"),
            ("hierarchy.cubes", "3"),
            ("registers.data", "15"),
            ("registers.data", "129"),
            ("memory.bank_bytes", "16777217"),
            ("memory.vsm_bytes", "67108864"),
            ("dram.tREFI", "100"),
            ("dram.row_bytes", "24"),
            ("network.sync_master", "128"),
            ("energy.read", "nan"),
        ] {
            let change = Override { key: key.into(), value: value.into() };
            assert!(Machine::from_toml(text, &[change]).is_err(), "{key}={value}");
        }
        let change = Override::parse("dram.tRCD=16").unwrap();
        assert_eq!(Machine::from_toml(text, &[change]).unwrap().dram.t_rcd, 16);
    }

    #[test]
    fn errors_in_files_have_spans() {
        let text = Machine::built_in_text("ipim").unwrap().replace("tRCD = 14", "tRCD = 0");
        let error = Machine::from_toml(&text, &[]).unwrap_err();
        assert_eq!(error.key.as_deref(), Some("dram.tRCD"));
        assert_eq!(&text[error.span.unwrap()], "0");
    }
}
