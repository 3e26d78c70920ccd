//! Under a limit of memory. What takes much memory is asked for and refused with a code
//! (`nbcc_base::room`), but any other allocation that fails ends a process by a signal, on the spot.
//! Where address space is limited, the command therefore runs in a process of its own, and the one
//! that was started waits and says what became of it.

#[cfg(target_os = "linux")]
pub use linux::attended;

/// Only Linux has limits that are met.
#[cfg(not(target_os = "linux"))]
pub fn attended(_: &[std::ffi::OsString]) -> Option<u8> {
    None
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsString;
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::Command;

    use nbcc_base::Diagnostic;
    use rustix::process::{Resource, Signal};

    use crate::session::Session;
    use crate::{codes, limits};

    /// What the process that does the work is called.
    const NAME: &str = "nbcc-within-limits";

    /// Runs the command line in another process, where address space is limited: the exit code.
    /// `None` where the work is this process's own.
    pub fn attended(args: &[OsString]) -> Option<u8> {
        let limit = rustix::process::getrlimit(Resource::As).current?;
        if args.first().is_some_and(|name| name == NAME) {
            // Whoever ends the process that waits means this one.
            let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
            return None;
        }
        let program = std::env::current_exe().ok()?;
        let mut command = Command::new(program);
        let status = command.arg0(NAME).args(args.iter().skip(1)).status().ok()?;
        let Some(signal) = status.signal() else {
            return Some(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1));
        };
        if signal != Signal::ABORT.as_raw() {
            // As a shell says it.
            return u8::try_from(128 + signal).ok();
        }
        let message =
            format!("memory ended: the limit is {} MB of address space", limit / 1_000_000);
        let error = Diagnostic::error(&codes::NO_MEMORY, message).help(limits::LESS_MEMORY);
        let mut session = Session::new(crate::message_format(args));
        session.fail(error);
        Some(session.end(1))
    }
}
