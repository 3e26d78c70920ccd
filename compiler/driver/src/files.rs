//! Reading and writing files: bounded, and never half-written.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use nbcc_base::{Diagnostic, SourceFile, SourceId};

use crate::session::{Session, Stop};
use crate::{codes, console};

/// The largest source, machine or trace file, in bytes.
pub const MAX_TEXT: u64 = 256 << 20;

/// The largest data file or binary, in bytes.
pub const MAX_DATA: u64 = 1 << 30;

/// Whether a path is the word for standard input, or output.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

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
        false => read_bounded(path, limit),
    };
    bytes.map_err(|error| {
        let name = display_name(path);
        let mut diagnostic = Diagnostic::error(
            &codes::CANNOT_READ,
            format!("cannot read `{name}`: {}", words(&error)),
        )
        .in_file(name);
        diagnostic = diagnostic.help(match error.kind() {
            _ if path.is_dir() => "name a file in this folder",
            io::ErrorKind::NotFound => {
                "check the name: paths on the command line are relative to the current folder, \
                 those in a launch file to that file"
            }
            io::ErrorKind::PermissionDenied => "allow reading it, or name another file",
            _ => "name a file that can be read as a whole",
        });
        session.fail(diagnostic)
    })
}

fn read_bounded(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    if file.metadata().is_ok_and(|m| m.is_dir()) {
        return Err(io::Error::other("it is a folder"));
    }
    read_to_limit(file, limit)
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

/// Everything that there is to read, up to `limit` bytes.
pub fn read_to_limit(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::other(format!("it is larger than {} MiB", limit >> 20)));
    }
    Ok(bytes)
}

/// What went wrong, without the number of the operating system's error.
pub fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        _ => error.to_string(),
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

/// Refuses a place in a folder that does not exist, before work is done in vain.
pub fn check_folder(session: &mut Session, path: &Path) -> Result<(), Stop> {
    let folder = path.parent().unwrap_or(path);
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    Err(cannot_write(session, &path.display().to_string(), "there is no such folder"))
}

/// Reports that something of that name cannot be written.
pub fn cannot_write(session: &mut Session, name: &str, what: &str) -> Stop {
    let message = format!("cannot write `{name}`: {what}");
    let help = "name a file in a folder that is there and may be written to, or `-` for stdout";
    let error = Diagnostic::error(&codes::CANNOT_WRITE, message).in_file(name.to_string());
    session.fail(error.help(help))
}

/// Writes a file as a whole: to a temporary name beside it, which is then renamed. `-` is stdout.
pub fn write(session: &mut Session, path: &Path, bytes: &[u8]) -> Result<(), Stop> {
    let written =
        if is_standard(path) { console::write_bytes(bytes) } else { write_renamed(path, bytes) };
    written.map_err(|error| {
        let what = match error.kind() {
            io::ErrorKind::NotFound => "there is no such folder".into(),
            _ => words(&error),
        };
        let name =
            if is_standard(path) { "standard output".into() } else { path.display().to_string() };
        cannot_write(session, &name, &what)
    })
}

fn write_renamed(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let known: Option<Metadata> = std::fs::metadata(path).ok();
    if known.as_ref().is_some_and(|m| m.is_dir()) {
        return Err(io::Error::other("it is a folder"));
    }
    if known.is_some_and(|m| !m.is_file()) {
        // A device or a pipe cannot be replaced.
        return File::options().write(true).open(path)?.write_all(bytes);
    }
    // Through a link, so that the link stays.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".nbcc-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What the process's mask leaves of it, as for any new file.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_whole_and_links_stay() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        write_renamed(&file, b"one").unwrap();
        write_renamed(&file, b"two").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"two");
        #[cfg(unix)]
        {
            let link = folder.path().join("b");
            std::os::unix::fs::symlink(&file, &link).unwrap();
            write_renamed(&link, b"three").unwrap();
            assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(std::fs::read(&file).unwrap(), b"three");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
        }
        assert!(write_renamed(folder.path(), b"x").is_err());
        assert!(write_renamed(&folder.path().join("no/such"), b"x").is_err());
    }

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
