//! What happens does not depend on how many threads of the host simulate it: neither cycles nor counts,
//! nor memory, also where cores race for the same words.

use nbcc_sim_mpu::Measures;
use nbcc_sim_simt::{Counters, LaunchError};

use crate::support::{Bench, PLACE};

/// What a launch leaves behind: counts, measures, the memory.
type Left = (Counters, Measures, Vec<u32>);

fn left(threads: usize, changes: &[(&str, &str)], text: &str) -> Result<Left, LaunchError> {
    let mut bench = Bench::with("mpu", changes, text);
    bench.threads = threads;
    let words: Vec<u8> = (0..1 << 16)
        .flat_map(|n: u32| (n.wrapping_mul(0x9e37_79b1) % 4096).to_le_bytes())
        .collect();
    bench.device.write(bench.buffer, &words).unwrap();
    let timing = bench.launch(140, 96)?;
    Ok((timing.counters, timing.measures, bench.words(1 << 16)))
}

/// The same on one thread and on more.
fn same(changes: &[(&str, &str)], text: &str) -> Left {
    let one = left(1, changes, text).unwrap_or_else(|error| panic!("{error}"));
    for threads in [2, 3, 7] {
        let more = left(threads, changes, text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(one, more, "{threads} threads");
    }
    one
}

fn in_a_loop(body: &str) -> String {
    format!(
        "{PLACE}
        ld64.param.weak D10, [0x0], 0
        mov R8, 0
    head:
        {body}
        int.add R8, R8, 1
        cmp.lt_u P0, R8, 4
        if P0 bra head, done
    done:
        st.global.b32.weak [D2], 131072, R9
        exit"
    )
}

/// Each thread reads and writes words that threads of other cores do, without any order: the addresses
/// that it loads are where it stores next.
fn races(load: &str, store: &str) -> String {
    in_a_loop(&format!(
        "{load}
        int.and R20, R9, 1023
        mad_wide.u D22, R20, 4, D10
        int.add R21, R9, R0
        {store}"
    ))
}

#[test]
fn cores_that_race_do_so_in_their_order() {
    let load = "ld.global.b32.weak R9, [D2], 0\nint.and R9, R9, 1023\n\
                mad_wide.u D14, R9, 4, D10\nld.global.b32.weak R9, [D14], 0";
    let (.., by_store) = same(&[], &races(load, "st.global.b32.weak [D22], 0, R21"));
    let (.., alone) = same(&[], &races(load, "int.add R21, R21, 1"));
    assert_ne!(by_store, alone, "what is stored is loaded by others");
    let volatile = load.replace("weak", "volatile");
    same(&[], &races(&volatile, "st.global.b32.volatile [D22], 0, R21"));
    // Two in the same window, to be seen by the thread itself.
    let twice = "st.global.b32.weak [D22], 0, R21\nld.global.b32.weak R9, [D22], 0\n\
                 st.global.b32.weak [D22], 4, R9";
    same(&[], &races(load, twice));
}

#[test]
fn atomic_operations_are_done_in_their_order() {
    let atomic = "atom.add.u32.global.relaxed R9, [D10], 0, R0\n\
                  atom.exch.u32.global.relaxed R20, [D10], 64, R9\nint.xor R9, R9, R20";
    let (.., words) = same(&[], &in_a_loop(atomic));
    let sum = (0..4).flat_map(|_| 0..140 * 96_u32).fold(0, u32::wrapping_add);
    assert_eq!(words[0], sum, "every addition once");
    let load = "ld.global.b32.weak R9, [D10], 0";
    same(&[], &races(load, "red.add.u32.global.relaxed [D22], 0, R21"));
}

#[test]
fn generic_accesses_see_all_memory() {
    let text = races("ld.generic.b32.weak R9, [D2], 0", "st.generic.b32.weak [D22], 0, R21");
    same(&[], &text);
}

/// What is loaded may be there before a window is over: then there is one thread.
#[test]
fn machines_may_be_faster_than_a_window_is_long() {
    let changes = [("latency.register", "0"), ("latency.coalesce", "0")];
    let text = races("ld.global.b32.weak R9, [D2], 0", "st.global.b32.weak [D22], 0, R21");
    same(&changes, &text);
}

/// Of several faults of a window that of the first core is told.
#[test]
fn faults_are_the_same() {
    let text = in_a_loop(
        "ld.global.b32.weak R9, [D2], 0\nmad_wide.u D22, R9, 4096, D10\n\
                          st.global.b32.weak [D22], 0, R0",
    );
    let one = left(1, &[], &text).unwrap_err();
    for threads in [2, 3, 7] {
        assert_eq!(left(threads, &[], &text).unwrap_err(), one);
    }
}
