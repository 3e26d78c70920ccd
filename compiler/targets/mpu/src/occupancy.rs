//! The register files of the kernels of a program, and how many warps of each a core holds: remarks
//! say what limits them (Table II: 32 KB far and 16 KB near a subcore, 64 KB of shared memory a core).

use nbcc_base::{Diagnostic, Failed};
use nbcc_isa_mpu::Machine;
use nbcc_isa_mpu::files::{self, Files, entries_of};
use nbcc_isa_mpu::location::Side;
use nbcc_pipeline::Context;
use nbcc_placement::{Message, Remark, RemarkKind, Term};
use nbcc_simt::{Compilation, codes};

use crate::location::banks::files_of;
use crate::location::budget::{block_bound, block_limits, block_warps};
use crate::location::{Locations, machine_of, remarks};

/// Writes the section of register files, and says how many warps fit.
pub fn run(state: &mut Compilation<Locations>, cx: &mut Context<'_>) -> Result<(), Failed> {
    let machine = machine_of(state);
    let mut all = Vec::new();
    for kernel in &mut state.kernels {
        let Some(registers) = &kernel.registers else { continue };
        let files = files_of(&registers.banks);
        let ir = &state.module.functions[kernel.func];
        let bound = ir.kernel.as_ref().and_then(block_bound);
        let (message, terms) = occupancy(&machine, &files, bound, kernel.frame.shared_bytes);
        kernel.findings.push(("occupancy", message.to_string()));
        cx.remarks.push(Remark {
            kind: RemarkKind::Analysis,
            pass: "files",
            name: "Occupancy",
            function: ir.name.clone(),
            span: ir.first_span(),
            message,
            terms,
        });
        all.push(files);
        if let Some(selected) = &kernel.selected {
            let listing = state.listings.iter().find(|listing| listing.name == ir.name);
            remarks::of_code(ir, &selected.func, listing, cx);
        }
    }
    let Some(program) = &mut state.program else { return Ok(()) };
    program.sections.push(files::section(&all));
    files::check(program).or_else(|error| {
        let message = format!("registers are in the wrong file: {error}");
        cx.diagnostics.fail(Diagnostic::error(&codes::TOO_LARGE, message))
    })
}

/// How many warps of a kernel a core holds, and what limits them.
fn occupancy(
    machine: &Machine,
    files: &Files,
    bound: Option<u32>,
    shared_bytes: u64,
) -> (Message, Vec<Term>) {
    let subcores = machine.hierarchy.subcores;
    let threads = bound.unwrap_or(machine.core.block_threads);
    let block_warps = block_warps(machine, bound);
    let of_file = |side| {
        let warps = entries_of(machine, side).checked_div(files.entries(side));
        warps.map_or(u32::MAX, |warps| warps / block_warps)
    };
    let [of_warps, of_shared, of_core] = block_limits(machine, block_warps, shared_bytes);
    let limits = [
        ("the warps of a subcore", of_warps),
        ("the far register file", of_file(Side::Far)),
        ("the near register file", of_file(Side::Near)),
        ("shared memory", of_shared),
        ("the blocks of a core", of_core),
    ];
    // Of equal limits the first.
    let (limit, blocks) = limits.into_iter().min_by_key(|&(_, blocks)| blocks).expect("limits");
    let block = match bound {
        Some(threads) => format!(" blocks of {threads} threads, limited by "),
        None => format!(" blocks of {threads} threads, the largest, limited by "),
    };
    let message = Message::of("a core holds ")
        .value("Blocks", blocks)
        .text(block)
        .value("LimitedBy", limit)
        .text(": ")
        .value("FarRegisters", files.entries(Side::Far))
        .text(" registers far, ")
        .value("NearRegisters", files.entries(Side::Near))
        .text(" near");
    let all = machine.core_warps();
    let warps = (blocks * block_warps * subcores).min(all);
    let mut terms = vec![Term::new("Warps", format!("{warps} of {all}"))];
    for (name, blocks) in limits.into_iter().filter(|&(_, blocks)| blocks != u32::MAX) {
        terms.push(Term::new("BlocksBy", format!("{blocks} by {name}")));
    }
    (message, terms)
}
