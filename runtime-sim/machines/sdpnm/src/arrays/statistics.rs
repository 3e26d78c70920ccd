//! What is reported of the arrays. What a run of a context takes is known before it runs, so the
//! machine counts only how often each ran; the rest follows from the contexts.

use nbcc_isa_sdpnm::config::{Bit, Context, Opcode, Package, Source};
use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_sim_engine::{EnergyLedger, Statistics, Value};

use super::Arrays;

/// What contexts took, over all of their runs.
#[derive(Clone, Debug, Default)]
struct Taken {
    /// Operations, loads and stores among them, without routes.
    operations: u64,
    routes: u64,
    products: u64,
    /// Operands from other PEs.
    links: u64,
    /// Own registers that were read or written.
    registers: u64,
    /// Global registers that were read or written by PEs.
    globals: u64,
    loads: u64,
    stores: u64,
    bytes_loaded: u64,
    bytes_stored: u64,
}

impl Taken {
    fn add(&mut self, context: &Context, runs: u64) {
        let Context { op, options, in1, in2, in3, memory, control } = context;
        match op {
            Opcode::Pass => self.routes += runs,
            _ => self.operations += runs,
        }
        self.products += runs * u64::from(op.products(options));
        for source in [in1, in2] {
            match source {
                Source::None | Source::Immediate(_) | Source::Output(0, 0) => {}
                Source::Output(..) => self.links += runs,
                Source::Register { .. } => self.registers += runs,
                Source::Global(_) => self.globals += runs,
            }
        }
        for bit in [in3, &control.condition] {
            match bit {
                Bit::None | Bit::Output(0, 0) => {}
                Bit::Output(..) => self.links += runs,
                Bit::Register { .. } => self.registers += runs,
            }
        }
        self.registers += runs * u64::from(control.keep.is_some());
        self.globals += runs * u64::from(control.export.is_some());
        let bytes = runs * u64::from(memory.width.bytes());
        match op {
            Opcode::Load => {
                (self.loads, self.bytes_loaded) = (self.loads + runs, self.bytes_loaded + bytes)
            }
            Opcode::Store => {
                (self.stores, self.bytes_stored) = (self.stores + runs, self.bytes_stored + bytes)
            }
            _ => {}
        }
    }
}

fn list<T: Into<Value>>(values: impl IntoIterator<Item = T>) -> Value {
    Value::List(values.into_iter().map(Into::into).collect())
}

/// PEs that a package has products on.
fn multiplying(package: &Package) -> u64 {
    let with = package
        .contexts
        .iter()
        .filter(|placed| placed.context.op.products(&placed.context.options) > 0);
    let mut pes: Vec<u16> = with.map(|placed| placed.pe).collect();
    pes.dedup();
    pes.len() as u64
}

/// The line of a loop: what its name ends with, else the first of its operations, else its name.
fn line(package: &Package) -> String {
    if let Some((_, line)) = package.name.rsplit_once(':') {
        return line.to_string();
    }
    let lines = package.contexts.iter().filter_map(|placed| placed.line);
    lines.map(|line| line.line).min().map_or(package.name.clone(), |line| line.to_string())
}

/// Sets what is reported of arrays, and adds what they took to the ledger; `cycles` is the length of
/// the run.
pub(crate) fn collect(
    out: &mut Statistics,
    energy: &mut EnergyLedger,
    program: &CoreProgram,
    arrays: &Arrays,
    cycles: u64,
) {
    let machine = &program.machine;
    let (count, pes) = (machine.arrays.kinds.len(), machine.array.pes());
    let mut taken = vec![Taken::default(); count];
    let mut by_pe = vec![vec![0_u64; pes]; count];
    let mut by_opcode = vec![0_u64; Opcode::ALL.len()];
    // Contexts that were followed, whether they ran or not.
    let mut followed = 0_u64;
    for (package, measured) in program.packages.iter().zip(&arrays.packages) {
        let array = usize::from(package.array);
        for (placed, &runs) in package.contexts.iter().zip(&measured.ran) {
            taken[array].add(&placed.context, runs);
            by_pe[array][usize::from(placed.pe)] += runs;
            by_opcode[placed.context.op as usize] += runs;
            followed += runs.max(measured.iterations);
        }
    }
    let sum = |of: &dyn Fn(&Taken) -> u64| taken.iter().map(of).sum::<u64>();
    let measures = &arrays.measures;
    let total = |of: &dyn Fn(&super::ArrayMeasures) -> u64| measures.iter().map(of).sum::<u64>();
    let traffic = &arrays.traffic;
    let staged_words = traffic.staged.div_ceil(4);
    // Loaded from one memory and stored to the other.
    let copied_words = 2 * traffic.copied.div_ceil(4);

    out.set("array.name", list((0..count).map(|array| machine.array_name(array))));
    out.set("array.starts", list(measures.iter().map(|m| m.starts)));
    out.set("array.busy_cycles", list(measures.iter().map(|m| m.busy)));
    out.set("array.conflict_cycles", list(measures.iter().map(|m| m.conflicts)));
    out.set("array.configuration_cycles", list(measures.iter().map(|m| m.configuration)));
    out.set("array.contexts_loaded", list(measures.iter().map(|m| m.loaded)));
    out.set("array.operations", list(taken.iter().map(|t| t.operations)));
    out.set("array.routes", list(taken.iter().map(|t| t.routes)));
    let all = (pes as u64 * cycles).max(1) as f64;
    out.set("array.utilisation", list(taken.iter().map(|t| t.operations as f64 / all)));
    out.set("array.pe_runs", Value::List(by_pe.into_iter().map(list).collect()));
    let ran = || by_opcode.iter().enumerate().filter(|(_, runs)| **runs > 0);
    out.set("opcode.name", list(ran().map(|(number, _)| Opcode::ALL[number].mnemonic())));
    out.set("opcode.runs", list(ran().map(|(_, runs)| *runs)));

    let packages = || program.packages.iter();
    out.set("loop.name", list(packages().map(|package| package.name.clone())));
    out.set("loop.line", list(packages().map(line)));
    let names = packages().map(|package| machine.array_name(package.array.into()));
    out.set("loop.array", list(names));
    out.set("loop.ii", list(packages().map(|package| u64::from(package.ii))));
    let known = |package: &Package| match package.mii {
        0 => Value::None,
        mii => Value::Count(mii.into()),
    };
    out.set("loop.mii", list(packages().map(known)));
    out.set("loop.operations", list(packages().map(|package| package.contexts.len() as u64)));
    out.set("loop.mac_pes", list(packages().map(multiplying)));
    out.set("loop.starts", list(arrays.packages.iter().map(|m| m.starts)));
    out.set("loop.iterations", list(arrays.packages.iter().map(|m| m.iterations)));
    out.set("loop.cycles", list(arrays.packages.iter().map(|m| m.cycles)));

    out.set("arrays.count", count as u64);
    out.set("arrays.starts", total(&|m| m.starts));
    out.set("arrays.busy_cycles", total(&|m| m.busy));
    out.set("arrays.conflict_cycles", total(&|m| m.conflicts));
    out.set("arrays.configuration_cycles", total(&|m| m.configuration));
    out.set("arrays.operations", sum(&|t| t.operations));
    out.set("arrays.routes", sum(&|t| t.routes));
    out.set("arrays.products", sum(&|t| t.products));
    out.set("arrays.mac_pes", packages().map(multiplying).max().unwrap_or(0));
    let cycles_of_all = (count as u64 * cycles).max(1) as f64;
    out.set("utilisation.arrays", total(&|m| m.busy) as f64 / cycles_of_all);
    out.set("utilisation.pes", sum(&|t| t.operations) as f64 / (pes as f64 * cycles_of_all));
    out.set("shared.loads", sum(&|t| t.loads));
    out.set("shared.stores", sum(&|t| t.stores));
    out.set("communication.staged_bytes", traffic.staged);
    out.set("communication.copied_bytes", traffic.copied);
    out.set("communication.staging_cycles", traffic.staging_cycles);
    out.set("communication.core_loaded", traffic.core_loaded);
    out.set("communication.core_stored", traffic.core_stored);
    out.set("communication.globals", total(&|m| m.globals));
    out.set("bytes.links", 4 * sum(&|t| t.links));
    out.set("bytes.registers", 4 * sum(&|t| t.registers));
    out.set("bytes.shared_loaded", sum(&|t| t.bytes_loaded));
    out.set("bytes.shared_stored", sum(&|t| t.bytes_stored));

    let cost = &machine.energy;
    let accesses = sum(&|t| t.loads) + sum(&|t| t.stores);
    // The core's accesses to windows and pages are of words at most.
    let by_core = (traffic.core_loaded + traffic.core_stored).div_ceil(4);
    energy.add("pe_operations", sum(&|t| t.operations + t.routes), cost.pe_operation_pj);
    energy.add("pe_products", sum(&|t| t.products), cost.pe_multiply_pj);
    energy.add("pe_links", sum(&|t| t.links), cost.pe_link_pj);
    energy.add("pe_registers", sum(&|t| t.registers), cost.pe_register_pj);
    let globals = sum(&|t| t.globals) + total(&|m| m.globals);
    energy.add("pe_globals", globals, cost.pe_global_pj);
    energy.add("pe_contexts", followed, cost.pe_context_pj);
    energy.add("pe_configuration", total(&|m| m.loaded), cost.pe_configure_pj);
    energy.add("shared", accesses + by_core + staged_words + copied_words, cost.shared_access_pj);
    energy.add("dram_bits", 8 * traffic.staged, cost.dram_bit_pj);
    for (key, part) in [
        ("energy.pe_operations", "pe_operations"),
        ("energy.pe_products", "pe_products"),
        ("energy.pe_links", "pe_links"),
        ("energy.pe_registers", "pe_registers"),
        ("energy.pe_globals", "pe_globals"),
        ("energy.pe_contexts", "pe_contexts"),
        ("energy.pe_configuration", "pe_configuration"),
        ("energy.shared", "shared"),
    ] {
        out.set(key, energy.of(part));
    }
}
