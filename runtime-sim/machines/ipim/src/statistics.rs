//! What is measured of a run: its table of definitions, and where each number comes
//! from. Figs. 9, 11 and 13 of the iPIM paper can be drawn from it.
//!
//! What an instruction costs per issue is known before it runs, so units count nothing
//! themselves: numbers of issues are multiplied by costs afterwards. Banks, TSVs and
//! the network keep counts of their own.

use nbcc_isa::{Instruction, MachineInstruction};
use nbcc_isa_ipim::{ATOM_BYTES, Addr, Category, Inst, Machine, PhysReg, RegClass, Unit};
use nbcc_sim_engine::statistics::{Value, ratio, row};
use nbcc_sim_engine::{Cycle, Definition, EnergyLedger, Statistics};
use nbcc_sim_network::Network;

use crate::code::{Code, Step};
use crate::groups::DramTotals;
use crate::stall::Stall;
use crate::timed::TimedVault;

/// The version of the names and meanings below.
pub const SCHEMA_VERSION: u64 = 1;

/// Every statistic of a run with timing. Cycles are of the machine's one clock (tCK).
#[rustfmt::skip]
pub const DEFINITIONS: &[Definition] = &[
    row("schema_version", "-", "Version of the names and meanings in this table."),
    row("target", "-", "`ipim`."),
    row("machine.name", "-", "Name in the machine file."),
    row("machine.hash", "-", "Identifies all values of the machine file."),
    row("cycles", "cycles", "From the start until the last vault has ended its program."),
    row("time_ns", "ns", "`cycles` times the length of a cycle."),
    row("instructions", "instructions", "Issued by all control cores."),
    row("ipc", "instructions/cycle", "Instructions over `cycles`, on average over the active cores."),
    row("energy_pj", "pJ", "Sum of the parts under `energy`."),

    row("category.computation", "instructions", "`comp`."),
    row("category.index_calculation", "instructions", "`calc_arf`."),
    row("category.intra_vault", "instructions", "Loads, stores, scratchpads, moves between register files."),
    row("category.inter_vault", "instructions", "`req`."),
    row("category.control_flow", "instructions", "Jumps and CtrlRF."),
    row("category.synchronization", "instructions", "`sync`."),

    row("issued.comp", "instructions", "By mnemonic; these sum to `instructions`."),
    row("issued.calc_arf", "instructions", "As above."),
    row("issued.ld_rf", "instructions", "As above."),
    row("issued.st_rf", "instructions", "As above."),
    row("issued.ld_pgsm", "instructions", "As above."),
    row("issued.st_pgsm", "instructions", "As above."),
    row("issued.rd_pgsm", "instructions", "As above."),
    row("issued.wr_pgsm", "instructions", "As above."),
    row("issued.rd_vsm", "instructions", "As above."),
    row("issued.wr_vsm", "instructions", "As above."),
    row("issued.mov_drf", "instructions", "As above."),
    row("issued.mov_arf", "instructions", "As above."),
    row("issued.seti_vsm", "instructions", "As above."),
    row("issued.reset", "instructions", "As above."),
    row("issued.req", "instructions", "As above."),
    row("issued.jump", "instructions", "As above."),
    row("issued.cjump", "instructions", "As above."),
    row("issued.calc_crf", "instructions", "As above."),
    row("issued.seti_crf", "instructions", "As above."),
    row("issued.sync", "instructions", "As above."),

    row("core.count", "cores", "Control cores: one a vault."),
    row("core.active", "cores", "Cores that issued an instruction for engines or a `req`."),
    row("core.cycles", "cycles", "`cycles` times `core.count`: issue plus stall cycles."),
    row("core.issue_cycles", "cycles", "Cycles in which a core issued, over all cores."),
    row("core.stall_cycles", "cycles", "Cycles in which a core did not: the sum of `stall`."),
    row("core.instructions_of", "instructions", "A list: instructions of each core."),

    row("stall.branch", "cycles", "After a taken jump."),
    row("stall.true_dependence", "cycles", "A source register is not written yet."),
    row("stall.output_dependence", "cycles", "The destination is still to be written by an issued instruction."),
    row("stall.anti_dependence", "cycles", "The destination is still to be read by an issued instruction."),
    row("stall.scratchpad_order", "cycles", "An issued instruction still reads or writes the scratchpad."),
    row("stall.queue_full", "cycles", "The issued-instruction queue is full."),
    row("stall.tsv", "cycles", "The TSVs carry data."),
    row("stall.sync", "cycles", "At a `sync`: for own instructions to retire, then for the other vaults."),
    row("stall.drain", "cycles", "After the last instruction, until all have retired."),
    row("stall.finished", "cycles", "The vault's program is over, those of others are not."),

    row("engine.simd_operations", "operations", "SIMD operations of engines."),
    row("engine.int_alu_operations", "operations", "Operations of engines' integer ALUs."),
    row("engine.addr_rf_accesses", "accesses", "Reads and writes of AddrRF entries."),
    row("engine.data_rf_accesses", "accesses", "Reads and writes of DataRF entries."),
    row("engine.pe_bus_transfers", "transfers", "16-byte transfers between bank, engine and group scratchpad."),

    row("dram.requests", "requests", "16-byte requests to the groups' controllers."),
    row("dram.reads", "requests", "Of them, reads."),
    row("dram.writes", "requests", "Of them, writes."),
    row("dram.remote", "requests", "Of the reads, those of `req`."),
    row("dram.hits", "requests", "Found their row open. Hits, misses and conflicts sum to the requests."),
    row("dram.misses", "requests", "Found no row open."),
    row("dram.conflicts", "requests", "Found another row open."),
    row("dram.hit_rate", "-", "Hits over requests."),
    row("dram.activates", "commands", "Rows opened."),
    row("dram.precharges", "rows", "Rows closed, by whatever command."),
    row("dram.refreshes", "commands", "Refreshes of all banks of a group."),
    row("dram.commands", "commands", "All commands of all controllers."),
    row("dram.busy_cycles", "cycles", "Cycles in which a request waited for a command, over all controllers."),

    row("pgsm.reads", "accesses", "16-byte reads of group scratchpads."),
    row("pgsm.writes", "accesses", "16-byte writes of group scratchpads."),
    row("vsm.reads", "accesses", "Reads of vault scratchpads."),
    row("vsm.writes", "accesses", "Writes of vault scratchpads, with the atoms that `req` buffers and brings."),
    row("tsv.control_slots", "slots", "TSV slots that broadcast an instruction."),
    row("tsv.data_slots", "slots", "TSV slots that carried data."),
    row("network.packets", "packets", "Packets delivered."),
    row("network.average_latency", "cycles", "From injection to delivery of a packet."),

    row("bytes.bank_read", "bytes", "Read from banks."),
    row("bytes.bank_written", "bytes", "Written to banks."),
    row("bytes.pgsm", "bytes", "Read from and written to group scratchpads."),
    row("bytes.vsm", "bytes", "Read from and written to vault scratchpads."),
    row("bytes.tsv", "bytes", "Data over TSVs, without broadcast instructions."),
    row("bytes.remote", "bytes", "Brought by `req`."),
    row("bytes.noc", "bytes", "Bytes of packets times hops between vaults."),
    row("bytes.serdes", "bytes", "Bytes of packets times hops between cubes."),

    row("utilisation.simd", "-", "Share of cycles in which an engine of an active vault starts a SIMD operation."),
    row("utilisation.int_alu", "-", "The same, integer ALU."),
    row("utilisation.addr_rf", "-", "The same, an instruction that uses AddrRF."),
    row("utilisation.data_rf", "-", "The same, an instruction that uses DataRF."),
    row("utilisation.pgsm", "-", "The same, an access of the group scratchpad."),
    row("utilisation.bank", "-", "Share of cycles in which data moves in or out of a bank of an active vault (tBL an access)."),
    row("utilisation.controller", "-", "Share of cycles in which a group's controller of an active vault issues a command."),
    row("utilisation.tsv", "-", "Share of TSV slots of active vaults that are used."),
    row("utilisation.noc", "-", "Share of cycles in which a link between vaults is busy."),
    row("utilisation.serdes", "-", "Share of cycles in which a link between cubes is busy."),

    row("energy.dram_activate", "pJ", "Activates."),
    row("energy.dram_precharge", "pJ", "Precharges."),
    row("energy.dram_read", "pJ", "Column reads."),
    row("energy.dram_write", "pJ", "Column writes."),
    row("energy.dram_refresh", "pJ", "Refreshes, a bank each."),
    row("energy.simd", "pJ", "SIMD units."),
    row("energy.int_alu", "pJ", "Integer ALUs."),
    row("energy.addr_rf", "pJ", "AddrRF."),
    row("energy.data_rf", "pJ", "DataRF."),
    row("energy.pgsm", "pJ", "Group scratchpads."),
    row("energy.vsm", "pJ", "Vault scratchpads."),
    row("energy.tsv", "pJ", "TSVs, control and data."),
    row("energy.pe_bus", "pJ", "Engines' buses."),
    row("energy.noc", "pJ", "Hops between vaults."),
    row("energy.serdes", "pJ", "Hops between cubes."),
    row("energy.control", "pJ", "Control cores."),
];

/// What one issue of an instruction does, over all its engines.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    simd: u64,
    int_alu: u64,
    addr_rf: u64,
    data_rf: u64,
    uses_addr_rf: u64,
    uses_data_rf: u64,
    pgsm_reads: u64,
    pgsm_writes: u64,
    vsm_reads: u64,
    vsm_writes: u64,
    vsm_bytes: u64,
    pe_bus: u64,
    bank_reads: u64,
    bank_writes: u64,
    /// Whether a core that issues it does work.
    works: bool,
}

fn cost(inst: &Inst<u8>) -> Cost {
    let engines = inst.simb_mask().map_or(0, |mask| u64::from(mask.0.count_ones()));
    let mut cost = Cost { works: engines > 0, ..Cost::default() };
    inst.for_each_operand(|operand| {
        let accesses = u64::from(operand.role.reads()) + u64::from(operand.role.writes());
        match operand.class {
            RegClass::Addr => {
                cost.addr_rf += accesses * engines;
                cost.uses_addr_rf = engines;
            }
            RegClass::Data => {
                cost.data_rf += accesses * engines;
                cost.uses_data_rf = engines;
            }
            RegClass::Ctrl => {}
        }
    });
    match inst.unit() {
        Unit::Simd => cost.simd = engines,
        Unit::IntAlu => cost.int_alu = engines,
        Unit::Bank | Unit::Pgsm => cost.pe_bus = engines,
        _ => {}
    }
    let atom = u64::from(ATOM_BYTES);
    match inst {
        Inst::LdRf { .. } => cost.bank_reads = engines,
        Inst::StRf { .. } => cost.bank_writes = engines,
        Inst::LdPgsm { .. } => (cost.bank_reads, cost.pgsm_writes) = (engines, engines),
        Inst::StPgsm { .. } => (cost.bank_writes, cost.pgsm_reads) = (engines, engines),
        Inst::RdPgsm { .. } => cost.pgsm_reads = engines,
        Inst::WrPgsm { .. } => cost.pgsm_writes = engines,
        // With a direct address the scratchpad is read once for all.
        Inst::RdVsm { vsm, .. } => {
            cost.vsm_reads = if matches!(vsm, Addr::Direct(_)) { engines.min(1) } else { engines };
            cost.vsm_bytes = atom * cost.vsm_reads;
        }
        Inst::WrVsm { .. } => {
            cost.vsm_writes = engines;
            cost.vsm_bytes = atom * engines;
        }
        Inst::SetiVsm { .. } => {
            cost.vsm_writes = 1;
            cost.vsm_bytes = 4;
        }
        // Once where the atom is buffered, once where it is brought to.
        Inst::Req { .. } => {
            cost.vsm_writes = 2;
            cost.vsm_bytes = 2 * atom;
            cost.works = true;
        }
        _ => {}
    }
    cost
}

/// The statistics of a run that took `cycles`.
pub fn collect(
    machine: &Machine,
    code: &Code,
    vaults: &[TimedVault],
    dram: &DramTotals,
    network: &Network,
    cycles: Cycle,
) -> Statistics {
    let mut out = Statistics::new(DEFINITIONS);
    out.set("schema_version", SCHEMA_VERSION);
    out.set("target", "ipim");
    out.set("machine.name", machine.name.as_str());
    out.set("machine.hash", machine.hash());
    out.set("cycles", cycles);
    out.set("time_ns", cycles as f64 * machine.dram.t_ck);

    let counts = Counts::new(code, vaults);
    let (sum, active) = (&counts.sum, counts.active);
    set_instructions(&mut out, code, &counts);
    set_cores(&mut out, vaults, &counts, cycles);

    out.set("engine.simd_operations", sum.simd);
    out.set("engine.int_alu_operations", sum.int_alu);
    out.set("engine.addr_rf_accesses", sum.addr_rf);
    out.set("engine.data_rf_accesses", sum.data_rf);
    out.set("engine.pe_bus_transfers", sum.pe_bus + counts.remote);
    out.set("pgsm.reads", sum.pgsm_reads);
    out.set("pgsm.writes", sum.pgsm_writes);
    out.set("vsm.reads", sum.vsm_reads);
    out.set("vsm.writes", sum.vsm_writes);
    out.set("dram.remote", counts.remote);

    set_dram(&mut out, dram);
    let [tsv, port] = tsv_slots(vaults);
    out.set("tsv.control_slots", tsv[0]);
    out.set("tsv.data_slots", tsv[1]);
    let stats = network.stats();
    out.set("network.packets", stats.packets);
    out.set("network.average_latency", ratio(stats.latency, stats.packets));

    let atom = u64::from(ATOM_BYTES);
    let slot_bytes = u64::from(machine.network.tsv_bytes.min(ATOM_BYTES));
    out.set("bytes.bank_read", atom * dram.reads);
    out.set("bytes.bank_written", atom * dram.writes);
    out.set("bytes.pgsm", atom * (sum.pgsm_reads + sum.pgsm_writes));
    out.set("bytes.vsm", sum.vsm_bytes);
    out.set("bytes.tsv", slot_bytes * tsv[1]);
    out.set("bytes.remote", atom * counts.remote);
    out.set("bytes.noc", stats.mesh_byte_hops);
    out.set("bytes.serdes", stats.serial_byte_hops);

    // Time that units of active vaults have, by how many of them a vault has.
    let available = |units: u32| cycles * active * u64::from(units);
    let engines = available(machine.engines());
    out.set("utilisation.simd", ratio(sum.simd, engines));
    out.set("utilisation.int_alu", ratio(sum.int_alu, engines));
    out.set("utilisation.addr_rf", ratio(sum.uses_addr_rf, engines));
    out.set("utilisation.data_rf", ratio(sum.uses_data_rf, engines));
    out.set("utilisation.pgsm", ratio(sum.pgsm_reads + sum.pgsm_writes, engines));
    let transfers = (dram.reads + dram.writes) * u64::from(machine.dram.t_bl);
    out.set("utilisation.bank", ratio(transfers, engines));
    let groups = available(machine.hierarchy.pgs);
    out.set("utilisation.controller", ratio(dram.commands, groups));
    out.set("utilisation.tsv", ratio(tsv[0] + tsv[1], available(1)));
    out.set("utilisation.noc", ratio(stats.mesh_busy, cycles * network.mesh_links()));
    out.set("utilisation.serdes", ratio(stats.serial_busy, cycles * network.serial_links()));

    let e = &machine.energy;
    let mut ledger = EnergyLedger::new();
    ledger.add("energy.dram_activate", dram.activates, e.activate);
    ledger.add("energy.dram_precharge", dram.precharges, e.precharge);
    ledger.add("energy.dram_read", dram.reads, e.read);
    ledger.add("energy.dram_write", dram.writes, e.write);
    ledger.add("energy.dram_refresh", dram.refreshes * u64::from(machine.hierarchy.pes), e.refresh);
    ledger.add("energy.simd", sum.simd, e.simd);
    ledger.add("energy.int_alu", sum.int_alu, e.int_alu);
    ledger.add("energy.addr_rf", sum.addr_rf, e.addr_rf);
    ledger.add("energy.data_rf", sum.data_rf, e.data_rf);
    ledger.add("energy.pgsm", sum.pgsm_reads + sum.pgsm_writes, e.pgsm);
    ledger.add("energy.vsm", sum.vsm_reads + sum.vsm_writes, e.vsm);
    // A broadcast instruction drives the whole width once.
    let tsv_bits = 8 * (slot_bytes * tsv[1] + u64::from(machine.network.tsv_bytes) * tsv[0]);
    ledger.add("energy.tsv", tsv_bits, e.tsv_bit);
    ledger.add("energy.pe_bus", 8 * atom * (sum.pe_bus + counts.remote), e.pe_bus_bit);
    ledger.add("energy.noc", 8 * stats.mesh_byte_hops, e.noc_bit);
    ledger.add("energy.serdes", 8 * stats.serial_byte_hops, e.serdes_bit);
    ledger.add("energy.control", counts.instructions, e.control);
    for (component, picojoules) in ledger.parts() {
        out.set(component, *picojoules);
    }
    out.set("energy_pj", ledger.total());
    debug_assert!(port[0] == 0, "control does not use the scratchpad's own port");
    out
}

/// Sums over all issues.
struct Counts {
    /// Issues of each instruction, over all vaults.
    issued: Vec<u64>,
    instructions: u64,
    sum: Cost,
    active: u64,
    /// Instructions of the active cores.
    active_instructions: u64,
    remote: u64,
}

impl Counts {
    fn new(code: &Code, vaults: &[TimedVault]) -> Counts {
        let costs: Vec<Cost> = code
            .steps
            .iter()
            .map(|step| if let Step::Run(inst) = step { cost(inst) } else { Cost::default() })
            .collect();
        let mut issued = vec![0; costs.len()];
        let (mut active, mut active_instructions) = (0, 0);
        for vault in vaults {
            let mut works = false;
            let mut instructions = 0;
            for ((sum, cost), count) in issued.iter_mut().zip(&costs).zip(&vault.issued) {
                *sum += count;
                instructions += count;
                works |= *count > 0 && cost.works;
            }
            if works {
                active += 1;
                active_instructions += instructions;
            }
        }
        let mut sum = Cost::default();
        for (cost, count) in costs.iter().zip(&issued) {
            sum.add(cost, *count);
        }
        let instructions = issued.iter().sum();
        let remote = vaults.iter().map(|vault| vault.served).sum();
        Counts { issued, instructions, sum, active, active_instructions, remote }
    }
}

impl Cost {
    fn add(&mut self, cost: &Cost, times: u64) {
        for (sum, value) in [
            (&mut self.simd, cost.simd),
            (&mut self.int_alu, cost.int_alu),
            (&mut self.addr_rf, cost.addr_rf),
            (&mut self.data_rf, cost.data_rf),
            (&mut self.uses_addr_rf, cost.uses_addr_rf),
            (&mut self.uses_data_rf, cost.uses_data_rf),
            (&mut self.pgsm_reads, cost.pgsm_reads),
            (&mut self.pgsm_writes, cost.pgsm_writes),
            (&mut self.vsm_reads, cost.vsm_reads),
            (&mut self.vsm_writes, cost.vsm_writes),
            (&mut self.vsm_bytes, cost.vsm_bytes),
            (&mut self.pe_bus, cost.pe_bus),
            (&mut self.bank_reads, cost.bank_reads),
            (&mut self.bank_writes, cost.bank_writes),
        ] {
            *sum += value * times;
        }
    }
}

/// The key of a mnemonic's count; `seti_crf` of a coordinate is one too.
fn issued_key(step: &Step) -> &'static str {
    let mnemonic = match step {
        Step::Run(inst) => inst.mnemonic(),
        Step::Place { .. } => "seti_crf",
        // It never issues.
        Step::Fault(_) => "sync",
    };
    let of = |definition: &&Definition| definition.key.strip_prefix("issued.") == Some(mnemonic);
    DEFINITIONS.iter().find(of).expect("a definition for every mnemonic").key
}

fn category_key(category: Category) -> &'static str {
    match category {
        Category::Computation => "category.computation",
        Category::IndexCalculation => "category.index_calculation",
        Category::IntraVault => "category.intra_vault",
        Category::InterVault => "category.inter_vault",
        Category::ControlFlow => "category.control_flow",
        Category::Synchronization => "category.synchronization",
    }
}

fn set_instructions(out: &mut Statistics, code: &Code, counts: &Counts) {
    out.set("instructions", counts.instructions);
    for category in Category::ALL {
        out.set(category_key(category), 0);
    }
    for row in <Inst<PhysReg> as MachineInstruction>::ROWS {
        let key = format!("issued.{}", row.mnemonic);
        let of = |definition: &&Definition| definition.key == key;
        out.set(DEFINITIONS.iter().find(of).expect("a definition for every mnemonic").key, 0);
    }
    let mut by_key = std::collections::BTreeMap::new();
    for (step, count) in code.steps.iter().zip(&counts.issued) {
        let category = match step {
            Step::Run(inst) => inst.category(),
            Step::Place { .. } | Step::Fault(_) => Category::ControlFlow,
        };
        if *count > 0 {
            *by_key.entry(category_key(category)).or_insert(0) += count;
            *by_key.entry(issued_key(step)).or_insert(0) += count;
        }
    }
    for (key, count) in by_key {
        out.set(key, count);
    }
}

fn set_cores(out: &mut Statistics, vaults: &[TimedVault], counts: &Counts, cycles: Cycle) {
    let all = cycles * vaults.len() as u64;
    let mut stalled = 0;
    for cause in Stall::ALL {
        let sum = vaults.iter().map(|vault| vault.stalls[cause as usize]).sum::<u64>();
        stalled += sum;
        let key = match cause {
            Stall::Branch => "stall.branch",
            Stall::TrueDependence => "stall.true_dependence",
            Stall::OutputDependence => "stall.output_dependence",
            Stall::AntiDependence => "stall.anti_dependence",
            Stall::ScratchpadOrder => "stall.scratchpad_order",
            Stall::QueueFull => "stall.queue_full",
            Stall::Tsv => "stall.tsv",
            Stall::Sync => "stall.sync",
            Stall::Drain => "stall.drain",
        };
        out.set(key, sum);
    }
    let finished = vaults.iter().map(|vault| cycles - vault.clock()).sum::<u64>();
    out.set("stall.finished", finished);
    out.set("core.count", vaults.len() as u64);
    out.set("core.active", counts.active);
    out.set("core.cycles", all);
    out.set("core.issue_cycles", counts.instructions);
    out.set("core.stall_cycles", stalled + finished);
    let of = vaults.iter().map(|vault| Value::Count(vault.issued.iter().sum()));
    out.set("core.instructions_of", Value::List(of.collect()));
    out.set("ipc", ratio(counts.active_instructions, counts.active * cycles));
}

fn set_dram(out: &mut Statistics, dram: &DramTotals) {
    out.set("dram.requests", dram.requests);
    out.set("dram.reads", dram.reads);
    out.set("dram.writes", dram.writes);
    out.set("dram.hits", dram.hits);
    out.set("dram.misses", dram.misses);
    out.set("dram.conflicts", dram.conflicts);
    out.set("dram.hit_rate", ratio(dram.hits, dram.requests));
    out.set("dram.activates", dram.activates);
    out.set("dram.precharges", dram.precharges);
    out.set("dram.refreshes", dram.refreshes);
    out.set("dram.commands", dram.commands);
    out.set("dram.busy_cycles", dram.busy);
}

/// Control and data slots of the TSVs, and of scratchpad ports of their own.
fn tsv_slots(vaults: &[TimedVault]) -> [[u64; 2]; 2] {
    let mut sums = [[0; 2]; 2];
    for vault in vaults {
        for (sum, stats) in sums.iter_mut().zip(vault.transfer_stats()) {
            sum[0] += stats.control_slots;
            sum[1] += stats.data_slots;
        }
    }
    sums
}
