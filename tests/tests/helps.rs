//! Each help that names an edit is right: what it says is done, and the command then succeeds.
//!
//! The edit is the first text between backticks of the help. How it is applied is up to the case:
//! a help is read by people, who see from the place it points at what to replace.

use std::path::Path;

use nbcc_tests::{case, command, root};
use serde_json::Value;

const NBCC: &str = env!("CARGO_BIN_EXE_nbcc-under-test");

/// How an edit is applied.
#[derive(Clone, Copy, Debug)]
enum Apply {
    /// In place of this part of the command line.
    Line(&'static str),
    /// In place of what the diagnostic points at.
    Place,
    /// In quotes, in place of what the diagnostic points at.
    Quoted,
    /// What stands behind the `=` of the edit, in place of what the diagnostic points at.
    Value,
    /// In braces, in place of what the diagnostic points at.
    Braced,
    /// The last word of the edit, in place of what the diagnostic points at.
    LastWord,
    /// Behind what the diagnostic points at.
    Behind,
    /// As the first line of the file.
    Top,
    /// As the last line of the file.
    End,
}

struct Case {
    line: &'static str,
    /// The file `in.EXT` that the diagnostic points into; its name is in the line.
    text: String,
    apply: Apply,
}

/// A command line that is at fault itself.
fn line(line: &'static str, wrong: &'static str) -> Case {
    Case { line, text: String::new(), apply: Apply::Line(wrong) }
}

fn launch(text: &str, apply: Apply) -> Case {
    Case { line: "nbcc run fill.ptx --launch in.toml --fast", text: text.into(), apply }
}

fn ptx(body: &str, apply: Apply) -> Case {
    let text = format!(".version 7.0\n.target sm_70\n.address_size 64\n{body}");
    Case { line: "nbcc in.ptx --emit ir", text, apply }
}

/// A pipeline that declares an input `in` before this.
fn halide(body: &str, apply: Apply) -> Case {
    let text = format!("ImageParam in(Float(32), 2);\n{body}");
    Case { line: "nbcc in.halide --emit stages", text, apply }
}

/// A kernel with these instructions.
fn kernel(insts: &str, apply: Apply) -> Case {
    let registers = ".reg .b32 %r<4>;\n.reg .b64 %d<4>;\n.reg .f32 %f<4>;";
    ptx(&format!(".visible .entry k() {{\n{registers}\n{insts}\nret;\n}}\n"), apply)
}

const FILL: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
    .visible .entry fill(.param .u64 to, .param .f32 x, .param .u32 n)\n{\n\
    .reg .b32 %r<2>;\n.reg .b64 %d<3>;\nmov.u32 %r1, %tid.x;\nld.param.u64 %d1, [to];\n\
    mad.wide.u32 %d2, %r1, 4, %d1;\nst.global.u32 [%d2], %r1;\nret;\n}\n";
const HALF: &str = "ImageParam in(Float(32), 2);\nFunc out(x, y) = in(x, y) * 0.5f;\n";

fn cases() -> Vec<Case> {
    let args = "arg = [{ buffer = \"x\", bytes = 1024 }, { f32 = 1.0 }, { u32 = 3 }]\n";
    let start = format!("grid = 1\nblock = 8\n{args}");
    let machine = root().join("isa/ipim/machines/ipim-vault.toml");
    let machine = std::fs::read_to_string(machine).expect("a machine");
    let mut cases = vec![
        line("nbcc compil half.halide --emit stages", "nbcc compil"),
        line("nbcc half --emit stages", "nbcc half"),
        line("nbcc version", "nbcc version"),
        line("nbcc man rnu", "rnu"),
        line("nbcc targets --target ipmi", "ipmi"),
        line("nbcc targets --machine ipim-valut", "ipim-valut"),
        line("nbcc targets --machine ipim --set dram.tRCDD=16", "dram.tRCDD"),
        line("nbcc half.halide --emit stages -X regaloc=min", "regaloc"),
        line("nbcc interp half.halide --size 4x4 --output outt=o.png", "outt"),
        line(
            "nbcc diff half.halide --size 8x8 --from lower --to bounds",
            "--from lower --to bounds",
        ),
        launch(&format!("grid = 1\nblok = 8\n{args}"), Apply::Place),
        launch(&format!("block = 8\n{args}"), Apply::Top),
        launch(&format!("grid = 1\n{args}"), Apply::Top),
        launch(&format!("grid = \"1\"\nblock = 8\n{args}"), Apply::Value),
        launch(&format!("grid = []\nblock = 8\n{args}"), Apply::Value),
        launch(&format!("kernel = \"fil\"\n{start}"), Apply::Quoted),
        launch(&start.replace("f32 = 1.0", "f32 = \"1.0\""), Apply::Value),
        launch(&start.replace("f32 = 1.0", "hex = \"zz\""), Apply::Value),
        launch(&start.replace("u32 = 3", "u64 = 3"), Apply::Braced),
        launch(&start.replace("u32 = 3", "f32 = 3.0"), Apply::Braced),
        launch(&start.replace("f32 = 1.0", "u32 = 1"), Apply::Braced),
        launch(&start.replace("bytes = 1024", "bytes = \"1024\""), Apply::Value),
        launch(
            &format!("{start}[[read]]\nbuffer = \"x\"\ndtype = \"f32\"\nshape = [257]\n"),
            Apply::Value,
        ),
        launch(&format!("{start}[[read]]\nbuffer = \"x\"\nshape = [64, 4]\n"), Apply::End),
        kernel("mov.u32 %r1, 1;\npopc %r1, %r1;", Apply::Behind),
        ptx(".global .align 3 .b32 x;\n.visible .entry k() { ret; }\n", Apply::LastWord),
    ];
    let half = "Func out(x, y) = in(x, y) * 0.5f;\n";
    cases.extend([
        halide("Func out(x, y) = in(x, y];\n", Apply::Place),
        halide("Func out(x, y) = in(x);\n", Apply::Place),
        halide("Func out(x, y) = in(x, y) * gain;\n", Apply::Top),
        halide("Func out(x, y) = in(x, y) / 3.0;\n", Apply::Place),
        halide("Func out(x, y) = in(x % in.widht(), y);\n", Apply::Place),
        halide("Func f[1];\nf[1](x, y) = in(x, y);\nFunc out(x, y) = f[0](x, y);\n", Apply::Place),
        halide("Expr e = in(x, y);\ne++;\nFunc out(x, y) = e;\n", Apply::Place),
        halide("Func out(x, y) = lerp(cast<uint8_t>(x), cast<uint8_t>(y), 2.0f);\n", Apply::Place),
        halide(&format!("in.dim(0).set_min(2);\n{half}"), Apply::Place),
        halide(&format!("{half}out.split(x, xo, y, 8);\n"), Apply::Place),
        halide(&format!("{half}out.vectorise(x, 4);\n"), Apply::Place),
        halide(&format!("{half}out(x, 0) = 1.0f;\nout.update(1).vectorize(x, 4);\n"), Apply::Place),
        halide("Func f(x) = in(x, 0);\nf.dim(1).set_estimate(0, 8);\n", Apply::Place),
    ]);
    let header = |from: &str, to: &str| Case {
        line: "nbcc in.ptx --emit ir",
        text: FILL.replace(from, to),
        apply: Apply::LastWord,
    };
    cases.push(header(".address_size 64", ".address_size 16"));
    cases.push(header(".version 7.0", ".version 4.4"));
    cases.push(header("sm_70", "sm_71x"));
    cases.push(Case {
        line: "nbcc targets --machine in.toml",
        text: machine.replacen("\nname", "\nnam", 1),
        apply: Apply::Place,
    });
    cases
}

/// Runs a line; its first error, if it has one.
fn first_error(line: &str, folder: &Path) -> Result<Option<Value>, String> {
    let mut command = command::command(NBCC, line, folder);
    command.args(["--message-format", "json"]);
    let outcome = command::run(command)?;
    let diagnostics = outcome.stderr.lines().filter_map(|line| serde_json::from_str(line).ok());
    let error = diagnostics.into_iter().find(|d: &Value| d["severity"] == "error");
    match (outcome.code, error) {
        (Some(0), None) => Ok(None),
        (_, Some(error)) => Ok(Some(error)),
        (code, None) => Err(format!("`{line}`: exit {code:?}\n{}", outcome.stderr)),
    }
}

/// The byte at a line and column, in characters, of a text.
fn byte_at(text: &str, line: &Value, column: &Value) -> Option<usize> {
    let (line, column) = (line.as_u64()? as usize, column.as_u64()? as usize);
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let within = text[start..].char_indices().nth(column - 1);
    Some(within.map_or(text.len(), |(at, _)| start + at))
}

fn check(case: &Case) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    case::furnish(folder.path())?;
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).map_err(|error| error.to_string())
    };
    write("fill.ptx", FILL)?;
    write("half.halide", HALF)?;
    let name = command::words(case.line).into_iter().find(|word| word.starts_with("in."));
    if let Some(name) = &name {
        write(name, &case.text)?;
    }
    let Some(error) = first_error(case.line, folder.path())? else {
        return Err("nothing is wrong".into());
    };
    let help = error["help"].as_str().unwrap_or_default().to_string();
    let Some(edit) = help.split('`').nth(1) else {
        return Err(format!("no edit in the help `{help}` of {error}"));
    };
    let place = || {
        let from = byte_at(&case.text, &error["line"], &error["column"])?;
        let to = byte_at(&case.text, &error["end_line"], &error["end_column"])?;
        Some(from..to)
    };
    let replaced = |with: &str| {
        let place = place().ok_or_else(|| format!("no place: {error}"))?;
        let mut text = case.text.clone();
        text.replace_range(place, with);
        Ok::<String, String>(text)
    };
    let (mut line, mut text) = (case.line.to_string(), case.text.clone());
    match case.apply {
        Apply::Line(wrong) => line = line.replacen(wrong, edit, 1),
        Apply::Place => text = replaced(edit)?,
        Apply::Quoted => text = replaced(&format!("\"{edit}\""))?,
        Apply::Value => text = replaced(edit.split_once('=').map_or(edit, |(_, v)| v.trim()))?,
        Apply::Braced => text = replaced(&format!("{{ {edit} }}"))?,
        Apply::LastWord => text = replaced(edit.rsplit(' ').next().unwrap_or(edit))?,
        Apply::Behind => {
            let place = place().ok_or_else(|| format!("no place: {error}"))?;
            text.insert_str(place.end, edit);
        }
        Apply::Top => text = format!("{edit}\n{text}"),
        Apply::End => text = format!("{text}{edit}\n"),
    }
    if let Some(name) = &name {
        write(name, &text)?;
    }
    match first_error(&line, folder.path())? {
        None => Ok(()),
        Some(error) => Err(format!("after `{help}`, applied as\n$ {line}\n{text}: {error}")),
    }
}

#[test]
fn edits_that_helps_name_work() {
    let mut wrong = String::new();
    for case in cases() {
        if let Err(what) = check(&case) {
            wrong += &format!("{}: {what}\n", case.line);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
