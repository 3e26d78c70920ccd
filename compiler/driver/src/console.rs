//! Writing to the terminal or into a pipe: colour only where it is wanted, no complaint about a
//! reader that has gone, and a clean message for a fault of nbcc's own. Text that cannot be written
//! does not stop the work that it reports; the command's end says that it is lost ([`lost`]).

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The first failure of each stream, by [`Stream`].
static FAILURES: Mutex<[Option<io::Error>; 2]> = Mutex::new([None, None]);

/// Whether stdout is for data that a command writes to `-`.
static IS_FOR_DATA: AtomicBool = AtomicBool::new(false);

/// Says that stdout gets data: text goes to stderr from here on.
pub fn keep_for_data() {
    IS_FOR_DATA.store(true, Ordering::Relaxed);
}

fn is_for_data() -> bool {
    IS_FOR_DATA.load(Ordering::Relaxed)
}

/// Where text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Keeps what went wrong. A reader that closed its end has had enough: that is no failure.
fn keep(stream: Stream, result: io::Result<()>) {
    if let Err(error) = result
        && error.kind() != io::ErrorKind::BrokenPipe
        && let Ok(mut failures) = FAILURES.lock()
    {
        failures[stream as usize].get_or_insert(error);
    }
}

/// Why text that was to be written is lost, once for each stream.
pub fn lost() -> Option<(&'static str, io::Error)> {
    let mut failures = FAILURES.lock().ok()?;
    let [out, err] = &mut *failures;
    let out = out.take().map(|error| ("standard output", error));
    out.or_else(|| err.take().map(|error| ("standard error", error)))
}

/// Writes text with colour codes to stdout; they are dropped where `NO_COLOR` or the lack of a
/// terminal says so. Where stdout is for data, it goes to stderr.
pub fn print(text: &str) {
    if is_for_data() {
        return error_text(text);
    }
    let mut out = anstream::AutoStream::auto(io::stdout()).lock();
    keep(Stream::Out, out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

/// Writes bytes to stdout as they are.
pub fn write_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes what a program printed to stdout, or to stderr like [`print`].
pub fn print_bytes(bytes: &[u8]) {
    if is_for_data() {
        let mut out = io::stderr().lock();
        return keep(Stream::Err, out.write_all(bytes).and_then(|()| out.flush()));
    }
    keep(Stream::Out, write_bytes(bytes));
}

/// Writes text with colour codes to stderr, like [`print`].
pub fn error_text(text: &str) {
    let mut out = anstream::AutoStream::auto(io::stderr()).lock();
    keep(Stream::Err, out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

/// Writes a line to stderr.
pub fn error_line(text: &str) {
    error_text(&format!("{text}\n"));
}

/// Whether somebody watches stderr, so that progress may be shown there.
pub fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Columns to lay text out for: the terminal's, else `COLUMNS`, else 120.
pub fn width() -> usize {
    let named = || std::env::var("COLUMNS").ok()?.parse().ok();
    let terminal =
        terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    terminal.or_else(named).unwrap_or(120).clamp(40, 400)
}

/// Replaces the message of a panic by one that says it is nbcc's fault.
pub fn take_over_panics() {
    std::panic::set_hook(Box::new(|info| {
        let what = info.payload_as_str().unwrap_or("no message");
        let place = info.location().map(|l| format!(" ({}:{})", l.file(), l.line()));
        error_line(&format!(
            "internal error: {what}{}\nThis is a fault of nbcc, not of its input. Please report \
             it with the command line and the files it names.",
            place.unwrap_or_default()
        ));
    }));
}
