//! The driver of attempts, on programs that are numbers: they are to be small.

use std::time::Duration;

use nbcc_base::{CodeInfo, Diagnostic, Diagnostics, Failed, SourceMap};
use nbcc_pipeline::{
    Attempt, Context, Dump, Fact, NoObserver, Observer, OptLevel, PassDesc, PassOptions,
    PassRecord, State, Stop, attempt, optional, pass, run_attempts, run_rest,
};
use nbcc_placement::{Message, Remark, RemarkKind};

static TOO_LARGE: CodeInfo = CodeInfo {
    code: "E9998",
    title: "too large",
    explanation: "The number is too large however it is made.",
    example: "",
    by_test: Some("an_attempt_may_be_the_last"),
};

/// How a number is made.
#[derive(Clone, Debug, PartialEq)]
struct Way {
    /// What it begins as.
    first: u32,
    /// What is added.
    step: u32,
    /// What is taken off at the end.
    less: u32,
}

/// A number, and the passes that ran on it.
#[derive(Clone, Debug)]
struct Number {
    way: Way,
    ran: Vec<&'static str>,
    value: u32,
    most: u32,
}

impl State for Number {
    fn dumps(&self) -> Vec<Dump> {
        vec![Dump { function: "n".into(), text: self.value.to_string() }]
    }

    fn verify(&self) -> Result<(), String> {
        match self.value {
            13 => Err("thirteen".into()),
            _ => Ok(()),
        }
    }
}

impl Attempt for Number {
    type Configuration = Way;

    fn configuration(&self) -> &Way {
        &self.way
    }

    fn configure(&mut self, way: Way) {
        self.way = way;
    }
}

fn note(cx: &mut Context<'_>, name: &'static str) {
    cx.remarks.push(remark(name));
}

fn remark(name: &'static str) -> Remark {
    Remark {
        kind: RemarkKind::Passed,
        pass: "test",
        name,
        function: String::new(),
        span: None,
        message: Message::of(name),
        terms: vec![],
    }
}

fn read(state: &mut Number, cx: &mut Context<'_>) -> Result<(), Failed> {
    state.ran.push("read");
    note(cx, "read");
    Ok(())
}

fn begin(state: &mut Number, cx: &mut Context<'_>) -> Result<(), Failed> {
    state.ran.push("begin");
    state.value = state.way.first;
    note(cx, "begin");
    Ok(())
}

fn add(state: &mut Number, cx: &mut Context<'_>) -> Result<(), Failed> {
    state.ran.push("add");
    state.value += state.way.step;
    note(cx, "add");
    Ok(())
}

fn cut(state: &mut Number, cx: &mut Context<'_>) -> Result<(), Failed> {
    state.ran.push("cut");
    state.value -= state.way.less;
    note(cx, "cut");
    Ok(())
}

/// Refuses what is too large: first less is added, then it begins with less.
fn fit(state: &mut Number, cx: &mut Context<'_>) -> Result<(), Stop<Way>> {
    state.ran.push("fit");
    let way = &state.way;
    let (new, why) = match (state.value <= state.most, way.step, way.first) {
        (true, ..) => return Ok(()),
        (_, 1.., _) => (Way { step: way.step - 1, ..way.clone() }, "less-step"),
        (_, _, 1..) => (Way { first: way.first - 1, step: 2, ..way.clone() }, "less-first"),
        _ => {
            let error = Diagnostic::error(&TOO_LARGE, "it does not fit");
            return Ok(cx.diagnostics.fail(error)?);
        }
    };
    Err(Stop::retry(new, Some(remark(why))))
}

const READ: Fact = Fact("read");
const BEGUN: Fact = Fact("begun");

const PASSES: &[PassDesc<Number, Way>] = &[
    pass("read", "", read, &[], &[READ]),
    pass("begin", "", begin, &[READ], &[BEGUN]).resuming(|_, _| true),
    optional("add", "", OptLevel::O1, add, &[BEGUN]).resuming(|a, b| a.first == b.first),
    pass("cut", "", cut, &[BEGUN], &[]).resuming(|a, b| (a.first, a.step) == (b.first, b.step)),
    attempt("fit", "", fit, &[BEGUN], &[]),
];

#[derive(Default)]
struct Watch {
    seen: Vec<String>,
    not_kept: Option<Duration>,
}

impl Observer for Watch {
    fn wants_dumps(&self) -> bool {
        true
    }

    fn pass(&mut self, record: PassRecord) {
        self.seen.push(format!("{} {}", record.pass.name, record.after[0].text));
    }

    fn not_kept(&mut self, elapsed: Duration) {
        assert_eq!(self.not_kept, None);
        self.not_kept = Some(elapsed);
    }
}

struct Outcome {
    done: Result<(), Failed>,
    state: Number,
    remarks: Vec<&'static str>,
    errors: usize,
}

fn run_with(
    passes: &[PassDesc<Number, Way>],
    most: u32,
    options: PassOptions,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut state = Number { way: Way { first: 2, step: 2, less: 0 }, ran: vec![], value: 0, most };
    let (mut diagnostics, mut remarks) = (Diagnostics::default(), vec![]);
    let mut cx = Context {
        sources: &SourceMap::default(),
        diagnostics: &mut diagnostics,
        remarks: &mut remarks,
        passes: &options,
        observer,
    };
    let done = run_attempts(passes, &mut state, &mut cx);
    let remarks = remarks.iter().map(|remark| remark.name).collect();
    Outcome { done, state, remarks, errors: diagnostics.iter().count() }
}

fn run(most: u32) -> Outcome {
    run_with(PASSES, most, PassOptions::default(), &mut NoObserver)
}

/// The rest of the passes makes attempts that begin there, and fails where one would begin before.
#[test]
fn the_rest_of_the_passes_does_not_go_back() {
    let rest = |most| {
        let way = Way { first: 2, step: 2, less: 0 };
        let mut state = Number { way, ran: vec!["before"], value: 2, most };
        let options = PassOptions::default();
        let done = run_rest(PASSES, "add", &mut state, &SourceMap::default(), &options);
        done.map(|()| (state.value, state.ran))
    };
    assert_eq!(rest(4), Ok((4, vec!["before", "add", "cut", "fit"])));
    assert_eq!(rest(3), Ok((3, vec!["before", "add", "cut", "fit"])));
    assert_eq!(rest(1), Err(Failed));
}

#[test]
fn what_fits_at_once_is_one_attempt() {
    let outcome = run(4);
    assert_eq!(outcome.done, Ok(()));
    assert_eq!(outcome.state.ran, ["read", "begin", "add", "cut", "fit"]);
    assert_eq!(outcome.remarks, ["read", "begin", "add", "cut"]);
}

/// Passes before the one that an attempt begins with do not run again, and the state is as if they
/// and those behind were the only ones that ever ran.
#[test]
fn an_attempt_begins_with_the_last_pass_before_which_nothing_differs() {
    let outcome = run(3);
    assert_eq!(outcome.state.way, Way { first: 2, step: 1, less: 0 });
    assert_eq!(outcome.state.value, 3);
    assert_eq!(outcome.state.ran, ["read", "begin", "add", "cut", "fit"]);
    assert_eq!(outcome.remarks, ["read", "begin", "add", "cut", "less-step"]);
}

/// Why less is added is told for each attempt that begins with the same number, and forgotten with
/// that number.
#[test]
fn reasons_of_attempts_go_with_what_they_were_about() {
    assert_eq!(run(2).remarks, ["read", "begin", "add", "cut", "less-step", "less-step"]);
    let outcome = run(1);
    assert_eq!(outcome.state.way, Way { first: 1, step: 0, less: 0 });
    let all = ["read", "begin", "add", "cut", "less-first", "less-step", "less-step"];
    assert_eq!(outcome.remarks, all);
}

#[test]
fn an_attempt_may_be_the_last() {
    let passes: Vec<PassDesc<Number, Way>> = vec![
        pass("read", "", read, &[], &[READ]),
        pass("begin", "", begin, &[READ], &[BEGUN]).resuming(|_, _| true),
        attempt("refuse", "", refuse, &[BEGUN], &[]),
    ];
    fn refuse(state: &mut Number, cx: &mut Context<'_>) -> Result<(), Stop<Way>> {
        if state.way.first > 0 {
            let first = state.way.first - 1;
            let way = Way { first, ..state.way.clone() };
            return Err(Stop::retry(way, Some(remark("less-first"))));
        }
        cx.diagnostics.fail(Diagnostic::error(&TOO_LARGE, "it does not fit"))?;
        Ok(())
    }
    let outcome = run_with(&passes, 0, PassOptions::default(), &mut NoObserver);
    assert_eq!(outcome.done, Err(Failed));
    assert_eq!((outcome.state.way.first, outcome.errors), (0, 1));
    assert_eq!(outcome.remarks, ["read", "begin", "less-first", "less-first"]);
}

#[test]
fn observers_see_the_attempt_that_is_kept_and_the_time_of_the_others() {
    let mut watch = Watch::default();
    run_with(PASSES, 1, PassOptions::default(), &mut watch);
    assert_eq!(watch.seen, ["read 0", "begin 1", "add 1", "cut 1", "fit 1"]);
    assert!(watch.not_kept.is_some());
    let mut watch = Watch::default();
    run_with(PASSES, 4, PassOptions::default(), &mut watch);
    assert_eq!(watch.not_kept, None);
}

#[test]
fn a_pass_that_is_left_out_is_nothing_to_begin_with() {
    let options = PassOptions { disabled: vec!["add".into()], ..PassOptions::default() };
    let outcome = run_with(PASSES, 1, options, &mut NoObserver);
    assert_eq!(outcome.state.ran, ["read", "begin", "cut", "fit"]);
    assert_eq!((outcome.state.value, outcome.state.way.first), (1, 1));
}

/// What a panic says, and what was seen before.
fn panic_of(passes: &[PassDesc<Number, Way>], options: PassOptions) -> (String, Vec<String>) {
    let mut watch = Watch::default();
    let run = std::panic::AssertUnwindSafe(|| {
        run_with(passes, 0, options, &mut watch);
    });
    let payload = std::panic::catch_unwind(run).expect_err("it panics");
    let said = payload.downcast_ref::<String>().expect("a message").clone();
    (said, watch.seen)
}

#[test]
fn what_does_not_verify_is_shown_before_the_panic() {
    fn unlucky(state: &mut Number, _: &mut Context<'_>) -> Result<(), Failed> {
        state.value = 13;
        Ok(())
    }
    let passes = [pass("read", "", read, &[], &[READ]), pass("unlucky", "", unlucky, &[READ], &[])];
    let (said, seen) =
        panic_of(&passes, PassOptions { verify_each: true, ..PassOptions::default() });
    assert_eq!(said, "after pass unlucky: thirteen");
    assert_eq!(seen, ["read 0", "unlucky 13"]);
}

#[test]
fn attempts_that_would_not_end_are_a_fault_of_the_pass() {
    fn again(state: &mut Number, _: &mut Context<'_>) -> Result<(), Stop<Way>> {
        let way = Way { less: 1 - state.way.less, ..state.way.clone() };
        Err(Stop::retry(way, None))
    }
    let passes = [
        pass("begin", "", read, &[], &[READ]).resuming(|_, _| true),
        attempt("again", "", again, &[READ], &[]),
    ];
    let (said, _) = panic_of(&passes, PassOptions::default());
    assert!(said.starts_with("pass again asks for Way"), "{said}");
    let (said, _) = panic_of(
        &[pass("read", "", read, &[], &[READ]), attempt("again", "", again, &[], &[])],
        PassOptions::default(),
    );
    assert_eq!(said, "nothing to resume at before again");
}
