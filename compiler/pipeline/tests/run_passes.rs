//! The runner of passes, on a state that writes down what happens to it.

use nbcc_base::{CodeInfo, Diagnostic, Diagnostics, Failed, SourceMap};
use nbcc_pipeline::{
    Context, Dump, Fact, NoObserver, Observer, OptLevel, PassDesc, PassOptions, PassRecord, State,
    before, optional, pass, run_passes,
};
use nbcc_placement::{Message, Remark, RemarkKind};

static REFUSED: CodeInfo = CodeInfo {
    code: "E9999",
    title: "refused",
    explanation: "A pass refuses the state.",
    example: "",
    by_test: Some("an_error_ends_the_run"),
};

/// The names of the passes that ran; a state with `broken` in it does not verify.
#[derive(Debug, Default)]
struct Ran(Vec<&'static str>);

impl State for Ran {
    fn dumps(&self) -> Vec<Dump> {
        let dump = |name: &&str| Dump { function: name.to_string(), text: format!("{name};") };
        self.0.iter().map(dump).collect()
    }

    fn verify(&self) -> Result<(), String> {
        match self.0.contains(&"broken") {
            true => Err("something is broken".to_string()),
            false => Ok(()),
        }
    }
}

fn read(state: &mut Ran, _: &mut Context<'_>) -> Result<(), Failed> {
    state.0.push("read");
    Ok(())
}

fn fold(state: &mut Ran, _: &mut Context<'_>) -> Result<(), Failed> {
    state.0.push("fold");
    Ok(())
}

fn hoist(state: &mut Ran, _: &mut Context<'_>) -> Result<(), Failed> {
    state.0.push("hoist");
    Ok(())
}

fn write(state: &mut Ran, cx: &mut Context<'_>) -> Result<(), Failed> {
    state.0.push("write");
    cx.remarks.push(Remark {
        kind: RemarkKind::Analysis,
        pass: "write",
        name: "Written",
        function: String::new(),
        span: None,
        message: Message::of("it is written"),
        terms: vec![],
    });
    Ok(())
}

fn break_it(state: &mut Ran, _: &mut Context<'_>) -> Result<(), Failed> {
    state.0.push("broken");
    Ok(())
}

fn refuse(state: &mut Ran, cx: &mut Context<'_>) -> Result<(), Failed> {
    state.0.push("refuse");
    cx.diagnostics.fail(Diagnostic::error(&REFUSED, "it is refused"))
}

const TREE: Fact = Fact("tree");
const TEXT: Fact = Fact("text");

const PASSES: &[PassDesc<Ran>] = &[
    pass("read", "make the tree", read, &[], &[TREE]),
    optional("fold", "fold the tree", OptLevel::O1, fold, &[TREE]),
    optional("hoist", "hoist in the tree", OptLevel::O2, hoist, &[TREE]),
    pass("write", "make the text", write, &[TREE], &[TEXT]),
];

/// What is left of a run.
struct Outcome {
    state: Ran,
    done: Result<(), Failed>,
    diagnostics: Diagnostics,
    remarks: Vec<Remark>,
}

fn run_watched(
    passes: &[PassDesc<Ran>],
    options: PassOptions,
    observer: &mut dyn Observer,
) -> Outcome {
    let (mut diagnostics, mut remarks) = (Diagnostics::default(), vec![]);
    let mut state = Ran::default();
    let mut cx = Context {
        sources: &SourceMap::default(),
        diagnostics: &mut diagnostics,
        remarks: &mut remarks,
        passes: &options,
        observer,
    };
    let done = run_passes(passes, &mut state, &mut cx);
    Outcome { state, done, diagnostics, remarks }
}

fn run(passes: &[PassDesc<Ran>], options: PassOptions) -> Outcome {
    run_watched(passes, options, &mut NoObserver)
}

fn at(level: OptLevel) -> PassOptions {
    PassOptions { level, ..PassOptions::default() }
}

fn without(names: &[&str]) -> PassOptions {
    let disabled = names.iter().map(|name| name.to_string()).collect();
    PassOptions { disabled, ..PassOptions::default() }
}

/// What a panic says.
fn panic_of(run: impl FnOnce() -> Outcome + std::panic::UnwindSafe) -> String {
    let payload = std::panic::catch_unwind(run).map(|_| ()).expect_err("it panics");
    payload.downcast_ref::<String>().expect("a message").clone()
}

#[derive(Default)]
struct Keeps {
    dumps: bool,
    records: Vec<PassRecord>,
}

impl Observer for Keeps {
    fn wants_dumps(&self) -> bool {
        self.dumps
    }

    fn pass(&mut self, record: PassRecord) {
        self.records.push(record);
    }
}

#[test]
fn passes_run_in_the_order_of_the_list() {
    let outcome = run(PASSES, PassOptions::default());
    assert_eq!(outcome.done, Ok(()));
    assert_eq!(outcome.state.0, ["read", "fold", "hoist", "write"]);
    assert_eq!(outcome.remarks.len(), 1);
}

#[test]
fn passes_above_the_level_are_left_out() {
    let names = |level| run(PASSES, at(level)).state.0;
    assert_eq!(names(OptLevel::O0), ["read", "write"]);
    assert_eq!(names(OptLevel::O1), ["read", "fold", "write"]);
    assert_eq!(names(OptLevel::O2), ["read", "fold", "hoist", "write"]);
}

#[test]
fn optional_passes_can_be_disabled_and_others_cannot() {
    let names = |disabled: &[&str]| run(PASSES, without(disabled)).state.0;
    assert_eq!(names(&["fold"]), ["read", "hoist", "write"]);
    assert_eq!(names(&["hoist", "fold"]), ["read", "write"]);
    assert_eq!(names(&["read", "write"]), ["read", "fold", "hoist", "write"]);
}

#[test]
fn a_fact_that_nothing_established_is_a_fault_of_the_list() {
    let said = panic_of(|| run(&PASSES[1..], PassOptions::default()));
    assert!(said.contains("pass fold needs Fact(\"tree\")"), "{said}");
}

#[test]
fn a_pass_that_is_left_out_asks_for_nothing() {
    let passes = [
        optional("fold", "", OptLevel::O1, fold, &[TREE]),
        optional("hoist", "", OptLevel::O2, hoist, &[TREE]),
        pass("read", "", read, &[], &[TREE]),
    ];
    assert_eq!(run(&passes, at(OptLevel::O0)).state.0, ["read"]);
    assert_eq!(run(&passes, without(&["fold", "hoist"])).state.0, ["read"]);
}

#[test]
fn an_invalidated_fact_has_to_be_established_again() {
    let spoil = PassDesc { invalidates: &[TREE], ..pass("spoil", "", write, &[TREE], &[TEXT]) };
    let again = || pass("again", "", fold, &[TREE], &[]);
    let said = panic_of(move || {
        let passes = [pass("read", "", read, &[], &[TREE]), spoil, again()];
        run(&passes, PassOptions::default())
    });
    assert!(said.contains("pass again needs Fact(\"tree\")"), "{said}");
    let spoil = PassDesc { invalidates: &[TREE], ..pass("spoil", "", write, &[TREE], &[TEXT]) };
    let first = pass("read", "", read, &[], &[TREE]);
    let second = pass("read-again", "", read, &[TEXT], &[TREE]);
    let outcome = run(&[first, spoil, second, again()], PassOptions::default());
    assert_eq!(outcome.state.0, ["read", "write", "read", "fold"]);
}

#[test]
fn a_pass_may_establish_what_it_invalidates() {
    let rebuild = PassDesc { invalidates: &[TREE], ..pass("rebuild", "", read, &[TREE], &[TREE]) };
    let passes =
        [pass("read", "", read, &[], &[TREE]), rebuild, pass("w", "", write, &[TREE], &[])];
    assert_eq!(run(&passes, PassOptions::default()).state.0, ["read", "read", "write"]);
}

#[test]
fn observers_get_the_forms_before_and_after_each_pass() {
    let mut keeps = Keeps { dumps: true, ..Keeps::default() };
    run_watched(PASSES, without(&["hoist"]), &mut keeps);
    let texts = |dumps: &[Dump]| dumps.iter().map(|dump| dump.text.as_str()).collect::<String>();
    let seen: Vec<_> =
        keeps.records.iter().map(|r| (r.pass.name, texts(&r.before), texts(&r.after))).collect();
    let expected = [
        ("read", "", "read;"),
        ("fold", "read;", "read;fold;"),
        ("write", "read;fold;", "read;fold;write;"),
    ];
    let expected = expected.map(|(name, before, after)| (name, before.into(), after.into()));
    assert_eq!(seen, expected);
}

#[test]
fn forms_are_not_printed_for_observers_that_want_none() {
    let mut keeps = Keeps::default();
    run_watched(PASSES, PassOptions::default(), &mut keeps);
    assert_eq!(keeps.records.len(), 4);
    assert!(keeps.records.iter().all(|r| r.before.is_empty() && r.after.is_empty()));
}

#[test]
fn an_error_ends_the_run() {
    let mut keeps = Keeps::default();
    let passes = [
        pass("read", "", read, &[], &[TREE]),
        pass("refuse", "", refuse, &[TREE], &[]),
        pass("write", "", write, &[TREE], &[TEXT]),
    ];
    let outcome = run_watched(&passes, PassOptions::default(), &mut keeps);
    assert_eq!(outcome.done, Err(Failed));
    assert_eq!(outcome.state.0, ["read", "refuse"]);
    let said: Vec<&str> = outcome.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(said, ["it is refused"]);
    let seen: Vec<&str> = keeps.records.iter().map(|r| r.pass.name).collect();
    assert_eq!(seen, ["read"], "a pass that failed leaves no form to show");
}

#[test]
fn a_form_that_does_not_verify_names_the_pass_that_made_it() {
    let passes = || {
        [
            pass("read", "", read, &[], &[]),
            pass("break", "", break_it, &[], &[]),
            pass("write", "", write, &[], &[]),
        ]
    };
    let outcome = run(&passes(), PassOptions::default());
    assert_eq!(outcome.state.0, ["read", "broken", "write"], "nothing is verified unasked");
    let said = panic_of(move || {
        run(&passes(), PassOptions { verify_each: true, ..PassOptions::default() })
    });
    assert_eq!(said, "after pass break: something is broken");
}

#[test]
fn the_passes_before_one_are_found_by_its_name() {
    let names = |passes: &[PassDesc<Ran>]| passes.iter().map(|p| p.name).collect::<Vec<_>>();
    assert_eq!(names(before(PASSES, "hoist")), ["read", "fold"]);
    assert!(before(PASSES, "read").is_empty());
    let info = PASSES[1].info();
    assert_eq!((info.name, info.level, info.optional), ("fold", OptLevel::O1, true));
}
