//! Which files a command reads and which it writes, so that no output destroys an input or another
//! output. Files are told apart by what they are, not by how their names are spelled.

use std::path::{Path, PathBuf};

use crate::streams::{is_stdout, is_stream};

/// A file, or the place where one will be.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Identity {
    /// A file that is there: its device and its number there.
    #[cfg(unix)]
    Number(u64, u64),
    /// Where it will be, or is: folder and name, without links.
    Place(PathBuf),
    /// Standard output.
    Output,
}

/// What a command does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It is read.
    Read,
    /// It is written.
    Write,
}

/// The files of a command so far.
#[derive(Debug, Default)]
pub struct Claims {
    list: Vec<(Identity, PathBuf, Use)>,
}

impl Claims {
    /// Notes what is done with a file. `Err` with what is wrong where it would be written and is
    /// something else as well. Devices and pipes are anybody's, standard output is one output's.
    pub fn claim(&mut self, path: &Path, what: Use) -> Result<(), String> {
        let identity = match what {
            Use::Write if is_stdout(path) => Some(Identity::Output),
            _ => identity(path).filter(|_| !is_stream(path)),
        };
        let Some(identity) = identity else { return Ok(()) };
        let known = self.list.iter().filter(|(other, ..)| *other == identity);
        let mut clashes = known.filter(|(.., other)| (what, *other) != (Use::Read, Use::Read));
        if let Some((_, other, used)) = clashes.next() {
            let (this, other) = (path.display(), other.display());
            let same = format!("`{this}` and `{other}` are one file");
            return Err(match (what, used) {
                (Use::Write, Use::Write) if this.to_string() == other.to_string() => {
                    format!("`{this}` would be written twice")
                }
                (Use::Write, Use::Write) => format!("{same}, which would be written twice"),
                _ if this.to_string() == other.to_string() => {
                    format!("`{this}` is read, and would be overwritten")
                }
                _ => format!("{same}, which is read and would be overwritten"),
            });
        }
        self.list.push((identity, path.to_path_buf(), what));
        Ok(())
    }

    /// Whether a file is known to be written.
    pub fn is_written(&self, path: &Path) -> bool {
        self.list.iter().any(|(_, known, what)| known == path && *what == Use::Write)
    }
}

/// What a path leads to; `None` for folders, devices, pipes and what cannot be.
fn identity(path: &Path) -> Option<Identity> {
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => None,
        #[cfg(unix)]
        Ok(found) => {
            use std::os::unix::fs::MetadataExt;
            Some(Identity::Number(found.dev(), found.ino()))
        }
        _ => place(path).map(Identity::Place),
    }
}

/// Where a file is or would be made, links followed.
pub fn place(path: &Path) -> Option<PathBuf> {
    /// Links that are followed, as Linux does.
    const MAX_LINKS: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        match std::fs::read_link(&path) {
            Ok(target) => path = folder.join(target),
            Err(_) => return Some(folder.canonicalize().ok()?.join(path.file_name()?)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, "a").unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let mut claims = Claims::default();
        claims.claim(&file, Use::Read).unwrap();
        claims.claim(&inner.join("../a"), Use::Read).unwrap();
        assert!(claims.claim(&inner.join("../a"), Use::Write).is_err());
        claims.claim(&folder.path().join("b"), Use::Write).unwrap();
        assert!(claims.claim(&inner.join("../b"), Use::Write).is_err());
        assert!(claims.claim(&inner.join("../b"), Use::Read).is_err());
        assert!(claims.is_written(&folder.path().join("b")));
        claims.claim(Path::new("-"), Use::Read).unwrap();
        claims.claim(Path::new("-"), Use::Write).unwrap();
        assert!(claims.claim(Path::new("/dev/stdout"), Use::Write).is_err());
        #[cfg(unix)]
        {
            let link = folder.path().join("link");
            std::os::unix::fs::symlink("b", &link).unwrap();
            assert!(claims.claim(&link, Use::Write).is_err());
            let hard = folder.path().join("hard");
            std::fs::hard_link(&file, &hard).unwrap();
            assert!(claims.claim(&hard, Use::Write).is_err());
            claims.claim(Path::new("/dev/null"), Use::Write).unwrap();
            claims.claim(Path::new("/dev/null"), Use::Write).unwrap();
        }
    }
}
