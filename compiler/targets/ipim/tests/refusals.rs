//! What the target refuses, where no source file can trigger it from the command line.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use nbcc_base::{Diagnostics, Severity, SourceMap};
use nbcc_isa::Imm;
use nbcc_isa_ipim::{Inst, IntOp, Machine, RegClass, SimbMask};
use nbcc_mach::regalloc::{Policy, Shortage};
use nbcc_mach::{BlockData, InstData};
use nbcc_pipeline::{Context, NoObserver, PassOptions, Program, Request, Target};
use nbcc_target_ipim::backend::code::{MachFunction, Selected};
use nbcc_target_ipim::backend::regalloc::{FILES, allocate};
use nbcc_target_ipim::{IPIM, codes};

/// The codes of the errors that compiling reports.
fn errors(program: Program, request: &Request) -> Vec<&'static str> {
    let sources = SourceMap::default();
    let mut diagnostics = Diagnostics::default();
    let mut cx = Context {
        sources: &sources,
        diagnostics: &mut diagnostics,
        remarks: &mut vec![],
        passes: &PassOptions::default(),
        observer: &mut NoObserver,
    };
    assert!(IPIM.compile(program, request, &mut cx).is_err());
    diagnostics.iter().filter(|d| d.severity == Severity::Error).map(|d| d.code.code).collect()
}

fn machine() -> String {
    Machine::built_in_text("ipim-vault").expect("it is built in").to_string()
}

#[test]
fn ipim_refuses_machines() {
    let request = Request { machine: "name = 3".to_string(), ..Request::default() };
    let program = Program::Stages(nbcc_stages::Pipeline::default());
    assert_eq!(errors(program, &request), [codes::BAD_MACHINE.code]);
}

/// A scratchpad of a group that is too small for what its four engines keep there.
#[test]
fn ipim_refuses_small_scratchpads() {
    let machine = machine().replace("pgsm_bytes = 8192", "pgsm_bytes = 304");
    let request = Request { machine, ..Request::default() };
    let program = Program::Stages(nbcc_stages::Pipeline::default());
    assert_eq!(errors(program, &request), [codes::BAD_MACHINE.code]);
}

#[test]
fn ipim_refuses_choices() {
    let choices = [("regalloc".to_string(), "most".to_string())].into();
    let request = Request { machine: machine(), choices, ..Request::default() };
    let program = Program::Stages(nbcc_stages::Pipeline::default());
    assert_eq!(errors(program, &request), [codes::BAD_CHOICE.code]);
}

/// As many control values alive at once as the register file has entries find no place: they
/// depend on each other, so none can be rematerialised.
#[test]
fn ipim_refuses_register_files() {
    let machine = Machine::built_in("ipim-vault");
    let mut func = MachFunction::new("crowded");
    let mut insts = Vec::new();
    let first = func.vreg(RegClass::Ctrl);
    insts.push(Inst::SetiCrf { dst: first, imm: Imm::Value(1) });
    let mut alive = vec![first];
    for _ in 0..machine.registers.ctrl {
        let dst = func.vreg(RegClass::Ctrl);
        let src1 = alive[alive.len() - 1];
        insts.push(Inst::CalcCrf { op: IntOp::Add, dst, src1, src2: first });
        alive.push(dst);
    }
    let mut sum = first;
    for src2 in alive {
        let dst = func.vreg(RegClass::Ctrl);
        insts.push(Inst::CalcCrf { op: IntOp::Add, dst, src1: sum, src2 });
        sum = dst;
    }
    let insts = insts.into_iter().map(|inst| InstData::new(inst, None)).collect();
    func.blocks.push(BlockData { insts, successors: vec![], loop_depth: 0 });
    let mask = SimbMask(machine.full_mask());
    let (recipes, runs) = (BTreeMap::new(), SecondaryMap::new());
    let mut kernel = Selected { func, recipes, runs, mask, args: None };
    let refused = allocate(&mut kernel, &machine, Policy::Min, 0..1 << 16);
    assert_eq!(refused.expect_err("there are too few"), Shortage::Registers(0));
    assert_eq!(FILES[0], RegClass::Ctrl);
}
