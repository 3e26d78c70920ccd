//! What is reported of a run adds up.

use nbcc_isa_sdpnm::config::{Control, Opcode, Options, Package, Source};
use nbcc_sim_engine::{Statistics, Value};
use nbcc_sim_sdpnm::{DEFINITIONS, collect};

use crate::support::*;

/// A load feeds a product with itself, kept and stored; a route goes along.
fn squares() -> Package {
    let mut load = context(Opcode::Load, Source::Global(0), Source::None);
    load.memory = words_of(0, 4);
    let mut product = context(Opcode::MultS, Source::Output(0, -1), Source::Output(0, -1));
    product.control = Control { keep: Some(0), ..Control::default() };
    let pass = context(Opcode::Pass, Source::Register { ring: 0, ago: 1 }, Source::None);
    let mut store = context(Opcode::Store, Source::Immediate(1024), Source::Output(0, -1));
    store.memory = words_of(0, 4);
    let contexts = vec![
        placed(0, 0, 0, load),
        placed(1, 0, 1, product),
        placed(1, 1, 1, pass),
        placed(2, 0, 2, store),
    ];
    let mut package = package(1, 2, vec![(1, vec![2])], contexts);
    package.mii = 2;
    package
}

fn statistics(text: Vec<CoreInst>) -> Statistics {
    let program = program(vec![squares()], text);
    let (_, core) = run(&program).unwrap();
    collect(&program, &core.measures, &core.arrays, &core.host)
}

fn sum(statistics: &Statistics, group: &str) -> f64 {
    let of = DEFINITIONS.iter().filter(|row| row.key.starts_with(group));
    of.map(|row| statistics.real(row.key)).sum()
}

#[test]
fn parts_sum_to_their_wholes() {
    let one = [start(1, 0, 10, &[64]), load(window(1, 1024)), give_back(), start(1, 0, 3, &[64])];
    let statistics = statistics(one.concat());
    let stalls = sum(&statistics, "stall.");
    assert_eq!(stalls, statistics.real("core.stall_cycles"));
    assert!(statistics.count("stall.array") > 0);
    let energy = sum(&statistics, "energy.");
    assert!((energy - statistics.real("energy_pj")).abs() < 1e-6 * energy);
    assert_eq!(sum(&statistics, "category."), statistics.real("instructions"));
}

#[test]
fn runs_are_counted_by_what_they_take() {
    let statistics = statistics([start(1, 0, 10, &[64]), wait(1)].concat());
    for (key, want) in [
        ("arrays.starts", 1),
        ("arrays.operations", 30),
        ("arrays.routes", 10),
        ("arrays.products", 10),
        ("arrays.mac_pes", 1),
        ("arrays.busy_cycles", 2 * 9 + 4 + 1),
        ("shared.loads", 10),
        ("shared.stores", 10),
        ("bytes.shared_loaded", 40),
        ("bytes.links", 4 * 30),
        ("bytes.registers", 4 * 20),
        ("communication.core_stored", 12),
        ("communication.core_loaded", 4),
        ("communication.globals", 1),
        ("bytes.loaded", 0),
        ("bytes.stored", 0),
    ] {
        assert_eq!(statistics.count(key), want, "{key}");
    }
    let list = |key: &str| statistics.get(key).cloned();
    let counts = |values: &[u64]| {
        Some(Value::List(values.iter().map(|value| Value::Count(*value)).collect()))
    };
    assert_eq!(list("array.operations"), counts(&[0, 30, 0, 0, 0]));
    assert_eq!(list("loop.ii"), counts(&[2]));
    assert_eq!(list("loop.mii"), counts(&[2]));
    assert_eq!(list("loop.mac_pes"), counts(&[1]));
    assert_eq!(list("loop.iterations"), counts(&[10]));
    assert_eq!(list("loop.line"), Some(Value::List(vec!["1".into()])));
    let Some(Value::List(runs)) = list("array.pe_runs") else { panic!("a list") };
    let Value::List(fpea0) = &runs[1] else { panic!("a list of PEs") };
    let head: Vec<Value> = [10, 20, 10, 0].map(Value::Count).to_vec();
    assert_eq!((fpea0.len(), &fpea0[..4]), (64, head.as_slice()));
}

/// All 64 PEs of four arrays multiply and accumulate complex numbers in 90.8 % of the cycles, from
/// operands that come from neighbours: the rate at which the paper's FIR draws 0.70 W (Table 5).
#[test]
fn the_fit_is_what_it_says() {
    let machine = nbcc_isa_sdpnm::Machine::built_in("sdpnm");
    let cost = &machine.energy;
    let mut mac = context(Opcode::Cmac, Source::Output(0, -1), Source::Output(-1, 0));
    mac.options = Options::default();
    let products = f64::from(mac.op.products(&mac.options));
    let of_mac = cost.pe_operation_pj
        + products * cost.pe_multiply_pj
        + 2.0 * cost.pe_link_pj
        + cost.pe_context_pj;
    // 16 accesses a cycle and array feed 64 PEs.
    let of_cycle = 64.0 * of_mac + 16.0 * cost.shared_access_pj;
    let watts = 0.908 * 4.0 * of_cycle * 1e-12 * f64::from(machine.clock.mhz) * 1e6;
    assert!((watts - 0.70).abs() < 0.005, "{watts}");
}

/// The timeline has a lane for the core and one an array, with what the array did and when.
#[test]
fn the_timeline_shows_loops() {
    let program = program(vec![squares()], [start(1, 0, 10, &[64]), wait(1)].concat());
    let mut core = nbcc_sim_sdpnm::Core::new(&program).unwrap();
    let progress = &mut |_| {};
    let options =
        &mut nbcc_sim_sdpnm::Options { max_cycles: 1000, trace_events: Some(100), progress };
    core.run(options).unwrap();
    let mut text = Vec::new();
    core.trace.as_ref().expect("a timeline").write(&mut text, 5.0).unwrap();
    let trace: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let named = |name: &str| events.iter().find(|event| event["name"] == name);
    let lanes: Vec<&str> =
        events.iter().filter_map(|event| event["args"]["name"].as_str()).collect();
    for name in ["core", "arrays", "npea", "fpea0", "fpea1", "fpea2", "spea"] {
        assert!(lanes.contains(&name), "{lanes:?}");
    }
    let (configure, ran) = (named("configure").expect("an event"), named("loop").expect("one"));
    // 17 cycles of configuration, 23 of the loop, 5 ns each.
    let micros = |event: &serde_json::Value, key: &str| event[key].as_f64().expect("a number");
    assert!((micros(configure, "dur") - 17.0 * 0.005).abs() < 1e-9, "{configure}");
    assert!((micros(ran, "dur") - 23.0 * 0.005).abs() < 1e-9, "{ran}");
    let end = micros(configure, "ts") + micros(configure, "dur");
    assert!((micros(ran, "ts") - end).abs() < 1e-9);
}
