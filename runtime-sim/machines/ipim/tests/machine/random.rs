//! Random programs: the simulator against the naive machine, with and without timing,
//! in windows of any length and on any number of threads; and programs of arbitrary
//! bits, which must end.

use nbcc_isa::{Imm, MachineInstruction};
use nbcc_isa_ipim::ops::PhysReg as Reg;
use nbcc_isa_ipim::{
    Addr, CompOp, FloatOp, Inst, IntOp, Machine, Mode, PhysReg, Program, RegClass, SimbMask,
    Source, VecMask,
};
use nbcc_sim_ipim::simulation::{RunOptions, Simulation};
use proptest::prelude::*;

use crate::naive::Naive;
use crate::support::{program, simulation, small_cubes, small_vault};

/// Masks at the start of every bank, by which addresses are kept in range.
const BANK_MASK: u32 = 0x7f0;
const PAD_MASK: u32 = 0x3fc;
/// Words at the start of every bank: two splatted masks, then numbers of all kinds.
fn initial() -> Vec<u32> {
    let mut words = vec![BANK_MASK; 4];
    words.extend([PAD_MASK; 4]);
    let special = [
        0,
        1,
        31,
        32,
        33,
        0x8000_0000,
        0x7fff_ffff,
        u32::MAX,
        0x3f80_0000,
        0xbf80_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0001,
        0x0000_0001,
        0x8000_0001,
        0x7f7f_ffff,
    ];
    words.extend((0..512_u32).map(|i| match i % 3 {
        0 => special[i as usize / 3 % special.len()],
        1 => i.wrapping_mul(2654435761),
        _ => (i as f32 * 0.37 - 40.0).to_bits(),
    }));
    words
}

fn reg(class: RegClass, index: u16) -> PhysReg {
    Reg::new(class, index)
}

const BANK_MASK_REG: u16 = 4;
const PAD_MASK_REG: u16 = 5;
/// Addresses in banks and in scratchpads, always in range.
const BANK_REG: u16 = 6;
const PAD_REG: u16 = 7;

fn data() -> impl Strategy<Value = PhysReg> {
    (0..6_u16).prop_map(|index| reg(RegClass::Data, index))
}

/// Any AddrRF entry for reading; those from 8 on for writing.
fn addr(first: u16) -> impl Strategy<Value = PhysReg> {
    (first..12_u16).prop_map(|index| reg(RegClass::Addr, index))
}

fn ctrl() -> impl Strategy<Value = PhysReg> {
    (0..5_u16).prop_map(|index| reg(RegClass::Ctrl, index))
}

fn simb() -> impl Strategy<Value = SimbMask> {
    prop_oneof![4 => Just(SimbMask(0xf)), 1 => (0..16_u32).prop_map(SimbMask)]
}

fn int_op() -> impl Strategy<Value = IntOp> {
    prop::sample::select(IntOp::ALL)
}

fn comp_op() -> impl Strategy<Value = CompOp> {
    let float = prop::sample::select(FloatOp::ALL).prop_map(CompOp::Float);
    prop_oneof![int_op().prop_map(CompOp::Int), float]
}

fn bank() -> impl Strategy<Value = Addr<PhysReg>> {
    let direct = (0..128_u32).prop_map(|atom| Addr::Direct(atom * 16));
    prop_oneof![direct, Just(Addr::Indirect(reg(RegClass::Addr, BANK_REG)))]
}

fn pad() -> impl Strategy<Value = Addr<PhysReg>> {
    let direct = (0..256_u32).prop_map(|word| Addr::Direct(word * 4));
    prop_oneof![direct, Just(Addr::Indirect(reg(RegClass::Addr, PAD_REG)))]
}

/// A step of a program: one instruction, or a few that belong together.
#[derive(Clone, Debug)]
enum Piece {
    Plain(Inst<PhysReg>),
    /// Puts some value, cut to the range, into an address register.
    Address {
        bank: bool,
        from: PhysReg,
        simb_mask: SimbMask,
    },
    /// Goes on so many pieces later, if the register is not zero.
    Skip {
        cond: Option<PhysReg>,
        pieces: usize,
    },
}

fn inst() -> impl Strategy<Value = Inst<PhysReg>> {
    let mode = prop::sample::select(Mode::ALL);
    let comp = (comp_op(), mode, data(), data(), data(), 0..16_u8, simb()).prop_map(
        |(op, mode, dst, src1, src2, vec, simb_mask)| {
            let vec_mask = if vec < 8 { VecMask::ALL } else { VecMask::new(vec * 3) };
            Inst::Comp { op, mode, dst, src1, src2, vec_mask, simb_mask }
        },
    );
    let calc = (int_op(), addr(8), addr(0), addr(0), simb()).prop_map(
        |(op, dst, src1, src2, simb_mask)| Inst::CalcArf { op, dst, src1, src2, simb_mask },
    );
    let move_drf = (addr(0), data(), simb()).prop_map(|(arf, drf, simb_mask)| Inst::MovDrf {
        arf,
        drf,
        simb_mask,
    });
    let move_arf = (addr(8), data(), simb()).prop_map(|(arf, drf, simb_mask)| Inst::MovArf {
        arf,
        drf,
        simb_mask,
    });
    let reset = (data(), simb()).prop_map(|(drf, simb_mask)| Inst::Reset { drf, simb_mask });
    let load = (bank(), data(), simb()).prop_map(|(dram, drf, simb_mask)| Inst::LdRf {
        dram,
        drf,
        simb_mask,
    });
    let store = (bank(), data(), simb()).prop_map(|(dram, drf, simb_mask)| Inst::StRf {
        dram,
        drf,
        simb_mask,
    });
    let load_pad = (bank(), pad(), simb()).prop_map(|(dram, pgsm, simb_mask)| Inst::LdPgsm {
        dram,
        pgsm,
        simb_mask,
    });
    let store_pad = (bank(), pad(), simb()).prop_map(|(dram, pgsm, simb_mask)| Inst::StPgsm {
        dram,
        pgsm,
        simb_mask,
    });
    let read_pad = (pad(), data(), simb()).prop_map(|(pgsm, drf, simb_mask)| Inst::RdPgsm {
        pgsm,
        drf,
        simb_mask,
    });
    let write_pad = (pad(), data(), simb()).prop_map(|(pgsm, drf, simb_mask)| Inst::WrPgsm {
        pgsm,
        drf,
        simb_mask,
    });
    let read_vsm = (pad(), data(), simb()).prop_map(|(vsm, drf, simb_mask)| Inst::RdVsm {
        vsm,
        drf,
        simb_mask,
    });
    let write_vsm = (pad(), data(), simb()).prop_map(|(vsm, drf, simb_mask)| Inst::WrVsm {
        vsm,
        drf,
        simb_mask,
    });
    let set_vsm = (0..256_u32, any::<i32>())
        .prop_map(|(word, value)| Inst::SetiVsm { vsm: 4 * word, imm: Imm::Value(value) });
    let calc_ctrl = (int_op(), ctrl(), ctrl(), ctrl())
        .prop_map(|(op, dst, src1, src2)| Inst::CalcCrf { op, dst, src1, src2 });
    let set_ctrl = (ctrl(), any::<i32>())
        .prop_map(|(dst, value)| Inst::SetiCrf { dst, imm: Imm::Value(value) });
    prop_oneof![
        8 => comp, 4 => calc, 1 => move_drf, 2 => move_arf, 1 => reset, 4 => load, 3 => store,
        2 => load_pad, 1 => store_pad, 3 => read_pad, 2 => write_pad, 2 => read_vsm,
        2 => write_vsm, 1 => set_vsm, 1 => calc_ctrl, 1 => set_ctrl,
    ]
}

/// A request to a bank of a machine with this many cubes and vaults.
fn request(cubes: u32, vaults: u32) -> impl Strategy<Value = Inst<PhysReg>> {
    (0..cubes, 0..vaults, 0..2_u32, 0..2_u32, 0..128_u32, 0..256_u32).prop_map(
        |(chip, vault, pg, pe, atom, word)| Inst::Req {
            chip: Source::Imm(chip),
            vault: Source::Imm(vault),
            pg: Source::Imm(pg),
            pe: Source::Imm(pe),
            dram: Source::Imm(16 * atom),
            vsm: Source::Imm(4 * word),
        },
    )
}

fn pieces(cubes: u32, vaults: u32) -> impl Strategy<Value = Vec<Piece>> {
    let address = (any::<bool>(), addr(0), simb())
        .prop_map(|(bank, from, simb_mask)| Piece::Address { bank, from, simb_mask });
    let skip = (prop::option::of(ctrl()), 0..6_usize)
        .prop_map(|(cond, pieces)| Piece::Skip { cond, pieces });
    let piece = prop_oneof![
        30 => inst().prop_map(Piece::Plain),
        6 => address,
        1 => skip,
        // A machine of one vault is compared with one that knows no barriers.
        (cubes > 1) as u32 => (0..3_u32).prop_map(|phase| Piece::Plain(Inst::Sync { phase })),
        1 => request(cubes, vaults).prop_map(Piece::Plain),
    ];
    prop::collection::vec(piece, 1..200)
}

/// The program: a preamble that loads the masks, then the pieces.
fn build(machine: &Machine, pieces: &[Piece]) -> Program {
    let mut program = program(
        machine,
        "ld_rf [0], D6, simb=0xf\nmov_arf A4, D6, simb=0xf\n\
         ld_rf [16], D7, simb=0xf\nmov_arf A5, D7, simb=0xf\n",
    );
    let length = |piece: &Piece| match piece {
        Piece::Plain(_) | Piece::Address { .. } => 1,
        Piece::Skip { .. } => 2,
    };
    let mut starts = vec![program.code.text.len()];
    for piece in pieces {
        starts.push(starts[starts.len() - 1] + length(piece));
    }
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Plain(inst) => program.code.text.push(*inst),
            Piece::Address { bank, from, simb_mask } => {
                let (dst, mask) =
                    if *bank { (BANK_REG, BANK_MASK_REG) } else { (PAD_REG, PAD_MASK_REG) };
                program.code.text.push(Inst::CalcArf {
                    op: IntOp::And,
                    dst: reg(RegClass::Addr, dst),
                    src1: *from,
                    src2: reg(RegClass::Addr, mask),
                    simb_mask: *simb_mask,
                });
            }
            Piece::Skip { cond, pieces } => {
                let to = starts[(index + 1 + pieces).min(starts.len() - 1)];
                let target = reg(RegClass::Ctrl, 9);
                program
                    .code
                    .text
                    .push(Inst::SetiCrf { dst: target, imm: Imm::Value(16 * to as i32) });
                program.code.text.push(match cond {
                    Some(cond) => Inst::CJump { cond: *cond, target },
                    None => Inst::Jump { target },
                });
            }
        }
    }
    program
}

/// What programs can see of all vaults.
fn contents(simulation: &Simulation) -> Vec<[Vec<u32>; 4]> {
    let engines = simulation.machine().engines() as usize;
    let of_vault = |vault: &nbcc_sim_ipim::vault::Vault| {
        let mut words = vault.ctrl.clone();
        vault.addr.iter().for_each(|entry| words.extend(&entry[..engines]));
        vault.data.iter().for_each(|entry| words.extend(&entry[..engines * 4]));
        let banks = (0..engines).flat_map(|engine| {
            (0..0x1000).step_by(4).map(move |at| vault.banks.read_word(engine, at))
        });
        [words, vault.pgsm.clone(), vault.vsm.clone(), banks.collect()]
    };
    simulation.vaults().iter().map(of_vault).collect()
}

fn compare(simulation: &Simulation, naive: &Naive, initial: &[u32]) -> Result<(), TestCaseError> {
    for (vault, expected) in simulation.vaults().iter().zip(&naive.vaults) {
        for (index, value) in &expected.ctrl {
            prop_assert_eq!(vault.ctrl[usize::from(*index)] as i32, *value, "C{}", index);
        }
        for (number, engine) in expected.engines.iter().enumerate() {
            for (index, value) in &engine.addr {
                let found = vault.addr[usize::from(*index)][number] as i32;
                prop_assert_eq!(found, *value, "A{} of engine {}", index, number);
            }
            for (index, value) in &engine.data {
                let found = &vault.data[usize::from(*index)][4 * number..][..4];
                prop_assert_eq!(found, value, "D{} of engine {}", index, number);
            }
            for address in (0..0x1000).step_by(4) {
                let start = initial.get(address as usize / 4).unwrap_or(&0);
                let value = engine.bank.get(&address).unwrap_or(start);
                prop_assert_eq!(vault.banks.read_word(number, address), *value);
            }
        }
        for (group, memory) in expected.pgsm.iter().enumerate() {
            for (address, value) in memory {
                prop_assert_eq!(vault.pgsm[group * 2048 + *address as usize / 4], *value);
            }
        }
        for (address, value) in &expected.vsm {
            prop_assert_eq!(vault.vsm[*address as usize / 4], *value, "VSM {:#x}", address);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// All instructions compute what their description says, with timing as without.
    #[test]
    fn programs_compute_what_the_naive_machine_computes(pieces in pieces(1, 1)) {
        let program = build(&small_vault(), &pieces);
        let initial = initial();
        let mut naive = Naive::new(&program, &initial);
        naive.run(&program);
        let mut functional = simulation(&program, &initial);
        functional.run_functional(&mut RunOptions::default()).unwrap();
        compare(&functional, &naive, &initial)?;
        let mut timed = simulation(&program, &initial);
        let timing = timed.run_timed(&mut RunOptions::default()).unwrap();
        prop_assert_eq!(contents(&functional), contents(&timed));
        prop_assert!(timing.cycles >= timing.profile.iter().map(|entry| entry.issued).sum());
    }

    /// Vaults that send requests to each other: cycles and statistics are the same
    /// however the simulation is cut into windows, on every number of threads, and
    /// whether groups are simulated together. (What a request reads that races with a
    /// store may depend on all but the threads.)
    #[test]
    fn windows_threads_and_classes_do_not_matter(
        pieces in pieces(2, 4),
        windows in prop::collection::vec(1..400_u64, 2),
        base_die in any::<bool>(),
    ) {
        let mut machine = small_cubes(2);
        machine.features.process_on_base_die = base_die;
        machine.dram.refresh = true;
        let program = build(&machine, &pieces);
        let time = |options: &mut RunOptions<'_>| {
            let mut timed = simulation(&program, &initial());
            let timing = timed.run_timed(options).unwrap();
            let measured: Vec<String> = timing
                .statistics
                .iter()
                .map(|statistic| format!("{}: {:?}", statistic.definition.key, statistic.value))
                .collect();
            (timing.profile, measured, contents(&timed))
        };
        let expected = time(&mut RunOptions::default());
        let threads = time(&mut RunOptions { threads: 3, ..RunOptions::default() });
        prop_assert!(threads.2 == expected.2, "threads change contents");
        let apart = time(&mut RunOptions { together: false, ..RunOptions::default() });
        let fast = |threads| {
            let mut fast = simulation(&program, &initial());
            fast.run_functional(&mut RunOptions { threads, ..RunOptions::default() }).unwrap();
            contents(&fast)
        };
        prop_assert!(fast(1) == fast(3), "threads change contents without timing");
        let mut others = vec![("threads".to_owned(), threads), ("apart".to_owned(), apart)];
        for window in windows {
            let found = time(&mut RunOptions { window, ..RunOptions::default() });
            others.push((format!("window {window}"), found));
        }
        for (what, found) in others {
            prop_assert_eq!(&found.0, &expected.0, "{}", &what);
            for (found, expected) in found.1.iter().zip(&expected.1) {
                prop_assert_eq!(found, expected, "{}", &what);
            }
        }
    }
}

/// Instructions of random bits, most of them made decodable.
fn wild() -> impl Strategy<Value = Vec<Inst<PhysReg>>> {
    let opcodes: Vec<u32> =
        <Inst<PhysReg> as MachineInstruction>::ROWS.iter().map(|row| row.opcode).collect();
    let word = (any::<u128>(), any::<u128>(), prop::sample::select(opcodes), 0..3_u8);
    let inst = word.prop_filter_map("not decodable", |(bits, keep, opcode, sparse)| {
        let bits =
            if sparse > 0 { bits & keep & 0x0f0f_0f0f_ffff_ffff_0fff_0707_0f0f_ffff } else { bits };
        let row =
            <Inst<PhysReg> as MachineInstruction>::ROWS.iter().find(|row| row.opcode == opcode)?;
        let word = bits & nbcc_isa::table::covered_bits(row) & !0xff | u128::from(opcode);
        Inst::decode(word).ok()
    });
    prop::collection::vec(inst, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_local_rejects: 1 << 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever decodes ends: well, in a fault, or at the bound; twice the same way.
    #[test]
    fn wild_programs_end(text in wild(), cubes in 1..3_u32) {
        let mut wild = program(&small_cubes(cubes), "");
        wild.code.text = text;
        let run = |threads| {
            let mut options = RunOptions { max_cycles: 20_000, threads, ..RunOptions::default() };
            let mut timed = simulation(&wild, &initial());
            timed.run_timed(&mut options).map(|timing| timing.cycles)
        };
        prop_assert_eq!(run(1), run(2));
        let mut options = RunOptions { max_cycles: 20_000, ..RunOptions::default() };
        let _ = simulation(&wild, &initial()).run_functional(&mut options);
    }
}
