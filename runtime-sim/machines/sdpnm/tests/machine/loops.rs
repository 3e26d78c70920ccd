//! Loops on an array: what they compute, and in how many cycles.

use nbcc_isa_sdpnm::config::{Bit, Control, Opcode, Options, Package, Source, Width};
use nbcc_isa_sdpnm::core::arrays::{COPY, COPY_AT, COPY_BYTES, FIRST, GROUP, MEMBERS};
use nbcc_sim_sdpnm::Fault;

use crate::support::*;

const WEST: Source = Source::Output(0, -1);

/// `y[i] = x[i] + 7`, words from 0 and from 256 on, in a chain of three PEs.
fn chain() -> Package {
    let mut load = context(Opcode::Load, Source::Global(0), Source::None);
    load.memory = words_of(0, 4);
    let mut store = context(Opcode::Store, Source::Immediate(256), WEST);
    store.memory = words_of(0, 4);
    let add = context(Opcode::Add, WEST, Source::Immediate(7));
    let contexts = vec![placed(0, 0, 0, load), placed(1, 0, 1, add), placed(2, 0, 2, store)];
    package(1, 1, Vec::new(), contexts)
}

fn fill(array: u32, values: &[u32]) -> Vec<CoreInst> {
    let each = values.iter().enumerate();
    each.flat_map(|(index, value)| store(window(array, 4 * index as u32), *value)).collect()
}

#[test]
fn a_chain_takes_an_iteration_a_cycle() {
    let values = [5, 6, u32::MAX, 8];
    let text = [fill(1, &values), start(1, 0, 4, &[0]), wait(1)].concat();
    let program = program(vec![chain()], text);
    let (_, core) = run(&program).unwrap();
    assert_eq!(words(&core, 1, 256, 5), [12, 13, 6, 15, 0]);
    let measured = &core.arrays.packages[0];
    assert_eq!(measured.ran, [4, 4, 4]);
    // Four iterations, and two cycles until the last store. Words 0 and 64 share a bank: the store of
    // iteration i meets the load of iteration i + 2, in banks i and i + 2.
    assert_eq!((measured.cycles, core.arrays.measures[1].conflicts), (6, 0));
    // A row of PEs is loaded a cycle; one more to change.
    assert_eq!(core.arrays.measures[1].configuration, 9);
}

#[test]
fn a_loaded_package_is_changed_to() {
    let text = [start(1, 0, 1, &[0]), start(1, 1, 1, &[0]), start(1, 0, 1, &[0]), wait(1)].concat();
    let program = program(vec![chain(), chain()], text);
    let (_, core) = run(&program).unwrap();
    assert_eq!(core.arrays.measures[1].configuration, 2 * 8 + 3);
    assert_eq!((core.arrays.measures[1].starts, core.arrays.measures[1].loaded), (3, 6));
}

/// The core computes while an array runs, and waits where it reads.
#[test]
fn the_core_goes_on() {
    let busy = [start(1, 0, 100, &[0]), set(7, 1).to_vec()].concat();
    let alone = program(vec![chain()], busy.clone());
    let (_, core) = run(&alone).unwrap();
    // 9 cycles of configuration, 102 of the loop, the instructions before.
    let before = 3 * 5;
    assert_eq!(core.measures.cycles, before + 9 + 102);
    assert_eq!(core.measures.drained, 9 + 102 - 2);
    let waiting = program(vec![chain()], [busy, wait(1)].concat());
    let (_, core) = run(&waiting).unwrap();
    assert_eq!(core.measures.cycles, before + 9 + 102);
    assert_eq!(core.measures.waited.iter().sum::<u64>(), 9 + 102 - 2 - 2 - 2);
}

#[test]
fn two_arrays_run_at_a_time() {
    let other = Package { array: 2, ..chain() };
    let starts = [start(1, 0, 100, &[0]), start(2, 1, 100, &[0])].concat();
    let program = program(vec![chain(), other], [starts, wait(1), wait(2)].concat());
    let (_, core) = run(&program).unwrap();
    assert_eq!(core.measures.cycles, 30 + 9 + 102);
}

/// Words that one array stored come to the same place in another one, after the ends of both.
#[test]
fn parts_come_together() {
    let other = Package { array: 2, ..chain() };
    let group = [
        store(GROUP + MEMBERS, 1 << 1 | 1 << 2),
        store(GROUP, 0),
        store(control(2, FIRST), 2),
        start(1, 0, 2, &[]),
        start(2, 1, 2, &[]),
    ]
    .concat();
    let copy = |at: u32, bytes: u32, from: u32| {
        let words = [(COPY_AT, at), (COPY_BYTES, bytes), (COPY, from)];
        words.map(|(offset, word)| store(control(1, offset), word)).concat()
    };
    let values = [1, 2, 3, 4];
    let text = [fill(1, &values), fill(2, &values), group, copy(256 + 8, 8, 2), wait(1)].concat();
    let whole = program(vec![chain(), other], text.clone());
    let (_, core) = run(&whole).unwrap();
    assert_eq!(words(&core, 1, 256, 4), [8, 9, 10, 11]);
    assert_eq!(words(&core, 2, 256, 4), [0, 0, 10, 11]);
    assert_eq!(core.arrays.traffic.copied, 8);
    // 16 bytes a cycle, and the array that they come from is busy as long.
    let long = [copy(0, 1024, 2), wait(2)].concat();
    let both = program(whole.packages.clone(), [text.clone(), long].concat());
    let (cycles, before) = (run(&both).unwrap().1.measures.cycles, core.measures.cycles);
    assert_eq!(cycles, before + 3 * 5 + 64);
    // A second start begins at 0 again.
    let again = [store(control(2, FIRST), 2), start(2, 1, 0, &[]), start(2, 1, 2, &[])].concat();
    let again = program(whole.packages.clone(), [fill(2, &values), again, wait(2)].concat());
    assert_eq!(words(&run(&again).unwrap().1, 2, 256, 4), [8, 9, 0, 0]);
    for wrong in [copy(65536 - 8, 16, 2), copy(0, u32::MAX, 2), copy(0, 8, 1), copy(0, 8, 5)] {
        let fault = run(&program(Vec::new(), [wrong, wait(1)].concat())).map(|_| ());
        assert!(matches!(fault, Err(Fault::Access { .. })), "{fault:?}");
    }
}

/// `s = s + x[i]` from g1 on, exported to g2.
fn sum() -> Package {
    let mut load = context(Opcode::Load, Source::Immediate(0), Source::None);
    load.memory = words_of(0, 4);
    let mut add = context(Opcode::Add, WEST, Source::Output(0, 0));
    add.control = Control { initial: Some(1), export: Some(2), ..Control::default() };
    package(1, 1, Vec::new(), vec![placed(0, 0, 0, load), placed(1, 0, 1, add)])
}

#[test]
fn a_recurrence_starts_from_a_global_register() {
    for (iterations, want) in [(1, 101), (3, 106), (0, 9)] {
        let text = [
            fill(1, &[1, 2, 3]),
            start(1, 0, iterations, &[0, 100, 9]),
            load(control(1, 8)),
            give_back(),
        ]
        .concat();
        let program = program(vec![sum()], text);
        assert_eq!(run(&program).unwrap().0, want, "{iterations} iterations");
    }
}

/// Without a stage before it, the recurrence reads its first value in the first cycle.
#[test]
fn the_first_cycle_reads_initial_values() {
    let mut add = context(Opcode::Add, Source::Output(0, 0), Source::Immediate(3));
    add.control = Control { initial: Some(0), export: Some(1), ..Control::default() };
    let counter = package(1, 1, Vec::new(), vec![placed(9, 0, 0, add)]);
    // In slot 0 of 2, the value is in a ring.
    let mut kept = context(Opcode::Add, Source::Register { ring: 0, ago: 1 }, Source::Immediate(3));
    kept.control = Control { keep: Some(0), ..add.control };
    let ring = package(1, 2, vec![(9, vec![2])], vec![placed(9, 0, 0, kept)]);
    for one in [counter, ring] {
        let text = [start(1, 0, 5, &[1000]), load(control(1, 4)), give_back()].concat();
        let program = program(vec![one], text);
        assert_eq!(run(&program).unwrap().0, 1015);
    }
}

/// `y[i] = x[i] - x[i - 2]`: a load that runs ahead, and a ring.
#[test]
fn rings_reach_back_to_what_ran_ahead() {
    let mut load = context(Opcode::Load, Source::Immediate(8), Source::None);
    load.memory = words_of(0, 4);
    load.control = Control { ahead: 2, keep: Some(0), ..Control::default() };
    let ago = |ago| Source::Register { ring: 0, ago };
    let sub = context(Opcode::Sub, ago(0), ago(2));
    let mut store = context(Opcode::Store, Source::Immediate(256), WEST);
    store.memory = words_of(0, 4);
    let contexts = vec![placed(0, 0, 2, load), placed(0, 1, 2, sub), placed(1, 0, 3, store)];
    let package = package(1, 2, vec![(0, vec![3])], contexts);
    let text = [fill(1, &[1, 2, 4, 8, 16, 32]), start(1, 0, 4, &[]), wait(1)].concat();
    let program = program(vec![package], text);
    let (_, core) = run(&program).unwrap();
    assert_eq!(words(&core, 1, 256, 5), [3, 6, 12, 24, 0]);
    // Two iterations ahead and three stages: (3 + 3) * 2 + 1.
    assert_eq!(core.arrays.packages[0].cycles, 13);
    assert_eq!(core.arrays.packages[0].ran, [6, 4, 4]);
}

/// `if (x[i] < 10) y[i] = x[i]`, and a load under a condition gives 0.
#[test]
fn conditions_hold_stores_and_loads_back() {
    let mut load = context(Opcode::Load, Source::Immediate(0), Source::None);
    load.memory = words_of(0, 4);
    let cmp = context(Opcode::Cmp, WEST, Source::Immediate(10));
    let mut store = context(Opcode::Store, Source::Immediate(256), Source::Output(0, -1));
    store.memory = words_of(0, 4);
    store.control.condition = Bit::Output(0, -1);
    let mut again = context(Opcode::Load, Source::Immediate(0), Source::None);
    again.memory = words_of(0, 4);
    again.control.condition = Bit::Output(-1, 0);
    let mut kept = context(Opcode::Store, Source::Immediate(512), Source::Output(0, 0));
    kept.memory = words_of(0, 4);
    let contexts = vec![
        placed(0, 0, 0, load),
        placed(1, 1, 0, cmp),
        placed(2, 0, 1, store),
        placed(9, 0, 1, again),
        placed(9, 1, 1, kept),
    ];
    let package = package(1, 2, Vec::new(), contexts);
    let text = [fill(1, &[3, 30, 10, 9, u32::MAX]), start(1, 0, 5, &[]), wait(1)].concat();
    let program = program(vec![package], text);
    let (_, core) = run(&program).unwrap();
    // `cmp` puts out the smaller one, which is x[i] where the bit is 1.
    assert_eq!(words(&core, 1, 256, 5), [3, 0, 0, 9, u32::MAX]);
    assert_eq!(words(&core, 1, 512, 5), [3, 0, 0, 9, u32::MAX]);
    assert_eq!(core.arrays.packages[0].ran, [5, 5, 3, 3, 5]);
}

/// Accumulators begin anew where the bit says so.
#[test]
fn accumulators_stay_with_their_context() {
    let options = Options { part: nbcc_isa_sdpnm::config::Part::Real, ..Options::default() };
    let mut mac = context(Opcode::Cmac, Source::Immediate(2), Source::Immediate(3));
    mac.options = options;
    mac.control.export = Some(0);
    let package = package(3, 1, Vec::new(), vec![placed(5, 0, 0, mac)]);
    for (iterations, want) in [(1, 6), (7, 42)] {
        let again = [start(3, 0, 9, &[]), start(3, 0, iterations, &[])].concat();
        let text = [again, load(control(3, 0)), give_back()].concat();
        let program = program(vec![package.clone()], text);
        assert_eq!(run(&program).unwrap().0, want);
    }
}

#[test]
fn elements_are_extended_and_narrowed() {
    let widths = [(Width::U8, 0x80_u32), (Width::I8, 0xffff_ff80), (Width::U16, 0xf180)];
    let more = [(Width::I16, 0xffff_f180), (Width::W32, 0x7654_f180)];
    for (width, want) in widths.into_iter().chain(more) {
        let mut load = context(Opcode::Load, Source::Immediate(5), Source::None);
        load.memory.width = width;
        let mut store = context(Opcode::Store, Source::Immediate(101), WEST);
        store.memory.width = width;
        let contexts = vec![placed(0, 0, 0, load), placed(1, 0, 1, store)];
        let package = package(1, 1, Vec::new(), contexts);
        // The word at 5 is 0x7654f180.
        let text = [
            self::store(window(1, 4), 0x54f1_8000),
            self::store(window(1, 8), 0x0000_0076),
            start(1, 0, 1, &[]),
            wait(1),
        ]
        .concat();
        let program = program(vec![package], text);
        let (_, core) = run(&program).unwrap();
        let stored = core.read(window(1, 100), 6).unwrap().to_vec();
        let raw = want.to_le_bytes();
        let mut after = vec![0; 6];
        let count = width.bytes() as usize;
        after[1..1 + count].copy_from_slice(&raw[..count]);
        assert_eq!(stored, after, "{width:?}");
        assert_eq!(core.arrays.packages[0].ran, [1, 1]);
    }
}

/// PEs that load words of one bank wait for each other; of one word, they do not.
#[test]
fn banks_take_a_word_a_cycle() {
    for (step, conflicts) in [(0, 0), (4, 0), (8, 1), (16, 3), (32, 7), (64, 15)] {
        let loads = (0..16_u16).map(|pe| {
            let mut load = context(Opcode::Load, Source::Immediate(0), Source::None);
            load.memory = words_of(step * i32::from(pe), 0);
            placed(pe, 0, 0, load)
        });
        let package = package(1, 1, Vec::new(), loads.collect());
        let program = program(vec![package], [start(1, 0, 10, &[]), wait(1)].concat());
        let (_, core) = run(&program).unwrap();
        assert_eq!(core.arrays.measures[1].conflicts, 10 * conflicts, "step {step}");
        assert_eq!(core.arrays.measures[1].busy, 10 + 10 * conflicts);
    }
}

/// A load finds what memory held at the start of the cycle.
#[test]
fn stores_are_seen_a_cycle_later() {
    let mut store = context(Opcode::Store, Source::Immediate(64), Source::Immediate(5));
    store.memory = words_of(0, 0);
    let mut load = context(Opcode::Load, Source::Immediate(64), Source::None);
    load.control.export = Some(0);
    let contexts = vec![placed(0, 0, 0, store), placed(7, 0, 0, load)];
    let package = package(1, 1, Vec::new(), contexts);
    for (iterations, want) in [(1, 0), (2, 5)] {
        let text = [start(1, 0, iterations, &[7]), load_global(), give_back()].concat();
        let program = program(vec![package.clone()], text);
        assert_eq!(run(&program).unwrap().0, want);
    }
}

fn load_global() -> Vec<CoreInst> {
    load(control(1, 0))
}

#[test]
fn accesses_outside_are_faults() {
    let text = [start(1, 0, 20, &[65536 - 40]), wait(1)].concat();
    let outside = program(vec![chain()], text);
    let fault = run(&outside).err().expect("a fault");
    assert_eq!(
        fault.to_string(),
        "an access of 4 bytes at 0x10000, outside of the shared memory of fpea0, by PE 0 in cycle 10 \
         of `f:1`"
    );
    let negative = program(vec![chain()], start(1, 0, 1, &[u32::MAX]));
    assert!(matches!(run(&negative), Err(Fault::Array { address: u32::MAX, .. })));
}

#[test]
fn runs_end_at_the_limit() {
    let text = [start(1, 0, u32::MAX, &[0]), wait(1)].concat();
    let mut endless = chain();
    endless.contexts.truncate(0);
    endless.contexts.push(placed(0, 0, 0, context(Opcode::Pass, Source::None, Source::None)));
    let program = program(vec![endless], text);
    assert!(matches!(run_for(&program, 100_000), Err(Fault::Cycles { .. })));
}

#[test]
fn packages_that_are_not_there_are_faults() {
    for (array, number) in [(1, 1), (2, 0), (0, u32::MAX)] {
        let program = program(vec![chain()], start(array, number, 1, &[]));
        assert!(matches!(run(&program), Err(Fault::Package { number: n, .. }) if n == number));
    }
}
