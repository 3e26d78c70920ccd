//! Programs that do what the machine cannot do: the run ends with a fault that says
//! where and what, the same with timing as without.

use nbcc_isa_ipim::{Inst, Machine, Patch, PhysReg, Program, RegClass, SimbMask};
use nbcc_sim_ipim::fault::Fault;
use nbcc_sim_ipim::simulation::RunOptions;

use crate::support::{program, simulation, small_cubes, small_vault, try_time};

fn faults(program: &Program) -> Fault {
    let mut options = RunOptions { max_cycles: 10_000, ..RunOptions::default() };
    let timed = try_time(program, &mut options).err().expect("a fault");
    let functional = simulation(program, &[]).run_functional(&mut options).unwrap_err();
    assert!(timed.cycle.is_some());
    assert_eq!(Fault { cycle: None, ..timed.clone() }, functional);
    timed
}

fn message(machine: &Machine, text: &str) -> String {
    let fault = faults(&program(machine, text));
    format!("{:#x}: {}", fault.pc, fault.kind)
}

#[test]
fn addresses_are_checked() {
    for (text, expected) in [
        ("ld_rf [8], D1, simb=0x1", "0x0: bank address 0x8 is no multiple of 16"),
        (
            "st_rf [16777216], D1, simb=0x1",
            "0x0: bank address 0x1000000 is beyond the end at 0x1000000",
        ),
        ("ld_pgsm [0], [2], simb=0x1", "0x0: PGSM address 0x2 is no multiple of 4"),
        ("st_pgsm [0], [8180], simb=0x1", "0x0: PGSM address 0x1ff4 is beyond the end at 0x2000"),
        ("rd_pgsm [8180], D1, simb=0x1", "0x0: PGSM address 0x1ff4 is beyond the end at 0x2000"),
        ("wr_vsm [0xffffffff], D1, simb=0x1", "0x0: VSM address 0xffffffff is no multiple of 4"),
        (
            "wr_vsm [0xfffffffc], D1, simb=0x1",
            "0x0: VSM address 0xfffffffc is beyond the end at 0x40000",
        ),
        ("seti_vsm 262144, 1", "0x0: VSM address 0x40000 is beyond the end at 0x40000"),
        ("seti_vsm 2, 1", "0x0: VSM address 0x2 is no multiple of 4"),
        // A0 is 0 in engine 0, 1 in engine 1.
        (
            "reset D1, simb=0xf\nld_rf [A0], D1, simb=0xf",
            "0x10: bank address 0x1 of engine 1 is no multiple of 16",
        ),
        ("rd_pgsm [A0], D1, simb=0x3", "0x0: PGSM address 0x1 of engine 1 is no multiple of 4"),
    ] {
        assert_eq!(message(&small_vault(), text), expected);
    }
}

#[test]
fn the_last_bytes_can_be_used() {
    for text in [
        "ld_rf [16777200], D1, simb=0xf",
        "rd_pgsm [8176], D1, simb=0xf",
        "rd_vsm [262128], D1, simb=0xf",
        "seti_vsm 262140, 7",
        "req 0, 0, 1, 1, 16777200, 262128",
    ] {
        let program = program(&small_vault(), text);
        assert!(try_time(&program, &mut RunOptions::default()).is_ok(), "{text}");
    }
}

#[test]
fn requests_name_banks_that_exist() {
    let missing = "which does not exist";
    for (text, expected) in [
        (
            "req 1, 0, 0, 0, 0, 0",
            format!("0x0: request to chip 1 vault 0 group 0 engine 0, {missing}"),
        ),
        (
            "req 0, 1, 0, 0, 0, 0",
            format!("0x0: request to chip 0 vault 1 group 0 engine 0, {missing}"),
        ),
        (
            "req 0, 0, 2, 0, 0, 0",
            format!("0x0: request to chip 0 vault 0 group 2 engine 0, {missing}"),
        ),
        (
            "seti_crf C1, -1\nreq 0, 0, 0, C1, 0, 0",
            format!("0x10: request to chip 0 vault 0 group 0 engine 4294967295, {missing}"),
        ),
        ("req 0, 0, 0, 0, 8, 0", "0x0: bank address 0x8 is no multiple of 16".into()),
        (
            "req 0, 0, 0, 0, 0, 262132",
            "0x0: VSM address 0x3fff4 is beyond the end at 0x40000".into(),
        ),
    ] {
        assert_eq!(message(&small_vault(), text), expected);
    }
}

#[test]
fn jumps_go_to_instructions_or_the_end() {
    assert_eq!(
        message(&small_vault(), "seti_crf C1, 24\njump C1"),
        "0x10: jump to 0x18, where no instruction starts"
    );
    assert_eq!(
        message(&small_vault(), "seti_crf C1, 48\njump C1"),
        "0x10: jump to 0x30, where no instruction starts"
    );
    let program = program(&small_vault(), "seti_crf C1, 32\njump C1");
    assert!(try_time(&program, &mut RunOptions::default()).is_ok());
}

/// What a loader refuses does not harm the machine either.
#[test]
fn registers_and_engines_that_do_not_exist() {
    let machine = small_vault();
    let data = |index| PhysReg::new(RegClass::Data, index);
    let of = |inst: Inst<PhysReg>| {
        let mut wrong = program(&machine, "seti_crf C1, 0");
        wrong.code.text.push(inst);
        let fault = faults(&wrong);
        assert_eq!(fault.pc, 16);
        fault.kind.to_string()
    };
    assert_eq!(
        of(Inst::Reset { drf: data(64), simb_mask: SimbMask(1) }),
        "there is no register D64: its file has 64 entries"
    );
    assert_eq!(
        of(Inst::Reset { drf: data(1), simb_mask: SimbMask(0x10) }),
        "the engine mask 0x10 names engines that the vault has not (4 there are)"
    );
    let ids = PhysReg::new(RegClass::Addr, 3);
    assert_eq!(
        of(Inst::MovArf { arf: ids, drf: data(1), simb_mask: SimbMask(1) }),
        "A3 holds an id of the engine and cannot be written"
    );
}

#[test]
fn endless_programs_meet_the_bound() {
    let text = "seti_crf C1, 0\njump C1";
    let endless = program(&small_vault(), text);
    let mut options = RunOptions { max_cycles: 500, ..RunOptions::default() };
    let fault = try_time(&endless, &mut options).err().unwrap();
    assert_eq!(fault.kind.to_string(), "the run exceeds 500 cycles");
    let fault = simulation(&endless, &[]).run_functional(&mut options).unwrap_err();
    assert_eq!(fault.kind.to_string(), "the run exceeds 500 instructions");
    // The bound itself is allowed.
    let add = program(&small_vault(), "comp.add.f32.vv D1, D2, D3, vec=0xf, simb=0xf");
    for (max_cycles, ends) in [(5, false), (6, true)] {
        let mut options = RunOptions { max_cycles, ..RunOptions::default() };
        assert_eq!(try_time(&add, &mut options).is_ok(), ends, "{max_cycles}");
    }
}

/// A program in which vault 0 goes one way and the others another.
fn split(zero: &str, others: &str) -> Program {
    let text = format!(
        "seti_crf C1, 0\nseti_crf C4, others\ncjump C1, C4\n{zero}\nseti_crf C4, end\njump C4\n\
         others:\n{others}\nend:"
    );
    let mut program = program(&small_cubes(1), &text);
    let coordinate = nbcc_isa_ipim::Coordinate::Vault;
    program.prologue.push(Patch { index: 0, coordinate });
    program
}

#[test]
fn vaults_that_do_not_meet_are_found() {
    let fault = faults(&split("sync 1", "sync 2"));
    assert_eq!((fault.vault, fault.pc), (0, 3 * 16));
    assert_eq!(fault.kind.to_string(), "sync 1, but vault 1 waits at sync 2");
    let fault = faults(&split("reset D1, simb=0x1", "sync 2"));
    assert_eq!((fault.vault, fault.pc), (1, 6 * 16));
    assert_eq!(
        fault.kind.to_string(),
        "deadlock: waits at sync 2, but vault 0 has ended its program"
    );
}

#[test]
fn the_first_fault_is_reported() {
    // Vault 0 fails late, the others earlier; of those the first is named.
    let late =
        "comp.add.f32.vv D1, D1, D1, vec=0xf, simb=0x1\n".repeat(20) + "ld_rf [8], D1, simb=0x1";
    let program = split(&late, "ld_rf [4], D2, simb=0x1");
    for threads in [1, 2] {
        let mut options = RunOptions { threads, ..RunOptions::default() };
        let fault = try_time(&program, &mut options).err().unwrap();
        assert_eq!(
            (fault.vault, fault.kind.to_string().as_str()),
            (1, "bank address 0x4 is no multiple of 16")
        );
    }
}

#[test]
fn memory_is_bounded() {
    let mut text = String::new();
    for page in 0..20 {
        text += &format!("st_rf [{}], D1, simb=0xf\n", 4096 * page);
    }
    let program = program(&small_vault(), &text);
    let shared = crate::support::image(&[]);
    let mut small =
        nbcc_sim_ipim::simulation::Simulation::new(&program, shared, 40 * 4096).unwrap();
    let fault = small.run_timed(&mut RunOptions::default()).err().unwrap();
    assert_eq!(fault.kind, nbcc_sim_ipim::fault::FaultKind::MemoryLimit { limit: 40 * 4096 });
}

#[test]
fn machines_beyond_the_simulator_are_refused() {
    let simulate = |changes: &[(&str, &str)]| {
        let machine = crate::support::machine("ipim", changes);
        let shared = crate::support::image(&[]);
        let simulation =
            nbcc_sim_ipim::simulation::Simulation::new(&program(&machine, ""), shared, 1 << 30);
        simulation.err().map(|error| error.to_string())
    };
    assert_eq!(simulate(&[]), None);
    let queue = simulate(&[("dram.request_queue", "4096")]).unwrap();
    assert!(queue.starts_with("the machine's DRAM: `read_queue_size`"), "{queue}");
    let small = [
        ("hierarchy.cubes", "256"),
        ("hierarchy.cube_columns", "16"),
        ("hierarchy.vaults", "256"),
        ("hierarchy.vault_columns", "16"),
        ("hierarchy.pgs", "1"),
        ("hierarchy.pes", "1"),
        ("memory.pgsm_bytes", "64"),
        ("memory.vsm_bytes", "1024"),
    ];
    let large = simulate(&small).unwrap();
    assert!(large.starts_with("0 instructions on 65536 vaults take more than"), "{large}");
}
