//! The TOM backend: grids of threads on a GPU whose memory stacks compute too (TOM paper). It is the
//! backend that SIMT targets share, on TOM's machines; what TOM decides is which parts of a kernel
//! are worth running beside memory ([`offload`]).

mod choices;
mod code;
mod codes;
mod markers;
pub mod offload;
mod pipeline;
mod remarks;
mod schedule;
mod table;

use nbcc_isa_tom::ISA;
use nbcc_isa_tom::machine::BUILT_IN;
use nbcc_pipeline::{Context, MachineInfo, ReportInfo};
use nbcc_simt::{Compilation, Report, Simt};

pub use choices::{MAP, OFFLOAD};
pub use table::Candidates;

use choices::{CHOICES, machine_of};

const MACHINES: [MachineInfo; BUILT_IN.len()] = MachineInfo::all(
    BUILT_IN,
    [
        "TOM as evaluated: 64 multiprocessors and one in each of 4 stacks",
        "the baseline: 68 multiprocessors, stacks that only store",
    ],
);

/// The TOM target.
pub static TOM: Simt<Candidates> = Simt {
    isa: &ISA,
    about: "TOM: grids of threads on a GPU with 3D-stacked memories that compute",
    machines: &MACHINES,
    choices: CHOICES,
    reports: &[Report {
        info: ReportInfo {
            name: "offload",
            about: "Which loops and blocks are worth running beside memory, as JSON",
        },
        text: offload_report,
    }],
    passes: pipeline::PASSES,
    uses_profiles: false,
    codes: codes::ALL,
};

fn offload_report(state: &Compilation<Candidates>, cx: &Context<'_>) -> String {
    offload::json(&state.own.told, &machine_of(state).cost, cx.sources)
}
