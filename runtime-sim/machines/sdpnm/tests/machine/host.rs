//! What the host controller moves, and how long that takes.

use nbcc_isa::container::Data;
use nbcc_isa_sdpnm::core::arrays::{FROM, HOST, MOVE, TO};
use nbcc_isa_sdpnm::core::memory::DATA;
use nbcc_isa_sdpnm::core::{Area, CoreProgram, Home, Homed};
use nbcc_sim_sdpnm::Fault;

use crate::support::*;

/// The arrays of the usual machine: the first FPEA, and SPEA.
const FPEA: u32 = 1;
const SPEA: u32 = 4;

/// Where the bytes are that are moved.
const AT: u32 = DATA + (1 << 16);

fn moved(from: u32, to: u32, bytes: u32) -> Vec<CoreInst> {
    let words = [(FROM, from), (TO, to), (MOVE, bytes)];
    words.into_iter().flat_map(|(offset, word)| store(HOST + offset, word)).collect()
}

fn bytes() -> Vec<u8> {
    (0..1_u32 << 16).map(|number| (number * 7 + (number >> 8)) as u8).collect()
}

/// A program that has these bytes, shared memories, and no refresh.
fn with_bytes(text: Vec<CoreInst>) -> CoreProgram {
    let mut program = program(vec![], text);
    program.machine.dram.refresh = false;
    program.data = vec![Data { name: ".data".into(), address: AT.into(), bytes: bytes() }];
    let from = Area { address: DATA, bytes: 64 };
    program.homes = vec![Home { array: 0, what: Homed::Object { from, at: 0 } }];
    program
}

/// Cycles for which the host controller moved bytes.
fn cycles(text: Vec<CoreInst>) -> u64 {
    run(&with_bytes(text)).expect("a run").1.host.moved.cycles
}

#[test]
fn bytes_come_to_a_window_and_back() {
    let there = window(FPEA, 256);
    let other = window(SPEA, 64);
    let text = [
        moved(AT + 3, there, 1001),
        moved(there, other, 1001),
        moved(other, AT + 9, 1001),
        load(AT + 12),
        give_back(),
    ];
    let program = with_bytes(text.concat());
    let (word, core) = run(&program).unwrap();
    let bytes = bytes();
    assert_eq!(word as u32, u32::from_le_bytes(bytes[6..10].try_into().unwrap()));
    assert_eq!(core.read(AT + 9, 1001).unwrap(), &bytes[3..1004]);
    let moved = core.host.moved;
    assert_eq!((moved.moves, moved.read, moved.written), (3, 1001, 1001));
    // Columns of 16 bytes, the first and the last in part.
    let banks = core.host.banks();
    assert_eq!((banks.reads, banks.writes), (1004_u64.div_ceil(16), 1010_u64.div_ceil(16)));
}

#[test]
fn a_move_takes_as_long_as_the_way_to_the_array_bears() {
    // A column a cycle, or four where the banks are beside the array; then the last one has to come.
    for (array, bytes_a_cycle) in [(FPEA, 16), (SPEA, 64)] {
        for size in [1 << 10, 1 << 12, 1 << 15] {
            let all = cycles(moved(AT, window(array, 0), size));
            let way = u64::from(size / bytes_a_cycle);
            // A row is opened (4 cycles of the banks), read (4), and its data takes one: 9 of 3.57 ns.
            assert!((way..=way + 8).contains(&all), "{size} bytes to {array}: {all} for {way}");
        }
    }
    // Of one bank a column comes in each cycle of the banks, once its row is open.
    let one = cycles(moved(AT, window(FPEA, 0), 16));
    assert!((5..=8).contains(&one), "{one}");
    // What is moved later finds its rows open.
    let again = [moved(AT, window(FPEA, 0), 16), moved(AT + 4, window(FPEA, 64), 4)].concat();
    assert!(cycles(again) < 2 * one);
}

#[test]
fn refreshes_are_waited_for() {
    let text = || (0..40).flat_map(|_| moved(AT, window(SPEA, 0), 1 << 15)).collect::<Vec<_>>();
    let mut program = with_bytes(text());
    program.machine.dram.refresh = true;
    let (_, core) = run(&program).unwrap();
    assert!(core.host.moved.cycles > cycles(text()));
    // Each bank is refreshed every 1092 cycles of 3.5714 ns, 780 of the machine's.
    let (cycles, banks) = (core.measures.cycles, core.host.banks());
    let refreshes = banks.commands.of(nbcc_sim_dram::Command::Refresh) / 64;
    assert!(refreshes.abs_diff(cycles / 780) <= 1, "{refreshes} in {cycles} cycles");
}

#[test]
fn a_move_from_or_to_nowhere_ends_the_run() {
    let most = 1 << 16;
    for (from, to, bytes) in [
        (0, window(0, 0), 4),
        (AT, window(0, 8), most),
        (AT, window(0, 0), most + 1),
        (AT, window(0, 0), u32::MAX),
        (AT, HOST, 4),
        (AT + most - 8, AT, 64),
        (AT, u32::MAX - 2, 64),
    ] {
        let program = with_bytes(moved(from, to, bytes));
        let ended = run(&program).map(|_| ());
        assert!(matches!(ended, Err(Fault::Access { .. })), "{from:#x} {to:#x} {bytes}");
    }
}
