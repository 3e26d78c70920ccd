//! Blocks that go to a stack and back: what they compute, the three steps of coherence (section 4.4.2),
//! masks of lanes, and what is counted.

use std::sync::Arc;

use nbcc_isa_simt::{Op, Program};
use nbcc_isa_tom::offload::{Checker, Condition, Constant, Entry, OffloadTable, Tag, section};
use nbcc_isa_tom::policy::Policy;
use nbcc_sim_simt::Device;
use nbcc_sim_tom::Session;
use nbcc_sim_tom::coherence::Faults;
use nbcc_sim_tom::task::Refusal;

use crate::support::{Bench, PLACE, program};

/// A kernel with candidates: begin and end of each, in the order of their markers. Registers cost next to
/// nothing unless changes say so, so that all pay; a loop has the condition from which it does.
fn with_table(
    changes: &[(&str, &str)],
    policy: (&str, &str),
    text: &str,
    ranges: &[(u32, u32)],
) -> Program {
    let changes = [&[("cost.warp_words", "1")], changes].concat();
    // The assembler asks for the table, which comes afterwards: a move holds the place of a marker.
    let mut program = program("tom", &changes, &text.replace("region ", "mov R31, "));
    for (number, (begin, _)) in ranges.iter().enumerate() {
        let marker = Op::Region { number: number as u32 };
        program.code.text[*begin as usize - 1] = marker.into();
    }
    let machine = nbcc_isa_tom::Machine::from_toml(&program.machine.toml, &[]).unwrap();
    let checker = Checker::new(&program, 0);
    let entry = |(number, &(begin, end)): (usize, &(u32, u32))| {
        let live_out = checker.registers_out(begin, end);
        let needed = checker.registers_in(begin, end, &live_out);
        let standing = checker.standing(begin, end, &needed);
        let held = |reg| Constant { reg, held: checker.held(reg, begin).unwrap() };
        let tags = [(false, false), (false, true), (true, false), (true, true)];
        let loops = (2..=9).filter_map(|threshold| {
            Some(Condition { threshold, ..checker.condition(begin, end)? })
        });
        let conditions = std::iter::once(None).chain(loops.map(Some));
        let entries: Vec<Entry> = conditions
            .flat_map(|condition| tags.map(|tag| (condition, tag)))
            .map(|(condition, (tx, rx))| Entry {
                kernel: 0,
                begin,
                end,
                live_in: needed.without(&standing),
                live_out,
                constants: standing.iter().map(held).collect(),
                inputs: 0,
                tag: Tag { tx, rx },
                trips: condition.map_or(1, |condition| condition.threshold),
                condition,
            })
            .collect();
        let fault = |entry: &Entry| checker.fault(entry, number as u32, &machine.cost);
        let right = entries.iter().find(|entry| fault(entry).is_none());
        right
            .unwrap_or_else(|| panic!("{:?}", entries.iter().map(fault).collect::<Vec<_>>()))
            .clone()
    };
    let entries = ranges.iter().enumerate().map(entry).collect();
    let section = section(&OffloadTable { entries }, &["test"]);
    program.sections.push(section);
    let policy = Policy::named(&machine, Some(policy.0), Some(policy.1)).unwrap();
    program.sections.push(policy.section());
    program
}

fn bench(program: Program) -> Bench {
    let mut device = Device::new(program.machine.clone(), 1 << 26);
    let module = device.load(Arc::new(program)).unwrap_or_else(|error| panic!("{error}"));
    let buffer = device.memory().allocate(1 << 22, false).unwrap();
    let session = Session::default();
    Bench { device, module, buffer, max_cycles: 10_000_000, threads: 1, session }
}

/// Instructions of [`PLACE`].
const PLACED: u32 = 6;

/// What one warp leaves behind if it runs `text` with these candidates and steps left out.
fn run(text: &str, ranges: &[(u32, u32)], faults: Faults, at: usize) -> u32 {
    let text = format!("{PLACE}\n{text}");
    let mut bench = bench(with_table(&[], ("always", "baseline"), &text, ranges));
    bench.session.faults = faults;
    let timing = bench.run(1, 32);
    assert_eq!(timing.measures.offload().instances, ranges.len() as u64);
    bench.words(at + 1)[at]
}

/// The first step: what the warp has written before is in memory when its block begins.
#[test]
fn writes_come_before_the_request() {
    let text = "
        mov R8, 7
        st.global.b32.weak [D2], 0, R8
        region 0
        ld.global.b32.weak R9, [D2], 0
        st.global.b32.weak [D2], 4096, R9
        exit";
    let begin = PLACED + 3;
    let ranges = [(begin, begin + 2)];
    assert_eq!(run(text, &ranges, Faults::default(), 1024), 7);
    let faults = Faults { keeps_writes: true, ..Faults::default() };
    assert_eq!(run(text, &ranges, faults, 1024), 0);
}

/// Where coherence is said to be free nothing is waited for or invalidated, and results are the same.
#[test]
fn coherence_may_be_free() {
    let text = format!(
        "{PLACE}
        mov R8, 7
        st.global.b32.weak [D2], 0, R8
        ld.global.b32.weak R10, [D2], 4096
        region 0
        ld.global.b32.weak R9, [D2], 0
        st.global.b32.weak [D2], 4096, R9
        ld.global.b32.weak R10, [D2], 4096
        st.global.b32.weak [D2], 8192, R10
        exit"
    );
    let begin = PLACED + 4;
    let range = (begin, begin + 2);
    let of = |is_kept: &str| {
        let changes = [("offload.coherence", is_kept)];
        let mut bench = bench(with_table(&changes, ("always", "baseline"), &text, &[range]));
        let timing = bench.run(2, 64);
        assert_eq!(bench.words(3072)[2048..2048 + 128], [7; 128]);
        let offload = timing.measures.offload();
        assert_eq!(offload.instances, 4);
        (timing.measures.cycles, offload.flush_cycles, offload.invalidated, offload.did.bytes)
    };
    let (kept, free) = (of("true"), of("false"));
    assert!(free.0 < kept.0 && free.1 < kept.1 && free.3 < kept.3, "{free:?} {kept:?}");
    assert_eq!((free.2, kept.2), (0, 4));
}

/// The second step: a block does not see what an earlier one left in the stack's cache.
#[test]
fn the_cache_of_a_stack_is_emptied() {
    let text = "
        region 0
        ld.global.b32.weak R9, [D2], 0
        st.global.b32.weak [D2], 4096, R9
        mov R8, 7
        st.global.b32.weak [D2], 0, R8
        fence.gpu
        region 1
        ld.global.b32.weak R9, [D2], 0
        st.global.b32.weak [D2], 4096, R9
        exit";
    let (first, second) = (PLACED + 1, PLACED + 7);
    let of = |begin| (begin, begin + 2);
    let ranges = [of(first), of(second)];
    assert_eq!(run(text, &ranges, Faults::default(), 1024), 7);
    let faults = Faults { keeps_cache: true, ..Faults::default() };
    assert_eq!(run(text, &ranges, faults, 1024), 0);
}

/// The third step: the requester does not see what its cache held before the block.
#[test]
fn lines_that_a_block_wrote_are_invalidated() {
    let text = "
        ld.global.b32.weak R10, [D2], 0
        int.add R8, R10, 7
        region 0
        st.global.b32.weak [D2], 0, R8
        ld.global.b32.weak R11, [D2], 0
        st.global.b32.weak [D2], 4096, R11
        exit";
    let begin = PLACED + 3;
    let ranges = [(begin, begin + 1)];
    assert_eq!(run(text, &ranges, Faults::default(), 1024), 7);
    let faults = Faults { keeps_lines: true, ..Faults::default() };
    assert_eq!(run(text, &ranges, faults, 1024), 0);
}

/// Whatever lanes come to a candidate, they and no others run it, and what they do not write stays. The
/// block overwrites a live-in before its first access, so that the GPU's try must leave nothing behind,
/// and its threads part inside.
#[test]
fn every_mask_of_lanes_runs_elsewhere() {
    let text = format!(
        "{PLACE}
        ld.global.b32.weak R5, [D2], 65536
        mov R9, 1000
        sreg.laneid R12
        shl_by_lane
        cmp.ne P0, R13, 0
        if P0 bra in, out
        bra out, -1
        in:
        region 0
        int.add R9, R9, 1
        cmp.lt_u P1, R12, 9
        if P1 bra low, meet
        int.add R9, R9, 100
        low:
        meet:
        ld.global.b32.weak R14, [D2], 0
        int.add R9, R9, R14
        st.global.b32.weak [D2], 4096, R9
        out:
        st.global.b32.weak [D2], 8192, R9
        exit"
    )
    .replace("shl_by_lane", "int.shr R13, R5, R12\nint.and R13, R13, 1");
    let begin = PLACED + 9;
    let range = (begin, begin + 7);
    let mut seed = 7_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 32) as u32
    };
    let masks: Vec<u32> = [0, 1, 1 << 31, 0x1ff, u32::MAX - 1, u32::MAX]
        .into_iter()
        .chain((0..26).map(|_| random()))
        .collect();
    for (offload, map) in
        [("always", "baseline"), ("controlled", "baseline"), ("ideal", "baseline")]
    {
        let mut bench = bench(with_table(&[], (offload, map), &text, &[range]));
        // A warp of its own for each mask: the word of each of its threads.
        let contents: Vec<u8> =
            masks.iter().flat_map(|mask| [*mask; 32]).flat_map(u32::to_le_bytes).collect();
        let at = bench.buffer + 65536;
        bench.device.write(at, &contents).unwrap();
        let timing = bench.run(masks.len() as u32 / 4, 128);
        let offload = timing.measures.offload();
        let with_lanes = masks.iter().filter(|mask| **mask != 0).count() as u64;
        assert_eq!((offload.considered, offload.instances), (with_lanes, with_lanes));
        let out = bench.words(2048 + 32 * masks.len());
        for (warp, mask) in masks.iter().enumerate() {
            for lane in 0..32 {
                let is_in = mask >> lane & 1 == 1;
                let inside = if lane < 9 { 1001 } else { 1101 };
                let word = 32 * warp + lane;
                let expected = if is_in { inside } else { 1000 };
                assert_eq!(out[2048 + word], expected, "mask {mask:#x}, lane {lane}");
                assert_eq!(out[1024 + word], if is_in { inside } else { 0 });
            }
        }
    }
}

/// What is counted of decisions, packets and instructions adds up.
#[test]
fn decisions_add_up() {
    let text = format!(
        "{PLACE}
        mov R8, 0
        next:
        region 0
        ld.global.b32.weak R9, [D2], 0
        ld.global.b32.weak R10, [D2], 4096
        int.add R9, R9, R10
        st.global.b32.weak [D2], 0, R9
        int.add R8, R8, 1
        cmp.lt_u P0, R8, 6
        if P0 bra next, -1
        exit"
    );
    let begin = PLACED + 2;
    let range = (begin, begin + 4);
    for (offload, map) in [
        ("none", "transparent"),
        ("always", "baseline"),
        ("always", "transparent"),
        ("controlled", "transparent"),
        ("best", "transparent"),
        ("ideal", "baseline"),
    ] {
        let changes = [
            ("stack.warps", "2"),
            ("map.learn_share", "0.01"),
            // Links count as busy soon: `best` offloads nothing else at first.
            ("offload.busy_threshold", "0.001"),
            ("offload.busy_window", "50"),
        ];
        let mut bench = bench(with_table(&changes, (offload, map), &text, &[range]));
        let timing = bench.run(70, 96);
        let s = bench.statistics(&timing);
        let n = |key: &str| s.count(key);
        let refused = n("offload.refused_learning")
            + n("offload.refused_condition")
            + n("offload.refused_channel")
            + n("offload.refused_warps");
        let all = &timing.measures.candidates;
        assert_eq!(
            n("offload.considered"),
            n("offload.instances") + refused,
            "{offload} {map}: {all:?}"
        );
        let cores = &timing.counters.cores;
        assert_eq!(n("offload.instructions"), cores[64..].iter().sum::<u64>());
        assert_eq!(cores.iter().sum::<u64>(), n("instructions"));
        assert_eq!(n("link.tx_packets"), n("link.rx_packets"));
        assert_eq!(n("link.cross_packets") % 2, 0);
        assert_eq!(n("l1.accesses") + n("memory.ordered") + n("memory.atomic"), n("memory.lines"));
        assert_eq!(n("dram.hits") + n("dram.misses") + n("dram.conflicts"), n("dram.requests"));
        assert_eq!(n("core.issue_cycles") + n("core.stall_cycles"), n("core.cycles"));
        assert_eq!(n("core.issue_cycles"), n("instructions"));
        match offload {
            "none" => {
                let all = [n("offload.considered"), n("offload.instructions")];
                assert_eq!((all, n("link.cross_bytes")), ([0, 0], 0));
            }
            "ideal" => assert_eq!(n("link.cross_bytes"), 0),
            "always" => assert_eq!(n("offload.refused_warps") + n("offload.refused_channel"), 0),
            _ => assert!(n("offload.refused_warps") > 0, "{offload}"),
        }
        assert_eq!(n("offload.refused_learning") > 0, map == "transparent" && offload != "none");
        if offload != "none" {
            assert!(n("offload.instances") > 0);
            assert_eq!(n("offload.considered"), 70 * 3 * 6);
            // Marker and branch stay, four instructions go.
            assert_eq!(n("offload.instructions"), 4 * n("offload.instances"));
        }
        // The same again is the same again.
        let out = bench.words(8000);
        let program = with_table(&changes, (offload, map), &text, &[range]);
        let mut again = crate::offload::bench(program);
        assert_eq!(again.run(70, 96).measures, timing.measures);
        assert_eq!(again.words(8000), out);
    }
}

/// Blocks that wait for each other in front of a candidate: those with which learning begins wait for the
/// others.
#[test]
fn learning_ends_where_blocks_wait_for_others() {
    let text = format!(
        "{PLACE}
        ld64.param.weak D10, [0x0], 0
        mov R8, 1
        red.add.u32.global.relaxed [D10], 8192, R8
        wait:
        ld.global.b32.relaxed R9, [D10], 8192
        cmp.lt_u P0, R9, 96
        if P0 bra wait, -1
        region 0
        ld.global.b32.weak R9, [D2], 0
        st.global.b32.weak [D2], 4096, R0
        exit"
    );
    let begin = PLACED + 7;
    let range = (begin, begin + 2);
    let of = |map: &str, threads| {
        let mut bench = bench(with_table(&[], ("always", map), &text, &[range]));
        bench.threads = threads;
        let first = bench.run(3, 32).measures;
        assert_eq!(bench.words(2048)[1024..1120], (0..96).collect::<Vec<u32>>());
        (first, bench.cycles(3, 32))
    };
    let (learning, after) = of("transparent", 1);
    assert_eq!(of("transparent", 2).0, learning);
    let (baseline, again) = of("baseline", 1);
    assert!(baseline.cycles < 10_000 && after == again, "{after} instead of {again}");
    assert!((1 << 20..1 << 21).contains(&learning.learn_cycles), "{}", learning.learn_cycles);
    assert!(learning.cycles < learning.learn_cycles + 10_000);
}

/// A block that never ends is given up, with its line; so is a launch that waits for it.
#[test]
fn blocks_without_end_are_given_up() {
    let text = format!(
        "{PLACE}
        region 0
        ld.global.b32.weak R9, [D2], 0
        again:
        bra again, -1
        exit"
    );
    let begin = PLACED + 1;
    let range = (begin, begin + 2);
    let mut bench = bench(with_table(&[], ("always", "baseline"), &text, &[range]));
    bench.max_cycles = 5000;
    let error = bench.launch(1, 32).unwrap_err().to_string();
    assert!(error.contains("5000"), "{error}");
    assert!(error.contains("on multiprocessor 0, warp 0 of the block"), "{error}");
    assert!(error.contains("its request for stack 0 of cycle "), "{error}");
    assert!(error.contains(" runs on multiprocessor 64, of stack 0, at "), "{error}");
}

/// A fault in a stack is that of the thread whose block it is.
#[test]
fn faults_in_stacks_name_their_thread() {
    let text = format!(
        "{PLACE}
        int.shr R5, R0, 5
        mad_wide.u D2, R5, 2147483392, D2
        region 0
        ld.global.b32.weak R9, [D2], 0
        st.global.b32.weak [D2], 0, R9
        exit"
    );
    let begin = PLACED + 3;
    let range = (begin, begin + 2);
    let mut bench = bench(with_table(&[], ("always", "baseline"), &text, &[range]));
    let error = bench.launch(1, 64).unwrap_err().to_string();
    assert!(error.contains("thread (32, 0, 0)"), "{error}");
    assert!(error.contains(", of stack ") && error.contains("warp 1 of the block"), "{error}");
}

/// A candidate no instance of which goes: under `best` each eighth marker takes the time of the controller, as all
/// do under `controlled`. Why its instances stay is said all the same, and how long those take at home whose
/// condition fails is not learnt.
#[test]
fn what_never_goes_rests() {
    let text = |trips: &str| {
        format!(
            "{PLACE}
            {trips}
            mov R10, 0
        next:
            mov R8, 0
            region 0
        head:
            ld.global.b32.weak R11, [D2], 0
            int.add R11, R11, 1
            st.global.b32.weak [D2], 0, R11
            int.add R8, R8, 1
            cmp.lt_u P0, R8, R9
            if P0 bra head, -1
            int.add R10, R10, 1
            cmp.lt_u P0, R10, 320
            if P0 bra next, -1
            exit"
        )
    };
    let begin = PLACED + 4;
    let ranges = [(begin, begin + 6)];
    let of = |policy, trips: &str| {
        let changes = [("cost.warp_words", "32")];
        let mut bench = bench(with_table(&changes, (policy, "baseline"), &text(trips), &ranges));
        let timing = bench.run(1, 32);
        let counts = timing.measures.candidates[0];
        assert_eq!(counts.considered, 320);
        assert_eq!(counts.considered, counts.instances + counts.refused.iter().sum::<u64>());
        let home = bench.session.experience(0).home.count;
        (timing.measures.cycles, counts, home)
    };
    // Sixteen until it rests.
    let looks = 16 + (320 - 16) / 8;
    let one = "sreg.ntid_y R9";
    let (held, all, _) = of("controlled", one);
    let (rests, counts, home) = of("best", one);
    assert_eq!(held - rests, 10 * (320 - looks));
    assert_eq!((counts.refused, counts.asked), (all.refused, 0));
    assert_eq!((counts.refused[Refusal::Condition as usize], home), (320, 0));
    // With no other warp and no link in use none is sent for want of warps, and all are known at home.
    let (_, counts, home) = of("best", "sreg.ntid_x R9");
    // Of each that is noted trip by trip.
    let known = (counts.refused[Refusal::Warps as usize], counts.asked, home);
    assert_eq!(known, (320, looks, 320 * 32));
}

/// A loop that stays is decided on again in each trip under `best`: all warps begin at once, and a stack that holds
/// two of them takes others with what is left to them. Each trip is made once, wherever it is.
#[test]
fn what_is_left_of_a_loop_goes_later() {
    let text = format!(
        "{PLACE}
        mov R8, 0
        sreg.ntid_x R10
        region 0
    head:
        ld.global.b32.weak R9, [D2], 0
        int.add R9, R9, 1
        st.global.b32.weak [D2], 0, R9
        int.add R8, R8, 1
        cmp.lt_u P0, R8, R10
        if P0 bra head, done
    done:
        st.global.b32.weak [D2], 16384, R9
        exit"
    );
    let begin = PLACED + 3;
    let ranges = [(begin, begin + 6)];
    let of = |policy, threads| {
        let changes = [("stack.warps", "2"), ("cost.warp_words", "32"), ("link.bandwidth", "2")];
        let mut bench = bench(with_table(&changes, (policy, "baseline"), &text, &ranges));
        bench.threads = threads;
        let timing = bench.run(32, 96);
        let words = bench.words(8192);
        assert!(words[..32 * 96].iter().all(|word| *word == 96));
        assert!(words[4096..4096 + 32 * 96].iter().all(|word| *word == 96));
        let counts = timing.measures.candidates[0];
        assert_eq!(counts.considered, 96);
        assert_eq!(counts.considered, counts.instances + counts.refused.iter().sum::<u64>());
        (counts, timing.measures)
    };
    let (all, _) = of("controlled", 1);
    assert_eq!((all.did.instances, all.did.trips), (all.instances, 96 * all.instances));
    let (counts, measures) = of("best", 1);
    assert!(counts.instances > 0);
    assert!(counts.did.trips < 96 * counts.instances);
    assert_eq!(counts.did.instructions, 6 * counts.did.trips);
    assert_eq!(of("best", 3).1, measures);
}

/// A run may say how many of four instances go, whatever the policy.
#[test]
fn quarters_of_the_instances_go() {
    let text = format!(
        "{PLACE}
        region 0
        ld.global.b32.weak R9, [D2], 0
        int.add R9, R9, 1
        st.global.b32.weak [D2], 0, R9
        exit"
    );
    let begin = PLACED + 1;
    let ranges = [(begin, begin + 3)];
    for share in 0..=4 {
        let mut bench = bench(with_table(&[], ("controlled", "baseline"), &text, &ranges));
        bench.session = Session::default().assigned(None, vec![share]);
        let timing = bench.run(1, 256);
        assert_eq!(timing.measures.offload().instances, 2 * u64::from(share));
        assert_eq!(bench.words(256), [1; 256]);
    }
}

/// Blocks that go to stacks while others ask for lines that these write: cycles, counts and memory do not
/// depend on how many threads of the host simulate that.
#[test]
fn threads_change_nothing() {
    let text = format!(
        "{PLACE}
        mov R8, 0
    head:
        ld.global.b32.weak R9, [D2], 0
        int.add R9, R9, R8
        region 0
        st.global.b32.weak [D2], 4096, R9
        ld.global.b32.weak R10, [D2], 8192
        st.global.b32.weak [D2], 64, R10
        ld.global.b32.weak R11, [D2], 128
        st.global.b32.weak [D2], 16384, R11
        int.add R8, R8, 1
        cmp.lt_u P0, R8, 4
        if P0 bra head, done
    done:
        exit"
    );
    let begin = PLACED + 4;
    let ranges = [(begin, begin + 3)];
    for policy in ["always", "controlled", "ideal", "best"] {
        let left = |threads: usize| {
            let mut bench = bench(with_table(&[], (policy, "baseline"), &text, &ranges));
            bench.threads = threads;
            let timing = bench.run(300, 96);
            (timing.counters, timing.measures, bench.words(1 << 16))
        };
        let one = left(1);
        let instances = one.1.offload().instances;
        assert!(
            ["controlled", "best"].contains(&policy) || instances > 1000,
            "{policy}: {instances} instances"
        );
        for threads in [2, 3] {
            assert_eq!(one, left(threads), "{threads} threads, {policy}");
        }
    }
}
