//! Kernels compared with gcc: each `// run:` of tests/c/NAME.c on the interpreter prints what
//! tests/c/NAME.out holds, which tests/c/reference.py made with gcc.

mod common;

use std::path::Path;

use nbcc_interp::function::{Given, Options, call};
use nbcc_ir::{Func, Module, verify_module};

use common::runs;

/// What a run prints: the function as it is, or specialised to its scalars.
fn run(module: &mut Module, func: Func, number: u64, text: &str, specialised: bool) -> String {
    if specialised {
        let interface = module.functions[func].interface.as_ref().expect("an interface");
        let (scalars, _) = runs::given(interface, number, text);
        let bits: Vec<Option<u64>> = scalars.into_iter().map(Some).collect();
        nbcc_ir::specialise(&mut module.functions[func], &bits);
        let wrong = verify_module(module);
        assert!(wrong.is_empty(), "specialised: {wrong:?}\n{module}");
    }
    let interface = module.functions[func].interface.as_ref().expect("an interface");
    let (scalars, arrays) = runs::given(interface, number, text);
    let given: Vec<Given<'_>> = arrays
        .iter()
        .map(|array| Given {
            extents: array.extents.iter().rev().copied().collect(),
            bytes: &array.bytes,
        })
        .collect();
    let called = call(module, func, &scalars, &given, &Options::default());
    let called = called.unwrap_or_else(|trap| panic!("{trap}, at {:?}", trap.span));
    runs::print(interface, number, called.result, &arrays, &called.arrays)
}

/// The text form says everything.
fn reads_back(module: &Module) -> Result<(), String> {
    let printed = module.to_string();
    let again = common::read_ir(&printed);
    match again == printed {
        true => Ok(()),
        false => Err(format!("the IR reads back as\n{again}\ninstead of\n{printed}")),
    }
}

fn check(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).expect("a source");
    let mut out = String::new();
    for (number, function, args) in runs::runs(&text) {
        let (mut module, func) = common::compile(path, &text, Some(function))?;
        let wrong = verify_module(&module);
        if !wrong.is_empty() {
            return Err(format!("{wrong:?}\n{module}"));
        }
        reads_back(&module)?;
        let general = run(&mut module, func, number, args, false);
        if run(&mut module, func, number, args, true) != general {
            return Err(format!("run {number} differs where scalars are constants"));
        }
        reads_back(&module)?;
        let (mut checked, func) = common::compile_as(path, &text, Some(function), true)?;
        if run(&mut checked, func, number, args, false) != general {
            return Err(format!("run {number} differs where reads are checked"));
        }
        out.push_str(&general);
    }
    let expected = path.with_extension("out");
    let expected =
        std::fs::read_to_string(&expected).map_err(|e| format!("{e}: run reference.py"))?;
    match out == expected {
        true => Ok(()),
        false => Err(format!("is\n{out}\nand with gcc\n{expected}")),
    }
}

#[test]
fn kernels_do_what_gcc_makes_them_do() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/c");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the kernels")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    paths.sort();
    let only = std::env::var("NBCC_CASE").ok();
    let mut wrong = Vec::new();
    for path in &paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let result = std::panic::catch_unwind(|| check(path));
        let result = result.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            Err(text.or(panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default())
        });
        if let Err(what) = result {
            wrong.push(format!("{name}: {what}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), paths.len(), wrong.join("\n"));
}

/// Whatever their constants are.
#[test]
fn hosts_give_enumerations_as_int32() {
    let path = common::root().join("tests/c/enum_arrays.c");
    let text = std::fs::read_to_string(&path).expect("a source");
    let (module, func) = common::compile(&path, &text, Some("enum_arrays")).expect("it compiles");
    let interface = module.functions[func].interface.as_ref().expect("an interface");
    for param in &interface.params[1..] {
        assert_eq!(param.ty, nbcc_ir::NumType::Int(nbcc_ir::IntType::S32), "{}", param.name);
    }
}
