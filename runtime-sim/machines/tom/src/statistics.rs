//! What is measured of a run: its table of definitions, and where each number comes from.

use nbcc_isa::Instruction;
use nbcc_isa_simt::{Latency, Op, Program, Unit};
use nbcc_isa_tom::Machine;
use nbcc_sim_dram::Command;
use nbcc_sim_engine::statistics::{Value, concat, ratio, row};
use nbcc_sim_engine::{Definition, EnergyLedger, Statistics};
use nbcc_sim_simt::machine::COUNTED;
use nbcc_sim_simt::{Counters, LANES};

use crate::measures::Measures;
use crate::plan::{Kind, Plan};
use crate::stall::Stall;
use crate::task::{CandidateCounts, Refusal};

/// The version of the names and meanings below.
pub const SCHEMA_VERSION: u64 = 1;

/// Every statistic of a timed run. Cycles are of the multiprocessors' clock.
pub const DEFINITIONS: &[Definition] =
    &concat::<{ HEAD.len() + COUNTED.len() + TIMED.len() }>(&[HEAD, COUNTED, TIMED]);

#[rustfmt::skip]
const HEAD: &[Definition] = &[
    row("schema_version", "-", "Version of the names and meanings in this table."),
    row("target", "-", "`tom`."),
    row("machine.name", "-", "Name in the machine file."),
    row("machine.hash", "-", "Identifies all values of the machine file."),
    row("timing", "-", "`cycle`: when instructions issue and end is simulated."),
    row("cycles", "cycles", "From the begin of a launch until its last block has left, summed over launches."),
    row("time_ns", "ns", "`cycles` times the length of a cycle."),
    row("instructions", "instructions", "Issued by warps."),
    row("ipc", "instructions/cycle", "Instructions over `cycles`, on average over the active multiprocessors."),
    row("energy_pj", "pJ", "Sum of the parts under `energy`."),
];

#[rustfmt::skip]
const TIMED: &[Definition] = &[
    row("core.count", "multiprocessors", "Multiprocessors of the machine, those in stacks with them."),
    row("core.active", "multiprocessors", "Multiprocessors that issued an instruction."),
    row("core.instructions", "instructions", "A list: issued by each, those of the GPU first."),
    row("core.cycles", "cycles", "`cycles` times schedulers of the machine: issue plus stall cycles."),
    row("core.issue_cycles", "cycles", "Cycles in which a scheduler issued, over all schedulers."),
    row("core.stall_cycles", "cycles", "Cycles in which a scheduler did not: the sum of `stall`."),

    row("stall.empty", "cycles", "No warp was there."),
    row("stall.fetch", "cycles", "The front end fetched."),
    row("stall.dependence", "cycles", "A register was computed."),
    row("stall.memory", "cycles", "A register was loaded, or a fence waited for memory."),
    row("stall.requests", "cycles", "The load-store unit took no more."),
    row("stall.units", "cycles", "A unit was busy."),
    row("stall.barrier", "cycles", "At a barrier, or for lanes of the warp."),

    row("stall.offload", "cycles", "The offload controller decided, or a block ran in a stack."),

    row("offload.considered", "instances", "Warps that came to the begin of a candidate: those offloaded and those refused."),
    row("offload.instances", "instances", "Those whose block ran in a stack."),
    row("offload.refused_learning", "instances", "Refused: the mapping was being learnt."),
    row("offload.refused_condition", "instances", "Refused: the loop makes too few trips, or the block accessed no memory."),
    row("offload.refused_channel", "instances", "Refused: the block would use a busy channel more."),
    row("offload.refused_warps", "instances", "Refused: the stack has enough to do."),
    row("offload.instructions", "instructions", "Issued by multiprocessors in stacks."),
    row("offload.share", "-", "Of `instructions`, those."),
    row("offload.away_cycles", "cycles", "From marker, or from the trip with which a loop went later, to acknowledgment, summed over instances."),
    row("offload.flush_cycles", "cycles", "Of these, waiting for writes before the request."),
    row("offload.invalidated", "lines", "Lines that acknowledgments named, which the GPU's caches drop."),
    row("offload.bytes", "bytes", "Of requests and acknowledgments."),

    row("candidate.line", "-", "A list by the numbers of `region`, as all of `candidate`: source line of the begin, 0 where there is none."),
    row("candidate.considered", "instances", "Warps that came to its begin."),
    row("candidate.instances", "instances", "Those whose block ran in a stack."),
    row("candidate.refused_learning", "instances", "Refused: the mapping was being learnt."),
    row("candidate.refused_condition", "instances", "Refused: too few trips, or no access of memory."),
    row("candidate.refused_channel", "instances", "Refused: a busy channel."),
    row("candidate.refused_warps", "instances", "Refused: the stack had enough to do."),
    row("candidate.instructions", "instructions", "Issued for it in stacks."),
    row("candidate.away_cycles", "cycles", "From marker, or from the trip with which a loop went later, to acknowledgment of those that ran in a stack."),
    row("candidate.stayed_cycles", "cycles", "From marker to end of those that were refused."),

    row("map.bits", "-", "Lowest and highest bit of those that choose the stack of what candidates access; null where the baseline mapping does."),
    row("map.one_stack_share", "-", "Instances in stacks that accessed one stack only, over all of them."),
    row("map.learn_cycles", "cycles", "Until the mapping was learnt, while data was in the host's memory."),

    row("occupancy.blocks", "blocks", "Blocks that a multiprocessor holds, of the last launch."),
    row("occupancy.limit", "-", "What keeps it from holding more."),
    row("occupancy.warps", "-", "Warps on active multiprocessors over those that they have room for, on average over `cycles`."),

    row("memory.accesses", "accesses", "Loads, stores and atomic operations of warps on global and local memory."),
    row("memory.lines", "lines", "Lines that they touched: those that the private caches were asked for, `memory.ordered` and `memory.atomic`."),
    row("memory.lines_per_access", "lines/access", "Of these, an access."),
    row("memory.ordered", "lines", "Lines that ordered loads asked for, past the private cache."),
    row("memory.atomic", "lines", "Lines that atomic operations changed."),
    row("memory.atomic_lanes", "operations", "Atomic operations of threads on them."),

    row("shared.accesses", "accesses", "Accesses of shared memory by warps."),
    row("shared.passes", "accesses", "Times that its banks were asked for them."),
    row("shared.conflicts", "accesses", "Passes beyond the first of each."),

    row("l1.accesses", "lines", "Lines of loads and stores looked up in private caches: hits and misses."),
    row("l1.hits", "lines", "Found there."),
    row("l1.misses", "lines", "Not found there, asked for by an access before among them."),
    row("l2.accesses", "lines", "Lines of loads and stores looked up in the shared cache: hits and misses."),
    row("l2.hits", "lines", "Found there."),
    row("l2.misses", "lines", "Not found there, asked for by a request before among them."),

    row("link.tx_bytes", "bytes", "From the GPU to stacks."),
    row("link.rx_bytes", "bytes", "From stacks to the GPU."),
    row("link.cross_bytes", "bytes", "From stack to stack."),
    row("link.tx_packets", "packets", "From the GPU to stacks."),
    row("link.rx_packets", "packets", "From stacks to the GPU."),
    row("link.cross_packets", "packets", "From stack to stack."),

    row("dram.requests", "requests", "Requests to the controllers of vaults, a burst each."),
    row("dram.reads", "requests", "Of them, reads."),
    row("dram.writes", "requests", "Of them, writes."),
    row("dram.hits", "requests", "Found their row open. Hits, misses and conflicts sum to the requests."),
    row("dram.misses", "requests", "Found their row buffer empty."),
    row("dram.conflicts", "requests", "Found another row in it."),
    row("dram.activates", "commands", "Rows opened."),
    row("dram.precharges", "rows", "Rows closed, by whatever command."),
    row("dram.refreshes", "commands", "Refreshes of all banks of a vault."),

    row("bytes.interconnect_up", "bytes", "From clusters to the shared cache."),
    row("bytes.interconnect_down", "bytes", "Back."),
    row("bytes.tsv", "bytes", "Over the vias of vaults."),
    row("bytes.host", "bytes", "To and from the host's memory while the mapping is learnt."),

    row("bandwidth.memory", "GB/s", "Over the vias of vaults over the time of the run."),
    row("bandwidth.tx", "GB/s", "From the GPU to stacks over the time of the run."),
    row("bandwidth.rx", "GB/s", "From stacks to the GPU over the time of the run."),

    row("utilisation.issue", "-", "Share of cycles in which a scheduler of an active multiprocessor issues."),
    row("utilisation.tx", "-", "Share of the time in which a link to a stack is in use."),
    row("utilisation.rx", "-", "The same, to the GPU."),
    row("utilisation.tsv", "-", "Share of the time in which the vias of a vault move something."),

    row("energy.sm", "pJ", "Multiprocessors: front end, registers, units, shared memory, private caches, leakage."),
    row("energy.l2", "pJ", "The shared cache."),
    row("energy.interconnect", "pJ", "Between clusters and shared cache."),
    row("energy.link", "pJ", "Links off the chips, bits moved."),
    row("energy.link_idle", "pJ", "Links off the chips, slots not used."),
    row("energy.dram_activate", "pJ", "Rows opened."),
    row("energy.dram_access", "pJ", "Row buffers read and written, with the vias."),
];

/// The statistics of the launches of a program that were counted and measured.
pub fn collect(
    machine: &Machine,
    program: &Program,
    counters: &Counters,
    m: &Measures,
) -> Statistics {
    let mut out = Statistics::new(DEFINITIONS);
    counters.head(program, SCHEMA_VERSION, "cycle", m.cycles, &mut out);
    out.set("time_ns", nanoseconds(m));
    multiprocessors(machine, counters.active(), m, &mut out);
    offloading(program, counters.instructions(), m, &mut out);
    memory(m, &mut out);
    bandwidth(m, &mut out);
    utilisation(machine, counters.active(), m, &mut out);
    let ledger = energy(machine, program, counters, m);
    for (key, picojoules) in ledger.parts() {
        out.set(key, *picojoules);
    }
    out.set("energy_pj", ledger.total());
    out
}

/// How long the launches took.
fn nanoseconds(m: &Measures) -> f64 {
    m.time as f64 / 1e6
}

/// What schedulers did, and how many warps were there.
fn multiprocessors(machine: &Machine, active: u64, m: &Measures, out: &mut Statistics) {
    let schedulers = u64::from(machine.sms() * machine.pipeline.schedulers);
    out.set("core.cycles", m.cycles * schedulers);
    out.set("core.issue_cycles", m.sm.issue_cycles);
    out.set("core.stall_cycles", m.stalls.iter().sum::<u64>());
    for stall in Stall::ALL {
        out.set(stall.key(), m.stalls[stall as usize]);
    }
    out.set("occupancy.blocks", u64::from(m.occupancy.0));
    out.set("occupancy.limit", m.occupancy.1);
    let room = m.cycles * active * u64::from(machine.sm.warps);
    out.set("occupancy.warps", ratio(m.sm.warp_cycles, room));
}

/// What was accessed, where it was found, and what went over the links for it.
fn memory(m: &Measures, out: &mut Statistics) {
    let flow = &m.memory.flow;
    out.set("memory.accesses", m.sm.accesses);
    out.set("memory.lines", m.sm.lines);
    out.set("memory.lines_per_access", ratio(m.sm.lines, m.sm.accesses));
    out.set("memory.ordered", m.sm.ordered_lines);
    out.set("memory.atomic", m.sm.atomic_lines);
    out.set("memory.atomic_lanes", flow.atomic_lanes);
    out.set("shared.accesses", m.sm.shared);
    out.set("shared.passes", m.sm.shared_passes);
    out.set("shared.conflicts", m.sm.shared_passes - m.sm.shared);
    out.set("l1.accesses", m.sm.l1_hits + m.sm.l1_misses);
    out.set("l1.hits", m.sm.l1_hits);
    out.set("l1.misses", m.sm.l1_misses);
    out.set("l2.accesses", flow.l2_hits + flow.l2_misses);
    out.set("l2.hits", flow.l2_hits);
    out.set("l2.misses", flow.l2_misses);
    out.set("link.tx_bytes", flow.tx_bytes);
    out.set("link.rx_bytes", flow.rx_bytes);
    out.set("link.cross_bytes", flow.cross_bytes);
    out.set("link.tx_packets", flow.tx_packets);
    out.set("link.rx_packets", flow.rx_packets);
    out.set("link.cross_packets", flow.cross_packets);
    let dram = &m.memory.dram;
    out.set("dram.requests", dram.requests);
    out.set("dram.reads", dram.reads);
    out.set("dram.writes", dram.writes);
    out.set("dram.hits", dram.hits);
    out.set("dram.misses", dram.misses);
    out.set("dram.conflicts", dram.conflicts);
    out.set("dram.activates", dram.commands.of(Command::Activate));
    out.set("dram.precharges", dram.rows_closed);
    out.set("dram.refreshes", dram.commands.of(Command::Refresh));
}

/// Bytes by level, and how many a second; a byte a nanosecond is a GB/s.
fn bandwidth(m: &Measures, out: &mut Statistics) {
    let (flow, time) = (&m.memory.flow, nanoseconds(m));
    let rate = |bytes: u64| if time > 0.0 { bytes as f64 / time } else { 0.0 };
    out.set("bytes.interconnect_up", flow.interconnect_up);
    out.set("bytes.interconnect_down", flow.interconnect_down);
    out.set("bytes.tsv", flow.tsv_bytes);
    out.set("bytes.host", flow.host_bytes);
    out.set("bandwidth.memory", rate(flow.tsv_bytes));
    out.set("bandwidth.tx", rate(flow.tx_bytes));
    out.set("bandwidth.rx", rate(flow.rx_bytes));
}

/// For which share of the time schedulers, links and vias had something to do.
fn utilisation(machine: &Machine, active: u64, m: &Measures, out: &mut Statistics) {
    let (flow, time) = (&m.memory.flow, nanoseconds(m));
    let schedulers = u64::from(machine.pipeline.schedulers);
    out.set("utilisation.issue", ratio(m.sm.issue_cycles, m.cycles * active * schedulers));
    let links = m.time * u64::from(machine.stack.count);
    out.set("utilisation.tx", ratio(flow.tx_busy, links));
    out.set("utilisation.rx", ratio(flow.rx_busy, links));
    let vaults = f64::from(machine.stack.count * machine.stack.vaults);
    let bytes = f64::from(machine.stack.vault_tsvs.div_ceil(8));
    let tsv_time = flow.tsv_cycles as f64 * bytes * f64::from(machine.stack.vaults)
        / machine.stack.internal_bandwidth;
    out.set("utilisation.tsv", if time > 0.0 { tsv_time / (time * vaults) } else { 0.0 });
}

/// What candidates did, together and one by one, and where the learnt mapping puts memory.
fn offloading(program: &Program, instructions: u64, m: &Measures, out: &mut Statistics) {
    let offload = m.offload();
    out.set("offload.considered", offload.considered);
    out.set("offload.instances", offload.instances);
    for why in Refusal::ALL {
        out.set(why.key(), offload.refused[why as usize]);
    }
    out.set("offload.instructions", m.stack_instructions);
    out.set("offload.share", ratio(m.stack_instructions, instructions));
    out.set("offload.away_cycles", offload.away_cycles);
    out.set("offload.flush_cycles", offload.flush_cycles);
    out.set("offload.invalidated", offload.invalidated);
    out.set("offload.bytes", offload.did.bytes);
    let list = |of: &dyn Fn(&CandidateCounts) -> u64| {
        Value::List(m.candidates.iter().map(|counts| of(counts).into()).collect())
    };
    let lines = &program.code.lines;
    let line = |at: usize| lines.line(at).map_or(0, |(_, place)| u64::from(place.line));
    let markers = program.code.text.iter().enumerate().filter_map(|(at, inst)| match inst.op {
        Op::Region { number } => Some((number, line(at))),
        _ => None,
    });
    let mut begins: Vec<(u32, u64)> = markers.collect();
    begins.sort_unstable();
    let begins = begins.into_iter().map(|(_, line)| line.into()).collect();
    out.set("candidate.line", Value::List(begins));
    out.set("candidate.considered", list(&|c| c.considered));
    out.set("candidate.instances", list(&|c| c.instances));
    for (key, why) in [
        ("candidate.refused_learning", Refusal::Learning),
        ("candidate.refused_condition", Refusal::Condition),
        ("candidate.refused_channel", Refusal::Channel),
        ("candidate.refused_warps", Refusal::Warps),
    ] {
        out.set(key, list(&|c| c.refused[why as usize]));
    }
    out.set("candidate.instructions", list(&|c| c.did.instructions));
    out.set("candidate.away_cycles", list(&|c| c.away_cycles));
    out.set("candidate.stayed_cycles", list(&|c| c.stayed_cycles));
    let bits =
        |[low, high]: [u32; 2]| Value::List(vec![u64::from(low).into(), u64::from(high).into()]);
    out.set("map.bits", m.bits.map_or(Value::None, bits));
    out.set("map.one_stack_share", ratio(offload.one_stack, offload.instances));
    out.set("map.learn_cycles", m.learn_cycles);
}

/// Energy of the unit of a warp's instruction, in pJ.
fn unit_energy(machine: &Machine, unit: Unit, class: Latency) -> f64 {
    let e = &machine.energy;
    match unit {
        Unit::Sfu => e.special,
        Unit::Alu | Unit::Lanes => match class {
            Latency::Float | Latency::FloatDiv | Latency::Half => e.float,
            Latency::Double | Latency::DoubleDiv => e.double,
            _ => e.alu,
        },
        _ => 0.0,
    }
}

/// Where energy went, by component.
fn energy(machine: &Machine, program: &Program, counters: &Counters, m: &Measures) -> EnergyLedger {
    let e = &machine.energy;
    let mut out = EnergyLedger::new();
    for ((inst, &executed), &issued) in
        program.code.text.iter().zip(&m.profile.executed).zip(&counters.issued)
    {
        out.add("energy.sm", issued, e.front_end);
        if executed == 0 {
            continue;
        }
        let plan = Plan::new(machine, inst);
        let [read, written] = plan.registers.lines();
        // Registers that memory answers are counted as they come.
        let written = if matches!(plan.kind, Kind::Access(_)) { 0 } else { written };
        out.add("energy.sm", executed, unit_energy(machine, inst.unit(), inst.latency()));
        out.add("energy.sm", executed * (read + written), e.register);
        if read > 0 {
            out.add("energy.sm", executed, e.collector);
        }
    }
    let flow = &m.memory.flow;
    out.add("energy.sm", flow.atomic_lanes, e.alu / LANES as f64);
    out.add("energy.sm", m.sm.loaded, e.register);
    out.add("energy.sm", m.sm.shared_passes, e.shared);
    out.add("energy.sm", m.sm.l1_hits + m.sm.l1_misses, e.l1);
    out.add("energy.sm", m.cycles * u64::from(machine.sms()), e.sm_cycle);
    out.add("energy.l2", flow.l2_hits + flow.l2_misses, e.l2);
    let moved = flow.interconnect_up + flow.interconnect_down;
    out.add("energy.interconnect", 8 * moved, e.interconnect_bit);
    let crossed = flow.tx_bytes + flow.rx_bytes + flow.cross_bytes;
    out.add("energy.link", 8 * crossed, e.link_bit);
    out.add("energy.link_idle", idle_bits(machine, m, crossed), e.link_idle_bit);
    let dram = &m.memory.dram;
    out.add("energy.dram_activate", dram.commands.of(Command::Activate), e.activate);
    let bursts = dram.column_reads() + dram.column_writes();
    let bits = 8 * u64::from(machine.burst_bytes());
    out.add("energy.dram_access", bursts * bits, e.row_buffer_bit);
    out
}

/// Slots of bits of all links that moved nothing. Links between stacks are there where stacks compute.
fn idle_bits(machine: &Machine, m: &Measures, bytes: u64) -> u64 {
    let stacks = f64::from(machine.stack.count);
    let mut rate = 2.0 * stacks * machine.link.bandwidth;
    if machine.stack.sms > 0 {
        rate += stacks * (stacks - 1.0) * machine.link.bandwidth * machine.link.cross_ratio;
    }
    // A GB/s for a femtosecond is a millionth of a byte.
    let slots = rate * m.time as f64 / 1e6;
    (8.0 * (slots - bytes as f64)).max(0.0) as u64
}
