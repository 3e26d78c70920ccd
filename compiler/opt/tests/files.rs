//! The files of tests/ir: a first line `; run: COMMANDS`, a text, a line `; expect:`, and what the
//! commands give. A command is the name of a transform, or
//!
//! - `print`: nothing but reading and printing,
//! - `facts`: dominators, post-dominators, loops, live values and uniform values instead of the
//!   text,
//! - `verify`: the verifier's errors instead of the text,
//! - `errors`: the diagnostics of a text that cannot be read.
//!
//! With NBCC_BLESS=1 in the environment the expected parts are written anew.

use std::fmt::Write;
use std::path::Path;

use nbcc_analysis::{Liveness, LoopForest, PostDominators, Uniformity};
use nbcc_base::{Diagnostics, SourceFile, SourceId, SourceMap};
use nbcc_ir::{Cfg, Dominators, Function, Locations, Op, PrintOptions, parse_module};
use nbcc_ir::{print_module, verify_module};
use nbcc_opt::PASSES;
use nbcc_testing::{INTRINSICS, check_results};

#[test]
fn files_give_what_they_expect() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ir");
    check_results(&folder, "nbir", result);
}

fn result(input: &str) -> String {
    let commands = input.lines().next().and_then(|line| line.strip_prefix("; run: "));
    let commands = commands.unwrap_or_else(|| panic!("no `; run:` line in\n{input}"));
    let mut sources = SourceMap::default();
    let source = sources.add(SourceFile::new("test.nbir", input));
    let mut diagnostics = Diagnostics::default();
    let parsed = parse_module(source, input, INTRINSICS, &mut diagnostics);
    if commands == "errors" {
        assert!(parsed.is_err());
        return messages(&diagnostics, &sources);
    }
    let Ok(mut module) = parsed else { panic!("{}", messages(&diagnostics, &sources)) };
    if commands == "verify" {
        return verify_module(&module).iter().map(|error| format!("{error}\n")).collect();
    }
    assert_eq!(verify_module(&module), [], "{input}");
    for command in commands.split(", ") {
        if command == "facts" {
            return module.functions.values().map(facts).collect::<Vec<_>>().join("\n");
        }
        if command == "print" {
            continue;
        }
        let pass = PASSES.iter().find(|(name, _)| *name == command);
        let (_, pass) = pass.unwrap_or_else(|| panic!("there is no pass {command}"));
        for func in module.functions.values_mut() {
            pass(func);
        }
        assert_eq!(verify_module(&module), [], "after {command}\n{module}");
    }
    let options = PrintOptions { locations: Locations::Bytes, ..PrintOptions::default() };
    let text = print_module(&module, &options);
    let again = parse_module(SourceId(0), &text, INTRINSICS, &mut diagnostics);
    assert_eq!(print_module(&again.expect("what is printed is read"), &options), text);
    text
}

fn messages(diagnostics: &Diagnostics, sources: &SourceMap) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics.iter() {
        let at = diagnostic.span.map(|span| sources.start_of(span));
        let at = at.map_or(String::new(), |at| format!("{}:{}: ", at.line, at.column));
        let _ = writeln!(out, "{at}{} {}", diagnostic.code.code, diagnostic.message);
    }
    out
}

fn list<T: std::fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| format!(" {item}")).collect()
}

fn facts(func: &Function) -> String {
    let (cfg, dominators) = (Cfg::new(func), Dominators::new(func));
    let (post, forest) = (PostDominators::new(func), LoopForest::new(&cfg, &dominators));
    let live = Liveness::new(func, &cfg);
    let id = |inst| matches!(&func.insts[inst].op, Op::Intrinsic(c) if c.name == "test.id");
    let uniformity = Uniformity::new(func, &cfg, id, &[]);
    let mut out = format!("@{}\n", func.name);
    for &block in &func.layout {
        let _ = write!(out, "{block}:");
        let _ = write!(out, " idom{}", list(dominators.immediate(block)));
        let _ = write!(out, ", ipdom{}", list(post.immediate(block)));
        let _ = write!(out, ", depth {}", forest.depth(block));
        let _ = writeln!(out, ", live-in{}", list(live.live_in(block)));
    }
    for (l, data) in &forest.loops {
        let parent = list(data.parent);
        let mut blocks = forest.blocks(l);
        blocks.sort_by_key(|&block| cfg.position(block));
        let _ = writeln!(out, "{l} in{parent}: {}", list(&blocks).trim_start());
    }
    for (from, to) in &forest.irreducible {
        let _ = writeln!(out, "irreducible: {from} {to}");
    }
    let values = func.layout.iter().flat_map(|&block| {
        let data = &func.blocks[block];
        let results = data.insts.iter().flat_map(|&inst| &func.insts[inst].results);
        data.params.iter().chain(results)
    });
    let divergent = values.copied().filter(|&value| !uniformity.is_uniform(value));
    let _ = writeln!(out, "divergent:{}", list(divergent));
    let _ = writeln!(out, "divergent branches:{}", list(uniformity.divergent_branches()));
    out
}
