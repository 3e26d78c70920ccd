//! Each timing constraint is tight: the command it delays is illegal one cycle
//! earlier and legal at its cycle, for the bank state and for the auditor alike.

mod common;

use common::reference;
use nbcc_sim_dram::Command::{self, *};
use nbcc_sim_dram::audit::Auditor;
use nbcc_sim_dram::standard::RULES;
use nbcc_sim_dram::{Cycle, Device, DramConfig, Issued, Model, RefreshPolicy};

/// A command, its bank and row, and its cycle.
type At = (Command, u32, u32, Cycle);

/// After `before`, `then` is legal from its cycle on, because of `rule`.
struct Case {
    rule: &'static str,
    settings: &'static [&'static str],
    before: &'static [At],
    then: At,
}

const fn case(rule: &'static str, before: &'static [At], then: At) -> Case {
    Case { rule, settings: &[], before, then }
}

/// Banks 0, 2, 4, 6 are in one group, 1, 3, 5, 7 in the other. No two sums of
/// latencies that could hide one another are equal.
const MACHINE: &[&str] = &[
    "banks=8",
    "bank_groups=2",
    "tRCD=11",
    "tCL=13",
    "tCWL=5",
    "tBL=3",
    "tCCD_S=4",
    "tCCD_L=7",
    "tRTP=9",
    "tRP=12",
    "tRAS=40",
    "tRC=60",
    "tWR=15",
    "tWTR_S=6",
    "tWTR_L=10",
    "tRTW_gap=2",
    "tRRD_S=4",
    "tRRD_L=8",
    "tFAW=100",
    "tRFC=200",
    "tREFI=5000",
];

#[rustfmt::skip]
const CASES: &[Case] = &[
    case("tCCD_S", &[(Activate, 0, 5, 0), (Activate, 1, 5, 20), (Read, 0, 5, 70)], (Read, 1, 5, 74)),
    case("tCCD_S", &[(Activate, 0, 5, 0), (Activate, 1, 5, 20), (Read, 0, 5, 70)], (ReadAuto, 1, 5, 74)),
    case("tCCD_S", &[(Activate, 0, 5, 0), (Activate, 1, 5, 20), (ReadAuto, 0, 5, 70)], (Read, 1, 5, 74)),
    case("tCCD_S", &[(Activate, 0, 5, 0), (Activate, 1, 5, 20), (Write, 0, 5, 70)], (Write, 1, 5, 74)),
    case("tCCD_S", &[(Activate, 0, 5, 0), (Activate, 1, 5, 20), (WriteAuto, 0, 5, 70)], (WriteAuto, 1, 5, 74)),
    Case { rule: "tBL", settings: &["tBL=6"], before: &[(Activate, 0, 5, 0), (Activate, 1, 5, 20), (Read, 0, 5, 70)], then: (Read, 1, 5, 76) },
    Case { rule: "tBL", settings: &["tBL=6"], before: &[(Activate, 0, 5, 0), (Activate, 1, 5, 20), (Write, 0, 5, 70)], then: (Write, 1, 5, 76) },
    case("tCCD_L", &[(Activate, 0, 5, 0), (Activate, 2, 5, 20), (Read, 0, 5, 70)], (Read, 2, 5, 77)),
    case("tCCD_L", &[(Activate, 0, 5, 0), (Activate, 2, 5, 20), (Write, 0, 5, 70)], (Write, 2, 5, 77)),
    case("tCCD_L", &[(Activate, 0, 5, 0), (Read, 0, 5, 70)], (Read, 0, 5, 77)),
    case("tCL+tBL+tRTW_gap-tCWL", &[(Activate, 0, 5, 0), (Activate, 1, 5, 20), (Read, 0, 5, 70)], (Write, 1, 5, 83)),
    case("tCL+tBL+tRTW_gap-tCWL", &[(Activate, 0, 5, 0), (Read, 0, 5, 70)], (WriteAuto, 0, 5, 83)),
    case("tCWL+tBL+tWTR_S", &[(Activate, 0, 5, 0), (Activate, 1, 5, 20), (Write, 0, 5, 70)], (Read, 1, 5, 84)),
    case("tCWL+tBL+tWTR_L", &[(Activate, 0, 5, 0), (Activate, 2, 5, 20), (Write, 0, 5, 70)], (Read, 2, 5, 88)),
    case("tCWL+tBL+tWTR_L", &[(Activate, 0, 5, 0), (Write, 0, 5, 70)], (ReadAuto, 0, 5, 88)),
    Case { rule: "tCCD_L", settings: &["data_path=per-bank"], before: &[(Activate, 0, 5, 0), (Read, 0, 5, 70)], then: (Read, 0, 5, 77) },
    Case { rule: "tCWL+tBL+tWTR_L", settings: &["data_path=per-bank"], before: &[(Activate, 0, 5, 0), (Write, 0, 5, 70)], then: (Read, 0, 5, 88) },
    Case { rule: "tCCD_L", settings: &["data_path=per-bank", "row_buffers=2"], before: &[(Activate, 0, 5, 0), (Activate, 0, 6, 20), (Read, 0, 5, 70)], then: (Read, 0, 6, 77) },

    case("tRRD_S", &[(Activate, 0, 5, 0)], (Activate, 1, 5, 4)),
    case("tRRD_L", &[(Activate, 0, 5, 0)], (Activate, 2, 5, 8)),
    Case { rule: "tRRD_L", settings: &["row_buffers=2"], before: &[(Activate, 0, 5, 0)], then: (Activate, 0, 6, 8) },
    case("tFAW", &[(Activate, 0, 5, 0), (Activate, 1, 5, 10), (Activate, 2, 5, 20), (Activate, 3, 5, 30)], (Activate, 4, 5, 100)),
    case("tFAW", &[(Activate, 0, 5, 0), (Activate, 1, 5, 10), (Activate, 2, 5, 20), (Activate, 3, 5, 30), (Activate, 4, 5, 100)], (Activate, 5, 5, 110)),

    case("tRC", &[(Activate, 0, 5, 0), (Precharge, 0, 5, 40)], (Activate, 0, 6, 60)),
    Case { rule: "tRAS+tRP", settings: &["tRC=45"], before: &[(Activate, 0, 5, 0), (ReadAuto, 0, 5, 11)], then: (Activate, 0, 6, 52) },
    case("tRCD", &[(Activate, 0, 5, 0)], (Read, 0, 5, 11)),
    case("tRCD", &[(Activate, 0, 5, 0)], (WriteAuto, 0, 5, 11)),
    Case { rule: "tRCD", settings: &["row_buffers=2"], before: &[(Activate, 0, 5, 0), (Activate, 0, 6, 20)], then: (Read, 0, 6, 31) },
    case("tRAS", &[(Activate, 0, 5, 0)], (Precharge, 0, 5, 40)),
    Case { rule: "tRAS", settings: &["row_buffers=2"], before: &[(Activate, 0, 5, 0), (Activate, 0, 6, 20)], then: (Precharge, 0, 5, 40) },
    case("tRP", &[(Activate, 0, 5, 0), (Precharge, 0, 5, 70)], (Activate, 0, 6, 82)),
    case("tRTP", &[(Activate, 0, 5, 0), (Read, 0, 5, 70)], (Precharge, 0, 5, 79)),
    case("tCWL+tBL+tWR", &[(Activate, 0, 5, 0), (Write, 0, 5, 70)], (Precharge, 0, 5, 93)),
    case("tRTP+tRP", &[(Activate, 0, 5, 0), (ReadAuto, 0, 5, 70)], (Activate, 0, 6, 91)),
    case("tCWL+tBL+tWR+tRP", &[(Activate, 0, 5, 0), (WriteAuto, 0, 5, 70)], (Activate, 0, 6, 105)),

    case("tRAS", &[(Activate, 0, 5, 0)], (PrechargeAll, 0, 0, 40)),
    case("tRTP", &[(Activate, 0, 5, 0), (Read, 0, 5, 70)], (PrechargeAll, 0, 0, 79)),
    case("tRTP", &[(Activate, 0, 5, 0), (ReadAuto, 0, 5, 70)], (PrechargeAll, 0, 0, 79)),
    case("tCWL+tBL+tWR", &[(Activate, 0, 5, 0), (Write, 0, 5, 70)], (PrechargeAll, 0, 0, 93)),
    case("tCWL+tBL+tWR", &[(Activate, 0, 5, 0), (WriteAuto, 0, 5, 70)], (PrechargeAll, 0, 0, 93)),
    case("tRP", &[(Activate, 0, 5, 0), (PrechargeAll, 0, 0, 70)], (Activate, 3, 6, 82)),

    case("tRC", &[(Activate, 0, 5, 0), (Precharge, 0, 5, 40)], (Refresh, 0, 0, 60)),
    Case { rule: "tRAS+tRP", settings: &["tRC=45"], before: &[(Activate, 0, 5, 0), (ReadAuto, 0, 5, 11)], then: (Refresh, 0, 0, 52) },
    case("tRP", &[(Activate, 0, 5, 0), (Precharge, 0, 5, 70)], (Refresh, 0, 0, 82)),
    case("tRP", &[(Activate, 0, 5, 0), (PrechargeAll, 0, 0, 70)], (Refresh, 0, 0, 82)),
    case("tRTP+tRP", &[(Activate, 0, 5, 0), (ReadAuto, 0, 5, 70)], (Refresh, 0, 0, 91)),
    case("tCWL+tBL+tWR+tRP", &[(Activate, 0, 5, 0), (WriteAuto, 0, 5, 70)], (Refresh, 0, 0, 105)),
    case("tRFC", &[(Refresh, 0, 0, 0)], (Activate, 3, 6, 200)),
    case("tRFC", &[(Refresh, 0, 0, 0)], (PrechargeAll, 0, 0, 200)),
];

/// Cases start when the first refresh is due, so that any command may come.
const START: Cycle = 5000;

fn machine(settings: &[&str]) -> DramConfig {
    let mut config = reference(&[MACHINE, settings].concat());
    config.refresh = RefreshPolicy::AllBank;
    config
}

fn issued((command, bank, row, cycle): At) -> Issued {
    Issued { cycle: START + cycle, command, bank, row, column: 0 }
}

#[test]
fn every_constraint_is_tight() {
    for case in CASES {
        let config = machine(case.settings);
        let mut device = Device::new(Model::new(&config).expect("a valid machine"));
        let mut auditor = Auditor::new(&config);
        for &at in case.before {
            let Issued { cycle, command, bank, row, .. } = issued(at);
            assert!(device.is_legal(command, bank, row, cycle), "{}: {at:?}", case.rule);
            device.issue(command, bank, row, cycle);
            auditor.check(issued(at)).unwrap_or_else(|v| panic!("{}: {v}", case.rule));
        }
        let (command, bank, row, cycle) = case.then;
        let what = format!("{}: {} after {:?}", case.rule, command.name(), case.before);
        let legal = |cycle| device.is_legal(command, bank, row, START + cycle);
        let accepted = |cycle| auditor.objection(&issued((command, bank, row, cycle))).is_none();
        assert_eq!((legal(cycle - 1), legal(cycle)), (false, true), "device, {what}");
        assert_eq!((accepted(cycle - 1), accepted(cycle)), (false, true), "auditor, {what}");
    }
}

/// A refresh that follows a refresh waits as well (the auditor refuses it anyhow
/// until the next is due).
#[test]
fn refresh_after_refresh() {
    let mut device = Device::new(Model::new(&machine(&[])).expect("a valid machine"));
    device.issue(Refresh, 0, 0, START);
    assert!(!device.is_legal(Refresh, 0, 0, START + 199));
    assert!(device.is_legal(Refresh, 0, 0, START + 200));
}

#[test]
fn every_rule_has_a_case() {
    for rule in RULES {
        let covered = CASES.iter().any(|case| {
            case.rule == rule.name
                && rule.next.iter().any(|next| {
                    let then = case.then.0;
                    then == *next
                        || (*next == Read && then == ReadAuto)
                        || (*next == Write && then == WriteAuto)
                })
                && case.before.iter().any(|before| rule.prev.contains(&before.0))
        });
        assert!(covered, "{rule:?}");
    }
}

/// Banks with data paths of their own do not hold each other up.
#[test]
fn separate_data_paths() {
    let config = machine(&["data_path=per-bank"]);
    let mut device = Device::new(Model::new(&config).expect("a valid machine"));
    device.issue(Activate, 0, 5, START);
    device.issue(Activate, 2, 5, START + 8);
    device.issue(Write, 0, 5, START + 30);
    assert!(device.is_legal(Read, 2, 5, START + 31));
    assert!(!device.is_legal(Read, 0, 5, START + 31));
}

#[test]
fn row_state() {
    let config = machine(&["row_buffers=2"]);
    let mut device = Device::new(Model::new(&config).expect("a valid machine"));
    let late = START + 1000;
    assert_eq!(device.prerequisite(Read, 0, 4), Activate);
    assert!(!device.is_legal(Read, 0, 4, late));
    assert!(!device.is_legal(Precharge, 0, 4, late));
    assert_eq!(device.prerequisite(Refresh, 0, 0), Refresh);

    device.issue(Activate, 0, 4, START);
    assert_eq!(device.prerequisite(Write, 0, 4), Write);
    // Row 5 uses the other row buffer of the bank, row 6 the same.
    assert_eq!(device.prerequisite(Read, 0, 5), Activate);
    assert_eq!(device.prerequisite(Read, 0, 6), Precharge);
    assert!(!device.is_legal(Activate, 0, 6, late));
    assert!(!device.is_legal(Refresh, 0, 0, late));
    assert_eq!(device.prerequisite(Refresh, 0, 0), PrechargeAll);

    device.issue(Activate, 0, 5, START + 100);
    assert_eq!(device.open_rows(), 2);
    device.issue(ReadAuto, 0, 4, START + 200);
    assert_eq!(device.open_row(device.buffer_of(0, 4)), None);
    assert_eq!(device.open_row(device.buffer_of(0, 5)), Some(5));
    device.issue(PrechargeAll, 0, 0, START + 300);
    assert_eq!(device.open_rows(), 0);
}

/// The command bus carries one command a cycle.
#[test]
fn auditor_watches_the_command_bus() {
    let mut auditor = Auditor::new(&machine(&["data_path=per-bank"]));
    for at in [(Activate, 0, 5, 0), (Activate, 2, 5, 8), (Read, 0, 5, 40)] {
        auditor.check(issued(at)).expect("legal");
    }
    assert!(auditor.objection(&issued((Read, 2, 5, 40))).is_some());
    assert!(auditor.objection(&issued((Read, 2, 5, 41))).is_none());
}

#[test]
fn auditor_watches_the_pace_of_refreshes() {
    let config = machine(&[]);
    let mut auditor = Auditor::new(&config);
    let early = Issued { cycle: START - 1, ..issued((Refresh, 0, 0, 0)) };
    assert!(auditor.objection(&early).is_some(), "before it is due");
    auditor.check(issued((Activate, 0, 5, 0))).expect("legal");
    auditor.check(issued((Precharge, 0, 5, 100))).expect("legal");
    assert!(auditor.finish(2 * START - 1).is_ok());
    assert!(auditor.finish(2 * START).is_err(), "the first refresh is missing");
    let late = Issued { cycle: 2 * START, ..issued((Activate, 0, 5, 0)) };
    assert!(auditor.objection(&late).is_some(), "the first refresh is missing");
    auditor.check(issued((Refresh, 0, 0, 4999))).expect("just in time");
    assert!(auditor.finish(3 * START - 1).is_ok());
}
