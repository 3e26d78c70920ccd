//! What the fuzzers of pipelines and of kernels have in common: numbers of the environment, the
//! report of the seeds that failed, and the cases in files that once did.

use libtest_mimic::{Arguments, Failed, Trial};

use crate::guard::{Failure, catch_panics};

/// The number in a variable of the environment. Panics where it holds something else.
pub fn number(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")),
        Err(_) => default,
    }
}

/// Seeds that failed, and how.
#[derive(Debug, Default)]
pub struct Report {
    text: String,
    kinds: Vec<String>,
}

impl Report {
    /// How many cases of one kind are shrunk.
    const SHRUNK: usize = 3;

    /// A seed failed. `shrink` makes its case smaller in as many runs as it is told: the small
    /// case, and how that one fails if it still does.
    pub fn add(
        &mut self,
        seed: u64,
        failure: Failure,
        shrink: impl FnOnce(&Failure, usize) -> (String, Option<Failure>),
    ) {
        let line = failure.text.lines().next().unwrap_or_default();
        eprintln!("seed {seed}: {} {line}", failure.kind);
        if self.kinds.iter().filter(|kind| **kind == failure.kind).count() >= Report::SHRUNK {
            self.text += &format!("\nseed {seed}: {} again\n", failure.kind);
            return;
        }
        self.kinds.push(failure.kind.clone());
        let (text, small) = shrink(&failure, number("NBCC_FUZZ_SHRINK", 400) as usize);
        let Failure { kind, text: what } = small.unwrap_or(failure);
        let part = format!("\nseed {seed}: {kind}: {what}\n{text}");
        eprintln!("{part}");
        self.text += &part;
    }

    /// The whole report, if any seed failed.
    ///
    /// # Errors
    /// One did.
    pub fn result(self) -> Result<(), Failed> {
        if self.text.is_empty() { Ok(()) } else { Err(self.text.into()) }
    }
}

/// Runs trials, and one for each file of `tests/fuzz` with that extension.
pub fn run(
    mut trials: Vec<Trial>,
    extension: &str,
    replay: impl Fn(&str) -> Result<(), Failed> + Copy + Send + 'static,
) -> ! {
    let mut arguments = Arguments::from_args();
    // Panics are told apart by thread, and a case has a thread of its own.
    arguments.test_threads = arguments.test_threads.or(Some(1));
    catch_panics();
    for path in crate::files_in(&crate::root().join("tests/fuzz"), extension) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        trials.push(Trial::test(format!("replay::{name}"), move || {
            replay(&std::fs::read_to_string(&path)?)
        }));
    }
    libtest_mimic::run(&arguments, trials).exit()
}

/// Lists that are a step smaller, the largest steps first: without a stretch, by halves, and with what may
/// stand for an element in its place.
pub fn smaller_lists<T: Clone>(
    list: &[T],
    replacements: impl Fn(&T) -> Vec<Vec<T>>,
) -> Vec<Vec<T>> {
    let mut found = Vec::new();
    let mut length = list.len();
    while length > 0 {
        for start in (0..list.len()).step_by(length) {
            let end = (start + length).min(list.len());
            found.push([&list[..start], &list[end..]].concat());
        }
        length /= 2;
    }
    for (at, element) in list.iter().enumerate() {
        for replacement in replacements(element) {
            found.push([&list[..at], &replacement[..], &list[at + 1..]].concat());
        }
    }
    found
}
