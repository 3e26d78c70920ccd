//! The frontend of C: kernels as DSP and machine-learning programmers write them, without a runtime.
//!
//! A file goes through the preprocessor ([`preprocess`]) and the grammar ([`syntax`]) to a syntax
//! tree, is checked ([`sema`]) into a typed tree, and lowered to one sequential function of the shared
//! IR ([`lower`]), everything that it calls inlined. docs/language-c.md says what the language is.

mod codes;
mod literal;
mod lower;
mod names;
mod preprocess;
mod sema;
mod syntax;
mod types;

use std::collections::HashSet;

use nbcc_base::{
    CodeInfo, Diagnostic, Diagnostics, Failed, Severity, SourceFile, SourceId, nearest,
};
use nbcc_ir::{Func, Module};
use nbcc_pipeline::{Frontend, ParseOptions, Program, ProgramKind};

use self::names::{Names, Refused};
use self::preprocess::{Preprocessed, Use};

/// Bytes of stack: expressions may be thousands of levels deep. What is not used costs nothing.
const STACK: usize = 1 << 28;

/// Kernels in C.
#[derive(Debug)]
pub struct C;

impl Frontend for C {
    fn name(&self) -> &'static str {
        "c"
    }

    fn about(&self) -> &'static str {
        "kernels in C11, on integers and arrays"
    }

    fn extension(&self) -> &'static str {
        "c"
    }

    fn kind(&self) -> ProgramKind {
        ProgramKind::Function
    }

    fn codes(&self) -> Vec<&'static CodeInfo> {
        codes::ALL.to_vec()
    }

    fn parse(
        &self,
        id: SourceId,
        file: &SourceFile,
        options: &ParseOptions<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Program, Failed> {
        let read = || {
            let mut found = Diagnostics::default();
            let program = parse(id, file, options, &mut found);
            (program, found)
        };
        let (program, mut found) = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, read);
            match thread {
                Ok(thread) => {
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                }
                Err(_) => {
                    let mut found = Diagnostics::default();
                    let message = format!("there is no memory for a stack of {STACK} bytes");
                    let error =
                        Diagnostic::error(&codes::LIMIT, message).in_file(file.name.clone());
                    (found.fail(error.help("allow more memory (`ulimit -v`)")), found)
                }
            }
        });
        for diagnostic in found.take() {
            diagnostics.push(diagnostic);
        }
        let (module, func) = program?;
        Ok(Program::Function(module, func))
    }
}

fn parse(
    id: SourceId,
    file: &SourceFile,
    options: &ParseOptions<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<(Module, Func), Failed> {
    let mut names = Names::default();
    // The number 0 is the name of what has none.
    names.intern("");
    let mut found = Diagnostics::default();
    let mut refused = Refused::default();
    let (preprocessed, complete) =
        preprocess::preprocess(id, file, options, &mut names, &mut refused, &mut found);
    let result = complete.and_then(|()| {
        translate(id, file, options, &preprocessed, &mut names, &mut refused, &mut found)
    });
    let mut found = found.take();
    found.sort_by_cached_key(|diagnostic| place(diagnostic, id, &preprocessed));
    // What a macro does twice is one mistake, and so is what it does wherever it is used.
    found.dedup_by(|a, b| a.span == b.span && a.code.code == b.code.code && a.message == b.message);
    let mut said = HashSet::new();
    found.retain(|diagnostic| {
        let used = diagnostic.span.and_then(|span| preprocessed.uses.get(&span));
        let in_text = diagnostic.code.code < codes::UNKNOWN.code;
        used.is_none_or(|used| {
            !in_text || said.insert((used.name, diagnostic.code.code, diagnostic.message.clone()))
        })
    });
    for diagnostic in found {
        diagnostics.push(explained(diagnostic, id, &preprocessed, &names));
    }
    result
}

/// Where the text of a diagnostic is read: in the file, where another one is included, and in that.
fn place(diagnostic: &Diagnostic, id: SourceId, preprocessed: &Preprocessed) -> Vec<u32> {
    let Some(mut span) = diagnostic.span else { return vec![u32::MAX] };
    let mut places = vec![span.start];
    while let Some(&at) = preprocessed.included.get(&span.source).filter(|_| span.source != id) {
        places.push(at.start);
        span = at;
    }
    places.reverse();
    places
}

fn translate(
    id: SourceId,
    file: &SourceFile,
    options: &ParseOptions<'_>,
    preprocessed: &Preprocessed,
    names: &mut Names,
    refused: &mut Refused,
    diagnostics: &mut Diagnostics,
) -> Result<(Module, Func), Failed> {
    let items =
        syntax::parse(&preprocessed.tokens, &preprocessed.uses, names, refused, diagnostics)?;
    let (program, mut types) = sema::check(items, names, refused, diagnostics);
    diagnostics.check()?;
    let entry = entry(id, file, options, &program, names, diagnostics)?;
    for said in &program.functions[entry].beyond {
        diagnostics.push(said.clone());
    }
    diagnostics.check()?;
    lower::lower(&program, entry, options.checked, &mut types, names, diagnostics)
}

/// Says of a diagnostic in a macro where that is defined, and of one in an included file where that
/// is included.
fn explained(
    mut diagnostic: Diagnostic,
    id: SourceId,
    preprocessed: &Preprocessed,
    names: &Names,
) -> Diagnostic {
    let Some(span) = diagnostic.span else { return diagnostic };
    if let Some(&Use { name, definition: Some(definition), extra }) = preprocessed.uses.get(&span) {
        let name = names.text(name);
        diagnostic = diagnostic.and(definition, format!("macro `{name}` is defined here"));
        if extra == Some(preprocess::BLANK) {
            let help = format!(
                "its parameters begin right behind its name: remove the blank in `#define {name} (`"
            );
            diagnostic = diagnostic.help(help);
        }
    }
    let mut source = span.source;
    while let Some(&at) = preprocessed.included.get(&source).filter(|_| source != id) {
        diagnostic = diagnostic.and(at, "included here");
        source = at.source;
    }
    diagnostic
}

/// The function that is called.
fn entry(
    id: SourceId,
    file: &SourceFile,
    options: &ParseOptions<'_>,
    program: &sema::tree::Program,
    names: &Names,
    diagnostics: &mut Diagnostics,
) -> Result<usize, Failed> {
    let name = |number: usize| names.text(program.functions[number].name);
    let in_file = |number: &usize| program.functions[*number].span.source == id;
    let defined: Vec<usize> =
        (0..program.functions.len()).filter(|&n| program.functions[n].body.is_some()).collect();
    let own: Vec<usize> = defined.iter().copied().filter(in_file).collect();
    let list = |all: &[usize]| {
        let all: Vec<String> = all.iter().map(|&n| format!("`{}`", name(n))).collect();
        all.join(", ")
    };
    if let Some(wanted) = options.entry {
        if let Some(found) = defined.iter().copied().find(|&number| name(number) == wanted) {
            return Ok(found);
        }
        let message = format!("there is no function `{wanted}`");
        let help = match nearest(wanted, own.iter().map(|&number| name(number))) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are: {}", list(&own)),
        };
        let error = Diagnostic::error(&codes::ENTRY, message).in_file(file.name.clone());
        return diagnostics.fail(error.help(help));
    }
    let visible: Vec<usize> =
        own.iter().copied().filter(|&number| !program.functions[number].is_static).collect();
    let stem = file.name.rsplit('/').next().unwrap_or_default();
    let stem = stem.strip_suffix(".c").unwrap_or(stem);
    let found = match visible[..] {
        [only] => Some(only),
        _ => visible.iter().copied().find(|&number| name(number) == stem),
    };
    found.ok_or(()).or_else(|()| {
        let (message, help) = match visible[..] {
            [] => (
                "the file has no function to call".to_string(),
                match own[..] {
                    [] => "write a function with a body".to_string(),
                    _ => {
                        format!("name one with --entry, or leave out its `static`: {}", list(&own))
                    }
                },
            ),
            _ => (
                "the file has several functions to call".to_string(),
                format!("name one with --entry: {}", list(&visible)),
            ),
        };
        debug_assert!(diagnostics.iter().all(|d| d.severity != Severity::Error));
        let error = Diagnostic::error(&codes::ENTRY, message).in_file(file.name.clone());
        diagnostics.fail(error.help(help))
    })
}
