//! Cases of kernels: PTX with a launch file and what must come out. `tests/cuda/README.md` says
//! what a manifest holds.

use std::path::{Path, PathBuf};

use crate::command::{self, Outcome};

/// A program with its launch and what must come out.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct Case {
    /// Its name, unique in its folder.
    pub name: String,
    /// The PTX files made of one source.
    pub ptx: Vec<PtxFile>,
    /// The launch file.
    pub launch: String,
    /// The buffers that are compared.
    pub outputs: Vec<Output>,
    /// What must be printed, if that is compared.
    pub stdout: Option<String>,
    /// `exact`, or `lines` where the order of lines is not said.
    pub stdout_order: Option<String>,
    /// How the run must fail, if it must.
    pub fault: Option<Fault>,
}

/// A PTX file.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct PtxFile {
    /// Its name in the folder.
    pub file: String,
}

/// A buffer that is compared.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct Output {
    /// Its name.
    pub buffer: String,
    /// The file with the expected contents.
    pub expected: String,
    /// The type of its elements, as in `f32`.
    pub dtype: String,
    /// How it is compared.
    pub compare: Comparison,
}

/// How a buffer is compared.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Comparison {
    /// The same bytes.
    Exact,
    /// Floats so many units in the last place apart.
    Ulp {
        /// At most so many.
        max: f64,
    },
    /// Floats within an absolute and a relative distance.
    Tolerance {
        /// The absolute part.
        absolute: f64,
        /// The part relative to the expected value.
        relative: f64,
    },
}

/// How a run must fail.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct Fault {
    /// A word for it, one of those in tests/cuda/README.md.
    pub kind: String,
    /// What the message must contain.
    pub message: Option<String>,
}

/// The cases of a folder. Panics where its manifest cannot be read.
pub fn cases(folder: &Path) -> Vec<Case> {
    let path = folder.join("manifest.jsonl");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect()
}

/// Runs a PTX file of a case with `nbcc` and its arguments before the file, and compares what
/// comes out.
pub fn check(
    nbcc: &str,
    arguments: &str,
    folder: &Path,
    case: &Case,
    ptx: &str,
) -> Result<(), String> {
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    let launch = prepare(place.path(), folder, case)?;
    let source = folder.join(ptx);
    let line = format!("nbcc {arguments} {} --launch {}", source.display(), launch.display());
    let outcome = command::run(command::command(nbcc, &line, place.path()))?;
    if let Some(fault) = &case.fault {
        return check_fault(fault, case, arguments.starts_with("interp"), &outcome);
    }
    if outcome.code != Some(0) {
        return Err(format!("exit {:?}\n{}", outcome.code, outcome.stderr));
    }
    check_stdout(case, &outcome)?;
    for output in &case.outputs {
        let name = format!("{}.{}.out.npy", case.name, output.buffer);
        let got = elements(&place.path().join(name))?;
        let wanted = elements(&folder.join(&output.expected))?;
        compare(output, &got, &wanted).map_err(|what| format!("`{}`: {what}", output.buffer))?;
    }
    Ok(())
}

/// The launch file in a folder of its own, so that results are written there; data is found where
/// it is.
pub fn prepare(place: &Path, folder: &Path, case: &Case) -> Result<PathBuf, String> {
    let text = std::fs::read_to_string(folder.join(&case.launch)).map_err(|e| e.to_string())?;
    let data = folder.join("data");
    let text = text.replace("\"data/", &format!("\"{}/", data.display()));
    let launch = place.join("launch.toml");
    std::fs::write(&launch, text).map_err(|error| error.to_string())?;
    Ok(launch)
}

/// What a kind of fault is called by the simulated machine, and by the interpreter.
const FAULTS: &[(&str, &str, &str)] = &[
    ("assert", ": assertion: assertion `", ": assertion `"),
    ("trap", "error: trap: trap", "): trap"),
    ("grid barrier", "trap: the kernel waits for", "): the kernel waits for its whole grid"),
    ("out of bounds", "error: out of bounds ", " are outside of the "),
    ("misaligned", "error: misaligned ", " is no multiple of "),
    ("deadlock", "error: deadlock: ", ": no thread of the block can go on: "),
    ("limit", " was given up after ", ": more than "),
];

/// The first error has the code of the fault and says its kind.
fn check_fault(
    fault: &Fault,
    case: &Case,
    interpreted: bool,
    outcome: &Outcome,
) -> Result<(), String> {
    let Some((kind, machine, interpreter)) = FAULTS.iter().find(|(kind, ..)| *kind == fault.kind)
    else {
        return Err(format!("`{}` is no kind of fault", fault.kind));
    };
    let words = if interpreted { interpreter } else { machine };
    let code = match interpreted {
        _ if *kind == "limit" => "[E4203]",
        true => "[E4205]",
        false => "[E4202]",
    };
    let error = outcome.stderr.lines().find(|line| line.starts_with("[E")).unwrap_or_default();
    let said = fault.message.as_ref().is_none_or(|message| error.contains(message));
    if outcome.code == Some(1) && error.starts_with(code) && error.contains(words) && said {
        return check_stdout(case, outcome);
    }
    Err(format!("no {kind} but exit {:?}\n{}", outcome.code, outcome.stderr))
}

/// What kernels print comes before anything that nbcc says.
fn check_stdout(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let Some(wanted) = &case.stdout else { return Ok(()) };
    let Some(got) = outcome.stdout.get(..wanted.len()) else {
        return Err(format!("it printed only {:?}", outcome.stdout));
    };
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
        lines.sort();
        lines
    };
    let same = match case.stdout_order.as_deref() {
        Some("lines") => sorted(got) == sorted(wanted),
        _ => got == wanted,
    };
    if same { Ok(()) } else { Err(format!("it printed {got:?}, not {wanted:?}")) }
}

/// The bytes of an array file's elements.
pub fn elements(path: &Path) -> Result<Vec<u8>, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let length = bytes.get(8..10).ok_or("a file without a header")?;
    let start = 10 + usize::from(u16::from_le_bytes([length[0], length[1]]));
    Ok(bytes.get(start..).ok_or("a file that ends in its header")?.to_vec())
}

fn compare(output: &Output, got: &[u8], wanted: &[u8]) -> Result<(), String> {
    if got.len() != wanted.len() {
        return Err(format!("{} bytes instead of {}", got.len(), wanted.len()));
    }
    let width = match output.dtype.trim_start_matches(['i', 'u', 'f']) {
        "8" => 1,
        "16" => 2,
        "32" => 4,
        _ => 8,
    };
    let pairs = || got.chunks_exact(width).zip(wanted.chunks_exact(width)).enumerate();
    let wrong: Vec<_> =
        pairs().filter(|(_, (g, w))| !close(&output.compare, &output.dtype, g, w)).collect();
    let Some((at, (got, wanted))) = wrong.first() else { return Ok(()) };
    let hex = |bytes: &[u8]| bytes.iter().rev().map(|b| format!("{b:02x}")).collect::<String>();
    let values = match output.dtype.starts_with('f') {
        true => format!(" ({} instead of {})", float(got), float(wanted)),
        false => String::new(),
    };
    let (count, total) = (wrong.len(), pairs().count());
    let (got, wanted) = (hex(got), hex(wanted));
    Err(format!("{count} of {total} differ, element {at}: 0x{got} instead of 0x{wanted}{values}"))
}

fn close(comparison: &Comparison, dtype: &str, got: &[u8], wanted: &[u8]) -> bool {
    if got == wanted {
        return true;
    }
    if !dtype.starts_with('f') {
        return false;
    }
    let (g, w) = (float(got), float(wanted));
    if g == w || (g.is_nan() && w.is_nan()) {
        return !matches!(comparison, Comparison::Exact);
    }
    match comparison {
        Comparison::Exact => false,
        Comparison::Ulp { max } => (g - w).abs() <= max * unit(wanted),
        Comparison::Tolerance { absolute, relative } => {
            (g - w).abs() <= absolute + relative * w.abs()
        }
    }
}

fn float(bytes: &[u8]) -> f64 {
    match *bytes {
        [a, b] => nbcc_ir::f16_to_f64(u16::from_le_bytes([a, b])),
        [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => f64::NAN,
    }
}

/// The distance of a float to the next greater one in magnitude.
fn unit(bytes: &[u8]) -> f64 {
    let value = float(bytes).abs();
    let mut next = bytes.to_vec();
    for byte in &mut next {
        *byte = byte.wrapping_add(1);
        if *byte != 0 {
            break;
        }
    }
    (float(&next).abs() - value).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_another_kind_is_not_the_one_that_was_meant() {
        let case: Case =
            serde_json::from_str(r#"{"name": "a", "ptx": [], "launch": "", "outputs": []}"#)
                .expect("a case");
        let passes = |kind: &str, interpreted: bool, stderr: &str| {
            let fault = Fault { kind: kind.into(), message: None };
            let outcome =
                Outcome { stdout: "".into(), stderr: stderr.into(), code: Some(1), signal: None };
            check_fault(&fault, &case, interpreted, &outcome).is_ok()
        };
        let deadlock = "[W2077] warning: a\n[E4202] error: deadlock: 64 threads wait\n";
        assert!(passes("deadlock", false, deadlock));
        assert!(!passes("trap", false, deadlock));
        assert!(!passes("deadlock", true, deadlock));
        assert!(!passes("deadlock", false, "[E2050] error: deadlock: is no instruction\n"));
        assert!(!passes("endless", false, deadlock));
        assert!(passes("limit", false, "[E4203] error: the launch was given up after 9 cycles"));
        assert!(passes("trap", true, "[E4205] error: thread (9, 0, 0): trap\n"));
    }
}
