//! The table of candidates in the program, and the markers before them (TOM paper, section 3.3). What
//! does not fit the machine's table is left out, the least beneficial first, and so is a candidate
//! whose trips the hardware could not tell; remarks say so.

use nbcc_analysis::listing::{Listing, Reg};
use nbcc_base::{Diagnostic, Failed};
use nbcc_isa_simt::Program;
use nbcc_isa_tom::Machine;
use nbcc_isa_tom::cost;
use nbcc_isa_tom::offload::{
    self as binary, Checker, Condition, Constant, Entry, OffloadTable, Tag, Webs,
};
use nbcc_isa_tom::policy::Policy;
use nbcc_pipeline::{Context, OptLevel};
use nbcc_simt::Compilation;

use crate::choices::{MAP, OFFLOAD, machine_of};
use crate::code;
use crate::codes;
use crate::markers::{self, Places};
use crate::offload::{self, Candidate, Found, Iterations, Range};
use crate::remarks;

/// What was found.
#[derive(Debug, Default)]
pub struct Candidates {
    /// What is told: the kernels of the source as it is written where nothing is optimised, else those of the
    /// program before it had markers, with what is a candidate in each.
    pub told: Vec<(Listing, Found)>,
}

/// A candidate on its way into the table.
struct Chosen {
    kernel: u32,
    /// Its place among the candidates of the kernel.
    number: usize,
    /// Its instructions in the whole text.
    range: Range,
}

/// Finds the candidates, marks them and writes the table.
pub fn run(state: &mut Compilation<Candidates>, cx: &mut Context<'_>) -> Result<(), Failed> {
    let machine = machine_of(state);
    let spans = state.spans();
    let Some(program) = &state.program else { return Ok(()) };
    let find = |listing: Listing| {
        let found = offload::find(&listing, &machine.cost);
        (listing, found)
    };
    let webs: Vec<Webs> = (0..program.kernels.len() as u32)
        .map(|kernel| Checker::new(program, kernel).webs)
        .collect();
    let kernels: Vec<(Listing, Found)> =
        code::listings(program, &webs, &spans).into_iter().map(find).collect();
    // Without multiprocessors beside memory there is nothing to decide.
    let mut chosen = vec![];
    if machine.stack.sms > 0 {
        chosen = choose(program, &kernels, &machine, cx);
        state.program = Some(make(program, &kernels, &webs, &mut chosen, &machine, cx));
    }
    let of_source = cx.passes.level == OptLevel::O0 && !state.listings.is_empty();
    state.own.told = match of_source {
        true => state.listings.iter().cloned().map(find).collect(),
        false => kernels,
    };
    for (kernel, (listing, found)) in state.own.told.iter().enumerate() {
        let is_told = |number: &usize| {
            let is_it = |one: &Chosen| one.kernel as usize == kernel && one.number == *number;
            of_source && machine.stack.sms > 0 || chosen.iter().any(is_it)
        };
        let rejected = found.rejected.iter();
        cx.remarks.extend(
            rejected.map(|loops| remarks::rejected(listing, loops, &machine.cost, cx.sources)),
        );
        let told = (0..found.candidates.len()).filter(is_told).map(|n| &found.candidates[n]);
        cx.remarks.extend(told.map(|one| remarks::candidate(listing, one, &machine.cost)));
    }
    policy(state, &machine, cx)
}

/// Writes down by which policy the machine is to offload, where that is asked for.
fn policy(
    state: &mut Compilation<Candidates>,
    machine: &Machine,
    cx: &mut Context<'_>,
) -> Result<(), Failed> {
    let choice = |key: &str| state.choices.get(key).map(String::as_str);
    let policy = match Policy::named(machine, choice(OFFLOAD), choice(MAP)) {
        Ok(policy) => policy,
        Err(why) => {
            let error = Diagnostic::error(&codes::POLICY, why);
            return cx.diagnostics.fail(error.help(
                "use a machine with multiprocessors beside memory (--machine tom), or -X offload=none",
            ));
        }
    };
    if policy != Policy::default_of(machine)
        && let Some(program) = &mut state.program
    {
        program.sections.push(policy.section());
    }
    Ok(())
}

/// The candidates that fit the table of their kernel, in the order of the text.
fn choose(
    program: &Program,
    kernels: &[(Listing, Found)],
    machine: &Machine,
    cx: &mut Context<'_>,
) -> Vec<Chosen> {
    let mut chosen = Vec::new();
    for (kernel, (listing, found)) in kernels.iter().enumerate() {
        let saving = |number: &usize| {
            let candidate = &found.candidates[*number];
            let trips = candidate.trips(&machine.cost);
            cost::traffic(&machine.cost, &candidate.amounts, trips).total()
        };
        let mut order: Vec<usize> = (0..found.candidates.len()).collect();
        order.sort_by(|a, b| saving(a).total_cmp(&saving(b)).then(a.cmp(b)));
        let left = order.split_off(order.len().min(machine.offload.entries as usize));
        for number in left {
            let entries = machine.offload.entries;
            let why = format!("the table holds {entries} entries, and it saves less than they do");
            cx.remarks.push(remarks::left_out(listing, &found.candidates[number], &why));
        }
        order.sort_unstable();
        let entry = program.kernels[kernel].entry;
        chosen.extend(order.into_iter().map(|number| {
            let Range { first, last } = found.candidates[number].range;
            let range = Range { first: first + entry, last: last + entry };
            Chosen { kernel: kernel as u32, number, range }
        }));
    }
    chosen
}

/// The program with the chosen candidates. One that its instructions do not prove is left out.
fn make(
    program: &Program,
    kernels: &[(Listing, Found)],
    webs: &[Webs],
    chosen: &mut Vec<Chosen>,
    machine: &Machine,
    cx: &mut Context<'_>,
) -> Program {
    loop {
        let ranges: Vec<Range> = chosen.iter().map(|one| one.range).collect();
        let mut marked = markers::insert(program, &ranges);
        let places = Places::new(&ranges);
        let mut entries = Vec::new();
        let mut faults = Vec::new();
        let mut checker: Option<Checker<'_>> = None;
        for (number, one) in chosen.iter().enumerate() {
            if number == 0 || chosen[number - 1].kernel != one.kernel {
                checker = Some(Checker::new(&marked, one.kernel));
            }
            let checker = checker.as_ref().expect("it was made above");
            let (listing, found) = &kernels[one.kernel as usize];
            let candidate = &found.candidates[one.number];
            let webs = &webs[one.kernel as usize];
            let entry = entry(checker, webs, &places, one, candidate, machine);
            let fault = match &entry {
                Err(why) => Some(why.clone()),
                Ok(entry) => {
                    let fault = checker.fault(entry, number as u32, &machine.cost);
                    if let Some(fault) = &fault
                        && cx.passes.verify_each
                    {
                        panic!("candidate {number}, in `{}`: {fault}", listing.name);
                    }
                    fault
                }
            };
            match entry.ok().filter(|_| fault.is_none()) {
                Some(entry) => entries.push(entry),
                None => faults.push((number, fault.unwrap_or_default())),
            }
        }
        if faults.is_empty() {
            let names: Vec<&str> = program.kernels.iter().map(|k| k.name.as_str()).collect();
            let section = binary::section(&OffloadTable { entries }, &names);
            marked.sections.push(section);
            return marked;
        }
        for (number, why) in faults.into_iter().rev() {
            let one = chosen.remove(number);
            let (listing, found) = &kernels[one.kernel as usize];
            let candidate = &found.candidates[one.number];
            cx.remarks.push(remarks::left_out(listing, candidate, &why));
        }
    }
}

/// The entry of a candidate; why there is none.
fn entry(
    checker: &Checker<'_>,
    webs: &Webs,
    places: &Places<'_>,
    one: &Chosen,
    candidate: &Candidate,
    machine: &Machine,
) -> Result<Entry, String> {
    let (begin, end) = (places.of(one.range.first), places.entered(None, one.range.last + 1));
    if let Some(why) = checker.meeting_fault(begin, end) {
        return Err(why);
    }
    let trips = candidate.trips(&machine.cost);
    let condition = match candidate.iterations {
        Some(Iterations::Runtime) if trips > 1 => {
            let found = checker.condition(begin, end);
            let found = found.ok_or("its trips cannot be told of registers at its begin")?;
            Some(Condition { threshold: trips, ..found })
        }
        _ => None,
    };
    let traffic = cost::traffic(&machine.cost, &candidate.amounts, trips);
    // Of a web of two registers only those that are needed.
    let held = |set: &[Reg], at: u32| {
        webs.registers(|web| set.binary_search(&Reg::from_u32(web)).is_ok(), at)
    };
    let (Range { first, last }, live) = (one.range, &candidate.live);
    let live_out = held(&live.registers_out, last + 1).and(&checker.registers_out(begin, end));
    let needed = checker.registers_in(begin, end, &live_out);
    let live_in = held(&live.registers_in, first).and(&needed);
    // What it needs and is not sent is a constant.
    let constants = needed
        .without(&live_in)
        .iter()
        .filter_map(|reg| Some(Constant { reg, held: checker.held(reg, begin)? }))
        .collect();
    Ok(Entry {
        kernel: one.kernel,
        begin,
        end,
        live_in,
        live_out,
        constants,
        inputs: candidate.live.inputs.len() as u32,
        tag: Tag { tx: traffic.tx < 0.0, rx: traffic.rx < 0.0 },
        trips,
        condition,
    })
}
