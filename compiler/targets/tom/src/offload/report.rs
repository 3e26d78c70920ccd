//! Candidates and rejected loops as JSON, for people and scripts.

use nbcc_analysis::listing::Listing;
use nbcc_base::{SourceMap, Span};
use nbcc_isa_tom::cost;
use nbcc_isa_tom::machine::Cost;
use serde::Serialize;

use super::found::{Found, Range};
use super::loops::Iterations;

/// The version of the form.
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Report<'a> {
    schema_version: u32,
    candidates: Vec<CandidateReport<'a>>,
    rejected_loops: Vec<RejectedReport<'a>>,
}

/// A candidate; amounts of traffic in words, at `count` trips.
#[derive(Serialize)]
struct CandidateReport<'a> {
    kernel: &'a str,
    kind: &'static str,
    begin_line: u32,
    end_line: u32,
    trips: Option<&'static str>,
    count: u64,
    threshold: Option<u64>,
    reg_tx: u64,
    reg_rx: u64,
    loads: u64,
    stores: u64,
    bw_tx: f64,
    bw_rx: f64,
    bw_total: f64,
    bw_total_once: f64,
    tag_tx: bool,
    tag_rx: bool,
}

#[derive(Serialize)]
struct RejectedReport<'a> {
    kernel: &'a str,
    begin_line: u32,
    end_line: u32,
    reason: &'static str,
}

/// The line of a place, from 1; 0 where there is none.
fn line(sources: &SourceMap, span: Option<Span>) -> u32 {
    span.map_or(0, |span| sources.start_of(span).line)
}

/// What was found in kernels, in their order.
pub fn json(kernels: &[(Listing, Found)], cost: &Cost, sources: &SourceMap) -> String {
    let lines = |listing: &Listing, range: Range| {
        let at = |at: u32| line(sources, listing.code[at as usize].span);
        (at(range.first), at(range.last))
    };
    let mut report = Report {
        schema_version: SCHEMA_VERSION,
        candidates: Vec::new(),
        rejected_loops: Vec::new(),
    };
    for (listing, found) in kernels {
        // By line, which code that runs need not follow.
        let first = [report.candidates.len(), report.rejected_loops.len()];
        for candidate in &found.candidates {
            let (begin_line, end_line) = lines(listing, candidate.range);
            let count = candidate.trips(cost);
            let (at, once) = (
                cost::traffic(cost, &candidate.amounts, count),
                cost::traffic(cost, &candidate.amounts, 1),
            );
            let is_conditional = candidate.iterations == Some(Iterations::Runtime) && count > 1;
            report.candidates.push(CandidateReport {
                kernel: &listing.name,
                kind: if candidate.iterations.is_some() { "loop" } else { "block" },
                begin_line,
                end_line,
                trips: candidate.iterations.map(|iterations| match iterations {
                    Iterations::Static(_) => "static",
                    Iterations::Runtime => "runtime",
                    Iterations::Unknown => "unknown",
                }),
                count,
                threshold: is_conditional.then_some(count),
                reg_tx: candidate.amounts.registers_in,
                reg_rx: candidate.amounts.registers_out,
                loads: candidate.amounts.loads,
                stores: candidate.amounts.stores,
                bw_tx: at.tx,
                bw_rx: at.rx,
                bw_total: at.total(),
                bw_total_once: once.total(),
                tag_tx: at.tx < 0.0,
                tag_rx: at.rx < 0.0,
            });
        }
        report.rejected_loops.extend(found.rejected.iter().map(|rejected| {
            let (begin_line, end_line) = lines(listing, rejected.range);
            let reason = rejected.reason.name();
            RejectedReport { kernel: &listing.name, begin_line, end_line, reason }
        }));
        report.candidates[first[0]..].sort_by_key(|of| (of.begin_line, of.end_line));
        report.rejected_loops[first[1]..].sort_by_key(|of| (of.begin_line, of.end_line));
    }
    serde_json::to_string_pretty(&report).expect("numbers and text")
}
