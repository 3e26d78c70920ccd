//! What was decided and found out on the way to a plan, as data: `explain` prints it, and remarks
//! are made of it.

use nbcc_base::Span;
use nbcc_placement::{Message, Remark, RemarkKind, Term};
use nbcc_stages::Func;

/// One decision or finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The input, parameter or Func that it is about, by name; empty for parameters.
    pub about: String,
    /// Where that is in the source.
    pub span: Option<Span>,
    /// What it is.
    pub kind: FindingKind,
}

/// What was decided or found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// The program is for one value of a parameter, since bounds depend on it.
    FixedParameter {
        /// The parameter.
        param: String,
        /// Its value.
        value: String,
    },
    /// Whether a Func without a schedule is computed whole, or at each use.
    Scheduled {
        /// Whether it is computed whole.
        whole: bool,
        /// Estimated cycles of the program.
        cycles: u64,
        /// Those where the other was chosen, if that was tried.
        other: Option<u64>,
    },
    /// The schedule is the fastest of several, by the estimate of their code.
    Compared {
        /// How many were compiled.
        count: usize,
        /// Estimated cycles of the program.
        cycles: u64,
        /// Those of the one that was compiled first: the best by the estimate of plans.
        first: u64,
    },
    /// A Func is computed whole that nothing asks for, for the sake of the inlining budget.
    NotRepeated,
    /// A Func is not computed tile by tile.
    NotDistributed {
        /// The Func.
        func: Func,
        /// How many of its updates are reduced in parts.
        parts: usize,
        /// Why.
        why: String,
    },
    /// A scan of one dimension runs in blocks beside each other.
    ScannedByParts {
        /// How many.
        parts: u32,
        /// Points of a block.
        points: u32,
    },
    /// The values of a Tuple are reduced in parts, each by Funcs of their own.
    ReducedByValue {
        /// How many it has.
        values: usize,
    },
    /// Windows are reduced line by line first.
    ReducedByLine {
        /// The dimension that lines follow each other along.
        along: String,
    },
    /// The domain of an update goes in chunks, of which windows hold what tiles read.
    InChunks {
        /// Values of its last variable.
        all: u32,
        /// Those of a chunk.
        length: u32,
    },
    /// Other dimensions come first, and are distributed, than in the source.
    Reordered {
        /// The Func.
        func: Func,
        /// Them.
        along: Vec<String>,
    },
    /// Tiles have another size than was asked for.
    TileRounded {
        /// Width and height that were asked for.
        asked: [u32; 2],
        /// Those that are made.
        made: [u32; 2],
        /// Why.
        why: String,
    },
    /// Not all that `load_pgsm` asks for is staged.
    NotAllStaged,
    /// A buffer is copied to another distribution.
    Redistributed {
        /// The name of the copy.
        to: String,
    },
    /// What became of a directive.
    Directive {
        /// It, as the source has it.
        text: String,
        /// The update that it is for; `None` for the pure definition.
        update: Option<usize>,
        /// How it is followed, or why it is not.
        verdict: Result<String, String>,
    },
}

impl Finding {
    /// The sentence.
    pub fn message(&self) -> Message {
        match &self.kind {
            FindingKind::FixedParameter { param, .. } => Message::of("bounds depend on `")
                .value("Param", param)
                .text("`: the program is for one value"),
            FindingKind::Scheduled { whole, cycles, other } => {
                let (this, that) = match whole {
                    true => ("computed whole", "at each use"),
                    false => ("computed at each use", "whole"),
                };
                let message = Message::of(format!("{this}: about "))
                    .value("EstimatedCycles", cycles)
                    .text(" cycles in all");
                match other {
                    None => message,
                    Some(cycles) => message
                        .text(", ")
                        .value("OtherCycles", cycles)
                        .text(format!(" if it were computed {that}")),
                }
            }
            FindingKind::Compared { count, cycles, first } => Message::of("the fastest of ")
                .value("Schedules", count)
                .text(" schedules by their code: about ")
                .value("EstimatedCycles", cycles)
                .text(" cycles in all, ")
                .value("FirstCycles", first)
                .text(" with the one thought best before"),
            FindingKind::NotRepeated => {
                Message::of("computed whole: computed at each use, it makes the program too large")
            }
            FindingKind::NotDistributed { parts, why, .. } => {
                let how = match parts {
                    0 => "computed on one engine".to_string(),
                    1 => "kept on one engine, an update reduced in parts".to_string(),
                    n => format!("kept on one engine, {n} updates reduced in parts"),
                };
                Message::of_value("Func", &self.about).text(format!(" is {how}: {why}"))
            }
            FindingKind::ScannedByParts { parts, points } => Message::of_value("Func", &self.about)
                .text(" is scanned in ")
                .value("Parts", parts)
                .text(" blocks of ")
                .value("Points", points)
                .text(", which are combined then"),
            FindingKind::ReducedByValue { values } => Message::of("the ")
                .value("Values", values)
                .text(" values of ")
                .value("Func", &self.about)
                .text(" are reduced in parts, one by one"),
            FindingKind::ReducedByLine { along } => Message::of("windows of ")
                .value("Func", &self.about)
                .text(" are reduced line by line, then along ")
                .value("Along", along),
            FindingKind::InChunks { all, length } => Message::of_value("Func", &self.about)
                .text(" is updated in chunks of ")
                .value("Length", length)
                .text(" of the ")
                .value("All", all)
                .text(" values of its domain's last variable, for which windows have room"),
            FindingKind::Reordered { along, .. } => Message::of_value("Func", &self.about)
                .text(" is distributed along ")
                .value("Along", along.join(" and ")),
            FindingKind::TileRounded { asked, made, why } => {
                let by = |tile: &[u32; 2]| format!("{} x {}", tile[0], tile[1]);
                Message::of("tiles of ")
                    .value("Asked", by(asked))
                    .text(" are made ")
                    .value("Made", by(made))
                    .text(format!(": {why}"))
            }
            FindingKind::NotAllStaged => Message::of(
                "what lies in the own bank is read from there: the scratchpad of a group does \
                 not hold all that `load_pgsm` would stage",
            ),
            FindingKind::Redistributed { to } => Message::of_value("From", &self.about)
                .text(" is copied to another distribution, as ")
                .value("To", to),
            FindingKind::Directive { text, update, verdict } => {
                let of = update.map_or(String::new(), |k| format!("update({k})."));
                let (Ok(told) | Err(told)) = verdict;
                Message::of(of).value("Directive", text).text(": ").text(told)
            }
        }
    }

    /// The remark of the pass that found it.
    pub fn remark(&self) -> Remark {
        use RemarkKind::{Analysis, Missed, Passed};
        let (pass, name, kind) = match &self.kind {
            FindingKind::FixedParameter { .. } => ("extents", "FixedParameter", Analysis),
            FindingKind::Scheduled { whole: true, .. } => ("defaults", "Whole", Analysis),
            FindingKind::Scheduled { whole: false, .. } => ("defaults", "AtEachUse", Analysis),
            FindingKind::Compared { .. } => ("compare-schedules", "Compared", Analysis),
            FindingKind::NotRepeated => ("inline", "NotRepeated", Missed),
            FindingKind::NotDistributed { .. } => ("distribute", "NotDistributed", Missed),
            FindingKind::ScannedByParts { .. } => ("distribute", "ScannedByParts", Analysis),
            FindingKind::ReducedByValue { .. } => ("distribute", "ReducedByValue", Analysis),
            FindingKind::ReducedByLine { .. } => ("distribute", "ReducedByLine", Analysis),
            FindingKind::InChunks { .. } => ("distribute", "InChunks", Analysis),
            FindingKind::Reordered { .. } => ("distribute", "Reordered", Analysis),
            FindingKind::TileRounded { .. } => ("distribute", "TileRounded", Missed),
            FindingKind::NotAllStaged => ("distribute", "NotAllStaged", Missed),
            FindingKind::Redistributed { .. } => ("distribute", "Redistributed", Analysis),
            FindingKind::Directive { verdict: Ok(_), .. } => ("schedule", "Followed", Passed),
            FindingKind::Directive { verdict: Err(_), .. } => ("schedule", "NotFollowed", Missed),
        };
        let terms = match &self.kind {
            FindingKind::FixedParameter { value, .. } => {
                vec![Term::new("Value", value)]
            }
            _ => vec![],
        };
        let (function, span, message) = (self.about.clone(), self.span, self.message());
        Remark { kind, pass, name, function, span, message, terms }
    }
}
