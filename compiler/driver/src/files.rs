//! Reading and writing files: bounded, and never half-written, nor some of a command's outputs without the
//! others.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use nbcc_base::{Diagnostic, SourceFile, SourceId, nearest};

use crate::bounded::{read_to_limit, words};
use crate::claims::Use;
use crate::session::{Session, Stop};
use crate::staged::stage;
use crate::streams::{is_standard, is_stderr, is_stdout};
use crate::{codes, console};

/// The largest source, machine or trace file, in bytes.
pub const MAX_TEXT: u64 = 256 << 20;

/// The largest data file or binary, in bytes.
pub const MAX_DATA: u64 = 1 << 30;

/// The name of a file without folder and extension, which other files are named after.
pub fn stem(path: &Path) -> OsString {
    if is_standard(path) {
        return "stdin".into();
    }
    path.file_stem().unwrap_or(path.as_os_str()).to_os_string()
}

/// The name of a file that is named after another, without its folder.
pub fn named_after(path: &Path, extension: &str) -> PathBuf {
    let mut name = stem(path);
    name.push(".");
    name.push(extension);
    name.into()
}

/// What messages and line tables call a file.
pub fn display_name(path: &Path) -> String {
    if is_standard(path) { "<stdin>".into() } else { path.display().to_string() }
}

/// The whole contents of a file of up to `limit` bytes; `-` is standard input.
pub fn read(session: &mut Session, path: &Path, limit: u64) -> Result<Vec<u8>, Stop> {
    let bytes = match is_standard(path) {
        true => session.standard_input(limit),
        false => {
            if let Err(what) = session.claims.claim(path, Use::Read) {
                return Err(same_file(session, what));
            }
            read_bounded(path, limit)
        }
    };
    bytes.map_err(|error| {
        let name = display_name(path);
        let mut diagnostic = Diagnostic::error(
            &codes::CANNOT_READ,
            format!("cannot read `{name}`: {}", words(&error)),
        )
        .in_file(name);
        diagnostic = diagnostic.help(match error.kind() {
            _ if path.is_dir() => "name a file in this folder".to_string(),
            io::ErrorKind::NotFound => match similar(path) {
                Some(near) => format!("did you mean `{}`?", near.display()),
                None => NO_SUCH_FILE.to_string(),
            },
            io::ErrorKind::PermissionDenied => "allow reading it, or name another file".to_string(),
            _ => "name a file that can be read as a whole".to_string(),
        });
        session.fail(diagnostic)
    })
}

/// What to do about a file that is not there, where none is called nearly so.
const NO_SUCH_FILE: &str = "check the name: paths on the command line are relative to the current folder, \
                            those in a launch file to that file";

/// Entries of a folder that are looked at for a similar name.
const MOST_SIMILAR: usize = 10_000;

/// A file of the same folder whose name is nearly that of one that is not there.
pub fn similar(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let files = entries.take(MOST_SIMILAR).flatten().filter(|entry| entry.path().is_file());
    let mut names: Vec<String> =
        files.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    // Which of several it is does not depend on the file system.
    names.sort();
    let name = path.file_name()?.to_string_lossy().into_owned();
    // An extension that is the same makes no names similar.
    let stem_of = |name: &str| stem(Path::new(name)).to_string_lossy().into_owned();
    let own = stem_of(&name);
    let is_near = |other: &&str| {
        let other = stem_of(other);
        other == own || nearest(&own, [other.as_str()]).is_some()
    };
    let near = nearest(&name, names.iter().map(String::as_str).filter(is_near))?;
    Some(path.with_file_name(near))
}

/// One file that would be used as two.
fn same_file(session: &mut Session, what: String) -> Stop {
    session.usage(Diagnostic::error(&codes::SAME_FILE, what).help("give the output another name"))
}

/// As [`read`], without a diagnostic.
pub fn read_bounded(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let found = file.metadata()?;
    if found.is_dir() {
        return Err(io::Error::other("it is a folder"));
    }
    if is_device(&found) && !file.is_terminal() {
        return Err(io::Error::other("it is a device"));
    }
    // Of a pipe nothing is known before it ends.
    let known = if found.is_file() { found.len() } else { 0 };
    read_to_limit(file, known, limit)
}

/// The first bytes of a file, to see what it is; none where it cannot be looked at twice.
pub fn head(session: &mut Session, path: &Path) -> Vec<u8> {
    const BYTES: u64 = 4096;
    if is_standard(path) {
        let mut bytes = session.standard_input(MAX_DATA).unwrap_or_default();
        bytes.truncate(BYTES as usize);
        return bytes;
    }
    let mut bytes = Vec::new();
    if std::fs::metadata(path).is_ok_and(|m| m.is_file())
        && let Ok(file) = File::open(path)
    {
        // What cannot be read is reported where all of it is read.
        let _ = file.take(BYTES).read_to_end(&mut bytes);
    }
    bytes
}

/// Whether it is what never ends, or is not for reading: not a file, a folder or a pipe.
fn is_device(found: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let ty = found.file_type();
        ty.is_char_device() || ty.is_block_device()
    }
    #[cfg(not(unix))]
    {
        let _ = found;
        false
    }
}

/// Reads a text file into the session's sources.
pub fn read_source(session: &mut Session, path: &Path) -> Result<SourceId, Stop> {
    let text = read_text(session, path)?;
    Ok(session.sources.add(SourceFile::new(display_name(path), text)))
}

/// Reads a text file, without the byte order mark that some editors write in front.
pub fn read_text(session: &mut Session, path: &Path) -> Result<String, Stop> {
    let mut bytes = read(session, path, MAX_TEXT)?;
    if bytes.starts_with("\u{feff}".as_bytes()) {
        bytes.drain(..'\u{feff}'.len_utf8());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count() + 1;
        let name = display_name(path);
        let message = format!("`{name}` is not a text file: byte {at} (line {line}) is not UTF-8");
        let help = "save it as UTF-8; a binary made by nbcc is called FILE.nbx";
        let error = Diagnostic::error(&codes::NOT_TEXT, message).in_file(name);
        session.fail(error.help(help))
    })
}

/// Refuses a place for an output before work is done in vain, and other outputs are written: in a
/// folder that does not exist, under a name that no file can have, or where something lies that the
/// command reads or writes besides.
pub fn check_output(session: &mut Session, path: &Path) -> Result<(), Stop> {
    if is_stdout(path) {
        // Nothing else may stand between the data that is written there.
        console::keep_for_data();
    }
    check_folder(session, path)?;
    let name = path.display().to_string();
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(session.cannot_write(&name, "it is a folder")),
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(session.cannot_write(&name, &words(&error)));
        }
        Ok(_) | Err(_) => {}
    }
    session.claims.claim(path, Use::Write).map_err(|what| same_file(session, what))
}

/// Refuses a place in a folder that does not exist.
pub fn check_folder(session: &mut Session, path: &Path) -> Result<(), Stop> {
    let folder = path.parent().unwrap_or(path);
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    Err(session.cannot_write(&path.display().to_string(), "there is no such folder"))
}

/// Writes a file as a whole, which gets its name with the other outputs of the command ([`publish`]). `-` is
/// stdout.
pub fn write(session: &mut Session, path: &Path, bytes: &[u8]) -> Result<(), Stop> {
    write_parts(session, path, &[bytes])
}

/// As [`write()`], of parts that follow each other.
pub fn write_parts(session: &mut Session, path: &Path, parts: &[&[u8]]) -> Result<(), Stop> {
    let each = |write: &mut dyn FnMut(&[u8]) -> io::Result<()>| {
        parts.iter().try_for_each(|part| write(part))
    };
    if is_stdout(path) {
        let written = each(&mut console::write_bytes);
        return written.map_err(|error| unwritten(session, "standard output", &error));
    }
    if is_stderr(path) {
        let written = each(&mut |part| io::stderr().lock().write_all(part));
        return written.map_err(|error| unwritten(session, "standard error", &error));
    }
    // A name that was not known before the run.
    if !session.claims.is_written(path) {
        check_output(session, path)?;
    }
    match stage(path, parts, session.staged.len()) {
        Ok(staged) => session.staged.extend(staged.map(|staged| (path.to_path_buf(), staged))),
        Err(error) => return Err(unwritten(session, &path.display().to_string(), &error)),
    }
    Ok(())
}

/// Gives all that was written its names: from here on it is there, whatever becomes of the command.
pub fn publish(session: &mut Session) -> Result<(), Stop> {
    for (path, staged) in std::mem::take(&mut session.staged) {
        let published = staged.publish();
        published.map_err(|error| unwritten(session, &path.display().to_string(), &error))?;
    }
    Ok(())
}

fn unwritten(session: &mut Session, name: &str, error: &io::Error) -> Stop {
    let what = match error.kind() {
        io::ErrorKind::NotFound => "there is no such folder".into(),
        _ => words(error),
    };
    session.cannot_write(name, &what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_stops_at_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, [0; 11]).unwrap();
        assert_eq!(read_bounded(&file, 11).unwrap().len(), 11);
        assert!(read_bounded(&file, 10).is_err());
        assert!(read_bounded(folder.path(), 10).is_err());
    }
}
