//! What happens does not depend on how many threads of the host run blocks: neither memory nor counts
//! nor what is printed nor faults, also where blocks use what others do.

use nbcc_sim_simt::Counters;

use crate::support::{Bench, PLACE, program};

const BLOCKS: u32 = 700;
const WORDS: usize = 1 << 16;

/// What a launch leaves behind: counts or a fault, memory, what was printed.
#[derive(Debug, PartialEq)]
struct Left {
    result: Result<Counters, String>,
    words: Vec<u32>,
    output: Vec<u8>,
}

fn left(threads: usize, change: &dyn Fn(&mut Bench), text: &str) -> (Left, u64) {
    let mut bench = Bench::with(program(text), 4 * WORDS as u64);
    bench.threads = threads;
    let words: Vec<u8> = (0..WORDS as u32)
        .flat_map(|n| (n.wrapping_mul(0x9e37_79b1) % 4096).to_le_bytes())
        .collect();
    bench.device.write(bench.buffer, &words).unwrap();
    change(&mut bench);
    let result = bench.launch(BLOCKS, 90).map_err(|error| error.to_string());
    let words = bench.words(WORDS);
    (Left { result, words, output: bench.output }, bench.reports)
}

/// The same on one thread and on more; tells too how often it was said on more how far it is, which is
/// for each block where they run one after another.
fn same_with(change: &dyn Fn(&mut Bench), text: &str) -> (Left, u64) {
    let (one, _) = left(1, change, text);
    let mut most = 0;
    for threads in [2, 3, 7] {
        let (more, reports) = left(threads, change, text);
        assert!(one == more, "{threads} threads: {:?} instead of {:?}", more.result, one.result);
        most = most.max(reports);
    }
    (one, most)
}

fn same(text: &str) -> (Left, u64) {
    same_with(&|_| (), text)
}

/// Six rounds of a body, with the thread's place in D2, its number in R0, the buffer in D10.
fn in_a_loop(body: &str) -> String {
    format!(
        "{PLACE}
        ld64.param.weak D10, [0x0], 0
        mov R8, 0
        mov R9, 0
    head:
        {body}
        int.add R8, R8, 1
        cmp.lt_u P0, R8, 6
        if P0 bra head, done
    done:
        exit"
    )
}

#[test]
fn blocks_that_are_independent_run_side_by_side() {
    let (one, reports) = same(&in_a_loop(
        "ld.global.b32.weak R9, [D2], 0\nint3.mad R9, R9, 5, R0\nst.global.b32.weak [D2], 0, R9",
    ));
    assert!(one.result.is_ok());
    assert!(reports < u64::from(BLOCKS) / 4, "{reports} reports of {BLOCKS} blocks");
}

#[test]
fn blocks_may_use_what_the_one_before_them_did() {
    // Thread t adds what thread t - 90 left.
    let (one, _) = same(&in_a_loop(
        "ld.global.b32.weak R9, [D2], 0\nld.global.b32.weak R20, [D2], -360\n\
         int.add R9, R9, R20\nst.global.b32.weak [D2], 0, R9",
    ));
    assert!(one.result.unwrap_err().contains("out of bounds"), "the first one has none before it");
    let (one, _) = same(&in_a_loop(
        "ld.global.b32.weak R9, [D2], 360\nld.global.b32.weak R20, [D2], 0\n\
         int.add R9, R9, R20\nst.global.b32.weak [D2], 360, R9",
    ));
    assert!(one.result.is_ok());
}

#[test]
fn blocks_that_race_do_so_in_their_order() {
    let race = |mask: u32, load: &str, store: &str| {
        in_a_loop(&format!(
            "{load}
            int.and R20, R9, {mask}
            mad_wide.u D22, R20, 4, D10
            int.add R21, R9, R0
            {store}"
        ))
    };
    let load = "ld.global.b32.weak R9, [D2], 0\nint.and R9, R9, 4095\n\
                mad_wide.u D14, R9, 4, D10\nld.global.b32.weak R9, [D14], 0";
    for mask in [15, 4095, 65535] {
        same(&race(mask, load, "st.global.b32.weak [D22], 0, R21"));
        same(&race(mask, load, "st.global.u8.weak [D22], 1, R21"));
        same(&race(mask, load, "st.generic.b32.weak [D22], 0, R21"));
        same(&race(mask, load, "red.add.u32.global.relaxed [D22], 0, R21"));
        same(&race(mask, load, "red.max.s32.generic.relaxed [D22], 0, R21"));
        same(&race(mask, load, "atom.exch.u32.global.relaxed R9, [D22], 0, R21"));
        // Who reads seldom meets who writes.
        same(&race(mask, "ld.global.b32.weak R9, [D2], 0", "st.global.b32.weak [D22], 0, R21"));
    }
    let volatile = load.replace("weak", "volatile");
    same(&race(15, &volatile, "st.global.b32.volatile [D22], 0, R21"));
}

#[test]
fn changes_that_nobody_looks_at_come_in_their_order() {
    let body = |change: &str| {
        in_a_loop(&format!(
            "int.and R20, R0, 63\nmad_wide.u D22, R20, 4, D10\nmov R21, 0x3dcccccd\n\
             int.or R21, R21, R20\n{change}"
        ))
    };
    // Sums of floats depend on their order.
    let (one, reports) = same(&body("red.add.f32.global.relaxed [D22], 0, R21"));
    assert!(one.result.is_ok());
    assert!(reports < u64::from(BLOCKS) / 4, "{reports} reports of {BLOCKS} blocks");
    same(&body("red.inc.u32.global.relaxed [D22], 0, R21"));
    same(&body("red.exch.u32.global.relaxed [D22], 0, R0"));
    // The thread itself looks, or has stored there.
    same(&body("red.add.u32.global.relaxed [D22], 0, R21\nld.global.b32.weak R9, [D22], 0"));
    same(&body("st.global.b32.weak [D22], 0, R0\nred.add.u32.global.relaxed [D22], 0, R21"));
    same(&body("st.global.u8.weak [D22], 0, R0\nred.add.u32.global.relaxed [D22], 0, R21"));
    same(&body("red.add.u32.global.relaxed [D22], 0, R21\nst.global.b32.weak [D22], 0, R0"));
    same(&body("red.add.u32.global.relaxed [D22], 1, R21")).0.result.unwrap_err();
}

#[test]
fn clocks_show_what_went_before() {
    same(&in_a_loop("sreg.clock R9\nst.global.b32.weak [D2], 0, R9"));
    same(&in_a_loop("sreg64.globaltimer D12\nst64.global.weak [D10], 0, D12"));
}

#[test]
fn of_several_faults_the_first_is_told() {
    // Far blocks have more of what is wrong.
    let text = in_a_loop(
        "ld.global.b32.weak R9, [D2], 0\nint3.mad R9, R9, R8, R0\nint.and R9, R9, 0xffff\n\
         mad_wide.u D22, R9, 8, D10\nst.global.b32.weak [D22], 0, R0",
    );
    assert!(same(&text).0.result.unwrap_err().contains("out of bounds"));
    let text = in_a_loop("cmp.gt_u P1, R1, 333\nif P1 trap 0\nst.global.b32.weak [D2], 0, R8");
    let (one, reports) = same(&text);
    assert!(one.result.unwrap_err().contains("block (334, 0, 0), thread (0, 0, 0)"));
    assert!(reports < 80, "{reports} reports of 334 blocks");
    // Those behind the fault have not run.
    assert!(
        one.words[334 * 90..]
            .iter()
            .enumerate()
            .all(|(n, word)| { *word == (n as u32 + 334 * 90).wrapping_mul(0x9e37_79b1) % 4096 })
    );
}

#[test]
fn what_is_printed_comes_in_order() {
    let print = "mov R9, 0x000a6425\nst.shared.b32.weak [0x0], 24, R9\n\
                 st.local.b32.weak [0x0], 0, R0\nmovi64 D10, x7f00000000000018\n\
                 movi64 D12, x7e00000000000000\nint.and R20, R0, 31\ncmp.eq P1, R20, 3\n\
                 if P1 vprintf R20, D10, D12";
    let (one, reports) = same(&in_a_loop(print));
    assert!(reports < u64::from(BLOCKS) / 4, "{reports} reports of {BLOCKS} blocks");
    let text = String::from_utf8(one.output).unwrap();
    assert!(text.starts_with("3\n35\n67\n3\n35\n67\n") || text.starts_with("3\n3\n"), "{text:.80}");
    assert!(text.lines().count() > 6 * 90 * BLOCKS as usize / 32 - 100);
    let (one, _) = same(&in_a_loop(&format!("{print}\ncmp.gt_u P1, R1, 500\nif P1 trap 0")));
    assert!(!one.output.is_empty() && one.result.is_err());
}

#[test]
fn blocks_that_take_long_let_others_go_ahead() {
    // Block 300 waits until block 301 has stored, which it sees only in another turn.
    let wait = "cmp.eq P1, R1, 300\nif P1 bra wait, on\nbra on, -1\nwait:\n\
                ld.global.b32.weak R20, [D2], 360\ncmp.ne P2, R20, 77\nif P2 bra wait, on\non:\n\
                mov R21, 77\nst.global.b32.weak [D2], 0, R21";
    let (one, _) = same(&in_a_loop(wait));
    assert!(one.result.is_ok(), "{:?}", one.result);
}

#[test]
fn cycles_are_limited() {
    let text = in_a_loop("st.global.b32.weak [D2], 0, R8");
    let (one, _) = same(&text);
    let most = one.result.unwrap().cores.into_iter().max().unwrap();
    for limit in [1, most / 2, most - 1, most, most + 1] {
        let (one, _) = same_with(&|bench| bench.max_cycles = limit, &text);
        assert_eq!(one.result.is_err(), limit < most, "{limit}: {:?}", one.result.err());
    }
}

/// Memory that is allocated or freed between launches is another one.
#[test]
fn launches_follow_each_other() {
    let text = in_a_loop(
        "ld.global.b32.weak R9, [D2], 0\nint.add R9, R9, 1\nst.global.b32.weak [D2], 0, R9",
    );
    let mut bench = Bench::with(program(&text), 4 * WORDS as u64);
    bench.threads = 2;
    bench.run(BLOCKS, 90);
    let first = bench.buffer;
    bench.buffer = bench.device.memory().allocate(4 * WORDS as u64, false).unwrap();
    bench.run(BLOCKS, 90);
    bench.device.memory().free(first);
    bench.run(BLOCKS, 90);
    let expected: Vec<u32> =
        (0..WORDS).map(|n| if n < 90 * BLOCKS as usize { 12 } else { 0 }).collect();
    assert_eq!(bench.words(WORDS), expected);
}
