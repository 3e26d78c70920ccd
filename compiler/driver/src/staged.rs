//! Outputs that are written but do not stand under their names yet: a command gives them those when all of
//! them are written ([`crate::files::publish`]), so that one that fails leaves none behind.

use std::fs::Metadata;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use crate::claims::place;

/// Files without a name that are kept open at most; the others have temporary names.
#[cfg(target_os = "linux")]
const MAX_OPEN: usize = 64;

/// A file with all its contents, and where it will be.
#[derive(Debug)]
pub struct Staged {
    target: PathBuf,
    contents: Contents,
}

#[derive(Debug)]
enum Contents {
    /// Under a temporary name in the folder.
    Named(TempPath),
    /// Under none.
    #[cfg(target_os = "linux")]
    Unnamed(std::fs::File),
}

/// Writes a file of parts that follow each other, beside so many that are written already. `None` where it
/// is a device or a pipe, which cannot be replaced and has got them.
pub fn stage(path: &Path, parts: &[&[u8]], already: usize) -> io::Result<Option<Staged>> {
    let known: Option<Metadata> = std::fs::metadata(path).ok();
    if known.as_ref().is_some_and(|m| m.is_dir()) {
        return Err(io::Error::other("it is a folder"));
    }
    if known.is_some_and(|m| !m.is_file()) {
        write_all(&mut std::fs::File::options().write(true).open(path)?, parts)?;
        return Ok(None);
    }
    // Through a link, so that the link stays.
    let target = place(path).unwrap_or_else(|| path.to_path_buf());
    #[cfg(target_os = "linux")]
    if already < MAX_OPEN
        && let Some(mut file) = unnamed::create(&target)
    {
        write_all(&mut file, parts)?;
        return Ok(Some(Staged { target, contents: Contents::Unnamed(file) }));
    }
    #[cfg(not(target_os = "linux"))]
    let _ = already;
    let contents = Contents::Named(write_named(&target, parts)?);
    Ok(Some(Staged { target, contents }))
}

impl Staged {
    /// Gives it its name; a file that has it is replaced.
    pub fn publish(self) -> io::Result<()> {
        let Staged { target, contents } = self;
        match contents {
            Contents::Named(path) => path.persist(&target).map_err(|error| error.error),
            #[cfg(target_os = "linux")]
            Contents::Unnamed(file) => unnamed::publish(file, &target),
        }
    }
}

fn write_all(file: &mut impl Write, parts: &[&[u8]]) -> io::Result<()> {
    parts.iter().try_for_each(|part| file.write_all(part))
}

/// The folder of a path, as the system takes it.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Writes to a temporary name in the folder of what it will be.
fn write_named(target: &Path, parts: &[&[u8]]) -> io::Result<TempPath> {
    let mut file = temporary().tempfile_in(folder_of(target))?;
    write_all(&mut file, parts)?;
    Ok(file.into_temp_path())
}

/// Temporary names, with what the process's mask leaves of the permissions of any new file.
fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".nbcc-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder
}

/// Files that have no name until they are whole (`O_TMPFILE`, Linux): the system takes them back
/// however the process ends.
#[cfg(target_os = "linux")]
mod unnamed {
    use std::fs::File;
    use std::io::{self, Seek};
    use std::os::fd::AsRawFd;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

    /// An empty file; `None` where the file system has no such files.
    pub fn create(target: &Path) -> Option<File> {
        let folder = super::folder_of(target);
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        Some(File::from(open(folder, flags, Mode::from_raw_mode(0o666)).ok()?))
    }

    /// Gives a file its name.
    pub fn publish(mut file: File, target: &Path) -> io::Result<()> {
        let from = format!("/proc/self/fd/{}", file.as_raw_fd());
        let link = |to: &Path| {
            linkat(CWD, &from, CWD, to, AtFlags::SYMLINK_FOLLOW).map_err(io::Error::from)
        };
        let folder = super::folder_of(target);
        // A file that is there is replaced by one of another name.
        let named = match link(target) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                super::temporary().make_in(folder, link).ok()
            }
            Err(_) => None,
        };
        if let Some(named) = named {
            return named.into_temp_path().persist(target).map_err(|error| error.error);
        }
        // The system gives names only to files that had one, as where there is no /proc.
        let mut copy = super::temporary().tempfile_in(folder)?;
        file.rewind()?;
        io::copy(&mut file, &mut copy)?;
        copy.persist(target).map(|_| ()).map_err(|error| error.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_whole_and_links_stay() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let write = |path: &Path, text: &str, already| {
            stage(path, &[text.as_bytes()], already).and_then(|staged| staged.unwrap().publish())
        };
        write(&file, "one", 0).unwrap();
        write(&file, "two", 0).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"two");
        #[cfg(unix)]
        {
            let link = folder.path().join("b");
            std::os::unix::fs::symlink(&file, &link).unwrap();
            write(&link, "three", 0).unwrap();
            assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(std::fs::read(&file).unwrap(), b"three");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
        }
        assert!(write(folder.path(), "x", 0).is_err());
        assert!(write(&folder.path().join("no/such"), "x", 0).is_err());
        write(&file, "four", usize::MAX).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"four");
    }

    #[test]
    fn what_gets_no_name_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        for already in [0, usize::MAX] {
            drop(stage(&file, &[b"one"], already).unwrap());
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}
