//! The options of every command, as design and manual state them.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use clap::builder::PossibleValue;
use clap::{Args, Parser, Subcommand, ValueEnum};
use nbcc_pipeline::ReportInfo;

use crate::registry;
use crate::registry::arrays::{self, Array, Links};

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "nbcc",
    version,
    about = "A compiler collection for near-bank processors, with a simulator that runs what it \
             makes",
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = false
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// How diagnostics are printed
    #[arg(long, global = true, value_name = "FORM", value_enum, default_value = "human")]
    pub message_format: MessageFormat,
}

/// How diagnostics are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// Excerpts of the source, for people
    Human,
    /// One JSON object a line
    Json,
    /// FILE:LINE:COLUMN: error: TEXT, one line a message
    Short,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compile a source file (the word `compile` may be left out)
    Compile(CompileArgs),
    /// Compile if needed, then run on the simulated machine
    Run(RunArgs),
    /// Run a source file on the reference interpreter
    Interp(InterpArgs),
    /// Disassemble a binary
    Objdump(ObjdumpArgs),
    /// Assemble what objdump prints
    As(AsArgs),
    /// Show what passes changed, side by side
    Diff(DiffArgs),
    /// Explain the decisions taken for a file or line, or a diagnostic code
    Explain(ExplainArgs),
    /// Run a suite of programs and print a paper's figures beside measured ones
    Bench(BenchArgs),
    /// Place a data-flow graph on an array of processing elements
    Map(MapArgs),
    /// Replay a trace of DRAM requests
    Memtrace(MemtraceArgs),
    /// Choose the bits of addresses that say in which memory stack data lies, for a trace of accesses
    Maptrace(MaptraceArgs),
    /// List targets, their machines and choices
    Targets(TargetsArgs),
    /// Print a script that completes commands, options and files in a shell
    Completions(CompletionsArgs),
    /// Print a manual page, as in `nbcc man run | man -l -`
    Man(ManArgs),
}

/// The values of `-x`.
fn languages() -> clap::builder::PossibleValuesParser {
    let registry = registry::get();
    registry.languages.iter().map(|language| language.frontend.name()).collect::<Vec<_>>().into()
}

/// In which language a source is, and what of it is meant.
#[derive(Args, Clone, Debug, Default)]
pub struct LanguageArgs {
    /// The source's language, whatever its name ends in
    #[arg(short = 'x', value_name = "LANGUAGE", value_parser = languages())]
    pub language: Option<String>,
    /// The function that is called, where a source has several
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Define a macro, where the language has a preprocessor
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = definition)]
    pub define: Vec<String>,
    /// A folder in which included files are looked for
    #[arg(short = 'I', value_name = "DIR")]
    pub include: Vec<PathBuf>,
}

/// What a program is compiled for.
#[derive(Args, Clone, Debug, Default)]
pub struct TargetArgs {
    #[command(flatten)]
    pub language: LanguageArgs,
    /// The target to compile for; the language's default where none is named
    #[arg(long, value_name = "T")]
    pub target: Option<String>,
    /// A machine by name, or a machine file
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Change a machine parameter, as in dram.tRCD=16
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// A choice that the target offers
    #[arg(short = 'X', value_name = "KEY=VALUE", value_parser = key_value)]
    pub choice: Vec<(String, String)>,
    /// Compile for what a run with --profile-out measured
    #[arg(long, value_name = "FILE.json")]
    pub profile_use: Option<PathBuf>,
}

/// How passes run, and what is shown of them.
#[derive(Args, Clone, Debug, Default)]
pub struct PassArgs {
    /// Optimisation level [default: 2]
    #[arg(short = 'O', value_name = "LEVEL", value_parser = ["0", "1", "2"])]
    pub level: Option<String>,
    /// Leave out an optional pass
    #[arg(long, value_name = "NAME")]
    pub disable_pass: Vec<String>,
    /// Verify the program after every pass
    #[arg(long)]
    pub verify_each: bool,
    /// Print the time each pass took
    #[arg(long)]
    pub time_passes: bool,
    /// Print the program before and after every pass, as LLVM does
    #[arg(long)]
    pub print_after_all: bool,
    /// The same dumps: viewers read them in pairs
    #[arg(long)]
    pub print_before_all: bool,
    /// Print the program after each pass that changed it, or how it differs
    #[arg(long, value_name = "diff", num_args = 0..=1, require_equals = true,
          default_missing_value = "quiet", value_parser = ["quiet", "diff"])]
    pub print_changed: Option<String>,
    /// Write the remarks to <stem>.opt.yaml
    #[arg(long)]
    pub fsave_optimization_record: bool,
}

/// Data for a program.
#[derive(Args, Clone, Debug, Default)]
pub struct DataArgs {
    /// An input image: .npy, .png, .pgm, .ppm, or raw as FILE.bin:WxHxC
    #[arg(long, value_name = "NAME=FILE", value_parser = name_file)]
    pub input: Vec<(String, String)>,
    /// Where an output goes, by the same extensions
    #[arg(long, value_name = "NAME=FILE", value_parser = name_file)]
    pub output: Vec<(String, String)>,
    /// A scalar parameter
    #[arg(long, value_name = "NAME=VALUE", value_parser = key_value)]
    pub param: Vec<(String, String)>,
    /// Extent of the outputs where the source does not fix it
    #[arg(long, value_name = "W[xH[xC]]", value_parser = extents)]
    pub size: Option<Extents>,
}

/// What a program may rely on when it is compiled.
#[derive(Args, Clone, Debug, Default)]
pub struct KnownArgs {
    /// An input image that fixes the input's extents
    #[arg(long, value_name = "NAME=FILE", value_parser = name_file)]
    pub input: Vec<(String, String)>,
    /// A value to compile for: a GeneratorParam or Param of Halide, a scalar parameter of C
    #[arg(long, value_name = "NAME=VALUE", value_parser = key_value)]
    pub param: Vec<(String, String)>,
    /// Extent of the outputs where the source does not fix it
    #[arg(long, value_name = "W[xH[xC]]", value_parser = extents)]
    pub size: Option<Extents>,
}

/// `nbcc [compile] INPUT`.
#[derive(Args, Debug)]
pub struct CompileArgs {
    /// The source file; `-` is standard input
    #[arg(value_name = "INPUT", required_unless_present = "print_passes")]
    pub source: Option<PathBuf>,
    /// Where the result goes
    #[arg(short = 'o', value_name = "OUT")]
    pub out: Option<PathBuf>,
    /// What to produce [default: bin, asm where -o names a file *.s]; text goes to stdout unless
    /// -o is given
    #[arg(long, value_name = "FORM", value_enum)]
    pub emit: Option<EmitForm>,
    /// Produce assembly, in <stem>.s unless -o is given
    #[arg(short = 'S', conflicts_with = "emit")]
    pub assembly: bool,
    /// Produce the binary, whatever -o is called
    #[arg(short = 'c', conflicts_with_all = ["emit", "assembly"])]
    pub binary: bool,
    /// List the passes and stop
    #[arg(long)]
    pub print_passes: bool,
    #[command(flatten)]
    pub known: KnownArgs,
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub passes: PassArgs,
}

impl CompileArgs {
    /// What to produce.
    pub fn form(&self) -> EmitForm {
        let is_assembly = |out: &PathBuf| out.extension().is_some_and(|e| e == "s" || e == "S");
        match self.emit {
            Some(form) => form,
            None if self.binary => EmitForm::Bin,
            None if self.assembly || self.out.as_ref().is_some_and(is_assembly) => EmitForm::Asm,
            None => EmitForm::Bin,
        }
    }
}

/// What `--emit` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmitForm {
    /// The binary.
    Bin,
    /// Assembly.
    Asm,
    /// The shared intermediate representation.
    Ir,
    /// The stage graph with its schedule.
    Stages,
    /// Target instructions over virtual registers.
    MachineIr,
    /// The remarks, as YAML.
    Remarks,
    /// A report that a target has.
    Report(ReportInfo),
}

/// The forms that every target has, with their names and what they are.
const FORMS: [(EmitForm, &str, &str); 6] = [
    (EmitForm::Bin, "bin", "The binary"),
    (EmitForm::Asm, "asm", "Assembly"),
    (EmitForm::Ir, "ir", "The shared intermediate representation"),
    (EmitForm::Stages, "stages", "The stage graph with its schedule"),
    (EmitForm::MachineIr, "machine-ir", "Target instructions over virtual registers"),
    (EmitForm::Remarks, "remarks", "The remarks, as YAML"),
];

impl ValueEnum for EmitForm {
    fn value_variants<'a>() -> &'a [EmitForm] {
        static ALL: OnceLock<Vec<EmitForm>> = OnceLock::new();
        ALL.get_or_init(|| {
            let mut all: Vec<EmitForm> = FORMS.iter().map(|&(form, ..)| form).collect();
            for report in registry::get().targets.iter().flat_map(|entry| entry.target.reports()) {
                if !all.contains(&EmitForm::Report(report)) {
                    all.push(EmitForm::Report(report));
                }
            }
            all
        })
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, about) = match self {
            EmitForm::Report(report) => (report.name, report.about),
            form => FORMS.iter().find(|(known, ..)| known == form).map(|row| (row.1, row.2))?,
        };
        Some(PossibleValue::new(name).help(about))
    }
}

/// `nbcc run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// A source file, or a binary or assembly made by nbcc; `-` is standard input
    #[arg(value_name = "INPUT|FILE.nbx")]
    pub program: PathBuf,
    #[command(flatten)]
    pub data: DataArgs,
    /// How kernels are launched; <stem>.toml beside the program where not given
    #[arg(long, value_name = "FILE.toml")]
    pub launch: Option<PathBuf>,
    /// Write statistics as JSON
    #[arg(long, value_name = "FILE.json")]
    pub stats: Option<PathBuf>,
    /// Write a timeline for Perfetto or chrome://tracing
    #[arg(long, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,
    /// Show the cycles of each function and each source line
    #[arg(long)]
    pub profile: bool,
    /// Write the same as JSON, for --profile-use
    #[arg(long, value_name = "FILE.json")]
    pub profile_out: Option<PathBuf>,
    /// Stop after so many cycles; with --check, the interpreter after 65536 steps for each
    #[arg(long, value_name = "N")]
    pub max_cycles: Option<u64>,
    /// Compare the outputs with the reference interpreter's
    #[arg(long)]
    pub check: bool,
    /// Leave timing out
    #[arg(long, conflicts_with_all = ["trace", "profile", "profile_out"])]
    pub fast: bool,
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub passes: PassArgs,
}

/// `nbcc interp`.
#[derive(Args, Debug)]
pub struct InterpArgs {
    /// The source file
    #[arg(value_name = "INPUT")]
    pub source: PathBuf,
    #[command(flatten)]
    pub language: LanguageArgs,
    /// The target whose directives the source may use
    #[arg(long, value_name = "T")]
    pub target: Option<String>,
    #[command(flatten)]
    pub data: DataArgs,
    /// How kernels are launched; <stem>.toml beside the program where not given
    #[arg(long, value_name = "FILE.toml")]
    pub launch: Option<PathBuf>,
    /// Stop after so many steps: instructions of all threads of a launch (2^32 where not given), or
    /// operations on elements of images (2^40)
    #[arg(long, value_name = "N")]
    pub max_steps: Option<u64>,
}

/// `nbcc objdump`.
#[derive(Args, Debug)]
pub struct ObjdumpArgs {
    /// The binary
    #[arg(value_name = "FILE.nbx")]
    pub binary: PathBuf,
    /// Where the text goes; stdout where not given
    #[arg(short = 'o', value_name = "OUT")]
    pub out: Option<PathBuf>,
}

/// `nbcc as`.
#[derive(Args, Debug)]
pub struct AsArgs {
    /// The assembly
    #[arg(value_name = "FILE.s")]
    pub source: PathBuf,
    /// Where the binary goes; <stem>.nbx where not given
    #[arg(short = 'o', value_name = "OUT")]
    pub out: Option<PathBuf>,
    /// The target whose assembly it is
    #[arg(long, value_name = "T")]
    pub target: Option<String>,
}

/// `nbcc diff`.
#[derive(Args, Debug)]
pub struct DiffArgs {
    /// The source file
    #[arg(value_name = "INPUT")]
    pub source: PathBuf,
    /// Only what this pass changed
    #[arg(long, value_name = "P", conflicts_with_all = ["from", "to"])]
    pub pass: Option<String>,
    /// Compare the program before this pass ...
    #[arg(long, value_name = "P", requires = "to")]
    pub from: Option<String>,
    /// ... with the program after this one
    #[arg(long, value_name = "Q", requires = "from")]
    pub to: Option<String>,
    #[command(flatten)]
    pub known: KnownArgs,
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub passes: PassArgs,
}

/// `nbcc explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// A source file, a line of it, a diagnostic code, or a word of the table that `run` prints
    #[arg(value_name = "FILE[:LINE] | CODE | WORD", required_unless_present = "list")]
    pub what: Option<String>,
    /// List every diagnostic code with its title
    #[arg(long, conflicts_with = "what")]
    pub list: bool,
    #[command(flatten)]
    pub known: KnownArgs,
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub passes: PassArgs,
}

/// `nbcc bench`.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// A suite by name, or a suite file
    #[arg(value_name = "SUITE|FILE.toml", required_unless_present = "list")]
    pub suite: Option<String>,
    /// List the suites by name
    #[arg(long, conflicts_with = "suite")]
    pub list: bool,
    /// Small sizes
    #[arg(long)]
    pub quick: bool,
    /// Policies of offloading against the best choice there is, instead of figures
    #[arg(long, conflicts_with_all = ["figure", "plot"])]
    pub tournament: bool,
    /// Only this program; may be given several times
    #[arg(long, value_name = "NAME")]
    pub workload: Vec<String>,
    /// Only this figure; may be given several times
    #[arg(long, value_name = "NAME")]
    pub figure: Vec<String>,
    /// Where the sources of the programs lie [default: beside the suite file, bundled ones for a name]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Write the figures and all that was measured as JSON
    #[arg(long, value_name = "FILE.json")]
    pub stats: Option<PathBuf>,
    /// Draw the figures
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Print JSON instead of tables
    #[arg(long)]
    pub json: bool,
    /// Simulate on so many threads [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: Option<u32>,
}

/// `nbcc map`.
#[derive(Args, Debug)]
pub struct MapArgs {
    /// The graph, as JSON or dot; `-` is standard input
    #[arg(value_name = "FILE.json|FILE.dot")]
    pub graph: PathBuf,
    /// Rows and columns of the array, from 2x2 to 16x16 [default: 8x8]
    #[arg(long, value_name = "RxC", value_parser = array_sides)]
    pub array: Option<(u32, u32)>,
    /// Which outputs of the last cycle a PE reads [default: those up to two steps away]
    #[arg(long, value_name = "LINKS", value_parser = links())]
    pub links: Option<String>,
    /// Own registers of a PE [default: 8]
    #[arg(long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(..=i64::from(Array::MAX_REGISTERS)))]
    pub registers: Option<u32>,
    /// Loads and stores a cycle [default: 16]
    #[arg(long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(Array::MAX_MEMORY_PORTS)))]
    pub mem_ports: Option<u32>,
    /// The longest initiation interval that is tried [default: 64]
    #[arg(long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(Array::MAX_CONTEXTS)))]
    pub max_ii: Option<u32>,
    /// Search for so long at most [default: 60, and less where the search does not get on]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time_limit: Option<Duration>,
    /// Who maps [default: search]
    #[arg(long, value_name = "NAME", value_parser = mappers())]
    pub mapper: Option<String>,
    /// Write the mapping as JSON
    #[arg(long, value_name = "FILE.json")]
    pub report: Option<PathBuf>,
}

/// The values of `--links`.
fn links() -> clap::builder::PossibleValuesParser {
    Links::ALL.map(|(name, _)| name).into()
}

/// The values of `--mapper`.
fn mappers() -> clap::builder::PossibleValuesParser {
    use clap::builder::PossibleValue;
    let all = arrays::MAPPERS.iter().map(|m| PossibleValue::new(m.name).help(m.about));
    all.collect::<Vec<_>>().into()
}

/// Reads `RxC`.
fn array_sides(text: &str) -> Result<(u32, u32), String> {
    let (least, most) = Array::SIDES;
    let side = |text: &str| text.parse().ok().filter(|n| (least..=most).contains(n));
    let sides = text.split_once('x').and_then(|(r, c)| Some((side(r)?, side(c)?)));
    sides.ok_or_else(|| format!("expected rows and columns from {least} to {most}, as in 8x8"))
}

/// Reads a time in seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|s: &f64| *s > 0.0 && *s <= 86_400.0);
    let expected = || "expected seconds, more than 0 and up to 86400".to_string();
    seconds.map(Duration::from_secs_f64).ok_or_else(expected)
}

/// `nbcc memtrace`.
#[derive(Args, Debug)]
pub struct MemtraceArgs {
    /// The trace: `R|W bank row column` a line
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// The DRAM's parameters
    #[arg(long, value_name = "FILE.toml")]
    pub machine: PathBuf,
    /// Change a parameter, as in tRCD=16 or scheduler=fr-fcfs
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// Requests outstanding at a time; 0: as many as the queues hold
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub window: u32,
    /// Leave refresh out
    #[arg(long)]
    pub no_refresh: bool,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE.json")]
    pub stats: Option<PathBuf>,
}

/// `nbcc maptrace`.
#[derive(Args, Debug)]
pub struct MaptraceArgs {
    /// The trace: `INSTANCE R|W ADDRESS` a line
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// A machine with memory stacks [default: the first of the target that has them]
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Change a parameter of the machine, as in map.highest_bit=20
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// The share of the instances to learn from, above 0 and up to 1 [default: the machine's]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub learn: Option<f64>,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE.json")]
    pub stats: Option<PathBuf>,
}

/// A number above 0 and up to 1.
fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("a share is a number above 0 and up to 1, as 0.001".into()),
    }
}

/// `nbcc targets`.
#[derive(Args, Debug)]
pub struct TargetsArgs {
    /// List the parameters of this machine
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// With its values changed, as in dram.tRCD=16
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value, requires = "machine")]
    pub set: Vec<(String, String)>,
    /// Only this target
    #[arg(long, value_name = "T")]
    pub target: Option<String>,
    /// Print the folder of the headers that languages ship, for other compilers
    #[arg(long, conflicts_with_all = ["machine", "target"])]
    pub include_dir: bool,
}

/// `nbcc completions`.
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell that is to read it
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// `nbcc man`.
#[derive(Args, Debug)]
pub struct ManArgs {
    /// The command that it is about; nbcc as a whole where none is named
    #[arg(value_name = "COMMAND")]
    pub about: Option<String>,
}

/// Extents in elements, the fastest dimension first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extents(pub Vec<u32>);

fn definition(text: &str) -> Result<String, String> {
    let name = text.split('=').next().unwrap_or_default();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match name.starts_with(|c: char| is_part(c) && !c.is_ascii_digit()) && name.chars().all(is_part)
    {
        true => Ok(text.to_string()),
        false => Err("expected NAME or NAME=VALUE, the name of a macro".to_string()),
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_string(), value.to_string())),
        _ => Err("expected NAME=VALUE".to_string()),
    }
}

fn name_file(text: &str) -> Result<(String, String), String> {
    let pair = key_value(text).ok().filter(|(_, file)| !file.is_empty());
    pair.ok_or_else(|| "expected NAME=FILE".to_string())
}

/// Reads `W`, `WxH`, `WxHxC` and so on; every extent is at least 1 and fits 32 bits with a sign.
pub fn extents(text: &str) -> Result<Extents, String> {
    const DIMENSIONS: usize = 8;
    let parts: Vec<&str> = text.split('x').collect();
    if parts.len() > DIMENSIONS {
        return Err(format!("expected extents of up to {DIMENSIONS} dimensions"));
    }
    let extent = |part: &&str| part.parse().ok().filter(|&n| (1..=i32::MAX as u32).contains(&n));
    if let Some(extents) = parts.iter().map(extent).collect() {
        return Ok(Extents(extents));
    }
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_large =
        |part: &&&str| is_number(part) && part.bytes().any(|b| b != b'0') && extent(part).is_none();
    Err(match parts.iter().find(is_large) {
        Some(part) if parts.iter().all(is_number) => {
            format!("an extent is at most {}, and {part} is more", i32::MAX)
        }
        _ => "expected extents of at least 1, as in 640x480".to_string(),
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_options_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn extents_are_read() {
        assert_eq!(extents("640x480"), Ok(Extents(vec![640, 480])));
        for wrong in ["", "0", "4x", "x4", "-1", "4X4", "9999999999", "1x2x3x4x5x6x7x8x9"] {
            assert!(extents(wrong).is_err(), "{wrong}");
        }
    }
}
