//! Accesses of other cores, over the network.

use crate::support::Bench;

/// Loads of a word `distance` bytes behind that of the block's core, by one lane.
fn load(distance: u32, loads: u32) -> String {
    let mut text = String::from("sreg.tid_x R0\nld64.param.weak D2, [0x0], 0\ncmp.eq P0, R0, 0\n");
    for _ in 0..loads {
        text +=
            &format!("if P0 ld.global.b32.volatile R4, [D2], {distance}\nfar int.add R2, R2, R4\n");
    }
    text + "exit"
}

/// Cycles of a load in a chain of them.
fn each(machine: &str, distance: u32) -> u64 {
    let cycles = |loads| Bench::new(machine, &load(distance, loads)).cycles(1, 32);
    let all = cycles(14) - cycles(4);
    assert_eq!(all % 10, 0, "{machine} {distance}: {all}");
    all / 10
}

/// Against a word of the own core: out and back, with an interface at each end. Core 1 is beside core
/// 0: in, a link, out, 4 ticks each, that of an answer of 48 bytes a tick later.
#[test]
fn a_neighbour_is_two_packets_away() {
    let own = each("mpu", 0);
    let neighbour = each("mpu", 512);
    let packets = 2 * 3 * 4;
    let interfaces = 4;
    // Ticks are halves of cycles, and each packet is taken in at a whole one.
    let least = u64::from(packets as u32 / 2) + interfaces;
    assert!((least..=least + 3).contains(&(neighbour - own)), "{own} {neighbour}");
    // A core further in the mesh: a link more each way.
    assert_eq!(each("mpu", 1024) - neighbour, 2 * 2);
    assert_eq!(each("mpu", 1536) - neighbour, 4 * 2);
}

#[test]
fn other_processors_are_reached_over_their_gateways() {
    // Processor 1 begins at 8 KiB; core 0 there is at (0, 0), its gateway at (0, 2).
    let own = each("mpu", 512);
    let other = each("mpu", 8192);
    let mut bench = Bench::new("mpu", &load(8192, 4));
    let hops = bench.run(1, 32).measures.byte_hops;
    // From (0, 0) to (3, 2), over, and from (0, 2) to (0, 0): 7 hops and one of chips.
    assert_eq!(hops[0], 4 * 7 * (24 + 48));
    assert_eq!(hops[1], 4 * (24 + 48));
    assert!(other > own + 2 * 2 * 7 - 2, "{own} {other}");
}

/// A weak load of a word that is on its way waits with the load that asked for it; one behind a store of the
/// core, or that must see memory, asks again.
#[test]
fn words_on_their_way_are_asked_for_once() {
    let text = |access: &str, between: &str| {
        let load = |to: u32| format!("if P0 ld.global.b32.{access} R{to}, [D2], 512\n");
        let start = "sreg.tid_x R0\nld64.param.weak D2, [0x0], 0\ncmp.eq P0, R0, 0\n";
        format!("{start}{}{between}{}{}exit", load(8), load(9), load(10))
    };
    let run = |text: &str, set: &[(&str, &str)]| {
        let measures = Bench::with("mpu", set, text).run(1, 32).measures;
        let counts = &measures.counts;
        (measures.dram.requests[0], counts.words_remote, counts.cache_hits, counts.words_awaited)
    };
    assert_eq!(run(&text("weak", ""), &[]), (1, 3, 0, 2));
    assert_eq!(run(&text("volatile", ""), &[]), (3, 3, 0, 0));
    let store = "if P0 st.global.b32.weak [D2], 512, R6\n";
    assert_eq!(run(&text("weak", store), &[]), (3, 4, 0, 1));
    let none = [("network.remote_cache_bytes", "0")];
    assert_eq!(run(&text("weak", ""), &none), (3, 3, 0, 0));
}

/// A weak load takes what the cache beside the network holds.
#[test]
fn weak_loads_are_cached() {
    let text = load(512, 10).replace("volatile", "weak");
    let counts = Bench::new("mpu", &text).run(1, 32).measures.counts;
    assert_eq!((counts.words_remote, counts.cache_hits), (10, 9));
    // A store to it, or a fence, makes it leave.
    let stored = text.replace(
        "far int.add R2, R2, R4",
        "far int.add R2, R2, R4\nst.global.b32.weak [D2], 512, R6",
    );
    assert_eq!(Bench::new("mpu", &stored).run(1, 32).measures.counts.cache_hits, 0);
    let none = [("network.remote_cache_bytes", "0")];
    assert_eq!(Bench::with("mpu", &none, &text).run(1, 32).measures.counts.cache_hits, 0);
}
