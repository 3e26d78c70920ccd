//! From a seed to an input: which files there are, which of them is damaged, and the command lines
//! that read them.

use nbcc_isa::load;

use crate::fuzz::random::Random;
use crate::{fuzz, fuzz_kernels};

use super::corpus::{Corpus, Kernel};
use super::mutate;

/// What is mutated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Image pipelines.
    Halide,
    /// Kernels.
    Ptx,
    /// Launch files.
    Launch,
    /// Machine files.
    Machine,
    /// Binaries behind a right digest.
    Binary,
    /// Assembly.
    Assembly,
    /// Pictures and arrays.
    Picture,
    /// Traces of DRAM requests and the DRAM they are for.
    Trace,
    /// Options.
    Options,
}

impl Kind {
    /// Every kind, with its share of a hundred.
    pub const SHARES: [(Kind, usize); 9] = [
        (Kind::Halide, 28),
        (Kind::Ptx, 20),
        (Kind::Launch, 9),
        (Kind::Machine, 9),
        (Kind::Binary, 10),
        (Kind::Assembly, 8),
        (Kind::Picture, 8),
        (Kind::Trace, 4),
        (Kind::Options, 4),
    ];

    /// Its name, as `NBCC_FUZZ_KIND` gives it.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// Files, and command lines that read them.
#[derive(Clone, Debug)]
pub struct Case {
    /// What is mutated.
    pub kind: Kind,
    /// Files by name; the mutated one is the first.
    pub files: Vec<(String, Vec<u8>)>,
    /// The arguments of the commands that run one after another.
    pub commands: Vec<Vec<String>>,
}

/// The case of a seed, of one kind if one is named.
pub fn generate(seed: u64, corpus: &Corpus, only: Option<Kind>) -> Case {
    let mut random = Random::new(seed);
    let mut share = random.below(100);
    let drawn = Kind::SHARES.into_iter().find(|&(_, percent)| {
        let found = share < percent;
        share = share.saturating_sub(percent);
        found
    });
    let kind = only.or(drawn.map(|(kind, _)| kind)).unwrap_or(Kind::Halide);
    let mut generator = Generator { random, corpus };
    let mut case = Case { kind, files: Vec::new(), commands: Vec::new() };
    match kind {
        Kind::Halide => generator.halide(&mut case),
        Kind::Ptx => generator.ptx(&mut case),
        Kind::Launch => generator.launch(&mut case),
        Kind::Machine => generator.machine(&mut case),
        Kind::Binary => generator.binary(&mut case),
        Kind::Assembly => generator.assembly(&mut case),
        Kind::Picture => generator.picture(&mut case),
        Kind::Trace => generator.trace(&mut case),
        Kind::Options => generator.options(&mut case),
    }
    if generator.random.percent(30) {
        case.commands.iter_mut().for_each(|words| words.push("--message-format=json".into()));
    }
    case
}

/// Restores what a change to a file breaks that is not read any further then: the digest of a
/// binary, the checksums of a PNG file.
pub fn seal(case: &mut Case) {
    let Some((name, bytes)) = case.files.first_mut() else { return };
    if name.ends_with(".nbx") {
        // Where there is no place for a digest, it stays as it is.
        let _ = load::seal(bytes);
    } else if name.ends_with(".png") {
        seal_png(bytes);
    }
}

/// Chunks have a length, a type, contents, and the sum of type and contents.
fn seal_png(bytes: &mut [u8]) {
    let mut at = 8;
    while let Some(length) = bytes.get(at..at + 4) {
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize;
        let Some(sum) = bytes.get(at + 4..at + 8 + length).map(crc32fast::hash) else { return };
        let end = at + 8 + length;
        let Some(place) = bytes.get_mut(end..end + 4) else { return };
        place.copy_from_slice(&sum.to_be_bytes());
        at = end + 4;
    }
}

const EXTREMES: [&str; 14] = [
    "0",
    "-1",
    "1",
    "3",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967296",
    "18446744073709551615",
    "1e40",
    "nan",
    "",
    "x",
    "\u{e9}",
];

const SIZES: [&str; 12] = [
    "1",
    "9x7",
    "1x1",
    "33x2",
    "5x4x3",
    "1x1x1x1x1x1x1x1",
    "0x0",
    "9x",
    "64x64",
    "2147483647",
    "1x2147483647",
    "65536x65536x4",
];

fn words(line: &str) -> Vec<String> {
    line.split(' ').filter(|word| !word.is_empty()).map(str::to_string).collect()
}

struct Generator<'a> {
    random: Random,
    corpus: &'a Corpus,
}

impl<'a> Generator<'a> {
    fn one<T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.random.below(from.len())]
    }

    fn text(&mut self, original: &[u8], others: &[&[u8]]) -> Vec<u8> {
        mutate::text(&mut self.random, original, others)
    }

    /// A text of keys and values, most of which are numbers.
    fn settings(&mut self, original: &[u8], others: &[&[u8]]) -> Vec<u8> {
        if self.random.percent(40) {
            mutate::numbers(&mut self.random, original)
        } else {
            self.text(original, others)
        }
    }

    /// One of `options`, so many times of a hundred.
    fn some(&mut self, percent: usize, options: &[&str]) -> String {
        if self.random.percent(percent) { self.random.pick(options).to_string() } else { "".into() }
    }

    /// Options that say how passes run.
    fn passes(&mut self) -> String {
        let level = self.some(40, &["-O0", "-O1", "-O2"]);
        let more = self.some(
            15,
            &[
                "--verify-each",
                "--print-changed",
                "--print-changed=diff",
                "--print-after-all",
                "--time-passes",
                "--fsave-optimization-record",
                "--disable-pass cse",
                "--disable-pass licm",
                "--disable-pass nothing",
            ],
        );
        format!("{level} {more}")
    }

    /// A command that reads a source and perhaps runs it, with `options` of the target.
    fn on_source(&mut self, source: &str, options: &str, launch: &str) -> Vec<String> {
        let passes = self.passes();
        words(&match self.random.below(12) {
            0..=3 => {
                let form = self.some(50, &["asm", "ir", "stages", "machine-ir", "remarks", "bin"]);
                let emit = if form.is_empty() { form } else { format!("--emit {form}") };
                format!("compile {source} {options} {passes} {emit} -o a.out")
            }
            4..=7 => {
                let more = self.some(
                    50,
                    &["--check", "--fast", "--profile", "--stats a.json", "--trace a.json"],
                );
                format!("run {source} {options} {launch} {passes} --max-cycles 20000 {more}")
            }
            8 | 9 => {
                let size = if launch.is_empty() { "--size 9x7" } else { "" };
                format!("interp {source} {size} {launch} --max-steps 1000000")
            }
            10 => {
                let line = self.some(50, &[":1", ":2", ":5", ":0", ":99999999999999999999"]);
                format!("explain {source}{line} {options}")
            }
            _ => {
                let pass =
                    self.some(20, &["--pass cse", "--pass select", "--from cse --to select"]);
                format!("diff {source} {options} {pass}")
            }
        })
    }

    fn halide(&mut self, case: &mut Case) {
        let others: Vec<&[u8]> = self.corpus.pipelines.iter().map(Vec::as_slice).collect();
        let original = if self.random.percent(30) {
            fuzz::generate::generate(self.random.below(1 << 30) as u64).text().into_bytes()
        } else {
            self.random.pick(&others).to_vec()
        };
        case.files.push(("a.halide".into(), self.text(&original, &others)));
        // The whole machine takes longer to set up.
        let machine = if self.random.percent(10) { "" } else { "--machine ipim-vault" };
        let size = if self.random.percent(10) { "" } else { "--size 9x7" };
        case.commands.push(self.on_source("a.halide", &format!("{machine} {size}"), ""));
    }

    fn add_kernel(&mut self, case: &mut Case, kernel: &Kernel) {
        case.files.push(("k.toml".into(), kernel.launch.clone()));
        case.files.extend(kernel.data.iter().cloned());
    }

    fn ptx(&mut self, case: &mut Case) {
        let corpus = self.corpus;
        let mut others: Vec<&[u8]> = corpus.modules.iter().map(Vec::as_slice).collect();
        others.extend(corpus.kernels.iter().map(|kernel| kernel.ptx.as_slice()));
        if self.random.percent(50) {
            let original = if self.random.percent(30) {
                fuzz_kernels::generate::generate(self.random.below(1 << 30) as u64)
                    .text()
                    .into_bytes()
            } else {
                self.random.pick(&others).to_vec()
            };
            case.files.push(("a.ptx".into(), self.text(&original, &others)));
            case.commands.push(self.on_source("a.ptx", "", ""));
            return;
        }
        let kernel = self.one(&corpus.kernels);
        case.files.push(("a.ptx".into(), self.text(&kernel.ptx, &others)));
        self.add_kernel(case, kernel);
        case.commands.push(self.on_source("a.ptx", "", "--launch k.toml"));
    }

    fn launch(&mut self, case: &mut Case) {
        let corpus = self.corpus;
        let others: Vec<&[u8]> =
            corpus.kernels.iter().map(|kernel| kernel.launch.as_slice()).collect();
        let kernel = self.one(&corpus.kernels);
        self.add_kernel(case, kernel);
        case.files[0].1 = self.settings(&kernel.launch, &others);
        case.files.push(("a.ptx".into(), kernel.ptx.clone()));
        case.commands.push(words(if self.random.percent(60) {
            "run a.ptx --launch k.toml --max-cycles 20000"
        } else {
            "interp a.ptx --launch k.toml --max-steps 1000000"
        }));
    }

    fn machine(&mut self, case: &mut Case) {
        let corpus = self.corpus;
        let others: Vec<&[u8]> = corpus.machines.iter().map(|(_, text)| text.as_slice()).collect();
        let (target, original) = self.one(&corpus.machines);
        case.files.push(("m.toml".into(), self.settings(original, &others)));
        let set = if self.random.percent(20) { self.set() } else { String::new() };
        if self.random.percent(25) {
            case.commands.push(words(&format!("targets --target {target} --machine m.toml {set}")));
            return;
        }
        if *target == "ipim" {
            case.files.push(("a.halide".into(), self.one(&corpus.pipelines).clone()));
            let options = format!("--machine m.toml --size 9x7 {set}");
            case.commands.push(self.on_source("a.halide", &options, ""));
        } else {
            let kernel = self.one(&corpus.kernels);
            self.add_kernel(case, kernel);
            case.files.push(("a.ptx".into(), kernel.ptx.clone()));
            let options = format!("--machine m.toml {set}");
            case.commands.push(self.on_source("a.ptx", &options, "--launch k.toml"));
        }
    }

    /// A parameter of a machine, changed to something.
    fn set(&mut self) -> String {
        let corpus = self.corpus;
        let (_, text) = self.one(&corpus.machines);
        let text = String::from_utf8_lossy(text);
        let keys: Vec<&str> = text
            .lines()
            .filter_map(|line| Some(line.split_once('=')?.0.trim()))
            .filter(|key| key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
            .collect();
        let section = self.random.pick(&["", "dram.", "network.", "energy.", "core.", "pe."]);
        format!("--set {section}{}={}", self.random.pick(&keys), self.random.pick(&EXTREMES))
    }

    fn binary(&mut self, case: &mut Case) {
        let corpus = self.corpus;
        let others: Vec<&[u8]> = corpus.programs.iter().map(|p| p.binary.as_slice()).collect();
        let program = self.one(&corpus.programs);
        let damaged = mutate::binary(&mut self.random, &program.binary, &others);
        case.files.push(("a.nbx".into(), damaged));
        seal(case);
        self.run_program(case, program.kernel);
    }

    /// Commands that read `a.nbx`.
    fn run_program(&mut self, case: &mut Case, kernel: Option<usize>) {
        let launch = kernel.map_or("", |at| {
            self.add_kernel(case, &self.corpus.kernels[at]);
            "--launch k.toml"
        });
        let more = self.some(30, &["--fast", "--profile", "--stats a.json", "--trace a.json"]);
        case.commands.push(words(&if self.random.percent(70) {
            format!("run a.nbx {launch} --max-cycles 20000 {more}")
        } else {
            "objdump a.nbx -o b.s".into()
        }));
    }

    fn assembly(&mut self, case: &mut Case) {
        let corpus = self.corpus;
        let others: Vec<&[u8]> = corpus.programs.iter().map(|p| p.assembly.as_slice()).collect();
        let program = self.one(&corpus.programs);
        case.files.push(("a.s".into(), self.settings(&program.assembly, &others)));
        let target = self.some(20, &["--target ipim", "--target mpu"]);
        case.commands.push(words(&format!("as a.s {target}")));
        if self.random.percent(50) {
            self.run_program(case, program.kernel);
        }
    }

    fn picture(&mut self, case: &mut Case) {
        let corpus = self.corpus;
        let (extension, original) = self.one(&corpus.pictures);
        let others: Vec<&[u8]> =
            corpus.pictures.iter().map(|(_, bytes)| bytes.as_slice()).collect();
        let bytes = match *extension {
            "pgm" | "ppm" => self.text(original, &others),
            _ if self.random.percent(30) => self.text(original, &others),
            _ => mutate::binary(&mut self.random, original, &others),
        };
        case.files.push((format!("p.{extension}"), bytes));
        seal(case);
        let source = self.random.pick(&[
            "Func out(x, y) = in(x, y) + 1;\n",
            "Func out(x, y, c) = in(x, y, c);\n",
            "ImageParam in(UInt(8), 3);\nFunc out(x, y, c) = in(x, y, 2 - c);\n",
            "ImageParam in(Float(32), 2);\nFunc out(x, y) = in(x, y) + in(x, y + 1);\n",
            "ImageParam in(Int(16), 1);\nFunc out(x) = in(x) * 2;\n",
        ]);
        case.files.push(("a.halide".into(), source.into()));
        let shape = match *extension {
            "bin" => self.random.pick(&[
                ":4x4x3",
                ":8x6",
                ":48",
                ":0x0",
                "",
                ":4294967296x4",
                ":12x1x1x4",
            ]),
            _ => "",
        };
        let size = self.some(50, &["--size 3x2", "--size 2x2x3"]);
        let input = format!("--input in=p.{extension}{shape} {size}");
        let output = self.some(
            40,
            &[
                "out=o.npy",
                "out=o.png",
                "out=o.pgm",
                "out=o.ppm",
                "out=o.bin",
                "out=o.jpg",
                "no=o.png",
            ],
        );
        let output = if output.is_empty() { output } else { format!("--output {output}") };
        case.commands.push(words(&match self.random.below(3) {
            0 => format!("compile a.halide --machine ipim-vault {input}"),
            1 => format!("run a.halide --machine ipim-vault --max-cycles 20000 {input} {output}"),
            _ => format!("interp a.halide --max-steps 1000000 {input} {output}"),
        }));
    }

    fn trace(&mut self, case: &mut Case) {
        let corpus = self.corpus;
        let (trace, memory) = (self.one(&corpus.traces), self.one(&corpus.memories));
        let traces: Vec<&[u8]> = corpus.traces.iter().map(Vec::as_slice).collect();
        let memories: Vec<&[u8]> = corpus.memories.iter().map(Vec::as_slice).collect();
        let (trace, memory) = (("t.txt".to_string(), trace), ("m.toml".to_string(), memory));
        case.files = if self.random.percent(40) {
            let damaged = self.settings(trace.1, &traces);
            vec![(trace.0, damaged), (memory.0, memory.1.clone())]
        } else {
            let damaged = self.settings(memory.1, &memories);
            vec![(memory.0, damaged), (trace.0, trace.1.clone())]
        };
        let more = self.some(
            50,
            &["--no-refresh", "--window 1", "--window 0", "--window 4294967295", "--stats a.json"],
        );
        let set = self.random.pick(&EXTREMES);
        let set = self.some(20, &[&format!("--set tRCD={set}"), &format!("--set rows={set}")]);
        case.commands.push(words(&format!("memtrace t.txt --machine m.toml {more} {set}")));
    }

    fn options(&mut self, case: &mut Case) {
        let corpus = self.corpus;
        let source = self.random.pick(&[
            "Param<int> n = 1;\nParam<float> gain = 2.0f;\nFunc out(x, y) = in(x, y) * gain + n;\n",
            "Param<uint8_t> n = 1;\nFunc out(x, y) = in(x + n, y) + in(x, y - n);\n",
            "Func out(x, y, c) = x + y * c;\n",
        ]);
        case.files.push(("a.halide".into(), source.into()));
        let extreme = self.random.pick(&EXTREMES);
        let option = match self.random.below(6) {
            0 => format!("--size {}", self.random.pick(&SIZES)),
            1 => format!("--param n={extreme} --size 9x7"),
            2 => format!("--param gain={extreme} --size 9x7"),
            3 => format!("--max-cycles {extreme} --size 9x7"),
            4 => format!(
                "-X {}={extreme} --size 9x7",
                self.random.pick(&["regalloc", "layout", "x"])
            ),
            _ => format!("{} --size 9x7", self.set()),
        };
        let machine =
            self.random.pick(&["--machine ipim-vault", "--machine ipim-vault", "", "--target mpu"]);
        let command = self.random.pick(&["run", "run", "interp", "compile", "explain", "diff"]);
        if self.random.percent(20) {
            let kernel = self.one(&corpus.kernels);
            case.files.push(("a.ptx".into(), kernel.ptx.clone()));
            self.add_kernel(case, kernel);
            case.commands.push(words(&format!("{command} a.ptx --launch k.toml {option}")));
        } else {
            case.commands.push(words(&format!("{command} a.halide {machine} {option}")));
        }
    }
}
