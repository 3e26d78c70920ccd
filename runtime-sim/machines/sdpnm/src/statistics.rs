//! The statistics of a run, made of what was measured.

use nbcc_isa::Instruction;
use nbcc_isa_sdpnm::core::{Category, CoreProgram, Inst, Latency, PhysReg};
use nbcc_sim_dram::Command;
use nbcc_sim_engine::statistics::row;
use nbcc_sim_engine::{Definition, EnergyLedger, Statistics};

use crate::arrays::{self, Arrays};
use crate::host::Host;
use crate::measures::Measures;

/// Every statistic of a run. Cycles are of the machine's one clock.
#[rustfmt::skip]
pub const DEFINITIONS: &[Definition] = &[
    row("schema_version", "-", "Version of the names and meanings in this table."),
    row("target", "-", "`sdpnm`."),
    row("machine.name", "-", "Name in the machine file."),
    row("cycles", "cycles", "From the call to its return."),
    row("time_ns", "ns", "`cycles` times the length of a cycle."),
    row("instructions", "instructions", "Issued by the core."),
    row("ipc", "instructions/cycle", "Instructions over `cycles`."),
    row("energy_pj", "pJ", "Sum of the parts under `energy`."),

    row("category.integer", "instructions", "Sums, logic, shifts, comparisons, constants."),
    row("category.multiplication", "instructions", "Products, quotients, remainders."),
    row("category.memory", "instructions", "Loads and stores."),
    row("category.control_flow", "instructions", "Branches and jumps."),
    row("category.system", "instructions", "`ecall`, `ebreak`, `fence`."),

    row("core.count", "cores", "1."),
    row("core.active", "cores", "1."),
    row("core.cycles", "cycles", "`cycles`."),
    row("core.issue_cycles", "cycles", "Cycles in which an instruction began."),
    row("core.stall_cycles", "cycles", "All others; the parts under `stall` sum to them."),
    row("stall.load", "cycles", "For loads."),
    row("stall.multiply", "cycles", "For products."),
    row("stall.divide", "cycles", "For quotients and remainders."),
    row("stall.branch", "cycles", "For jumps and branches that were taken."),
    row("stall.array", "cycles", "For the end of arrays: by accesses to their pages and windows, and after the function's last instruction."),
    row("stall.move", "cycles", "For what the host controller moves between the memory and shared memories."),

    row("branches.executed", "instructions", "Branches that depend on a condition."),
    row("branches.taken", "instructions", "Those that did not fall through."),
    row("memory.loads", "instructions", "Loads."),
    row("memory.stores", "instructions", "Stores."),
    row("bytes.loaded", "bytes", "By the core from the memory, through the host controller."),
    row("bytes.stored", "bytes", "As above."),
    row("bytes.shared_loaded", "bytes", "By PEs from the shared memories of their arrays."),
    row("bytes.shared_stored", "bytes", "As above."),
    row("bytes.links", "bytes", "Operands of PEs from outputs of others, 4 bytes each."),
    row("bytes.registers", "bytes", "Own registers of PEs, read and written, 4 bytes each."),

    row("arrays.count", "arrays", "Of the machine."),
    row("arrays.starts", "loops", "Started, on all arrays."),
    row("arrays.busy_cycles", "cycles", "In which an array ran a loop, summed over arrays."),
    row("arrays.conflict_cycles", "cycles", "Those of them in which an array waited for banks of its shared memory."),
    row("arrays.configuration_cycles", "cycles", "In which an array was given contexts or changed to others, summed over arrays."),
    row("arrays.operations", "operations", "Of PEs, loads and stores among them."),
    row("arrays.routes", "operations", "Of PEs that only pass a value on."),
    row("arrays.products", "products", "Of 16 x 16 bits; a complex one has four."),
    row("arrays.mac_pes", "PEs", "With a product, in the loop that has most."),
    row("shared.loads", "accesses", "Of PEs to shared memories."),
    row("shared.stores", "accesses", "As above."),

    row("utilisation.core", "-", "`core.issue_cycles` over `cycles`."),
    row("utilisation.arrays", "-", "`arrays.busy_cycles` over arrays times `cycles`."),
    row("utilisation.pes", "-", "`arrays.operations` over PEs of all arrays times `cycles`."),

    row("communication.staged_bytes", "bytes", "Brought to shared memories before the call, and back after it."),
    row("communication.staging_cycles", "cycles", "That this takes at `shared.staging_bytes` a cycle; not among `cycles`."),
    row("communication.copied_bytes", "bytes", "From one shared memory to another one."),
    row("communication.moves", "moves", "That the core asked the host controller for."),
    row("communication.moved_in", "bytes", "That it moved from the memory to shared memories."),
    row("communication.moved_out", "bytes", "The other way."),
    row("communication.core_loaded", "bytes", "By the core from windows and control pages of arrays."),
    row("communication.core_stored", "bytes", "As above."),
    row("communication.globals", "registers", "Global registers that the core read or wrote."),

    row("dram.requests", "requests", "Columns of banks that moves asked for."),
    row("dram.reads", "requests", "Of them, reads."),
    row("dram.writes", "requests", "Of them, writes."),
    row("dram.hits", "requests", "Found their row open. Hits, misses and conflicts sum to the requests."),
    row("dram.misses", "requests", "Found their row buffer empty."),
    row("dram.conflicts", "requests", "Found another row in it."),
    row("dram.activates", "commands", "Rows opened."),
    row("dram.refreshes", "commands", "Refreshes of banks that moves reached."),

    row("array.name", "-", "By array: its kind, with a number where there are several."),
    row("array.starts", "loops", "By array."),
    row("array.busy_cycles", "cycles", "By array."),
    row("array.conflict_cycles", "cycles", "By array."),
    row("array.configuration_cycles", "cycles", "By array."),
    row("array.contexts_loaded", "contexts", "By array."),
    row("array.operations", "operations", "By array, as `arrays.operations`."),
    row("array.routes", "operations", "By array."),
    row("array.utilisation", "-", "By array: `array.operations` over PEs times `cycles`."),
    row("array.pe_runs", "operations", "By array, by PE, row after row, routes among them."),
    row("opcode.name", "-", "The operations of PEs that ran."),
    row("opcode.runs", "operations", "How often each of them."),

    row("loop.name", "-", "By loop on an array: function and line."),
    row("loop.line", "-", "By loop."),
    row("loop.array", "-", "By loop."),
    row("loop.ii", "cycles", "By loop: the initiation interval."),
    row("loop.mii", "cycles", "By loop: the least that it could be, where the compiler knows."),
    row("loop.operations", "operations", "By loop: contexts of all PEs."),
    row("loop.mac_pes", "PEs", "By loop: those that have a product."),
    row("loop.starts", "loops", "By loop: how often it was started."),
    row("loop.iterations", "iterations", "By loop, of all starts."),
    row("loop.cycles", "cycles", "By loop: in which it ran, stalls included."),

    row("energy.core", "pJ", "`energy.core_instruction_pj` an instruction."),
    row("energy.multiplier", "pJ", "`energy.core_multiply_pj` a product."),
    row("energy.divider", "pJ", "`energy.core_divide_pj` a quotient or remainder."),
    row("energy.dram_bits", "pJ", "`energy.dram_bit_pj` a bit that the core loaded or stored, or that was staged or moved."),
    row("energy.dram_activate", "pJ", "`energy.dram_activate_pj` a row that was opened for a move."),
    row("energy.pe_operations", "pJ", "`energy.pe_operation_pj` an operation or route."),
    row("energy.pe_products", "pJ", "`energy.pe_multiply_pj` a product."),
    row("energy.pe_links", "pJ", "`energy.pe_link_pj` an operand from another PE."),
    row("energy.pe_registers", "pJ", "`energy.pe_register_pj` an own register, read or written."),
    row("energy.pe_globals", "pJ", "`energy.pe_global_pj` a global register, read or written, by PEs or the core."),
    row("energy.pe_contexts", "pJ", "`energy.pe_context_pj` a context and iteration."),
    row("energy.pe_configuration", "pJ", "`energy.pe_configure_pj` a context that was loaded."),
    row("energy.shared", "pJ", "`energy.shared_access_pj` an access to shared memory, of PEs, of the core, and a word that was staged or moved; two for one that was copied."),
];

/// Bytes that an instruction loads, and that it stores.
fn bytes(inst: &Inst<PhysReg>) -> (u64, u64) {
    match inst {
        Inst::Lb { .. } | Inst::Lbu { .. } => (1, 0),
        Inst::Lh { .. } | Inst::Lhu { .. } => (2, 0),
        Inst::Lw { .. } => (4, 0),
        Inst::Sb { .. } => (0, 1),
        Inst::Sh { .. } => (0, 2),
        Inst::Sw { .. } => (0, 4),
        _ => (0, 0),
    }
}

/// The statistics of a run.
pub fn collect(
    program: &CoreProgram,
    measures: &Measures,
    arrays: &Arrays,
    host: &Host,
) -> Statistics {
    let machine = &program.machine;
    let stalled = measures.stalled(program);
    let text = || program.code.text.iter().zip(&measures.issued);
    let of = |wanted: &dyn Fn(&Inst<PhysReg>) -> bool| -> u64 {
        text().filter(|(inst, _)| wanted(inst)).map(|(_, issued)| issued).sum()
    };
    let waited = measures.waited.iter().sum::<u64>();
    let stalls = |wanted: &[Latency]| -> u64 {
        let each = program.code.text.iter().zip(stalled.iter().zip(&measures.waited));
        let of = each.filter(|(inst, _)| wanted.contains(&inst.latency()));
        of.map(|(_, (stalled, waited))| stalled - waited).sum()
    };
    let category = |wanted: Category| of(&|inst| inst.category() == wanted);
    let latency = |wanted: Latency| of(&|inst| inst.latency() == wanted);
    let instructions = measures.instructions();
    let traffic = &arrays.traffic;
    let loaded: u64 = text().map(|(inst, issued)| bytes(inst).0 * issued).sum();
    let stored: u64 = text().map(|(inst, issued)| bytes(inst).1 * issued).sum();
    // An access that ended the run is counted as issued, and reached nothing.
    let loaded = loaded.saturating_sub(traffic.core_loaded);
    let stored = stored.saturating_sub(traffic.core_stored);

    let mut energy = EnergyLedger::new();
    energy.add("core", instructions, machine.energy.core_instruction_pj);
    energy.add("multiplier", latency(Latency::Multiply), machine.energy.core_multiply_pj);
    energy.add("divider", latency(Latency::Divide), machine.energy.core_divide_pj);
    let moved = host.moved.read + host.moved.written;
    let banks = host.banks();
    let activates = banks.commands.of(Command::Activate);
    energy.add("dram_bits", 8 * (loaded + stored + moved), machine.energy.dram_bit_pj);
    energy.add("dram_activate", activates, machine.energy.dram_activate_pj);
    energy.add("shared", moved.div_ceil(4), machine.energy.shared_access_pj);

    let mut out = Statistics::new(DEFINITIONS);
    arrays::statistics::collect(&mut out, &mut energy, program, arrays, measures.cycles);
    out.set("schema_version", 1);
    out.set("target", "sdpnm");
    out.set("machine.name", machine.name.clone());
    out.set("cycles", measures.cycles);
    out.set("time_ns", measures.cycles as f64 * machine.cycle_ns());
    out.set("instructions", instructions);
    out.set("ipc", instructions as f64 / measures.cycles.max(1) as f64);
    out.set("energy_pj", energy.total());
    out.set("category.integer", category(Category::Integer));
    out.set("category.multiplication", category(Category::Multiplication));
    out.set("category.memory", category(Category::MemoryAccess));
    out.set("category.control_flow", category(Category::ControlFlow));
    out.set("category.system", category(Category::System));
    out.set("core.count", 1);
    out.set("core.active", 1);
    out.set("core.cycles", measures.cycles);
    out.set("core.issue_cycles", instructions);
    out.set("core.stall_cycles", measures.cycles - instructions);
    out.set("stall.load", stalls(&[Latency::Load]));
    out.set("stall.multiply", stalls(&[Latency::Multiply]));
    out.set("stall.divide", stalls(&[Latency::Divide]));
    out.set("stall.branch", stalls(&[Latency::Branch, Latency::Jump]));
    out.set("utilisation.core", instructions as f64 / measures.cycles.max(1) as f64);
    out.set("stall.array", waited - host.moved.cycles + measures.drained);
    out.set("stall.move", host.moved.cycles);
    out.set("branches.executed", latency(Latency::Branch));
    out.set("branches.taken", measures.taken.iter().sum::<u64>());
    out.set("memory.loads", latency(Latency::Load));
    out.set("memory.stores", of(&|inst| bytes(inst).1 > 0));
    out.set("bytes.loaded", loaded);
    out.set("bytes.stored", stored);
    out.set("energy.core", energy.of("core"));
    out.set("energy.multiplier", energy.of("multiplier"));
    out.set("energy.divider", energy.of("divider"));
    out.set("energy.dram_bits", energy.of("dram_bits"));
    out.set("energy.dram_activate", energy.of("dram_activate"));
    out.set("communication.moves", host.moved.moves);
    out.set("communication.moved_in", host.moved.read);
    out.set("communication.moved_out", host.moved.written);
    out.set("dram.requests", banks.requests);
    out.set("dram.reads", banks.reads);
    out.set("dram.writes", banks.writes);
    out.set("dram.hits", banks.hits);
    out.set("dram.misses", banks.misses);
    out.set("dram.conflicts", banks.conflicts);
    out.set("dram.activates", activates);
    out.set("dram.refreshes", banks.commands.of(Command::Refresh));
    out
}
