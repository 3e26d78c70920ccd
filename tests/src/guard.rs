//! Running a case that may panic or never end: in a thread of its own, for a while.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Duration;

/// What went wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Failures of one fault have one kind: what happened, and where in the compiler.
    pub kind: String,
    /// Everything that is known.
    pub text: String,
}

/// A failure.
pub fn failure(kind: impl Into<String>, text: impl Into<String>) -> Failure {
    Failure { kind: kind.into(), text: text.into() }
}

/// Time after which a case counts as one that never ends; `NBCC_FUZZ_TIME` is another number of
/// seconds, for a machine that does other things as well.
fn time() -> Duration {
    let given = std::env::var("NBCC_FUZZ_TIME").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(given.unwrap_or(120))
}

thread_local! {
    /// Where the thread panicked, and what it said.
    static PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Keeps panics of the threads of cases for the report, instead of printing them.
pub fn catch_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place =
            info.location().map_or_else(String::new, |l| format!("{}:{}", l.file(), l.line()));
        PANIC.with(|panic| *panic.borrow_mut() = Some((place, info.to_string())));
    }));
}

/// Runs a case; a panic or no end in time is a failure. The thread of a case that does not end is
/// left behind.
pub fn guarded<T: Send + 'static>(
    case: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let (sender, receiver) = mpsc::channel();
    let body = move || {
        let result = catch_unwind(AssertUnwindSafe(case)).unwrap_or_else(|_| {
            let (place, what) = PANIC.with(|p| p.borrow_mut().take()).unwrap_or_default();
            Err(failure(format!("panic at {place}"), what))
        });
        // The receiver is gone where the case took too long.
        let _ = sender.send(result);
    };
    std::thread::Builder::new()
        .stack_size(64 << 20)
        .spawn(body)
        .unwrap_or_else(|error| panic!("a thread cannot be started: {error}"));
    let time = time();
    match receiver.recv_timeout(time) {
        Ok(result) => result,
        Err(_) => Err(failure("time", format!("no answer after {} s", time.as_secs()))),
    }
}
