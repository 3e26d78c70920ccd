//! What happens does not depend on how many threads of the host simulate it: neither cycles nor counts, nor
//! memory.

use nbcc_sim_simt::Counters;
use nbcc_sim_tom::Measures;

use crate::support::{Bench, PLACE};

/// What a launch leaves behind: counts, measures, the memory.
type Left = (Counters, Measures, Vec<u32>);

fn left(threads: usize, (machine, changes): (&str, &[(&str, &str)]), text: &str) -> Left {
    let mut bench = Bench::with(machine, changes, text);
    bench.threads = threads;
    let timing = bench.run(300, 96);
    (timing.counters, timing.measures, bench.words(1 << 16))
}

/// Loads of lines and of single words, some of which others store to, stores, atomic operations: all ways
/// that requests take.
fn text() -> String {
    format!(
        "{PLACE}
        ld64.param.weak D10, [0x0], 0
        mov R8, 0
    head:
        ld.global.b32.weak R9, [D2], 0
        int.add R9, R9, R0
        int.mul R20, R9, 19
        int.and R20, R20, 65535
        mad_wide.u D22, R20, 4, D10
        ld.global.b32.weak R21, [D22], 4096
        st.global.b32.weak [D22], 8192, R21
        red.add.u32.global.relaxed [D22], 16384, R0
        ld.global.b32.relaxed R24, [D22], 128
        st.global.b32.weak [D2], 0, R24
        int.add R8, R8, 1
        cmp.lt_u P0, R8, 4
        if P0 bra head, done
    done:
        exit"
    )
}

#[test]
fn threads_change_nothing() {
    for machine in [
        ("tom-baseline", &[][..]),
        ("tom", &[]),
        ("tom-baseline", &[("l2.misses", "1"), ("l2.slices", "4"), ("link.bandwidth", "8")]),
        ("tom-baseline", &[("interconnect.latency", "1")]),
    ] {
        let one = left(1, machine, &text());
        assert!(one.1.memory.flow.atomic_lanes > 0 && one.1.memory.flow.l2_misses > 10_000);
        for threads in [2, 3] {
            assert_eq!(one, left(threads, machine, &text()), "{threads} threads, {machine:?}");
        }
    }
}
