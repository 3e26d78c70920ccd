//! The files that a source includes: found beside the including file, in the folders of `-I`, or
//! among the headers that come with a language.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use nbcc_base::{SourceFile, SourceId, SourceMap};
use nbcc_pipeline::{Includes, NotIncluded};

use crate::bounded::words;
use crate::session::{Session, Stop};
use crate::{files, registry};

/// Bytes of an included file at most; frontends take less.
const MAX_FILE: u64 = 64 << 20;

/// The files of one source.
#[derive(Debug)]
pub struct Included<'a> {
    /// The number of the first file that is included.
    first: u32,
    /// The folder of the source.
    folder: PathBuf,
    folders: &'a [PathBuf],
    headers: &'static [(&'static str, &'static str)],
    found: Mutex<Vec<Found>>,
}

/// An included file.
#[derive(Debug)]
struct Found {
    file: Arc<SourceFile>,
    /// Its folder, where it lies in one.
    folder: Option<PathBuf>,
}

impl<'a> Included<'a> {
    /// Nothing is included yet by the source at `path`, the last of `sources`.
    pub fn new(
        sources: &SourceMap,
        path: &Path,
        folders: &'a [PathBuf],
        headers: &'static [(&'static str, &'static str)],
    ) -> Included<'a> {
        let first = sources.files().len() as u32;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Included { first, folder, folders, headers, found: Mutex::default() }
    }

    /// The files that were included, in the order of their numbers.
    pub fn files(self) -> Vec<SourceFile> {
        let found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.into_iter().map(|found| Arc::unwrap_or_clone(found.file)).collect()
    }

    fn push(&self, file: SourceFile, folder: Option<PathBuf>) -> (SourceId, Arc<SourceFile>) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let file = Arc::new(file);
        found.push(Found { file: file.clone(), folder });
        (SourceId(self.first + found.len() as u32 - 1), file)
    }

    /// The folder of a file; none where it comes from nowhere.
    fn folder_of(&self, source: SourceId) -> Option<PathBuf> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        match source.0.checked_sub(self.first) {
            Some(number) => found.get(number as usize)?.folder.clone(),
            None => Some(self.folder.clone()),
        }
    }
}

impl Includes for Included<'_> {
    fn open(
        &self,
        from: SourceId,
        name: &str,
        angled: bool,
    ) -> Result<(SourceId, Arc<SourceFile>), NotIncluded> {
        let beside = self.folder_of(from).filter(|_| !angled);
        for folder in beside.iter().chain(self.folders) {
            let path = folder.join(name);
            if !path.exists() {
                continue;
            }
            let unreadable = |why: String| NotIncluded::Unreadable(why);
            if path.is_dir() {
                return Err(unreadable("it is a folder".into()));
            }
            let bytes = files::read_bounded(&path, MAX_FILE);
            let bytes = bytes.map_err(|error| unreadable(words(&error)))?;
            let text = String::from_utf8(bytes);
            let text = text.map_err(|_| unreadable("it is not UTF-8 text".into()))?;
            let text = text.trim_start_matches('\u{feff}').to_string();
            let file = SourceFile::new(files::display_name(&path), text);
            return Ok(self.push(file, Some(path.parent().unwrap_or(Path::new("")).to_path_buf())));
        }
        match self.headers.iter().find(|(known, _)| *known == name) {
            Some((name, text)) => Ok(self.push(SourceFile::new(format!("<{name}>"), *text), None)),
            None => Err(NotIncluded::NotFound),
        }
    }

    fn add(&self, file: SourceFile) -> (SourceId, Arc<SourceFile>) {
        self.push(file, None)
    }
}

/// A folder that holds the headers of all languages, for other compilers: written into the user's
/// cache unless they are there already.
pub fn headers_folder(session: &mut Session) -> Result<PathBuf, Stop> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let cache = set("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(set("HOME")?).join(".cache")));
    let cache = cache.unwrap_or_else(std::env::temp_dir);
    let folder = cache.join("nbcc").join(env!("CARGO_PKG_VERSION")).join("include");
    for (name, text) in registry::get().languages.iter().flat_map(|language| language.headers) {
        let path = folder.join(name);
        if std::fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            continue;
        }
        if let Some(parent) = path.parent()
            && let Err(error) = std::fs::create_dir_all(parent)
        {
            return Err(session.cannot_write(&parent.display().to_string(), &words(&error)));
        }
        files::write(session, &path, text.as_bytes())?;
    }
    Ok(folder)
}
