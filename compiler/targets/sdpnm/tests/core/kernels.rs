//! Every kernel of tests/c on the core prints what gcc makes it print.

use std::path::Path;

use nbcc_pipeline::OptLevel;

use crate::common::{self, runs};
use crate::machine::{LEVELS, compile, run};

fn check(path: &Path, level: OptLevel) -> Result<(), String> {
    let text = std::fs::read_to_string(path).expect("a source");
    let mut out = String::new();
    for (number, function, args) in runs::runs(&text) {
        let (module, func) = common::compile(path, &text, Some(function))?;
        let interface = module.functions[func].interface.as_ref().expect("an interface");
        let (scalars, arrays) = runs::given(interface, number, args);
        let program = compile(&module, func, level)?;
        let ran = run(&program, &scalars, &arrays).map_err(|fault| format!("{fault:?}"))?;
        let returned = ran.returned;
        out.push_str(&runs::print(interface, number, returned.result, &arrays, &returned.arrays));
    }
    let expected = std::fs::read_to_string(path.with_extension("out")).expect("what gcc makes");
    match out == expected {
        true => Ok(()),
        false => Err(format!("is\n{out}\nand with gcc\n{expected}")),
    }
}

#[test]
fn kernels_do_what_gcc_makes_them_do() {
    let paths = nbcc_testing::files(&common::root().join("tests/c"), "c");
    assert!(paths.len() >= 60, "{} kernels", paths.len());
    let only = std::env::var("NBCC_CASE").ok();
    let mut wrong = Vec::new();
    for path in &paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        for level in LEVELS {
            let result = std::panic::catch_unwind(|| check(path, level));
            let result = result.unwrap_or_else(|panic| {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or(panic.downcast_ref::<&str>().map(ToString::to_string));
                Err(text.unwrap_or_default())
            });
            if let Err(what) = result {
                wrong.push(format!("{name} at {level:?}: {what}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}
