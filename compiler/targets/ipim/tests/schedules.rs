//! Schedules: every directive has an effect or a remark, and the schedule that `explain` prints
//! gives the same plan when it is pasted in.

use nbcc_base::{Diagnostics, SourceFile, SourceMap};
use nbcc_isa_ipim::machine::BUILT_IN;
use nbcc_pipeline::{
    Context, Emit, NoObserver, ParseOptions, PassOptions, Program, Request, Target,
};
use nbcc_placement::{Remark, RemarkKind};
use nbcc_target_ipim::IPIM;

/// The text of `explain` and the remarks, on the machine of that name; or the first error.
fn explain(source: &str, machine: &str, size: &[u32]) -> Result<(String, Vec<Remark>), String> {
    explain_by(source, machine, size, None, &[])
}

/// The same with a choice of `-X schedule`, and without some passes.
fn explain_by(
    source: &str,
    machine: &str,
    size: &[u32],
    schedule: Option<&str>,
    disabled: &[&str],
) -> Result<(String, Vec<Remark>), String> {
    let mut sources = SourceMap::default();
    let id = sources.add(SourceFile::new("t.halide", source));
    let mut diagnostics = Diagnostics::default();
    let options = ParseOptions { directives: IPIM.directives(), ..ParseOptions::default() };
    let first = |d: &Diagnostics| {
        let error = d.iter().find(|d| d.severity == nbcc_base::Severity::Error);
        error.map_or("no message".to_string(), |d| format!("{} {}", d.code.code, d.message))
    };
    let parsed = nbcc_frontend_halide::parse(id, sources.get(id), &options, &mut diagnostics);
    let Ok(pipeline) = parsed else { return Err(first(&diagnostics)) };
    let text = BUILT_IN.iter().find(|m| m.0 == machine).expect("a machine").1;
    let request = Request {
        machine: text.to_string(),
        emit: Emit::Stages,
        size: size.to_vec(),
        choices: schedule
            .map(|name| ("schedule".to_string(), name.to_string()))
            .into_iter()
            .collect(),
        ..Request::default()
    };
    let mut remarks = Vec::new();
    let disabled = disabled.iter().map(|name| name.to_string()).collect();
    let passes = PassOptions { disabled, ..PassOptions::default() };
    let mut cx = Context {
        sources: &sources,
        diagnostics: &mut diagnostics,
        remarks: &mut remarks,
        passes: &passes,
        observer: &mut NoObserver,
    };
    let result = IPIM.explain(Program::Stages(pipeline), &request, &mut cx);
    match result {
        Ok(text) => Ok((text, remarks)),
        Err(_) => Err(first(&diagnostics)),
    }
}

/// The remarks on directives: whether each was followed, and its text.
fn directives(source: &str) -> Vec<(bool, String)> {
    let (_, remarks) = explain(source, "ipim-vault", &[32, 32]).expect("it compiles");
    let said = remarks.into_iter().filter(|r| r.pass == "schedule");
    said.map(|r| (r.kind == RemarkKind::Passed, r.message.to_string())).collect()
}

const TWO: &str = "Func f(x, y) = in(x, y) * 2.0f;\nFunc out(x, y) = f(x, y - 1) + f(x, y + 1);\n";

#[test]
fn every_directive_has_a_remark() {
    // A statement, and whether each of its directives is followed.
    let cases: &[(&str, &[bool])] = &[
        ("f.compute_root();", &[true]),
        ("f.compute_inline();", &[true]),
        ("f.compute_at(out, y);", &[false]),
        ("f.compute_root().compute_inline();", &[false, true]),
        ("f.store_root().compute_at(out, y);", &[true, false]),
        ("f.store_at(out, y).compute_at(out, x);", &[false, false]),
        ("f.compute_root().store_root();", &[true, true]),
        ("out.compute_inline();", &[false]),
        ("out.split(x, xo, xi, 4);", &[false]),
        ("out.tile(x, y, xi, yi, 8, 8);", &[false]),
        ("out.fuse(x, y, t);", &[false]),
        ("out.reorder(y, x);", &[false]),
        ("out.vectorize(x, 4);", &[true]),
        ("out.vectorize(x, 16);", &[true]),
        ("out.vectorize(x, 3);", &[false]),
        ("out.vectorize(y, 4);", &[false]),
        ("out.vectorize(x);", &[true]),
        ("out.unroll(y, 2);", &[false]),
        ("out.parallel(y);", &[false]),
        ("out.parallel(y, 4);", &[false]),
        ("out.bound(x, 0, 16);", &[true]),
        ("out.set_estimate(x, 0, 32);", &[true]),
        ("out.set_estimate(x, 0, 64);", &[false]),
        ("f.set_estimate(x, 0, 64).compute_root();", &[false, true]),
        ("out.ipim_tile(x, y, xi, yi, 8, 8);", &[true]),
        ("out.ipim_tile(y, x, yi, xi, 4, 16);", &[true]),
        ("out.ipim_tile(x, xi, 8);", &[true]),
        ("out.ipim_tile(x, y, xi, yi, 7, 5);", &[false]),
        ("out.ipim_tile(x, y, xi, yi, 8, 8).ipim_tile(xi, yi, a, b, 4, 4);", &[true, false]),
        ("out.ipim_tile(x, y, xi, yi, 8, 8).load_pgsm(xi, yi);", &[true, true]),
        ("out.load_pgsm(x, y);", &[false]),
        ("f.vectorize(x, 4);", &[false]),
        ("f.load_pgsm(x);", &[false]),
    ];
    let mut wrong = String::new();
    for (statement, expected) in cases {
        let found = directives(&format!("{TWO}{statement}\n"));
        let followed: Vec<bool> = found.iter().map(|(followed, _)| *followed).collect();
        if followed != *expected {
            wrong.push_str(&format!("{statement}\n  {found:?}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn directives_of_updates_have_remarks() {
    let source = "ImageParam in(Int(32), 2);\nRDom r(0, 400);\nFunc out(x, y) = in(x, y);\n\
                  out(x, y) += r * x;\nout.update(0).vectorize(x, 4).unroll(r)\
                  .ipim_tile(x, y, xi, yi, 8, 8).load_pgsm(xi, yi);\n";
    let found = directives(source);
    let followed: Vec<bool> = found.iter().map(|(followed, _)| *followed).collect();
    assert_eq!(followed, [true, false, false, false], "{found:?}");
    assert!(found[0].1.starts_with("update(0).vectorize(x, 4): "), "{found:?}");

    // Of few points no loop is left.
    let found = directives(&source.replace("400", "4"));
    let followed: Vec<bool> = found.iter().map(|(followed, _)| *followed).collect();
    assert_eq!(followed, [false, true, false, false], "{found:?}");

    let histogram = "ImageParam in(UInt(8), 2);\nRDom r(0, 32, 0, 32);\nFunc h(i) = 0;\n\
                     h(in(r.x, r.y)) += 1;\nh.update().unroll(r.x);\nh.bound(i, 0, 256);\n";
    let found = directives(histogram);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[1].1.contains("parts are merged"), "{found:?}");
}

#[test]
fn a_schedule_can_be_set_aside() {
    let free = "ImageParam image(Float(32), 2);\nFunc in = BoundaryConditions::repeat_edge(image);\n\
                Func f(x, y) = in(x - 1, y) + in(x, y) + in(x + 1, y);\n\
                Func out(x, y) = f(x, y - 1) + f(x, y) + f(x, y + 1);\n";
    let tiles = "compute_root().ipim_tile(x, y, xi, yi, 4, 1).vectorize(xi, 4);\n";
    let slow = format!("{free}f.{tiles}out.{tiles}");
    let word = "of the cycles without this schedule: -X schedule=ignore";
    let by = |source: &str, schedule: Option<&str>| {
        explain_by(source, "ipim-vault", &[256, 128], schedule, &[]).expect("it compiles").0
    };
    let costs = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("costs in all"));
        line.expect("it is said").to_string()
    };
    let (written, ignored, default) = (by(&slow, None), by(&slow, Some("ignore")), by(free, None));
    assert!(written.contains(word), "{written}");
    assert!(!ignored.contains(word) && !default.contains(word), "{ignored}{default}");
    assert_eq!(costs(&ignored), costs(&default));
    assert_ne!(costs(&ignored), costs(&written));
}

#[test]
fn an_edge_is_no_reason_for_a_copy() {
    let read = [
        ("in(x - 1, y) + in(x + 1, y)", "Func in = BoundaryConditions::repeat_edge(image);\n"),
        (
            "image(clamp(x - 1, 0, image.width() - 1), clamp(y, 0, image.height() - 1))",
            "Func unused(x, y) = 0;\n",
        ),
        ("in(x - 1, y) + in(x, y + 1)", "Func in = BoundaryConditions::mirror_image(image);\n"),
        ("in(x - 2, y) + in(x, y + 2)", "Func in = BoundaryConditions::mirror_interior(image);\n"),
    ];
    for (value, edge) in read {
        let source = format!(
            "ImageParam image(Int(32), 2);\n{edge}Func f(x, y) = {value};\n\
             Func out(x, y) = f(x, y - 1) + f(x, y) + f(x, y + 1);\n\
             f.compute_root();\nout.compute_root();\n"
        );
        let (text, _) = explain(&source, "ipim-vault", &[128, 96]).expect("it compiles");
        assert!(!text.contains("is copied to"), "{text}");
    }
}

#[test]
fn a_free_dimension_is_distributed() {
    // What is updated, how, and along what it is distributed.
    let cases = [
        ("f(x, y) = 0;\nf(image(r, y) % 64, y) += 1", Some("along `y`")),
        ("f(x, y) = image(x, y);\nf(x, r) += f(x, r - 1)", Some("along `x`")),
        ("f(x, y) = image(x, y);\nf(r, y) += f(r - 1, y)", Some("along `y`")),
        ("f(x, y) = image(x, y);\nf(x, y) += image(r, y)", None),
        ("f(x, y) = image(x, y);\nf(r, r) += f(r - 1, r)", None),
    ];
    for (update, along) in cases {
        let source = format!(
            "ImageParam image(Int(32), 2);\nRDom r(1, 63);\nFunc f;\n{update};\n\
             Func out(x, y) = f(x, y) * 2;\nf.compute_root();\nout.compute_root();\n"
        );
        let (text, _) = explain(&source, "ipim-vault", &[64, 64]).expect("it compiles");
        match along {
            Some(along) => {
                assert!(text.contains(&format!("f is distributed {along}")), "{text}");
                assert!(!text.contains("on one engine"), "{text}");
            }
            None => assert!(!text.contains("is distributed along"), "{text}"),
        }
    }
}

/// Of schedules whose code is compared none is slower than the first, and some are faster, by the estimate;
/// on one vault, short programs are not compared.
#[test]
fn the_fastest_of_compared_schedules_is_kept() {
    let cycles = |text: &str| {
        let (_, rest) = text.split_once("costs in all: about ").expect("a cost");
        rest.split(' ').next().and_then(|n| n.parse::<u64>().ok()).expect("cycles")
    };
    let sources = [
        "ImageParam image(Float(32), 2);\nFunc in = BoundaryConditions::repeat_edge(image);\n\
         Func u(x, y) = (in(x / 2, y) + in((x + 1) / 2, y)) / 2.0f;\n\
         Func out(x, y) = (u(x, y / 2) + u(x, (y + 1) / 2)) / 2.0f;\n\
         out.bound(x, 0, 2 * image.width()).bound(y, 0, 2 * image.height());\n",
        "ImageParam image(Float(32), 2);\nFunc in = BoundaryConditions::repeat_edge(image);\n\
         Func f(x, y) = in(x, y) + in(x, y + 1);\n\
         Func g(x, y) = f(x, y) * f(x + 1, y);\nFunc h(x, y) = g(x, y) + g(x, y + 2);\n\
         Func out(x, y) = h(x, y) / h(x + 1, y + 1);\n",
        "ImageParam in(Float(32), 2);\nFunc out(x, y) = in(x, y) * 2.0f;\n",
    ];
    let mut faster = 0;
    for source in sources {
        let explain = |machine: &str, size: &[u32], disabled: &[&str]| {
            explain_by(source, machine, size, None, disabled).expect("it compiles").0
        };
        let first = explain("ipim-cube", &[1024, 768], &["compare-schedules"]);
        let kept = explain("ipim-cube", &[1024, 768], &[]);
        assert!(!first.contains("schedules by their code"), "{first}");
        assert!(cycles(&kept) <= cycles(&first), "{kept}{first}");
        faster += usize::from(cycles(&kept) < cycles(&first));
        let short = explain("ipim-vault", &[32, 32], &[]);
        assert!(!short.contains("schedules by their code"), "{short}");
    }
    assert!(faster > 0);
}

/// Everything that a plan decides: `explain` but the fate of directives and the schedule.
fn decided(text: &str) -> &str {
    let start = text.find("\nwhere data lives").expect("a section");
    let end = text.find("\ndirectives\n").unwrap_or(text.len());
    &text[start..end]
}

/// A source with the schedule that `explain` printed for it in the places that it names.
fn pasted(source: &str, text: &str) -> String {
    let start = text.find("schedule in effect\n").expect("a section") + 19;
    let headings = ["\nwhat was decided", "\nwhat could not be", "\nwhere data lives"];
    let end = headings.iter().filter_map(|heading| text.find(heading)).min();
    let section = &text[start..end.expect("a section")];
    let (last, inside) = section.split_once("and inside of braces\n").unwrap_or((section, ""));
    // From the end on, so that places before stay where they are.
    let mut places: Vec<(usize, &str)> = Vec::new();
    for line in inside.lines().filter(|l| !l.trim().is_empty()) {
        let rest = line.trim().strip_prefix("behind ").expect("a place");
        let (place, statement) = rest.split_once(": ").expect("a statement");
        let (line, column) = place.split_once(':').expect("line and column");
        let (line, column): (usize, usize) = (line.parse().unwrap(), column.parse().unwrap());
        let before: usize = source.split_inclusive('\n').take(line - 1).map(str::len).sum();
        let chars = source[before..].char_indices().nth(column - 1);
        places.push((chars.map_or(source.len(), |(k, _)| before + k), statement));
    }
    places.sort();
    let mut whole = source.to_string();
    for (place, statement) in places.into_iter().rev() {
        whole.insert_str(place, &format!(" {statement}"));
    }
    unscheduled(&whole) + last
}

/// A source without the statements outside of all braces that only schedule.
fn unscheduled(source: &str) -> String {
    let starts = |s: &str| {
        let bare: String = s.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
        let bare = bare.trim().to_string();
        let names = ["compute_", "store_", "ipim_", "load_", "vector", "split", "bound", "set_est"];
        let (func, rest) = bare.split_once('.').unwrap_or((&bare, ""));
        let plain = func.chars().all(|c| c.is_ascii_alphanumeric() || "_[]".contains(c));
        let after = rest.strip_prefix("update(0).").or(rest.strip_prefix("update(1)."));
        plain && names.iter().any(|n| after.unwrap_or(rest).starts_with(n))
    };
    let mut depth = 0;
    let mut outside = |s: &&str| {
        let before = depth;
        for line in s.lines().filter(|l| !l.trim_start().starts_with("//")) {
            depth += line.matches('{').count();
            depth -= line.matches('}').count();
        }
        before > 0 || !starts(s)
    };
    source.split_inclusive(';').filter(|s| outside(s)).collect()
}

/// How often the schedule that `explain` prints of a source, put in its place, gives the same plan, and what
/// is wrong where it does not.
fn compare_printed(number: usize, path: &std::path::Path) -> (usize, String) {
    let (mut same, mut wrong) = (0, String::new());
    let source = std::fs::read_to_string(path).unwrap();
    let plain = unscheduled(&source);
    // Plans know nothing of the order of instructions. To compare schedules takes long: what wins is
    // asked for of each eighth source.
    let first = ["compare-schedules", "unroll-completely", "schedule-kernels", "rename-registers"];
    let first = first.as_slice();
    let last = if number.is_multiple_of(8) { &[] } else { first };
    let size = if number.is_multiple_of(2) { [32u32, 32] } else { [50, 21] };
    for (source, size, disabled) in [(&source, size, first), (&plain, [50, 21], last)] {
        let explain = |source: &str| explain_by(source, "ipim-vault", &size, None, disabled);
        // Sources that need other extents are not for this test.
        let Ok((before, _)) = explain(source) else { continue };
        match explain(&pasted(source, &before)) {
            Ok((after, _)) if decided(&before) == decided(&after) => same += 1,
            Ok((after, _)) => {
                let (a, b) = (decided(&before), decided(&after));
                let line = a.lines().zip(b.lines()).find(|(a, b)| a != b);
                wrong.push_str(&format!("{}: {line:#?}\n", path.display()));
            }
            // Schedules inside loops or functions of the source are still there.
            Err(what) if what.starts_with("E0182") => {}
            Err(what) => wrong.push_str(&format!("{}: {what}\n", path.display())),
        }
    }
    (same, wrong)
}

#[test]
fn the_printed_schedule_gives_the_same_plan() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let folders = ["tests/pipelines", "examples/ipim"].map(|folder| root.join(folder));
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "halide"));
    paths.sort();
    let sources = std::sync::Mutex::new(paths.iter().enumerate());
    let results = std::sync::Mutex::new((0, String::new()));
    let next = || sources.lock().unwrap().next();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                while let Some((number, path)) = next() {
                    let (same, wrong) = compare_printed(number, path);
                    let mut results = results.lock().unwrap();
                    results.0 += same;
                    results.1.push_str(&wrong);
                }
            });
        }
    });
    let (same, wrong) = results.into_inner().unwrap();
    assert!(wrong.is_empty(), "{wrong}");
    assert!(same > 100, "only {same} were compared");
}

/// What two stages read of a Func in tiles that are cut otherwise is one copy, also where the second
/// needs less of it than the first.
#[test]
fn a_copy_serves_all_that_it_holds_enough_for() {
    let source = "Func f(x, y) = in(x, y) * 2.0f;\n\
                  Func g(x, y) = f(x - 1, y) + f(x + 1, y);\n\
                  Func out(x, y) = g(x, y) + f(x, y);\n\
                  f.compute_root().ipim_tile(x, y, xi, yi, 8, 8);\n\
                  g.compute_root().ipim_tile(x, y, xi, yi, 16, 16);\n\
                  out.compute_root().ipim_tile(x, y, xi, yi, 16, 16);\n";
    let (text, _) = explain(source, "ipim-cube", &[256, 256]).expect("it compiles");
    assert_eq!(text.matches("f is copied to").count(), 1, "{text}");
}

/// Where a picture is read beyond its edges, the banks that hold the edge serve that: nothing is copied.
#[test]
fn boundaries_move_nothing() {
    for boundary in ["repeat_edge", "mirror_image", "mirror_interior"] {
        for (at, size) in [("x", [100, 61]), ("2 * x", [50, 61])] {
            let source = format!(
                "ImageParam image(Float(32), 2, \"image\");\n\
                 Func in = BoundaryConditions::{boundary}(image);\n\
                 Func out; out(x, y) = in({at} - 2, y) + in({at} + 1, y - 1) + in({at}, y + 2);\n\
                 image.dim(0).set_bounds(0, 100); image.dim(1).set_bounds(0, 61);\n"
            );
            for machine in ["ipim-vault", "ipim-cube"] {
                let (text, _) = explain(&source, machine, &size).expect("a plan");
                let copies = text.contains("copied") || text.contains("excerpt");
                assert!(!copies, "{boundary}({at}) on {machine}:\n{text}");
            }
        }
    }
}

#[test]
fn loops_of_any_length_have_a_cost() {
    let source = "ImageParam in(Float(32), 2);
RDom r(0, 2000000000, 0, 2000000000, 0, 2000000000);
Func out;
out(x, y) = 0.0f;
out(x, y) += in(x, y) * cast<float>(r.x + r.y + r.z);
";
    let (text, _) = explain(source, "ipim-vault", &[64, 64]).expect("it compiles");
    let (_, cost) = text.split_once("costs in all: about ").expect("a cost");
    let cycles = cost.split(' ').next().and_then(|n| n.parse::<u64>().ok());
    assert!(cycles.is_some_and(|cycles| cycles >= 1 << 56), "{text}");
}

/// 2^24 ways lead to the last Func: each definition of each Func has its predecessor inside.
#[test]
fn places_of_a_func_are_not_told_apart_without_end() {
    const FUNCS: usize = 24;
    let mut source = "ImageParam in(Int(32), 2);\n".to_string();
    for number in (0..FUNCS).rev() {
        let from = if number == FUNCS - 1 { "in".into() } else { format!("f{}", number + 1) };
        source += &format!("Func f{number}(x, y) = {from}(x, y) + 1;\n");
        source += &format!("f{number}(x, y) += {from}(x, y);\n");
    }
    source += "Func out(x, y) = f0(x, y);\nf0.compute_at(out, y);\n";
    for number in 1..FUNCS {
        source += &format!("f{number}.compute_at(f{}, y);\n", number - 1);
    }
    explain(&source, "ipim-vault", &[16, 16]).expect("each loop is around all uses");
}
