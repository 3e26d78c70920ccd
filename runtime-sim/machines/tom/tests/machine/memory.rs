//! Loads, stores and what lies behind the multiprocessors. Times are added up from the machine file:
//! periods of 714.286 ps (multiprocessor), 800 ps (interconnect), 1428.571 ps (shared cache), 1250 ps
//! (DRAM).

use nbcc_isa_tom::Machine;
use nbcc_isa_tom::layout::{Layout, Mapping};
use nbcc_sim_simt::memory::FIRST_ADDRESS;

use crate::support::{Bench, PLACE, repeat};

/// Nanoseconds of a cycle of a multiprocessor.
const SM: f64 = 0.714286;

/// Cycles from the issue of a load to that of what needs it, one warp, after `before`.
fn load(changes: &[(&str, &str)], before: &str) -> u64 {
    let changes: Vec<_> = [("dram.refresh", "false")].iter().chain(changes).copied().collect();
    let cycles = |line: &str| {
        let text = format!("{PLACE}\n{before}\n{line}\nint.div_u R11, R10, 3\nexit");
        Bench::with("tom-baseline", &changes, &text).cycles(1, 32)
    };
    let sum = cycles("int.add R10, R2, 0");
    // What needs a sum issues 6 cycles behind it.
    cycles("ld.global.b32.weak R10, [D2], 0") + 6 - sum
}

/// The first access of a line goes all the way; what is told of it here is what a hand finds.
#[test]
fn a_load_that_misses_both_caches() {
    // Collected a cycle after its issue, sent one behind that.
    let sent = 2.0 * SM;
    // 8 bytes are a flit.
    let slice: f64 = 0.8 + 10.0 * 0.8;
    let l2 = 1.428571;
    let found = |at: f64| (at / l2).ceil() * l2 + 40.0 * l2;
    // 4 bytes at 80 GB/s, then the switch of the controller.
    let stack = 0.05 + 10.0 + 60.0;
    // The banks see it at the next tick; activate a tick later, then two reads of 64 bytes.
    let banks = |at: f64| ((at / 1.25).ceil() + 1.0 + 11.0 + 11.0 + 4.0 + 4.0) * 1.25;
    // 16 ticks of the vias.
    let vias = |at: f64| ((at / 0.8).ceil() + 16.0) * 0.8;
    let back = 1.6 + 10.0;
    // 136 bytes are five flits, at the cache and at the cluster.
    let home = 5.0 * 0.8 + 10.0 * 0.8 + 5.0 * 0.8;
    // The load issues at a cycle that decides how it meets the other clocks.
    let all: Vec<u64> = (0..400)
        .map(|issue| {
            let start = f64::from(issue) * SM;
            let arrives = vias(banks(found(start + sent + slice) + stack)) + back + home;
            ((arrives - start) / SM).ceil() as u64 + 1
        })
        .collect();
    let (least, most) = (all.iter().min().unwrap(), all.iter().max().unwrap());
    let measured = load(&[], "");
    assert!((least..=most).contains(&&measured), "{measured} is not in {least}..={most}");
    assert!(*least >= 200 && most - least < 8, "{least}..={most}");
}

#[test]
fn a_load_of_a_line_that_is_there() {
    let before = "ld.global.b32.weak R9, [D2], 0\nint.add R9, R9, 1";
    // A cycle of collection, the cache, a cycle to write.
    assert_eq!(load(&[], before), 1 + 28 + 1);
    assert_eq!(load(&[("l1.latency", "50")], before), 1 + 50 + 1);
    // Ordered loads pass the private cache by, and find the line in the shared one.
    let volatile = |rest: &str| {
        let text =
            format!("{PLACE}\nld.global.b32.weak R9, [D2], 0\nint.add R9, R9, 1\n{rest}\nexit");
        Bench::new(&text).cycles(1, 32)
    };
    let chain = |count| {
        volatile(&repeat(count, |_| {
            "ld.global.b32.relaxed R10, [D2], 0\nint.add R10, R10, 1".into()
        }))
    };
    let each = (chain(6) - chain(2)) as f64 / 4.0;
    let way = 2.0 * SM + 0.8 + 8.0 + 40.0 * 1.428571 + 4.0 + 8.0 + 4.0 + SM;
    assert!((each - (way / SM + 6.0)).abs() < 4.0, "{each} cycles, {}", way / SM + 6.0);
}

/// Bytes on links are those of the packets.
#[test]
fn links_carry_what_packets_hold() {
    let run = |rest: &str| {
        let mut bench = Bench::new(&format!("{PLACE}\n{rest}\nexit"));
        let timing = bench.run(4, 128);
        timing.measures.memory.flow
    };
    // 16 warps, a line each.
    let loads = run("ld.global.b32.weak R9, [D2], 0\nint.add R9, R9, 1");
    assert_eq!((loads.tx_bytes, loads.rx_bytes), (16 * 4, 16 * 128));
    let stores = run("st.global.b32.weak [D2], 0, R0");
    assert_eq!((stores.tx_bytes, stores.rx_bytes), (16 * (4 + 128), 16));
    let atomics = run("mov R9, 1\natom.add.u32.global.relaxed R21, [D2], 0, R9");
    assert_eq!((atomics.tx_bytes, atomics.rx_bytes), (16 * (4 + 128), 16 * 128));
    let reductions = run("mov R9, 1\nred.add.u32.global.relaxed [D2], 0, R9");
    assert_eq!((reductions.tx_bytes, reductions.rx_bytes), (16 * (4 + 128), 16));
    // Two loads of one line by one warp: the second waits for the first.
    let twice = run("ld.global.b32.weak R9, [D2], 0\nld.global.b32.weak R10, [D2], 0");
    assert_eq!((twice.tx_bytes, twice.l2_misses), (16 * 4, 16));
}

/// Strided accesses touch a line for each lane, one a cycle, at most 32 under way.
#[test]
fn misses_are_bounded() {
    let text = "
        sreg.tid_x R0
        ld64.param.weak D2, [0x0], 0
        mad_wide.u D2, R0, 128, D2
        ld.global.b32.weak R9, [D2], 0
        int.add R9, R9, 1
        exit";
    let cycles = |misses: &str| {
        let changes = [("dram.refresh", "false"), ("l1.misses", misses)];
        let mut bench = Bench::with("tom-baseline", &changes, text);
        let timing = bench.run(1, 32);
        assert_eq!(timing.measures.memory.flow.l2_misses, 32);
        timing.measures.cycles
    };
    let (all, half, one) = (cycles("32"), cycles("16"), cycles("1"));
    assert!(half > all + 150 && half < 2 * all + 32, "{all} {half}");
    // One line after the other, each as long as one takes alone.
    let alone = load(&[], "");
    assert!(one > 31 * (alone - 40) && one < 33 * alone, "{alone} {one}");
}

/// What is made scarce bounds the rate; more than anything can use makes nothing slower. 68 x 3 blocks of
/// 8 warps read 3.3 MB.
#[test]
fn streams_take_what_is_scarce() {
    let text = format!(
        "{PLACE}\nmov R8, 0\nL0:\nld.global.b32.weak R9, [D2], 0\nint64.add D2, D2, 208896\n\
         int.add R8, R8, 1\ncmp.lt_u P0, R8, 16\nif P0 bra L0, -1\nexit"
    );
    let cycles = |changes: &[(&str, &str)]| {
        let mut bench = Bench::with("tom-baseline", changes, &text);
        let timing = bench.run(204, 256);
        let statistics = bench.statistics(&timing);
        assert_eq!(statistics.count("link.rx_bytes"), 16 * 204 * 256 * 4);
        (timing.measures.cycles as f64, statistics.real("bandwidth.rx"))
    };
    let (base, rate) = cycles(&[]);
    assert!(rate > 100.0 && rate < 320.0, "{rate} GB/s");
    let (slow, few) = cycles(&[("link.bandwidth", "10")]);
    assert!(few > 35.0 && few <= 40.0, "{few} GB/s");
    assert!(slow > 2.0 * base);
    let (inner, few) = cycles(&[("stack.internal_bandwidth", "10")]);
    assert!(inner > 2.0 * base && few <= 40.0, "{few} GB/s");
    let (wide, _) = cycles(&[("link.bandwidth", "1e9"), ("stack.internal_bandwidth", "1600")]);
    assert!(wide <= base);
}

/// Loads of the first 32 lines of one bank whose row, counted from that of the buffer, and column are
/// wanted; what the banks found.
fn of_one_bank(wanted: impl Fn(u32, u32) -> bool) -> (u64, u64, u64) {
    let text = "
        sreg.tid_x R0
        ld64.param.weak D2, [0x0], 0
        mad_wide.u D4, R0, 4, D2
        ld.global.b32.weak R6, [D4], 0
        mad_wide.u D8, R6, 128, D2
        ld.global.b32.weak R9, [D8], 0
        int.add R9, R9, 1
        exit";
    let mut bench = Bench::new(text);
    bench.buffer = bench.device.memory().allocate(1 << 25, false).unwrap();
    let toml = bench.module.program().machine.toml.clone();
    let layout = Layout::new(&Machine::from_toml(&toml, &[]).unwrap());
    let first = layout.line(bench.buffer - FIRST_ADDRESS);
    let place = |line: u32| layout.place(Mapping::Baseline, first + u64::from(line));
    let home = place(1);
    let lines = (1..1 << 18).filter(|&line| {
        let at = place(line);
        (at.stack, at.vault, at.bank) == (home.stack, home.vault, home.bank)
            && wanted(at.row - home.row, at.column)
    });
    let lines: Vec<u8> = lines.take(32).flat_map(u32::to_le_bytes).collect();
    assert_eq!(lines.len(), 128);
    bench.device.write(bench.buffer, &lines).unwrap();
    let dram = bench.run(1, 32).measures.memory.dram;
    assert_eq!(dram.requests, 2 * 33);
    (dram.hits, dram.misses, dram.conflicts)
}

/// A bank serves the row that is open; another one closes it.
#[test]
fn rows_are_hit_and_conflict() {
    // One row opens for the line of numbers, one for the others; each line is two accesses.
    assert_eq!(of_one_bank(|row, _| row == 1), (64, 2, 0));
    // Sixteen of one row, then sixteen of another.
    assert_eq!(of_one_bank(|row, column| row > 0 && column % 2 == 0), (63, 2, 1));
}

/// A store takes the banks for the halves of a line that it writes, a load for both; local memory as well.
#[test]
fn banks_move_what_is_written_in_bursts() {
    let writes = |store: &str| {
        let mut bench = Bench::new(&format!("{PLACE}\n{store}\nexit"));
        let dram = bench.run(4, 128).measures.memory.dram;
        assert_eq!(dram.reads, 0);
        dram.writes
    };
    // 16 warps, a line each.
    assert_eq!(writes("st.global.b32.weak [D2], 0, R0"), 2 * 16);
    let lanes = |condition: &str| {
        writes(&format!(
            "int.and R5, R0, 31\ncmp.{condition}\nif P0 st.global.b32.weak [D2], 0, R0"
        ))
    };
    assert_eq!(lanes("lt_u P0, R5, 16"), 16);
    assert_eq!(lanes("lt_u P0, R5, 17"), 2 * 16);
    assert_eq!(lanes("eq P0, R5, 31"), 16);
    // The second half of a line and the first of the next.
    assert_eq!(writes("st.global.b32.weak [D2], 64, R0"), 2 * 16);
    assert_eq!(writes("st.local.b32.weak [0x0], 8, R0"), 2 * 16);
}

/// Threads that change one word see its values one after another.
#[test]
fn atomics_and_fences_wait_for_memory() {
    let text = format!(
        "{PLACE}\nmov R9, 1\nld64.param.weak D6, [0x0], 0\n\
         atom.add.u32.global.relaxed R21, [D6], 0, R9\nfence.gpu\nst.global.b32.weak [D2], 128, R21\n\
         exit"
    );
    let mut bench = Bench::new(&text);
    let timing = bench.run(8, 64);
    let mut words = bench.words(1 + 8 * 64 + 31);
    assert_eq!(words[0], 512);
    let mut got = words.split_off(32);
    got.sort_unstable();
    // Each thread saw a different sum.
    assert_eq!(got[..511], (0..512).collect::<Vec<u32>>()[..511]);
    let s = bench.statistics(&timing);
    assert_eq!((s.count("memory.atomic"), s.count("memory.atomic_lanes")), (16, 512));
    assert!(s.count("cycles") > 16 * 32);
}

/// A lock that all threads of two warps of two blocks want: where a path spins, the holder in its warp goes
/// ahead after a turn of instructions, and after a short one from the second time on.
#[test]
fn locks_within_a_warp_are_handed_on_soon() {
    let text = "
        ld64.param.weak D2, [0x0], 0
        mov R5, 0
        mov R6, 1
    spin:
        cas.u32.global.acquire R7, [D2], 0, R5, R6
        cmp.ne P0, R7, 0
        if P0 bra spin, held
    held:
        ld.global.b32.volatile R10, [D2], 4
        int.add R10, R10, 1
        st.global.b32.volatile [D2], 4, R10
        atom.exch.u32.global.release R7, [D2], 0, R5
        exit";
    let mut bench = Bench::new(text);
    let cycles = bench.cycles(2, 40);
    assert_eq!(bench.words(2), [0, 80]);
    // With a turn of 2048 instructions each, three a trip of 200 cycles at least, the lanes of one warp
    // alone would take this long.
    assert!(cycles < 32 * (2048 / 3) * 200, "{cycles}");
}
