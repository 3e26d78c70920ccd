//! What docs/statistics.md says holds in every run.

use serde_json::Value;

use nbcc_sim_mpu::DEFINITIONS;

use crate::support::{Bench, PLACE};

/// Something of everything: loads of all strides, shared memory, atomic operations, divergence,
/// barriers, local memory, near and far instructions.
fn text() -> String {
    format!(
        "{PLACE}
        ld.global.b32.weak R10, [D2], 0
        near int.add R10, R10, R0
        ld.global.b32.weak R11, [D2], 68
        far int.add R11, R11, R10
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
        if P0 int.add R21, R21, 1
        fence.gpu
        st.global.b32.weak [D2], 0, R21
        exit"
    )
}

#[test]
fn identities_hold() {
    for machine in ["mpu", "mpu-core", "mpu-quad", "mpu-far-shared", "mpu-base-die"] {
        let mut bench = Bench::with(machine, &[], &text());
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
        assert_eq!(n("dram.hits") + n("dram.misses") + n("dram.conflicts"), n("dram.requests"));
        assert_eq!(n("dram.reads") + n("dram.writes"), n("dram.requests"));
        assert_eq!(n("core.issue_cycles") + n("core.stall_cycles"), n("core.cycles"));
        assert_eq!(n("core.cycles"), n("cycles") * n("core.count") * 4);
        assert_eq!(sum("stall"), n("core.stall_cycles"));
        let executed = n("offload.near") + n("offload.far") + n("offload.none");
        assert_eq!(executed, n("instructions"));
        assert_eq!(sum("category"), n("instructions"));
        let bytes = json["tsv"].as_object().unwrap();
        let tsv: u64 = bytes
            .iter()
            .filter(|(key, _)| key.ends_with("_bytes"))
            .map(|(_, n)| n.as_u64().unwrap())
            .sum();
        assert_eq!((tsv, tsv), (n("tsv.bytes"), n("bytes.tsv")));
        let words = n("memory.words_whole") + n("memory.words_local") + n("memory.words_remote");
        assert_eq!(words, n("memory.words"));
        let shared = n("memory.cache_hits") + n("memory.words_awaited");
        let asked = n("memory.words") - shared + n("memory.words_atomic");
        assert_eq!(asked, n("dram.requests"), "{machine}");
        assert_eq!(n("shared.passes") - n("shared.conflicts"), n("shared.accesses"));
        assert_eq!(n("bytes.bank_read") + n("bytes.bank_written"), 32 * n("dram.requests"));
        let near = 128 * n("move.words_near") + 32 * n("move.predicates_near");
        assert_eq!(near, n("tsv.move_near_bytes"));
        let far = (128 + 8) * n("move.words_far") + (32 + 8) * n("move.predicates_far");
        assert_eq!(far, n("tsv.move_far_bytes"));
        let energy: f64 =
            json["energy"].as_object().unwrap().values().map(|value| value.as_f64().unwrap()).sum();
        assert!((energy - statistics.real("energy_pj")).abs() < 1e-6 * energy);
        assert!(n("instructions") > 0 && n("memory.words_atomic") > 0);
        // The same again is the same again.
        let mut again = Bench::with(machine, &[], &text());
        assert_eq!(again.run(300, 96).measures, timing.measures);
        // And means the same as without time.
        assert_eq!(timing.counters.issued.iter().sum::<u64>(), n("instructions"));
    }
}

/// A launch that never ends is given up, and says where it was.
#[test]
fn cycles_are_bounded() {
    let mut bench = Bench::new("mpu-core", "L0:\nbra L0, -1\nexit");
    bench.max_cycles = 5000;
    let error = bench.launch(1, 32).unwrap_err().to_string();
    assert!(error.contains("5000"), "{error}");
    let mut bench = Bench::new(
        "mpu-core",
        "sreg.tid_x R0\ncmp.lt_u P0, R0, 32\nif P0 exit\nbar.aligned 1, 128\nexit",
    );
    let error = bench.launch(1, 64).unwrap_err().to_string();
    assert!(error.contains("wait"), "{error}");
}
