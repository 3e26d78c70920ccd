//! What is measured of a run: its table of definitions, and where each number comes from. Figs. 10 to
//! 12 and 14 of the MPU paper can be drawn from it.

use nbcc_isa::Instruction;
use nbcc_isa_mpu::Machine;
use nbcc_isa_simt::operands::{FloatOp, Space};
use nbcc_isa_simt::{Inst, Latency, Op, PhysReg, Program, Unit};
use nbcc_sim_engine::statistics::{concat, ratio, row};
use nbcc_sim_engine::{Definition, EnergyLedger, Statistics};
use nbcc_sim_simt::machine::COUNTED;
use nbcc_sim_simt::{Counters, LANES};

use crate::measures::{Cause, Measures};
use crate::plan::{Kind, Plan};
use crate::stall::Stall;

/// The version of the names and meanings below.
pub const SCHEMA_VERSION: u64 = 1;

/// Every statistic of a timed run. Cycles are of the cores' clock.
pub const DEFINITIONS: &[Definition] =
    &concat::<{ HEAD.len() + COUNTED.len() + TIMED.len() }>(&[HEAD, COUNTED, TIMED]);

#[rustfmt::skip]
const HEAD: &[Definition] = &[
    row("schema_version", "-", "Version of the names and meanings in this table."),
    row("target", "-", "`mpu`."),
    row("machine.name", "-", "Name in the machine file."),
    row("machine.hash", "-", "Identifies all values of the machine file."),
    row("timing", "-", "`cycle`: when instructions issue and end is simulated."),
    row("cycles", "cycles", "From the begin of a launch until its last block has left, summed over launches."),
    row("time_ns", "ns", "`cycles` times the length of a cycle."),
    row("instructions", "instructions", "Issued by warps."),
    row("ipc", "instructions/cycle", "Instructions over `cycles`, on average over the active cores."),
    row("energy_pj", "pJ", "Sum of the parts under `energy`."),
];

#[rustfmt::skip]
const TIMED: &[Definition] = &[
    row("core.count", "cores", "Cores of the machine."),
    row("core.active", "cores", "Cores that issued an instruction."),
    row("core.instructions", "instructions", "A list: issued by each core."),
    row("core.cycles", "cycles", "`cycles` times subcores of the machine: issue plus stall cycles."),
    row("core.issue_cycles", "cycles", "Cycles in which a subcore issued, over all subcores."),
    row("core.stall_cycles", "cycles", "Cycles in which a subcore did not: the sum of `stall`."),

    row("stall.empty", "cycles", "No warp was there."),
    row("stall.fetch", "cycles", "The front end fetched, or resolved a branch."),
    row("stall.dependence", "cycles", "A register was computed or moved."),
    row("stall.memory", "cycles", "A register was loaded, or a fence waited for memory."),
    row("stall.requests", "cycles", "A table of pending requests was full."),
    row("stall.buffers", "cycles", "A buffer of the pipeline was full."),
    row("stall.barrier", "cycles", "At a barrier, or for lanes of the warp."),

    row("occupancy.blocks", "blocks", "Blocks that a core holds, of the last launch."),
    row("occupancy.limit", "-", "What keeps it from holding more."),
    row("occupancy.warps", "-", "Warps on active cores over those that they have room for, on average over `cycles`."),

    row("offload.far", "instructions", "Executed on the base die."),
    row("offload.near", "instructions", "Executed near the banks. With those on the base die and those for no thread these are `instructions`."),
    row("offload.none", "instructions", "For no thread: their guards held nowhere."),
    row("offload.share", "-", "Near over near and far."),
    row("offload.whole", "accesses", "Accesses of global and local memory that were offloaded whole."),

    row("move.words_far", "registers", "32-bit registers of warps that moved to the base die."),
    row("move.words_near", "registers", "The same, to near-bank units."),
    row("move.predicates_far", "registers", "Predicates of warps that moved to the base die."),
    row("move.predicates_near", "registers", "The same, to near-bank units."),

    row("tsv.bytes", "bytes", "Over the TSVs of all cores: the sum of those below."),
    row("tsv.offload_bytes", "bytes", "Instructions to near-bank units."),
    row("tsv.commit_bytes", "bytes", "Their return."),
    row("tsv.move_far_bytes", "bytes", "Registers to the base die, with the requests for them."),
    row("tsv.move_near_bytes", "bytes", "Registers to near-bank units."),
    row("tsv.request_bytes", "bytes", "Requests for words of banks, with what is stored."),
    row("tsv.answer_bytes", "bytes", "What was loaded of them, and returns of the others."),
    row("tsv.write_back_bytes", "bytes", "Loaded registers, to near-bank units."),
    row("tsv.remote_bytes", "bytes", "Requests and answers of the two kinds above for other cores."),

    row("memory.accesses", "accesses", "Loads, stores and atomic operations of warps on global and local memory."),
    row("memory.words", "words", "Words of banks that they touched."),
    row("memory.words_per_access", "words/access", "Of these, an access."),
    row("memory.words_whole", "words", "Words of accesses that were offloaded whole."),
    row("memory.words_local", "words", "Other words of the warp's own core."),
    row("memory.words_remote", "words", "Words of other cores. With those above these are `memory.words`."),
    row("memory.cache_hits", "words", "Of the words of other cores those that the remote cache held."),
    row("memory.words_awaited", "words", "Of the words of other cores those that were on their way to the remote cache."),
    row("memory.words_atomic", "words", "Words that atomic operations changed."),
    row("memory.atomic_lanes", "operations", "Atomic operations of threads on them."),

    row("shared.accesses", "accesses", "Accesses of shared memory by warps."),
    row("shared.passes", "accesses", "Times that its banks were asked for them."),
    row("shared.conflicts", "accesses", "Passes beyond the first of each."),

    row("dram.requests", "requests", "Requests to the controllers of near-bank units, a bank access each."),
    row("dram.reads", "requests", "Of them, reads."),
    row("dram.writes", "requests", "Of them, writes."),
    row("dram.hits", "requests", "Found their row open. Hits, misses and conflicts sum to the requests."),
    row("dram.misses", "requests", "Found their row buffer empty."),
    row("dram.conflicts", "requests", "Found another row in it."),
    row("dram.miss_rate", "-", "Misses and conflicts over requests: what Fig. 12 shows."),
    row("dram.activates", "commands", "Rows opened."),
    row("dram.precharges", "rows", "Rows closed, by whatever command."),
    row("dram.refreshes", "commands", "Refreshes of all banks of a near-bank unit."),
    row("dram.commands", "commands", "All commands of all controllers."),
    row("dram.busy_cycles", "cycles", "Cycles in which a request waited for a command, over all controllers."),

    row("network.packets", "packets", "Packets between cores."),
    row("network.average_latency", "cycles", "From injection to delivery of a packet."),

    row("bytes.bank_read", "bytes", "Read from banks."),
    row("bytes.bank_written", "bytes", "Written to banks."),
    row("bytes.tsv", "bytes", "Over TSVs: `tsv.bytes`."),
    row("bytes.on_chip", "bytes", "Bytes of packets times hops between cores of a processor."),
    row("bytes.off_chip", "bytes", "Bytes of packets times hops between processors."),

    row("bandwidth.banks", "GB/s", "Read from and written to banks over the time of the run."),
    row("bandwidth.banks_peak", "GB/s", "What the banks can do: a bank access every tCCD each, a command a cycle a controller."),
    row("bandwidth.tsv", "GB/s", "Over TSVs over the time of the run."),
    row("bandwidth.tsv_peak", "GB/s", "What the TSVs can do, both ways."),

    row("utilisation.issue", "-", "Share of cycles in which a subcore of an active core issues."),
    row("utilisation.near", "-", "Share of cycles in which a near-bank unit of an active core begins an instruction."),
    row("utilisation.far", "-", "The same, a subcore."),
    row("utilisation.tsv_down", "-", "Share of ticks in which the TSVs of an active core carry something from the base die."),
    row("utilisation.tsv_up", "-", "The same, to the base die."),
    row("utilisation.shared", "-", "Share of cycles in which shared memory of an active core is busy."),
    row("utilisation.bank", "-", "Share of cycles in which data moves in or out of a bank of an active core (tBL an access)."),

    row("energy.alu", "pJ", "ALUs and special function units."),
    row("energy.register_file", "pJ", "Register files, near and far."),
    row("energy.operand_collector", "pJ", "Operand collectors."),
    row("energy.dram", "pJ", "Banks: reads, writes, activates, precharges, refreshes."),
    row("energy.tsv", "pJ", "TSVs."),
    row("energy.network", "pJ", "Links between cores and between processors."),
    row("energy.shared_memory", "pJ", "Shared memory."),
    row("energy.lsu_extension", "pJ", "Tables of pending requests."),
    row("energy.front_end", "pJ", "Instruction caches, fetch and decode."),
];

/// Energy of the unit of a warp's instruction, in pJ.
fn unit_energy(machine: &Machine, inst: &Inst<PhysReg>) -> f64 {
    let e = &machine.energy;
    if !matches!(inst.unit(), Unit::Alu | Unit::Sfu | Unit::Lanes) {
        return 0.0;
    }
    match inst.latency() {
        Latency::Alu | Latency::Lanes | Latency::Control | Latency::Barrier => e.alu,
        Latency::IntMul => e.int_mul,
        Latency::IntDiv | Latency::IntRem => e.int_div,
        Latency::Float if multiplies(&inst.op) => e.float_mul,
        Latency::Float => e.float,
        Latency::FloatDiv => e.float_div,
        Latency::Half => e.half,
        Latency::Double | Latency::DoubleDiv => e.double,
        Latency::Rcp => e.rcp,
        Latency::Sqrt => e.sqrt,
        Latency::Rsqrt => e.rsqrt,
        Latency::SinCos => e.sin_cos,
        Latency::Lg2 => e.lg2,
        Latency::Ex2 => e.ex2,
        Latency::Memory | Latency::Host => 0.0,
    }
}

/// Whether it is a product of floats, alone or with a sum.
fn multiplies(op: &Op<PhysReg>) -> bool {
    matches!(op, Op::Float { op: FloatOp::Mul, .. } | Op::Fma { .. })
}

/// Whether what is loaded of a space comes from banks.
fn is_banked(space: Space) -> bool {
    matches!(space, Space::Global | Space::Const | Space::Local | Space::Generic)
}

/// The statistics of the launches of a program that were counted and measured.
pub fn collect(
    machine: &Machine,
    program: &Program,
    counters: &Counters,
    m: &Measures,
) -> Statistics {
    let mut out = Statistics::new(DEFINITIONS);
    counters.head(program, SCHEMA_VERSION, "cycle", m.cycles, &mut out);
    out.set("time_ns", m.cycles as f64 * machine.dram.t_ck);
    cores(machine, counters.active(), m, &mut out);
    sides(counters.instructions(), m, &mut out);
    memory(m, &mut out);
    dram(machine, m, &mut out);
    bandwidth(machine, m, &mut out);
    utilisation(machine, counters.active(), m, &mut out);
    let ledger = energy(machine, program, counters, m);
    for (key, picojoules) in ledger.parts() {
        out.set(key, *picojoules);
    }
    out.set("energy_pj", ledger.total());
    out
}

/// What subcores did, and how many warps were there.
fn cores(machine: &Machine, active: u64, m: &Measures, out: &mut Statistics) {
    let subcores = u64::from(machine.cores() * machine.hierarchy.subcores);
    out.set("core.cycles", m.cycles * subcores);
    out.set("core.issue_cycles", m.counts.issue_cycles);
    out.set("core.stall_cycles", m.stalls.iter().sum::<u64>());
    for stall in Stall::ALL {
        out.set(stall.key(), m.stalls[stall as usize]);
    }
    out.set("occupancy.blocks", u64::from(m.occupancy.0));
    out.set("occupancy.limit", m.occupancy.1);
    let room = m.cycles * active * u64::from(machine.core_warps());
    out.set("occupancy.warps", ratio(m.counts.warp_cycles, room));
}

/// On which side instructions were executed, and what went over the TSVs for it.
fn sides(instructions: u64, m: &Measures, out: &mut Statistics) {
    let executed: u64 = m.profile.executed.iter().sum();
    let near: u64 = m.profile.near.iter().sum();
    out.set("offload.far", executed - near);
    out.set("offload.near", near);
    out.set("offload.none", instructions - executed);
    out.set("offload.share", ratio(near, executed));
    out.set("offload.whole", m.counts.whole);
    out.set("move.words_far", m.counts.words_far);
    out.set("move.words_near", m.counts.words_near);
    out.set("move.predicates_far", m.counts.predicates_far);
    out.set("move.predicates_near", m.counts.predicates_near);
    out.set("tsv.bytes", m.tsv.iter().sum::<u64>());
    for cause in Cause::ALL {
        out.set(cause.key(), m.tsv[cause as usize]);
    }
}

/// What was accessed, and where it was found.
fn memory(m: &Measures, out: &mut Statistics) {
    let c = &m.counts;
    out.set("memory.accesses", c.accesses);
    out.set("memory.words", c.words);
    out.set("memory.words_per_access", ratio(c.words, c.accesses));
    out.set("memory.words_whole", c.words - c.words_local - c.words_remote);
    out.set("memory.words_local", c.words_local);
    out.set("memory.words_remote", c.words_remote);
    out.set("memory.cache_hits", c.cache_hits);
    out.set("memory.words_awaited", c.words_awaited);
    out.set("memory.words_atomic", c.words_atomic);
    out.set("memory.atomic_lanes", c.atomic_lanes);
    out.set("shared.accesses", c.shared);
    out.set("shared.passes", c.shared_passes);
    out.set("shared.conflicts", c.shared_passes - c.shared);
    out.set("network.packets", m.packets);
    out.set("network.average_latency", ratio(m.packet_cycles, m.packets));
}

/// What banks did.
fn dram(machine: &Machine, m: &Measures, out: &mut Statistics) {
    let [requests, reads, writes] = m.dram.requests;
    let [hits, misses, conflicts] = m.dram.found;
    let [activates, precharges, refreshes, column_reads, column_writes, commands] = m.dram.commands;
    out.set("dram.requests", requests);
    out.set("dram.reads", reads);
    out.set("dram.writes", writes);
    out.set("dram.hits", hits);
    out.set("dram.misses", misses);
    out.set("dram.conflicts", conflicts);
    out.set("dram.miss_rate", ratio(misses + conflicts, requests));
    out.set("dram.activates", activates);
    out.set("dram.precharges", precharges);
    out.set("dram.refreshes", refreshes);
    out.set("dram.commands", commands);
    out.set("dram.busy_cycles", m.dram.busy_cycles);
    let word = u64::from(machine.memory.bank_io_bytes);
    out.set("bytes.bank_read", word * column_reads);
    out.set("bytes.bank_written", word * column_writes);
}

/// Words that banks read and wrote.
fn columns(m: &Measures) -> u64 {
    let [.., reads, writes, _] = m.dram.commands;
    reads + writes
}

/// Bytes by level, and how many a second; a byte a nanosecond is a GB/s.
fn bandwidth(machine: &Machine, m: &Measures, out: &mut Statistics) {
    let time = m.cycles as f64 * machine.dram.t_ck;
    let rate = |bytes: u64| if time > 0.0 { bytes as f64 / time } else { 0.0 };
    let tsv: u64 = m.tsv.iter().sum();
    out.set("bytes.tsv", tsv);
    out.set("bytes.on_chip", m.byte_hops[0]);
    out.set("bytes.off_chip", m.byte_hops[1]);
    let word = u64::from(machine.memory.bank_io_bytes);
    let units = f64::from(machine.cores() * machine.hierarchy.subcores);
    let banks = f64::from(machine.hierarchy.banks);
    let each = (banks / f64::from(machine.dram.t_ccd)).min(1.0);
    out.set("bandwidth.banks", rate(word * columns(m)));
    out.set("bandwidth.banks_peak", units * each * word as f64 / machine.dram.t_ck);
    let network = &machine.network;
    let tsv_rate = 2.0 * f64::from(network.tsv_bytes) * f64::from(network.tsv_ticks);
    out.set("bandwidth.tsv", rate(tsv));
    out.set("bandwidth.tsv_peak", f64::from(machine.cores()) * tsv_rate / machine.dram.t_ck);
}

/// For which share of the time parts of active cores had something to do.
fn utilisation(machine: &Machine, active: u64, m: &Measures, out: &mut Statistics) {
    let executed: u64 = m.profile.executed.iter().sum();
    let near: u64 = m.profile.near.iter().sum();
    let lanes = m.cycles * active * u64::from(machine.hierarchy.subcores);
    out.set("utilisation.issue", ratio(m.counts.issue_cycles, lanes));
    out.set("utilisation.near", ratio(near, lanes));
    out.set("utilisation.far", ratio(executed - near, lanes));
    let ticks = m.cycles * active * u64::from(machine.network.tsv_ticks);
    out.set("utilisation.tsv_down", ratio(m.counts.ticks_down, ticks));
    out.set("utilisation.tsv_up", ratio(m.counts.ticks_up, ticks));
    let shared = m.counts.shared_passes * u64::from(machine.latency.shared_gap);
    out.set("utilisation.shared", ratio(shared, m.cycles * active));
    let moving = columns(m) * u64::from(machine.dram.t_bl);
    out.set("utilisation.bank", ratio(moving, lanes * u64::from(machine.hierarchy.banks)));
}

/// Where energy went: an entry a class of Fig. 10.
fn energy(machine: &Machine, program: &Program, counters: &Counters, m: &Measures) -> EnergyLedger {
    let e = &machine.energy;
    let mut out = EnergyLedger::new();
    for key in ENERGY {
        out.add(key, 0, 0.0);
    }
    for ((inst, &executed), &issued) in
        program.code.text.iter().zip(&m.profile.executed).zip(&counters.issued)
    {
        out.add("energy.front_end", issued, e.instruction_cache + e.decode);
        if executed == 0 {
            continue;
        }
        let plan = Plan::new(machine, inst);
        let [read, written] = plan.registers.lines();
        // Registers that memory answers are counted as they come.
        let written = match plan.kind {
            Kind::Access(_) if inst.op.space().is_some_and(is_banked) => 0,
            _ => written,
        };
        out.add("energy.alu", executed, unit_energy(machine, inst));
        out.add("energy.register_file", executed * (read + written), e.register);
        if read > 0 {
            out.add("energy.operand_collector", executed, e.collector);
        }
    }
    let c = &m.counts;
    let lanes = LANES as u64;
    out.add("energy.alu", c.atomic_lanes, e.alu / lanes as f64);
    // A register that moves is read on one side and written on the other.
    let lines = c.written_far + c.written_near + 2 * (c.words_far + c.words_near);
    out.add("energy.register_file", lines, e.register);
    let [activates, precharges, refreshes, reads, writes, _] = m.dram.commands;
    out.add("energy.dram", reads, e.read);
    out.add("energy.dram", writes, e.write);
    out.add("energy.dram", activates, e.activate);
    out.add("energy.dram", precharges, e.precharge);
    out.add("energy.dram", refreshes * u64::from(machine.hierarchy.banks), e.refresh);
    out.add("energy.tsv", 8 * m.tsv.iter().sum::<u64>(), e.tsv_bit);
    out.add("energy.network", 8 * m.byte_hops[0], e.on_chip_bit);
    out.add("energy.network", 8 * m.byte_hops[1], e.off_chip_bit);
    out.add("energy.shared_memory", c.shared_passes, e.shared);
    out.add("energy.lsu_extension", c.tables, e.request_table);
    out
}

/// The parts of the energy, in the order of their table.
const ENERGY: [&str; 9] = [
    "energy.alu",
    "energy.register_file",
    "energy.operand_collector",
    "energy.dram",
    "energy.tsv",
    "energy.network",
    "energy.shared_memory",
    "energy.lsu_extension",
    "energy.front_end",
];
