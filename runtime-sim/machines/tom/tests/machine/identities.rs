//! What docs/statistics.md says holds in every run.

use serde_json::Value;

use nbcc_sim_tom::DEFINITIONS;

use crate::support::{Bench, PLACE};

/// Something of everything: loads of all strides, shared memory, atomic operations, divergence,
/// barriers, local memory.
fn text() -> String {
    format!(
        "{PLACE}
        ld.global.b32.weak R10, [D2], 0
        int.add R10, R10, R0
        ld.global.b32.weak R11, [D2], 68
        int.add R11, R11, R10
        int.and R12, R0, 7
        int.mul R13, R12, 132
        mul_wide.u D6, R13, 4
        st.shared.b32.weak [D6], 0, R11
        bar.aligned 0, 0
        ld.shared.b32.weak R14, [D6], 0
        cmp.lt_u P0, R12, 3
        if P0 bra L1, L1
        float.mul.f32.rn R14, R14, R14
        approx.rcp.f32 R15, R14
        L1:
        st.local.b32.weak [0x0], 8, R14
        ld.local.b32.weak R16, [0x0], 8
        mul_wide.u D8, R13, 64
        ld64.param.weak D18, [0x0], 0
        int64.add D18, D18, D8
        mov R20, 1
        atom.add.u32.global.relaxed R21, [D18], 4096, R20
        ld.global.b32.relaxed R22, [D18], 0
        if P0 int.add R21, R21, 1
        fence.gpu
        st.global.b32.weak [D2], 0, R21
        exit"
    )
}

#[test]
fn identities_hold() {
    for (machine, changes) in [
        ("tom-baseline", &[][..]),
        ("tom", &[]),
        ("tom-baseline", &[("l1.misses", "2"), ("pipeline.stores", "1"), ("l2.misses", "1")]),
        ("tom-baseline", &[("stack.count", "1"), ("gpu.sms", "4"), ("l2.slices", "3")]),
        ("tom-baseline", &[("pipeline.schedulers", "5"), ("cache.line_bytes", "32")]),
    ] {
        let mut bench = Bench::with(machine, changes, &text());
        let timing = bench.run(300, 96);
        let statistics = bench.statistics(&timing);
        let json: Value = serde_json::from_str(&statistics.to_json()).unwrap();
        for definition in DEFINITIONS {
            let found = definition.key.split('.').try_fold(&json, |object, name| object.get(name));
            assert!(found.is_some(), "{} has no value", definition.key);
        }
        let n = |key: &str| statistics.count(key);
        let sum = |group: &str| -> u64 {
            json[group].as_object().unwrap().values().map(|value| value.as_u64().unwrap()).sum()
        };
        let [schedulers, header, address, ack, line] = [
            "pipeline.schedulers",
            "link.header_bytes",
            "link.address_bytes",
            "link.acknowledgment_bytes",
            "cache.line_bytes",
        ]
        .map(|key| value(&bench, key));
        assert_eq!(n("l1.hits") + n("l1.misses"), n("l1.accesses"));
        assert_eq!(n("l2.hits") + n("l2.misses"), n("l2.accesses"));
        let lines = n("l1.accesses") + n("memory.ordered") + n("memory.atomic");
        assert_eq!(lines, n("memory.lines"));
        assert_eq!(n("dram.hits") + n("dram.misses") + n("dram.conflicts"), n("dram.requests"));
        assert_eq!(n("dram.reads") + n("dram.writes"), n("dram.requests"));
        assert_eq!(n("core.issue_cycles") + n("core.stall_cycles"), n("core.cycles"));
        assert_eq!(n("core.cycles"), n("cycles") * n("core.count") * schedulers);
        assert_eq!(sum("stall"), n("core.stall_cycles"));
        assert_eq!(sum("category"), n("instructions"));
        assert_eq!(n("shared.passes") - n("shared.conflicts"), n("shared.accesses"));
        // Whatever goes to a stack is answered.
        assert_eq!(n("link.tx_packets"), n("link.rx_packets"));
        // Of what was written and changed, and an address a packet.
        assert!(n("link.tx_bytes") > n("link.tx_packets") * (header + address));
        let most = n("link.rx_packets") * (header + line.max(ack));
        assert!(n("link.rx_bytes") < most && n("link.rx_bytes") >= n("link.rx_packets") * ack);
        let energy: f64 =
            json["energy"].as_object().unwrap().values().map(|value| value.as_f64().unwrap()).sum();
        assert!((energy - statistics.real("energy_pj")).abs() < 1e-6 * energy);
        assert!(n("instructions") > 0 && n("memory.atomic") > 0 && n("dram.requests") > 0);
        // The same again is the same again.
        let mut again = Bench::with(machine, changes, &text());
        assert_eq!(again.run(300, 96).measures, timing.measures);
        assert_eq!(again.words(9000), bench.words(9000));
    }
}

fn value(bench: &Bench, key: &str) -> u64 {
    let toml = &bench.module.program().machine.toml;
    let machine = nbcc_isa_tom::Machine::from_toml(toml, &[]).unwrap();
    let entry = machine.list(toml).into_iter().find(|entry| entry.key == key);
    entry.expect("a key").value.parse().expect("a number")
}

/// A launch that never ends is given up, and says where it was.
#[test]
fn cycles_are_bounded() {
    let mut bench = Bench::new("L0:\nbra L0, -1\nexit");
    bench.max_cycles = 5000;
    let error = bench.launch(1, 32).unwrap_err().to_string();
    assert!(error.contains("5000"), "{error}");
    let mut bench =
        Bench::new("sreg.tid_x R0\ncmp.lt_u P0, R0, 32\nif P0 exit\nbar.aligned 1, 128\nexit");
    let error = bench.launch(1, 64).unwrap_err().to_string();
    assert!(error.contains("wait"), "{error}");
}
