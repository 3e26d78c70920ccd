//! Says of each file named on the command line whether it is accepted, one line a file: `ok PATH`,
//! or `no PATH LINE CODE MESSAGE` with the first error. For comparisons with other assemblers.

use nbcc_base::{Diagnostics, Severity, SourceFile, SourceId};
use nbcc_frontend_ptx::{parse, read};

fn main() {
    let mut names_only = false;
    for path in std::env::args().skip(1) {
        if path == "--names-only" {
            names_only = true;
            continue;
        }
        let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        let file = SourceFile::new(&path, String::from_utf8_lossy(&bytes).into_owned());
        let mut diagnostics = Diagnostics::default();
        let start = std::time::Instant::now();
        let accepted = if names_only {
            read(SourceId(0), &file, &mut diagnostics).is_ok()
        } else {
            parse(SourceId(0), &file, &mut diagnostics).is_ok()
        };
        let time = start.elapsed();
        match diagnostics.iter().find(|d| d.severity == Severity::Error) {
            Some(error) => {
                let line = error.span.map_or(0, |s| file.position(s.start).line);
                println!("no {path} {line} {} {}", error.code.code, error.message);
            }
            None => println!("{} {path} {time:?}", if accepted { "ok" } else { "??" }),
        }
    }
}
