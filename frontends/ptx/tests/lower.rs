//! What PTX becomes in the IR: files of `tests/lower` with the IR beside them (`NBCC_BLESS=1`
//! writes it), every file of the CUDA corpus, and texts that ask for much.

use std::path::{Path, PathBuf};

use nbcc_base::{Diagnostics, SourceFile, SourceId};
use nbcc_frontend_ptx::parse;
use nbcc_ir::{Module, PrintOptions, print_module, verify_module};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut list: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "ptx"))
        .collect();
    list.sort();
    list
}

fn lower(name: &str, text: String) -> Result<Module, Vec<String>> {
    let file = SourceFile::new(name, text);
    let mut diagnostics = Diagnostics::default();
    let result = parse(SourceId(0), &file, &mut diagnostics);
    let list = diagnostics.iter().map(|d| {
        let line = d.span.map_or(0, |s| file.position(s.start).line);
        format!("{name}:{line}: {} {}", d.code.code, d.message)
    });
    let list: Vec<String> = list.collect();
    match result {
        Ok(module) => {
            let errors = verify_module(&module);
            assert!(errors.is_empty(), "{name}: {}", errors[0]);
            Ok(module)
        }
        Err(_) => {
            assert!(!list.is_empty(), "{name}: refused without a reason");
            Err(list)
        }
    }
}

#[test]
fn files_become_the_ir_beside_them() {
    for path in files("tests/lower") {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let name = path.display().to_string();
        let module = lower(&name, text).unwrap_or_else(|errors| panic!("{}", errors.join("\n")));
        let printed = print_module(&module, &PrintOptions::default());
        let beside = path.with_extension("nbir");
        if std::env::var_os("NBCC_BLESS").is_some() {
            std::fs::write(&beside, &printed).expect("it can be written");
        }
        let wanted = std::fs::read_to_string(&beside).unwrap_or_default();
        assert_eq!(printed, wanted, "{name}; NBCC_BLESS=1 writes the new text");
    }
}

#[test]
fn the_cuda_corpus_is_accepted() {
    let list = files("../../tests/cuda");
    assert!(list.len() > 100, "the corpus is not there");
    let mut refused = Vec::new();
    for path in list {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if let Err(errors) = lower(&name, text) {
            refused.extend(errors);
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// A kernel with that body, 10^5 of everything allowed.
fn kernel(body: &str) -> String {
    format!(
        "{HEADER}.entry k(.param .u64 p) {{\n.reg .pred %p<9>;\n.reg .b32 %r<200009>;\n\
         .reg .b64 %rd<9>;\nld.param.u64 %rd1, [p];\n{body}ret;\n}}\n"
    )
}

const MANY: u32 = 100_000;

#[test]
fn many_registers_and_blocks_are_lowered_in_linear_time() {
    // Registers that are all defined in one block and used in another.
    let mut body = String::new();
    for n in 0..MANY {
        body += &format!("mov.b32 %r{n}, {n};\n");
    }
    body += "bra next;\nnext:\n";
    for n in 0..MANY {
        body += &format!("st.global.u32 [%rd1], %r{n};\n");
    }
    assert!(lower("registers", kernel(&body)).is_ok());
    // A chain of branches around single instructions, all of one register.
    let mut body = String::new();
    for n in 0..MANY {
        body += &format!("@%p1 bra L{n};\nadd.u32 %r1, %r1, %r2;\nL{n}:\n");
    }
    assert!(lower("chain", kernel(&(body + "st.global.u32 [%rd1], %r1;\n"))).is_ok());
    // Branches that all leave to one place.
    let mut body = String::new();
    for n in 0..MANY {
        body += &format!("add.u32 %r{n}, %r1, 1;\n@%p1 bra out;\n");
    }
    assert!(lower("exits", kernel(&(body + "out:\nst.global.u32 [%rd1], %r7;\n"))).is_ok());
    // Loops in loops.
    let mut body = String::new();
    for n in 0..20_000 {
        body += &format!("L{n}:\n");
        body += "add.u32 %r1, %r1, 1;\n";
    }
    for n in (0..20_000).rev() {
        body += &format!("@%p1 bra L{n};\n");
    }
    assert!(lower("nest", kernel(&(body + "st.global.u32 [%rd1], %r1;\n"))).is_ok());
}

#[test]
fn many_labels_and_targets_are_lowered_in_linear_time() {
    let mut body = String::new();
    for n in 0..MANY {
        body += &format!(".loc 1 {n} 1\nM{n}:\n");
    }
    assert!(lower("labels", kernel(&body)).is_ok());
    let list: Vec<String> = (0..MANY).map(|n| format!("T{n}")).collect();
    let mut body = format!("t: .branchtargets {};\nbrx.idx %r1, t;\n", list.join(", "));
    for name in list {
        body += &format!("{name}:\nadd.u32 %r2, %r2, 1;\n");
    }
    body += "st.global.u32 [%rd1], %r2;\n";
    assert!(lower("targets", kernel(&body)).is_ok());
}

#[test]
fn functions_that_are_too_large_are_refused() {
    // Every register needs a parameter in every header of the nest.
    let mut body = String::new();
    for n in 0..6_000 {
        body += &format!("L{n}:\nadd.u32 %r1, %r1, 1;\n");
    }
    for n in 0..6_000 {
        body += &format!("add.u32 %r{n}, %r{n}, 1;\n");
    }
    for n in (0..6_000).rev() {
        body += &format!("@%p1 bra L{n};\n");
    }
    let errors = lower("large", kernel(&body)).expect_err("it is refused");
    assert!(errors[0].contains("E2099"), "{errors:?}");
}

#[test]
fn chains_of_calls_do_not_exhaust_the_stack() {
    let mut text = format!("{HEADER}.func f0() {{ ret; }}\n");
    for n in 1..20_000 {
        text += &format!(".func f{n}() {{ call f{}; ret; }}\n", n - 1);
    }
    assert!(lower("calls", text).is_ok());
    let cycle = format!(
        "{HEADER}.func a();\n.func b() {{ call a; ret; }}\n.func c() {{ call b; ret; }}\n\
         .func a() {{ call c; ret; }}\n"
    );
    let errors = lower("cycle", cycle).expect_err("it is refused");
    assert_eq!(errors, ["cycle:5: E2070 recursion: `a` calls `c` calls `b` calls `a`"]);
}

#[test]
fn conditional_writes_of_parts_keep_the_rest() {
    // A guarded load into a wider register selects the whole old value.
    let text = kernel("@%p1 ld.global.u8 %r1, [%rd1];\nst.global.u32 [%rd1], %r1;\n");
    let module = lower("part", text).expect("it is accepted");
    let printed = print_module(&module, &PrintOptions::default());
    assert!(printed.contains("load.weak.guarded.global.i8"), "{printed}");
    assert!(printed.contains("select"), "{printed}");
}
