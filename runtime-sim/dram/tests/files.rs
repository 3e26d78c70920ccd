//! Machine files, settings and traces: what is read, and what each mistake says.

mod common;

use nbcc_sim_dram::{
    DramConfig, Kind, MachineError, ReplayError, ReplayOptions, Request, Scheduler, TraceProblem,
    left_out, machine::REFERENCE, parse_machine, parse_trace, replay_files,
};

fn file_error(text: &str) -> (usize, usize, String) {
    match parse_machine::<&str>(text, &[]) {
        Err(MachineError::File { place, message }) => (place.line, place.column, message),
        other => panic!("expected an error in the file, got {other:?}"),
    }
}

fn setting_error(setting: &str) -> String {
    match parse_machine(REFERENCE, &[setting]) {
        Err(MachineError::Setting { setting: named, message }) => {
            assert_eq!(named, setting);
            message
        }
        other => panic!("expected an error in the setting, got {other:?}"),
    }
}

/// Line of the reference machine that a key is on.
fn line_of(key: &str) -> usize {
    let start = format!("{key} =");
    1 + REFERENCE.lines().position(|line| line.starts_with(&start)).expect("a key")
}

#[test]
fn reference_machine() {
    let config = parse_machine::<&str>(REFERENCE, &[]).expect("the reference machine");
    assert_eq!(config.read_to_write(), 14);
    assert_eq!((config.write_to_read_s(), config.write_to_read_l()), (12, 14));
    assert_eq!(config.write_to_pre(), 22);
    for line in REFERENCE.lines().filter(|line| line.contains(" = ")) {
        let comment = line.split_once('#').map(|(_, comment)| comment.trim());
        let plain = ["bank_groups", "rows"].iter().any(|key| line.starts_with(key));
        assert!(plain || comment.is_some_and(|c| !c.is_empty()), "no comment: {line}");
    }
}

#[test]
fn settings() {
    let config = parse_machine(
        REFERENCE,
        &["tRCD=20", "scheduler=fr-fcfs-row-hit", " tCK_ns = 0.5", "write_forwarding=false"],
    )
    .expect("valid settings");
    assert_eq!(config.t_rcd, 20);
    assert_eq!(config.scheduler, Scheduler::FrFcfsRowHit);
    assert_eq!(config.t_ck_ns, 0.5);
    assert!(!config.write_forwarding);
    let quoted = parse_machine(REFERENCE, &["scheduler=\"fcfs\""]).expect("a quoted string");
    assert_eq!(quoted.scheduler, Scheduler::Fcfs);

    assert_eq!(setting_error("tRCD"), "expected KEY=VALUE");
    assert_eq!(setting_error("tRDC=3"), "a DRAM machine has no key `tRDC`");
    assert!(setting_error("tRCD=fast").contains("invalid type: string"));
    assert!(setting_error("tRCD=-1").contains("invalid value"));
    assert!(setting_error("tRCD=3\nx=1").contains("invalid type"));
    assert!(setting_error("scheduler=lifo").contains("unknown variant `lifo`"));
    assert!(setting_error("tRCD=0").contains("must be from 1"));
    assert!(setting_error("bank_groups=3").contains("must divide"));
    assert!(setting_error("tREFI=400").contains("no time is left"));
    // The refresh interval of the file contradicts the setting.
    match parse_machine(REFERENCE, &["tRFC=4000"]) {
        Err(MachineError::File { place, .. }) => assert_eq!(place.line, line_of("tREFI")),
        other => panic!("expected an error at tREFI, got {other:?}"),
    }
}

#[test]
fn a_file_of_timing_alone_is_a_machine() {
    let (timing, _) = REFERENCE.split_once("# Controller").expect("two parts");
    let is_timing = |line: &&str| !["row_buffers", "tRTW_gap"].iter().any(|k| line.starts_with(k));
    let timing: Vec<&str> = timing.lines().filter(is_timing).collect();
    let timing = timing.join("\n").trim_end().to_owned();
    let of = |text: &str, settings: &[&str]| parse_machine(text, settings).expect("a machine");
    assert_eq!(of(&timing, &[]), of(REFERENCE, &[]));
    let set = ["scheduler=fr-fcfs-row-hit", "tRTW_gap=3"];
    assert_eq!(of(&timing, &set), of(REFERENCE, &set));
    assert_eq!(left_out(&timing).len(), 13);
    assert_eq!(left_out(REFERENCE), []);
    let (line, _, message) = file_error(&format!("{timing}\nbank = 3\n"));
    assert_eq!(line, timing.lines().count() + 1, "{message}");
    let (_, _, message) = file_error(&timing.replace("tFAW = 16", ""));
    assert!(message.contains("missing field `tFAW`"), "{message}");
}

#[test]
fn broken_machine_files() {
    let swapped = |from: &str, to: &str| REFERENCE.replace(from, to);

    let (line, _, message) = file_error(&swapped("tRCD = 14", "tRCD = 14 14"));
    assert_eq!(line, line_of("tRCD"), "{message}");
    let (line, column, message) = file_error(&swapped("tRCD = 14", "tRCD = \"x\""));
    assert_eq!((line, column), (line_of("tRCD"), 8), "{message}");
    let (line, column, message) = file_error(&swapped("tRCD = 14", "tRDC = 14"));
    assert_eq!((line, column), (line_of("tRCD"), 1), "{message}");
    assert!(message.contains("unknown field `tRDC`"), "{message}");
    let (_, _, message) = file_error(&swapped("tRCD = 14", ""));
    assert!(message.contains("missing field `tRCD`"), "{message}");
    let (line, _, message) = file_error(&swapped("bank_groups = 4", "bank_groups = 5"));
    assert_eq!(line, line_of("bank_groups"), "{message}");
    let (line, column, message) = file_error(&swapped("tCK_ns = 1 ", "tCK_ns = nan "));
    assert_eq!((line, column), (line_of("tCK_ns"), 1), "{message}");
    let (line, _, message) = file_error(&swapped("rows = 65536", "rows = 99999999999"));
    assert_eq!(line, line_of("rows"), "{message}");
    file_error("");
    file_error("\u{feff}é = ");
}

/// Any value in any key is an error or a machine that serves requests.
#[test]
fn hostile_values() {
    let table: toml::Table = toml::from_str(REFERENCE).expect("TOML");
    let values = ["0", "1", "3", "100", "1048576", "4294967295", "-1", "1e300", "[]", "x", "none"];
    let mut accepted = 0;
    for key in table.keys() {
        for value in values {
            let Ok(config) = parse_machine(REFERENCE, &[format!("{key}={value}")]) else {
                continue;
            };
            accepted += 1;
            let trace: Vec<Request> = (0..50)
                .map(|id| Request {
                    id,
                    kind: if id % 3 == 0 { Kind::Write } else { Kind::Read },
                    bank: id as u32 % config.banks,
                    row: id as u32 / 4 % config.rows,
                    column: 0,
                })
                .collect();
            for window in [0, 1, 7] {
                let result = nbcc_sim_dram::replay(&config, &trace, window).expect("valid");
                assert_eq!(result.requests, 50, "{key}={value}");
                assert_eq!(result.hits + result.misses + result.conflicts, 50);
            }
        }
    }
    assert!(accepted > 50);
}

fn config() -> DramConfig {
    parse_machine::<&str>(REFERENCE, &[]).expect("the reference machine")
}

#[test]
fn traces() {
    let requests = parse_trace(b"R 0 1 2\r\n\n  W\t15 65535 127  ", &config()).expect("valid");
    assert_eq!(
        requests,
        [
            Request { id: 0, kind: Kind::Read, bank: 0, row: 1, column: 2 },
            Request { id: 1, kind: Kind::Write, bank: 15, row: 65535, column: 127 },
        ]
    );
    assert_eq!(parse_trace(b"", &config()).expect("valid"), []);

    let number = |field, text: &str| TraceProblem::Number { field, text: text.to_owned() };
    let range = |field, value, limit| TraceProblem::OutOfRange { field, value, limit };
    let long = "9".repeat(100_000);
    let cases: &[(&[u8], usize, usize, TraceProblem)] = &[
        (b"R 0 0 0\nX 0 0 0\n", 2, 1, TraceProblem::Operation("X".to_owned())),
        (b"r 0 0 0\n", 1, 1, TraceProblem::Operation("r".to_owned())),
        (b"R 0 0\n", 1, 6, TraceProblem::Missing("column")),
        (b"R\n", 1, 2, TraceProblem::Missing("bank")),
        (b"R 0 0 0\n\nR 0 z 0\n", 3, 5, number("row", "z")),
        (b"R -1 0 0\n", 1, 3, number("bank", "-1")),
        (b"R +1 0 0\n", 1, 3, number("bank", "+1")),
        (b"R 0 4294967296 0\n", 1, 5, number("row", "4294967296")),
        (b"R 16 0 0\n", 1, 3, range("bank", 16, 16)),
        (b"R 0 65536 0\n", 1, 5, range("row", 65536, 65536)),
        (b"R 0 0 128\n", 1, 7, range("column", 128, 128)),
        (b"R 0 0 0 0\n", 1, 9, TraceProblem::Extra("0".to_owned())),
        ("é 0 0 0".as_bytes(), 1, 1, TraceProblem::Operation("é".to_owned())),
        (b"R 0 0 0\nR \xff 0 0\n", 2, 3, TraceProblem::NotText),
        (long.as_bytes(), 1, 1, TraceProblem::Operation(format!("{}...", "9".repeat(40)))),
    ];
    for (text, line, column, problem) in cases {
        let error = parse_trace(text, &config()).expect_err("a broken trace");
        assert_eq!(&error.problem, problem);
        assert_eq!((error.place.line, error.place.column), (*line, *column), "{error}");
    }
}

#[test]
fn files_and_statistics() {
    let folder = std::env::temp_dir().join(format!("nbcc-dram-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (trace, machine) = (folder.join("t.trace"), folder.join("m.toml"));
    std::fs::write(&trace, "R 0 0 0\nW 0 0 1\nR 1 7 0\n").expect("written");
    std::fs::write(&machine, REFERENCE).expect("written");
    let options = ReplayOptions { window: 1, no_refresh: true, settings: Vec::new() };

    let result = replay_files(&trace, &machine, &options).expect("a replay");
    // ACT 1, RD 15 done at 31; WR 32; ACT 33, RD 47 done at 63.
    let json = serde_json::to_value(&result).expect("JSON");
    let expected = serde_json::json!({
        "requests": 3, "finish_cycle": 63, "hits": 1, "misses": 2, "conflicts": 0,
        "average_read_latency": 31.0,
    });
    assert_eq!(json, expected);
    let commands = serde_json::to_value(result.controller.commands).expect("JSON");
    assert_eq!(commands["ACT"], 2);

    let fails = |options: &ReplayOptions| {
        replay_files(&trace, &machine, options).expect_err("broken").to_string()
    };
    let broken = ReplayOptions { settings: vec!["tRCD=x".to_owned()], ..options.clone() };
    assert!(fails(&broken).contains("tRCD=x"));
    std::fs::write(&trace, "R 0 0 0\nR 0 0\n").expect("written");
    assert!(fails(&options).contains("t.trace: 2:6: the column is missing"));
    std::fs::write(&machine, [0xff]).expect("written");
    assert!(fails(&options).contains("cannot read"));
    let missing = replay_files(&folder.join("none"), &folder.join("none"), &options);
    assert!(matches!(missing, Err(ReplayError::Read { .. })));
    std::fs::remove_dir_all(&folder).expect("removed");
}
