//! All jobs of a suite on a few threads. Which thread does what changes nothing: jobs know nothing of each
//! other, and what they say is shown in their order.

use std::collections::BTreeMap;
use std::sync::Mutex;

use nbcc_base::Diagnostic;

use super::figures::Measured;
use super::job::{self, How, Job, Outcome, Source};
use super::suite::{Checked, Size};
use super::workers;
use crate::codes;
use crate::progress::Steps;
use crate::session::{Session, Stop};

/// What is to be run.
pub struct Batch<'a> {
    /// The suite.
    pub checked: &'a Checked,
    /// The sources of its programs; those without are left out.
    pub sources: &'a [Option<Source>],
    /// The numbers of the variants, the first of the suite among them.
    pub variants: Vec<usize>,
    /// The sizes of programs.
    pub size: Size,
    /// Threads to simulate with.
    pub threads: usize,
}

/// What came of a job, and what it had to say.
type Done = (Session, Result<Outcome, Stop>);

/// Runs everything; what was measured of each program, and whether something failed, which is shown.
pub fn run(session: &mut Session, batch: &Batch<'_>) -> (Vec<Option<Measured>>, bool) {
    let suite = &batch.checked.suite;
    let mut jobs = Vec::new();
    for (number, source) in batch.sources.iter().enumerate() {
        if source.is_some() {
            jobs.extend(batch.variants.iter().map(|&variant| (number, How::Variant(variant))));
            if batch.size == Size::Quick && suite.interpret_quick {
                jobs.push((number, How::Interpreted));
            }
        }
    }
    let side_by_side = batch.threads.min(jobs.len()).max(1);
    let threads = (batch.threads / side_by_side).max(1);
    let file = session.sources.get(batch.checked.source).clone();
    let steps = Steps::new(jobs.len() as u64);
    // By program: what its jobs left, until all of them are done.
    let left: Vec<Mutex<BTreeMap<usize, (How, Done)>>> =
        suite.programs.iter().map(|_| Mutex::default()).collect();
    let of_program = |program: usize| jobs.iter().filter(|(number, _)| *number == program).count();
    let finished: Vec<Mutex<Option<Finished>>> =
        suite.programs.iter().map(|_| Mutex::default()).collect();
    let sessions: Vec<Mutex<Option<Session>>> =
        jobs.iter().map(|_| Mutex::new(Some(session.another()))).collect();
    workers::each(side_by_side, jobs.len(), |index| {
        let (number, how) = jobs[index];
        let program = &suite.programs[number];
        steps.begin(&format!("{}, {}", program.name, name(batch, how)));
        let source = batch.sources[number].as_ref().expect("a job has a source");
        let job = Job {
            checked: batch.checked,
            file: &file,
            program,
            source,
            how,
            size: batch.size,
            threads,
        };
        let mut own = taken(&sessions[index]).expect("a session is used once");
        let result = job.run(&mut own);
        let mut all = left[number].lock().expect("no job panics here");
        all.insert(index, (how, (own, result)));
        if all.len() == of_program(number) {
            let all = std::mem::take(&mut *all);
            let done = finish(batch, &program.name, all);
            *finished[number].lock().expect("no job panics here") = Some(done);
        }
        steps.done();
    });
    steps.end();
    let mut failed = false;
    let mut measured = Vec::new();
    for (number, slot) in finished.iter().enumerate() {
        let Some(done) = taken(slot) else {
            measured.push(None);
            continue;
        };
        for mut own in done.sessions {
            own.flush();
        }
        if !done.failed.is_empty() {
            failed = true;
            let list = done.failed.join(", ");
            let message = format!("program `{}` failed: {list}", suite.programs[number].name);
            let help = "the messages before say why; its rows of figures that need this are empty";
            session.fail(Diagnostic::error(&codes::FAILED_WORKLOAD, message).help(help));
            session.flush();
        }
        measured.push(Some(done.measured));
    }
    (measured, failed)
}

fn taken<T>(slot: &Mutex<Option<T>>) -> Option<T> {
    slot.lock().expect("nobody panics with it").take()
}

fn name<'a>(batch: &'a Batch<'_>, how: How) -> &'a str {
    match how {
        How::Variant(number) => &batch.checked.suite.variants[number].name,
        How::Interpreted => "the interpreter",
    }
}

/// What is known of a program whose jobs are done.
struct Finished {
    measured: Measured,
    /// What failed, by name.
    failed: Vec<String>,
    /// Sessions with something to say.
    sessions: Vec<Session>,
}

/// Compares the outputs of all jobs of a program with those of the first, and lets them go.
fn finish(batch: &Batch<'_>, program: &str, all: BTreeMap<usize, (How, Done)>) -> Finished {
    let mut done = Finished { measured: Measured::new(), failed: Vec::new(), sessions: Vec::new() };
    let mut reference = None;
    for (how, (mut session, result)) in all.into_values() {
        let how_name = name(batch, how);
        let Ok(outcome) = result else {
            done.failed.push(how_name.to_string());
            done.sessions.push(session);
            continue;
        };
        match &reference {
            Some(first) => {
                if let Err(what) = job::compare(&outcome.outputs, first) {
                    job::report_difference(&mut session, program, how_name, &what);
                    done.failed.push(how_name.to_string());
                    done.sessions.push(session);
                    continue;
                }
            }
            None => reference = Some(outcome.outputs),
        }
        if let How::Variant(number) = how {
            done.measured.insert(number, outcome.values);
        }
    }
    done
}
