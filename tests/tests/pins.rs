//! Cycles, sizes and registers of compiled programs are those that `tests/pins.txt` holds, so that
//! a change of generated code shows in a diff. `NBCC_BLESS=1` writes the file.

use std::collections::BTreeMap;
use std::fmt::Write;

use nbcc_host::RunOptions;
use nbcc_isa::program::encode_text;
use nbcc_isa::{MachineInstruction, Override};
use nbcc_pipeline::{OptLevel, PassOptions};
use nbcc_tests::builds::Build;
use nbcc_tests::grids::Source;
use nbcc_tests::images::{self, For};
use nbcc_tests::reference::{cases, compare};
use nbcc_tests::root;
use sha2::{Digest, Sha256};

/// The figures of a program or kernel: names and values.
type Figures = Vec<(String, String)>;

/// A part of the file: what its cases are compiled for, and the cases.
struct Section {
    /// The line that begins it, without brackets.
    title: String,
    /// Names in the order of the file, with their figures.
    rows: Vec<(String, Figures)>,
}

/// Reads the file: the lines before the first section, and the sections.
fn parse(text: &str) -> (String, Vec<Section>) {
    let mut about = String::new();
    let mut sections: Vec<Section> = Vec::new();
    let mut columns: Vec<&str> = Vec::new();
    for line in text.lines() {
        let title = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Some(title) = title {
            sections.push(Section { title: title.to_string(), rows: vec![] });
            columns.clear();
            continue;
        }
        let Some(section) = sections.last_mut() else {
            about = about + line + "\n";
            continue;
        };
        let mut words = line.split_whitespace();
        match words.next() {
            None => {}
            Some("case") => columns = words.collect(),
            Some(name) => {
                let names = columns.iter().map(|column| column.to_string());
                let figures = names.zip(words.map(str::to_string)).collect();
                section.rows.push((name.to_string(), figures));
            }
        }
    }
    (about, sections)
}

/// The section as it stands in the file: a table whose first line names the columns.
fn print(section: &Section) -> String {
    let names = section.rows.iter().flat_map(|(_, figures)| figures.iter().map(|(name, _)| name));
    let mut columns: Vec<&str> = Vec::new();
    for name in names {
        if !columns.contains(&name.as_str()) {
            columns.push(name);
        }
    }
    let mut table =
        vec![["case"].iter().chain(&columns).map(|s| s.to_string()).collect::<Vec<_>>()];
    for (name, figures) in &section.rows {
        let figures: BTreeMap<&str, &str> =
            figures.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let cells = columns.iter().map(|&column| figures.get(column).copied().unwrap_or("-"));
        table.push([name.as_str()].into_iter().chain(cells).map(str::to_string).collect());
    }
    let widths: Vec<usize> = (0..=columns.len())
        .map(|k| table.iter().map(|row| row[k].len()).max().unwrap_or(0))
        .collect();
    let mut text = format!("[{}]\n", section.title);
    for row in &table {
        let mut line = format!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row[1..].iter().zip(&widths[1..]) {
            let _ = write!(line, "  {cell:>width$}");
        }
        text = text + line.trim_end() + "\n";
    }
    text
}

/// The first digits of the digest of instructions.
fn digest<I: MachineInstruction>(text: &[I]) -> String {
    let bytes = encode_text(text).expect("the text of a program");
    let digest = Sha256::digest(bytes);
    digest.iter().take(4).fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn pipeline(name: &str, machine: &str, overrides: Vec<Override>) -> Result<Figures, String> {
    let case = cases().into_iter().find(|case| case.name == name);
    let case = case.ok_or("there is no such case of tests/references")?;
    let asked = For { machine: machine.to_string(), overrides, ..For::default() };
    let program = images::compile(&case, &asked)?;
    let result = images::run(&case, &program, &mut RunOptions::default())?;
    compare(&case, &images::outputs(&program, &result))?;
    let text = &program.code.text;
    Ok(vec![
        ("cycles".into(), result.cycles.to_string()),
        ("issued".into(), result.instructions.to_string()),
        ("instructions".into(), text.len().to_string()),
        ("digest".into(), digest(text)),
    ])
}

fn kernels(file: &str, overrides: Vec<Override>) -> Result<Vec<(String, Figures)>, String> {
    let path = root().join("tests/cuda").join(file);
    let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
    let mut remarks = vec![];
    let passes = PassOptions::default();
    let build = Build { overrides, passes, ..Build::new("mpu", OptLevel::O2) };
    let binary = Source::read(&text)?.compile_for(&build, &mut remarks)?;
    let program = nbcc_isa_simt::Program::from_elf(&nbcc_isa_mpu::ISA, &binary);
    let program = program.map_err(|error| error.to_string())?;
    let figures = program.kernels.iter().map(|kernel| {
        let range = kernel.entry as usize..(kernel.entry + kernel.instructions) as usize;
        let mut figures = vec![
            ("instructions".to_string(), kernel.instructions.to_string()),
            ("digest".to_string(), digest(&program.code.text[range])),
            ("local".to_string(), kernel.local_bytes.to_string()),
        ];
        let said = remarks.iter().filter(|r| r.pass == "allocate" && r.function == kernel.name);
        figures.extend(said.flat_map(|r| {
            r.all_terms().map(|term| (term.name.to_lowercase(), term.value.clone()))
        }));
        (format!("{file}:{}", kernel.name), figures)
    });
    Ok(figures.collect())
}

/// The figures of a section's cases as they are now.
fn measure(section: &Section) -> Result<Section, String> {
    let mut words = section.title.split(' ');
    let (kind, machine) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let overrides: Result<Vec<Override>, _> = words.map(Override::parse).collect();
    let overrides = overrides.map_err(|error| error.message)?;
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in &section.rows {
        let name = name.split(':').next().unwrap_or(name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let one = |name: &str| match kind {
        "machine" => {
            let figures = pipeline(name, machine, overrides.clone())?;
            Ok(vec![(name.to_string(), figures)])
        }
        "kernels" if machine == "mpu" => kernels(name, overrides.clone()),
        _ => Err("no such section".to_string()),
    };
    let rows = std::thread::scope(|scope| {
        let one = &one;
        let threads: Vec<_> = names.iter().map(|&name| scope.spawn(move || one(name))).collect();
        let rows = threads.into_iter().zip(&names).map(|(thread, name)| {
            let done = thread.join().unwrap_or_else(|_| Err("it panics".to_string()));
            done.map_err(|what| format!("{name} in [{}]: {what}", section.title))
        });
        rows.collect::<Result<Vec<_>, String>>()
    })?;
    Ok(Section { title: section.title.clone(), rows: rows.into_iter().flatten().collect() })
}

/// What changed, a line each figure.
fn changes(old: &Section, new: &Section) -> Vec<String> {
    let mut lines = Vec::new();
    let of = |section: &Section, name: &str| {
        section.rows.iter().find(|(other, _)| other == name).map(|(_, figures)| figures.clone())
    };
    for (name, figures) in &new.rows {
        let before: BTreeMap<_, _> = of(old, name).unwrap_or_default().into_iter().collect();
        for (column, value) in figures {
            let was = before.get(column).map_or("none", String::as_str);
            if was != value {
                lines.push(format!("[{}] {name}: {column} {was} -> {value}", new.title));
            }
        }
    }
    let gone = old.rows.iter().filter(|(name, _)| of(new, name).is_none());
    lines.extend(gone.map(|(name, _)| format!("[{}] {name} is no more", old.title)));
    lines
}

#[test]
fn compiled_programs_cost_what_is_pinned() {
    let path = root().join("tests/pins.txt");
    let text = std::fs::read_to_string(&path).expect("the pins");
    let (about, old) = parse(&text);
    let new: Result<Vec<Section>, String> = old.iter().map(measure).collect();
    let new = new.unwrap_or_else(|error| panic!("{error}"));
    let tables: Vec<String> = new.iter().map(print).collect();
    let expected = about + &tables.join("\n");
    if text == expected {
        return;
    }
    if std::env::var_os("NBCC_BLESS").is_some() {
        std::fs::write(&path, expected).expect("the pins");
        return;
    }
    let lines: Vec<String> =
        old.iter().zip(&new).flat_map(|(old, new)| changes(old, new)).collect();
    panic!(
        "tests/pins.txt is out of step; NBCC_BLESS=1 writes it\n{}",
        if lines.is_empty() {
            "its tables are set otherwise".to_string()
        } else {
            lines.join("\n")
        }
    );
}
