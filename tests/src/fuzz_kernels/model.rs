//! A random kernel: registers of each class, a tree of statements, and its text.

use std::fmt::Write;

/// Register classes and how many registers a kernel has of each.
pub const CLASSES: [(char, usize, &str); 6] = [
    ('w', 8, "b32"),
    ('d', 4, "b64"),
    ('h', 3, "b16"),
    ('f', 5, "f32"),
    ('g', 3, "f64"),
    ('p', 4, "pred"),
];

/// Words of the input.
pub const INPUT_WORDS: u32 = 64;

/// Words that each thread writes in the end.
pub const RESULT_WORDS: u32 = 8 + 2 * 4 + 3 + 5 + 2 * 3 + 4;

/// Counters of each atomic operation, in global and in shared memory.
pub const COUNTERS: u32 = 8;

/// A kernel and its launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// What decides the input's contents.
    pub seed: u64,
    /// Threads of a block.
    pub block: u32,
    /// Blocks.
    pub grid: u32,
    /// The body.
    pub body: Vec<Statement>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Lines without control flow, under a guard such as `@!%p1`, if there is one.
    Lines(String, Option<String>),
    /// A condition and both sides. Operations of the lanes that go the first way find their mask in
    /// `%mask` where the statement stands at the top.
    If(Condition, Vec<Statement>, Vec<Statement>),
    /// A loop that ends after so many rounds, or earlier where the predicate says so.
    Loop(Trips, Option<String>, Vec<Statement>),
    /// Several ways by a number, through a table of branches.
    Switch(String, Vec<Vec<Statement>>),
}

/// What decides a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A predicate register, as `%p0` or `!%p0`.
    Thread(String),
    /// The same, where all threads of a warp come by.
    Warp(String),
    /// Whether the number of the block is odd: the same in all threads of a block.
    Block,
}

/// How often a loop runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trips {
    /// So often.
    Constant(u32),
    /// The low bits of a register.
    Register(String, u32),
}

impl Kernel {
    /// The PTX.
    pub fn text(&self) -> String {
        let mut writer = Writer::default();
        writer.statements(&self.body);
        let mut text = String::new();
        let _ = writeln!(
            text,
            "// grid {} block {} seed {}\n.version 7.8\n.target sm_80\n.address_size 64",
            self.grid, self.block, self.seed
        );
        text.push_str(PROLOGUE);
        for (class, count, ty) in CLASSES {
            let _ = writeln!(text, "\t.reg .{ty} %{class}<{count}>;");
        }
        let _ = writeln!(text, "\t.reg .b32 %count<{}>;", writer.labels + 1);
        text.push_str(START);
        text.push_str(&first_values());
        text.push_str(&writer.text);
        text.push_str(&results());
        text.push_str("\tret;\n}\n");
        text
    }
}

/// A function for calls, and the kernel's names.
const PROLOGUE: &str = "
.func (.param .b32 result) blend(.param .b32 a, .param .b64 b)
{
\t.reg .b32 %x, %y;
\t.reg .b64 %z;
\t.reg .pred %odd;
\tld.param.b32 %x, [a];
\tld.param.b64 %z, [b];
\tcvt.u32.u64 %y, %z;
\tand.b32 %y, %y, 1;
\tsetp.ne.u32 %odd, %y, 0;
\t@%odd bra $Lodd;
\tmul.lo.u32 %x, %x, 3;
\tst.param.b32 [result], %x;
\tret;
$Lodd:
\tshr.u64 %z, %z, 7;
\tcvt.u32.u64 %y, %z;
\txor.b32 %x, %x, %y;
\tst.param.b32 [result], %x;
\tret;
}
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 counters)
{
\t.shared .align 16 .b32 exchange[1024];
\t.shared .align 4 .b32 sums[64];
\t.local .align 16 .b8 stack[64];
\t.reg .b64 %in, %out, %counters, %at, %base, %own;
\t.reg .b32 %thread, %threads, %block, %global, %index, %mask, %full;
\t.reg .pred %q, %leave, %odd;
";

/// Sets up addresses, the shared counters, the exchange words and local memory.
const START: &str = "\tld.param.u64 %in, [in];
\tld.param.u64 %out, [out];
\tld.param.u64 %counters, [counters];
\tcvta.to.global.u64 %in, %in;
\tcvta.to.global.u64 %out, %out;
\tcvta.to.global.u64 %counters, %counters;
\tmov.u32 %thread, %tid.x;
\tmov.u32 %threads, %ntid.x;
\tmov.u32 %block, %ctaid.x;
\tmad.lo.u32 %global, %block, %threads, %thread;
\tand.b32 %index, %block, 1;
\tsetp.ne.u32 %odd, %index, 0;
\tactivemask.b32 %full;
\tmov.u64 %own, exchange;
\tmul.wide.u32 %at, %thread, 4;
\tadd.u64 %own, %own, %at;
\tst.shared.b32 [%own], %global;
\tmov.b64 %base, stack;
\tst.local.v4.b32 [%base], {%global, %thread, %threads, %full};
\tst.local.v4.b32 [%base+16], {%thread, %thread, %global, %block};
\tst.local.v4.b32 [%base+32], {%threads, %global, 5, -1};
\tst.local.v4.b32 [%base+48], {0, %global, 1, %thread};
\tsetp.ne.u32 %q, %thread, 0;
\t@%q bra $ready;
\tmov.u32 %index, 0;
\tmov.u64 %base, sums;
\tmov.u64 %at, %in;
$clear:
\tld.global.b32 %mask, [%at];
\tst.shared.b32 [%base], %mask;
\tadd.u64 %base, %base, 4;
\tadd.u64 %at, %at, 4;
\tadd.u32 %index, %index, 1;
\tsetp.lt.u32 %q, %index, 64;
\t@%q bra $clear;
$ready:
\tbar.sync 0;
";

/// Every register gets a value that differs among threads.
fn first_values() -> String {
    let mut text = String::new();
    let load = |text: &mut String, ty: &str, reg: &str, salt: usize| {
        let _ = writeln!(
            text,
            "\tmad.lo.u32 %index, %global, {}, {salt};\n\tand.b32 %index, %index, {};\n\
             \tmul.wide.u32 %at, %index, 8;\n\tadd.u64 %at, %in, %at;\n\
             \tld.global.{ty} {reg}, [%at];",
            2 * salt + 1,
            INPUT_WORDS / 2 - 1
        );
    };
    for (class, count, ty) in CLASSES {
        for number in 0..count {
            let reg = format!("%{class}{number}");
            match class {
                'p' => {
                    load(&mut text, "b32", "%index", number + 17);
                    let _ = writeln!(
                        text,
                        "\tand.b32 %index, %index, {};\n\tsetp.ne.u32 {reg}, %index, 0;",
                        1 << number
                    );
                }
                _ => load(&mut text, ty, &reg, number + class as usize % 13),
            }
        }
    }
    text
}

/// Stores every register, the thread's words of shared and local memory and the block's sums.
fn results() -> String {
    let mut text = format!(
        "\tmul.wide.u32 %at, %global, {};\n\tadd.u64 %at, %out, %at;\n",
        4 * (RESULT_WORDS + 2)
    );
    let mut offset = 0;
    for (class, count, ty) in CLASSES {
        for number in 0..count {
            let reg = format!("%{class}{number}");
            let size = match class {
                'p' => {
                    let _ = writeln!(
                        text,
                        "\tselp.b32 %index, 1, 0, {reg};\n\tst.global.b32 [%at+{offset}], %index;"
                    );
                    4
                }
                'h' => {
                    let _ = writeln!(
                        text,
                        "\tcvt.u32.u16 %index, {reg};\n\tst.global.b32 [%at+{offset}], %index;"
                    );
                    4
                }
                // Rows are a multiple of 4 bytes long, not of 8.
                'd' | 'g' => {
                    let _ = writeln!(
                        text,
                        "\tmov.b64 {{%index, %mask}}, {reg};\n\tst.global.b32 [%at+{offset}], %index;\n\
                         \tst.global.b32 [%at+{}], %mask;",
                        offset + 4
                    );
                    8
                }
                _ => {
                    let _ = writeln!(text, "\tst.global.{ty} [%at+{offset}], {reg};");
                    4
                }
            };
            offset += size;
        }
    }
    let _ = writeln!(
        text,
        "\tld.shared.b32 %index, [%own];\n\tst.global.b32 [%at+{offset}], %index;\n\
         \tmov.b64 %base, stack;\n\tld.local.b32 %index, [%base+20];\n\
         \tst.global.b32 [%at+{}], %index;\n\
         \tbar.sync 0;\n\tsetp.ne.u32 %q, %thread, 0;\n\t@%q bra $end;\n\
         \tmov.u64 %base, sums;\n\tmul.wide.u32 %at, %block, 256;\n\tadd.u64 %at, %counters, %at;\n\
         \tmov.u32 %index, 0;\n$copy:\n\tld.shared.b32 %mask, [%base];\n\
         \tst.global.b32 [%at+256], %mask;\n\tadd.u64 %base, %base, 4;\n\tadd.u64 %at, %at, 4;\n\
         \tadd.u32 %index, %index, 1;\n\tsetp.lt.u32 %q, %index, 64;\n\t@%q bra $copy;\n$end:",
        offset + 4
    );
    text
}

#[derive(Default)]
struct Writer {
    text: String,
    labels: usize,
}

impl Writer {
    fn label(&mut self) -> String {
        self.labels += 1;
        format!("$L{}", self.labels)
    }

    fn place(&mut self, label: &str) {
        let _ = writeln!(self.text, "{label}:");
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "\t{line}");
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Lines(lines, None) => self.line(lines),
                Statement::Lines(lines, Some(guard)) => {
                    let guarded = lines.replace("\n\t", &format!("\n\t{guard} "));
                    self.line(&format!("{guard} {guarded}"));
                }
                Statement::If(condition, then, other) => self.branch(condition, then, other),
                Statement::Loop(trips, leave, body) => self.repeat(trips, leave.as_deref(), body),
                Statement::Switch(register, ways) => self.switch(register, ways),
            }
        }
    }

    fn branch(&mut self, condition: &Condition, then: &[Statement], other: &[Statement]) {
        let (otherwise, end) = (self.label(), self.label());
        let predicate = match condition {
            Condition::Thread(predicate) | Condition::Warp(predicate) => predicate,
            Condition::Block => "%odd",
        };
        if let Condition::Warp(predicate) = condition {
            self.line(&format!("vote.sync.ballot.b32 %mask, {predicate}, %full;"));
        }
        let guard = match predicate.strip_prefix('!') {
            Some(plain) => format!("@{plain}"),
            None => format!("@!{predicate}"),
        };
        self.line(&format!("{guard} bra {otherwise};"));
        self.statements(then);
        self.line(&format!("bra {end};"));
        self.place(&otherwise);
        self.statements(other);
        self.place(&end);
    }

    fn repeat(&mut self, trips: &Trips, leave: Option<&str>, body: &[Statement]) {
        let (head, end) = (self.label(), self.label());
        let count = format!("%count{}", self.labels);
        match trips {
            Trips::Constant(trips) => self.line(&format!("mov.u32 {count}, {trips};")),
            Trips::Register(register, mask) => {
                self.line(&format!("and.b32 {count}, {register}, {mask};"));
                self.line(&format!("add.u32 {count}, {count}, 1;"));
            }
        }
        self.place(&head);
        self.statements(body);
        if let Some(predicate) = leave {
            self.line(&format!("@{predicate} bra {end};"));
        }
        self.line(&format!("sub.u32 {count}, {count}, 1;"));
        self.line(&format!("setp.ne.u32 %leave, {count}, 0;"));
        self.line(&format!("@%leave bra {head};"));
        self.place(&end);
    }

    fn switch(&mut self, register: &str, ways: &[Vec<Statement>]) {
        let (table, end) = (self.label(), self.label());
        let labels: Vec<String> = ways.iter().map(|_| self.label()).collect();
        self.line(&format!("and.b32 %index, {register}, {};", ways.len() - 1));
        self.place(&table);
        self.line(&format!(".branchtargets {};", labels.join(", ")));
        self.line(&format!("brx.idx %index, {table};"));
        for (label, way) in labels.iter().zip(ways) {
            self.place(label);
            self.statements(way);
            self.line(&format!("bra {end};"));
        }
        self.place(&end);
    }
}
