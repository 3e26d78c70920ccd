//! What a C compiler of the machine makes of programs: many in one file, each run in a process of its
//! own, compared with what the interpreter leaves.

use std::fmt::Write;
use std::process::{Command, Stdio};

use super::model::{Program, TYPES};
use super::run::Ran;
use crate::guard::{Failure, failure};

/// A program with its runs on the interpreter.
pub struct Case {
    /// Its seed.
    pub seed: u64,
    /// The program.
    pub program: Program,
    /// Its runs.
    pub runs: Vec<Ran>,
}

const PRELUDE: &str = r#"#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static uint64_t nbcc_hash(const unsigned char *bytes, unsigned long count)
{
    uint64_t hash = 14695981039346656037u;
    for (unsigned long i = 0; i < count; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}
"#;

/// Whether there is a C compiler.
pub fn is_there() -> bool {
    let mut asked = Command::new("cc");
    asked.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    asked.status().is_ok_and(|status| status.success())
}

/// The cases for which another compiler has other results, or none, and how.
///
/// # Errors
/// There is no such compiler, or no place to work in.
pub fn compare(cases: &[Case]) -> Result<Vec<(usize, Failure)>, String> {
    let asked = |case: &Case| case.program.is_defined && case.runs.iter().any(|r| r.left.is_some());
    let asked: Vec<usize> = (0..cases.len()).filter(|&at| asked(&cases[at])).collect();
    if asked.is_empty() {
        return Ok(vec![]);
    }
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (source, binary) = (folder.path().join("all.c"), folder.path().join("all"));
    let text = translation_unit(&asked.iter().map(|&at| &cases[at]).collect::<Vec<_>>());
    std::fs::write(&source, text).map_err(|error| error.to_string())?;
    let compiled = Command::new("cc")
        .args(["-std=c11", "-fwrapv", "-fno-strict-aliasing", "-w", "-O1", "-o"])
        .args([&binary, &source])
        .output()
        .map_err(|error| error.to_string())?;
    if !compiled.status.success() {
        if let [at] = asked[..] {
            let said = String::from_utf8_lossy(&compiled.stderr);
            return Ok(vec![(at, failure("refused by another compiler", said))]);
        }
        // One of them is refused.
        let mut wrong = Vec::new();
        for at in asked {
            let alone = compare(std::slice::from_ref(&cases[at]))?;
            wrong.extend(alone.into_iter().map(|(_, failure)| (at, failure)));
        }
        return Ok(wrong);
    }
    let ran = Command::new(&binary).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let mut wrong = Vec::new();
    for (number, &at) in asked.iter().enumerate() {
        let case = &cases[at];
        for (run, left) in
            case.runs.iter().enumerate().filter_map(|(n, r)| Some((n, r.left.as_ref()?)))
        {
            let start = format!("{number} {run} ");
            let is = said.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or("nothing");
            let mut should = format!("{:x}", left.result.unwrap_or_default());
            left.arrays.iter().for_each(|bytes| {
                let _ = write!(should, " {:x}", hash(bytes));
            });
            if is != should {
                let what = format!("run {}: {is}, the interpreter has {should}", run + 1);
                wrong.push((at, failure("another compiler", what)));
                break;
            }
        }
    }
    Ok(wrong)
}

fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(1099511628211);
    bytes.iter().fold(14695981039346656037, step)
}

/// All programs, and a function that makes their runs and prints what they leave.
fn translation_unit(cases: &[&Case]) -> String {
    let mut text = PRELUDE.to_string();
    let mut all = String::new();
    for (number, case) in cases.iter().enumerate() {
        let program = &case.program;
        let names: Vec<&str> = program.items.iter().map(|item| item.name.as_str()).collect();
        for name in names.iter().chain([&"f"]) {
            let _ = writeln!(text, "#define {name} {name}_of_{number}");
        }
        text.push_str(
            &program.text().replace(
                &format!("{} f(", program.result),
                &format!("static {} f(", program.result),
            ),
        );
        for (run, ran) in case.runs.iter().enumerate().filter(|(_, ran)| ran.left.is_some()) {
            call(&mut text, number, run, program, ran);
            let _ = writeln!(
                all,
                "    if (fork() == 0) {{ alarm(5); run_{number}_{run}(); _exit(0); }} else wait(0);"
            );
        }
        for name in names.iter().chain([&"f"]) {
            let _ = writeln!(text, "#undef {name}");
        }
    }
    text + "int main(void)\n{\n" + &all + "}\n"
}

fn call(text: &mut String, number: usize, run: usize, program: &Program, ran: &Ran) {
    let _ = writeln!(text, "static void run_{number}_{run}(void)\n{{");
    let mut arguments: Vec<String> =
        ran.arguments.scalars.iter().map(|bits| format!("{bits:#x}u")).collect();
    let mut format = String::new();
    let mut hashes = String::new();
    for (at, array) in ran.arguments.arrays.iter().enumerate() {
        let (_, _, bits) = TYPES[program.arrays[at].ty];
        let words = array.bytes.chunks(bits as usize / 8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            format!("{:#x}", u64::from_le_bytes(word))
        });
        let words: Vec<String> = words.collect();
        let list = if words.is_empty() { "0".into() } else { words.join(",") };
        let _ = writeln!(text, "    static uint{bits}_t of{at}[] = {{{list}}};");
        arguments.push(format!("(void *)of{at}"));
        format.push_str(" %llx");
        let bytes = array.bytes.len();
        let _ = write!(hashes, ", (unsigned long long)nbcc_hash((unsigned char *)of{at}, {bytes})");
    }
    let unsigned = match program.result {
        ty if ty.starts_with('u') => ty.to_string(),
        ty => format!("u{ty}"),
    };
    let _ = writeln!(
        text,
        "    unsigned long long result = ({unsigned})f({});\n    \
         printf(\"{number} {run} %llx{format}\\n\", result{hashes});\n    fflush(stdout);\n}}",
        arguments.join(", ")
    );
}
