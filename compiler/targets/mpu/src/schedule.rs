//! How long the instructions of MPU take for its scheduler: a warp issues in order, and what it loads
//! is there after the row of a bank was activated and read.

use nbcc_base::Failed;
use nbcc_isa::Instruction;
use nbcc_isa_mpu::Machine;
use nbcc_isa_mpu::location::Side;
use nbcc_isa_simt::operands::Space;
use nbcc_isa_simt::{Inst, Unit};
use nbcc_mach::VReg;
use nbcc_pipeline::Context;
use nbcc_placement::{Message, Remark, RemarkKind};
use nbcc_simt::Compilation;
use nbcc_simt::backend::schedule;

use crate::location::{Locations, machine_of};

/// Reorders the instructions of every kernel.
pub fn run(state: &mut Compilation<Locations>, cx: &mut Context<'_>) -> Result<(), Failed> {
    let machine = machine_of(state);
    for kernel in &mut state.kernels {
        let (Some(selected), Some(registers)) = (&mut kernel.selected, &kernel.registers) else {
            continue;
        };
        // The check of registers compares instructions in the order that they had.
        kernel.unallocated = None;
        let before = cx.passes.verify_each.then(|| selected.func.clone());
        let orders = schedule::run(&mut selected.func, registers, |inst| latency(inst, &machine));
        if let Some(before) = before
            && let Err(what) = schedule::check(&before, &selected.func, &orders, Some(registers))
        {
            panic!("{what}");
        }
        let moved = selected.func.blocks.keys().map(|block| {
            let order = &orders[block];
            order.iter().enumerate().filter(|&(now, &was)| now != was).count()
        });
        let moved: usize = moved.sum();
        let ir = &state.module.functions[kernel.func];
        cx.remarks.push(Remark {
            kind: RemarkKind::Analysis,
            pass: "schedule",
            name: "Moved",
            function: ir.name.clone(),
            span: ir.first_span(),
            message: Message::of_value("Moved", moved)
                .text(" of ")
                .value("Instructions", selected.func.len())
                .text(" instructions stand elsewhere in their block"),
            terms: vec![],
        });
    }
    Ok(())
}

/// Cycles from the start of an instruction until its result is there.
fn latency(inst: &Inst<VReg>, machine: &Machine) -> u32 {
    let offload = 2 * machine.network.request_bytes
        / (machine.network.tsv_bytes * machine.network.tsv_ticks).max(1);
    let own = machine.latency(inst.op.unit(), inst.latency()) + machine.latency.register;
    match inst.op.unit() {
        Unit::Lsu => match inst.op.space() {
            Some(Space::Shared | Space::Param) => own + machine.latency.shared,
            _ => own + machine.dram.t_rcd + machine.dram.t_cl + machine.dram.t_bl + offload,
        },
        _ if Side::of(inst.hint) == Some(Side::Near) => own + offload,
        _ => own,
    }
}
