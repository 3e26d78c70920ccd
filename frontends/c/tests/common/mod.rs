//! Compiling a source as the driver does, with files beside it.

#![allow(dead_code)]

pub mod runs;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use nbcc_base::{Diagnostic, Diagnostics, SourceFile, SourceId};
use nbcc_frontend_c::C;
use nbcc_ir::{Func, Module, parse_module};
use nbcc_pipeline::{Frontend, Includes, NotIncluded, ParseOptions, Program};

/// The root of the repository: tests of other crates use this file, too.
pub fn root() -> &'static Path {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.find(|folder| folder.join("ARCHITECTURE.md").is_file()).expect("the repository")
}

/// Files of a folder, and the shipped headers.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    files: Mutex<Vec<Arc<SourceFile>>>,
}

impl Folder {
    pub fn new(path: &Path) -> Folder {
        Folder { path: path.to_path_buf(), files: Mutex::default() }
    }

    fn push(&self, file: SourceFile) -> (SourceId, Arc<SourceFile>) {
        let mut files = self.files.lock().expect("one thread");
        files.push(Arc::new(file));
        (SourceId(files.len() as u32), files[files.len() - 1].clone())
    }
}

impl Includes for Folder {
    fn open(
        &self,
        _: SourceId,
        name: &str,
        _: bool,
    ) -> Result<(SourceId, Arc<SourceFile>), NotIncluded> {
        let headers = root().join("compiler/driver/include");
        for folder in [&self.path, &headers] {
            if let Ok(text) = std::fs::read_to_string(folder.join(name)) {
                return Ok(self.push(SourceFile::new(name, text)));
            }
        }
        Err(NotIncluded::NotFound)
    }

    fn add(&self, file: SourceFile) -> (SourceId, Arc<SourceFile>) {
        self.push(file)
    }
}

/// The program of a source, and what is said of it.
pub fn parse(
    path: &Path,
    text: &str,
    entry: Option<&str>,
) -> (Option<(Module, Func)>, Vec<Diagnostic>) {
    parse_as(path, text, entry, false)
}

fn parse_as(
    path: &Path,
    text: &str,
    entry: Option<&str>,
    checked: bool,
) -> (Option<(Module, Func)>, Vec<Diagnostic>) {
    let folder = Folder::new(path.parent().unwrap_or(Path::new("")));
    let options =
        ParseOptions { entry, checked, includes: Some(&folder), ..ParseOptions::default() };
    let mut diagnostics = Diagnostics::default();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let file = SourceFile::new(name, text);
    let program = C.parse(SourceId(0), &file, &options, &mut diagnostics);
    let program = match program {
        Ok(Program::Function(module, func)) => Some((module, func)),
        Ok(_) => panic!("a function"),
        Err(_) => None,
    };
    (program, diagnostics.take())
}

/// The program of a source that has no errors.
pub fn compile(path: &Path, text: &str, entry: Option<&str>) -> Result<(Module, Func), String> {
    compile_as(path, text, entry, false)
}

/// The same, `checked` for reads of what nothing was written to.
pub fn compile_as(
    path: &Path,
    text: &str,
    entry: Option<&str>,
    checked: bool,
) -> Result<(Module, Func), String> {
    let file = SourceFile::new("", text);
    let (program, diagnostics) = parse_as(path, text, entry, checked);
    program.ok_or_else(|| {
        let line = |d: &Diagnostic| {
            let at = d.span.map(|span| file.position(span.start));
            format!("{}: {} at {at:?}", d.code.code, d.message)
        };
        diagnostics.iter().map(line).collect::<Vec<_>>().join("\n")
    })
}

/// Reads a text of IR and prints it again.
pub fn read_ir(text: &str) -> String {
    let mut diagnostics = Diagnostics::default();
    match parse_module(SourceId(0), text, &[], &mut diagnostics) {
        Ok(module) => module.to_string(),
        Err(_) => format!("{:?}", diagnostics.take()),
    }
}
