//! What a plan does, in words: for each kernel where data lives, what moves and how much.

use std::fmt::Write;

use nbcc_isa_ipim::Machine;
use nbcc_isa_ipim::layout::Layout;

use super::{BufferPlan, Nest, Plan, Step};

/// Explains a plan.
pub fn explain(plan: &Plan, machine: &Machine) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "machine {}: {} vaults, {} engines",
        machine.name,
        machine.vaults(),
        machine.engines()
    );
    let _ = writeln!(out, "\nbuffers");
    for buffer in plan.buffers.values() {
        let _ = writeln!(out, "  {}", describe(buffer));
    }
    let _ = writeln!(out, "\nkernels");
    for (number, step) in plan.steps.iter().enumerate() {
        let _ = writeln!(out, "  {number}. {}", step_text(plan, step));
    }
    out
}

fn describe(buffer: &BufferPlan) -> String {
    let region: Vec<String> = buffer.region.iter().map(|i| i.to_string()).collect();
    let place = match &buffer.layout {
        Layout::Tiled(t) => format!(
            "tiles of {} x {} over engines, {} strips x {} rows of tiles a group, ghost columns {}+{}, ghost rows {}+{}",
            t.tile[0],
            t.tile[1],
            t.grid.strips,
            t.grid.rows,
            t.ghost_columns[0],
            t.ghost_columns[1],
            t.ghost_rows[0],
            t.ghost_rows[1]
        ),
        Layout::Single { cube, vault, pg, pe } => {
            format!("whole in bank {cube}.{vault}.{pg}.{pe}")
        }
        Layout::Replicated => "whole in every bank".to_string(),
    };
    format!(
        "{} [{}] {}: {place}, at {:#x}",
        buffer.name,
        region.join(", "),
        buffer.element.name(),
        buffer.base
    )
}

fn nest_text(plan: &Plan, nest: &Nest) -> String {
    let mut text = String::new();
    for read in &nest.reads {
        let buffer = &plan.buffers[read.buffer];
        let how = match &read.window {
            Some(w) => {
                format!("through a window of {} x {} in the group's scratchpad", w.pitch, w.rows)
            }
            None => "from the own bank".to_string(),
        };
        let _ = write!(
            text,
            "\n       reads {} {how}, x {}..={}, y {}..={} of a tile",
            buffer.name, read.reach[0].0, read.reach[0].1, read.reach[1].0, read.reach[1].1
        );
    }
    text
}

fn step_text(plan: &Plan, step: &Step) -> String {
    match step {
        Step::Exchange(id) => format!(
            "ghost zones of {}: between groups of a vault through its scratchpad, between vaults by req",
            plan.buffers[*id].name
        ),
        Step::Redistribute { from, to, .. } => format!(
            "{} copied to {}: by req through the scratchpad of each vault",
            plan.buffers[*from].name, plan.buffers[*to].name
        ),
        Step::Tiles(step) => format!(
            "{} tile by tile, {} rows of a tile at a time{}",
            step.nest.name,
            step.nest.block_rows,
            nest_text(plan, &step.nest)
        ),
        Step::Reduce(step) => format!(
            "{} reduced in parts in every engine, then merged{}",
            step.nest.name,
            nest_text(plan, &step.nest)
        ),
        Step::Serial(step) => {
            format!("{} on one engine", plan.pipeline.funcs[step.func].name)
        }
    }
}
