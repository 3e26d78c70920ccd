//! Near or far: where each instruction executes and each register lives (MPU paper, section V-B). A
//! policy gives instructions their hints; where registers are then read and written follows from the
//! rules of the machine, and that is the placement: each register at home where it is first
//! written, with a copy on the other side where something reads it there.
//!
//! A policy of one's own is a function from the instructions to their hints and an entry in
//! [`POLICIES`].

pub mod annotate;
pub mod banks;
pub mod budget;
pub mod flow;
mod located;
pub mod mincut;
pub mod model;
mod reach;
pub mod remarks;
pub mod weights;

use cranelift_entity::SecondaryMap;
use nbcc_base::Failed;
use nbcc_isa_mpu::Machine;
use nbcc_isa_mpu::location::{self, Near, Side, Spread, for_each_operand, possible_sides};
use nbcc_isa_simt::{Hint, Inst, RegClass};
use nbcc_mach::VReg;
use nbcc_pipeline::{Choice, Context, names};
use nbcc_placement::{Origin, Placement};
use nbcc_simt::Compilation;
use nbcc_simt::backend::select::{MachFunction, Selected};

pub use located::{Location, shares};

use annotate::Labels;
use banks::bank;
use model::Model;
use reach::Reach;
use weights::Weights;

/// The key of the choice.
pub const LOCATION: &str = "location";

/// What `-X location` takes.
pub const CHOICE: Choice = Choice {
    key: LOCATION,
    values: &names(&POLICIES),
    about: "where instructions execute and registers live: near the banks or far from them",
};

/// What a policy decides by.
pub struct Input<'a> {
    /// The instructions.
    pub func: &'a MachFunction,
    /// What the machine has near.
    pub near: Near,
    /// What choices cost.
    pub model: &'a Model,
    /// The labels of Algorithm 1.
    pub labels: &'a Labels,
}

/// A policy: a hint for each instruction, in their order. Only those of instructions whose side is
/// to be chosen count. `None` where it gives up: then the hints are those of Algorithm 1.
pub type Policy = fn(&Input<'_>) -> Option<Vec<Hint>>;

/// The policies by their names, the default first.
const POLICIES: [(&str, Policy); 5] = [
    ("mincut", minimum_cut),
    ("annotated", |input| Some(annotated(input))),
    ("hardware", |input| Some(vec![Hint::None; input.model.nodes.len()])),
    ("all-near", |input| Some(vec![Hint::Near; input.model.nodes.len()])),
    ("all-far", |input| Some(vec![Hint::Far; input.model.nodes.len()])),
];

fn annotated(input: &Input<'_>) -> Vec<Hint> {
    let insts = input.func.blocks.values().flat_map(|data| &data.insts);
    insts.map(|data| annotate::hint(&data.inst, input.near, input.labels)).collect()
}

fn minimum_cut(input: &Input<'_>) -> Option<Vec<Hint>> {
    let nodes = input.model.nodes.iter();
    let fixed: Vec<Side> = nodes.map(|node| model::side_of(node.rule, Side::Far)).collect();
    let (sides, _) = mincut::decide(input.model, &fixed, mincut::STEPS)?;
    Some(sides.into_iter().map(Side::hint).collect())
}

/// What the passes of this target keep, by the number of the kernel.
#[derive(Debug, Default)]
pub struct Locations(pub Vec<Option<Location>>);

/// Gives instructions their hints and registers their places.
pub fn run(state: &mut Compilation<Locations>, cx: &mut Context<'_>) -> Result<(), Failed> {
    let machine = machine_of(state);
    let chosen = state.choices.get(LOCATION).map_or(CHOICE.values[0], String::as_str);
    let policy = POLICIES.iter().find(|(name, _)| *name == chosen);
    let (name, policy) = policy.expect("the driver checks the values of choices");
    state.own.0.clear();
    for kernel in &mut state.kernels {
        let Some(Selected { func, blocks, values, .. }) = &mut kernel.selected else {
            state.own.0.push(None);
            continue;
        };
        let ir = &state.module.functions[kernel.func];
        let measured =
            state.profile.as_ref().map(|counts| weights::measured(func, counts, cx.sources));
        let weights = measured.clone().flatten().unwrap_or_else(|| weights::expected(func));
        let reach = Reach::new(ir, blocks, &machine);
        let located = locate(func, &machine, *policy, &weights, &reach);
        if cx.passes.verify_each
            && let Err(what) = check(func, Near::of(&machine), &located.places)
        {
            panic!("{what}");
        }
        for vreg in located.model.registers() {
            let at: Vec<String> =
                located.places.places(vreg).map(|side| side.to_string()).collect();
            let what = match values[vreg] {
                Some(value) => format!("{value}: {}", ir.ty(value)),
                None => format!("{vreg}: {}", class_name(func.vregs[vreg].class)),
            };
            kernel.notes[vreg] = Some(format!("{what} @{}", at.join("+")));
            // Predicates are no entries of these files.
            if func.vregs[vreg].class != RegClass::Pred {
                func.vregs[vreg].bank = bank(&located.places, vreg);
            }
        }
        let table = ir.kernel.clone().unwrap_or_default();
        kernel.banks = Some(budget::banks(&machine, &table, kernel.frame.shared_bytes));
        kernel.findings =
            remarks::of_kernel(name, ir, func, values, &located, Near::of(&machine), cx);
        if let Some(measured) = measured {
            kernel.findings.push(("executions", remarks::of_profile(ir, measured.is_some(), cx)));
        }
        state.own.0.push(Some(located));
    }
    Ok(())
}

fn class_name(class: RegClass) -> &'static str {
    match class {
        RegClass::Pred => "i1",
        RegClass::Word => "i32",
        RegClass::Wide => "i64",
    }
}

/// The machine of a compilation with all that its description says.
pub fn machine_of(state: &Compilation<Locations>) -> Machine {
    Machine::from_toml(&state.machine.toml, &[]).expect("a description that was read before")
}

/// Applies a policy to a function.
pub fn locate(
    func: &mut MachFunction,
    machine: &Machine,
    policy: Policy,
    weights: &Weights,
    reach: &Reach,
) -> Location {
    let near = Near::of(machine);
    let model = Model::new(func, machine, weights, reach);
    let labels = annotate::label(func, near);
    let input = Input { func, near, model: &model, labels: &labels };
    let chosen = policy(&input);
    let gave_up = chosen.is_none();
    let hints = chosen.unwrap_or_else(|| annotated(&input));
    for (node, hint) in model.nodes.iter().zip(hints) {
        let (block, at) = node.at;
        let inst = &mut func.blocks[block].insts[at].inst;
        inst.hint = if node.is_free() { hint } else { Hint::None };
    }
    let (places, sides) = places(func, near, &model);
    Location { places, labels, gave_up, sides, model }
}

/// Where registers may be.
#[derive(Default)]
struct Reached {
    sides: SecondaryMap<VReg, [bool; 2]>,
}

impl Spread<VReg> for Reached {
    fn is_near(&self, reg: &VReg) -> bool {
        self.sides[*reg][Side::Near as usize]
    }

    fn mark(&mut self, _: RegClass, reg: &VReg, side: Side) -> bool {
        !std::mem::replace(&mut self.sides[*reg][side as usize], true)
    }
}

/// The places of registers, and the side of each instruction.
fn places(func: &MachFunction, near: Near, model: &Model) -> (Placement<VReg, Side>, Vec<Side>) {
    let insts = func.blocks.values().flat_map(|data| data.insts.iter().map(|data| &data.inst));
    let mut reached = Reached::default();
    location::spread(insts.clone(), near, &mut reached);
    // One side is decided, or near is possible, which is what the hardware prefers.
    let side_of = |inst: &Inst<VReg>| {
        let sides = possible_sides(inst, near, |reg| reached.is_near(reg));
        sides.last().copied().unwrap_or(Side::Far)
    };
    let sides = insts.clone().map(side_of).collect();
    let mut places = Placement::new();
    let mut written: SecondaryMap<VReg, [bool; 2]> = SecondaryMap::new();
    for inst in insts {
        for &side in possible_sides(inst, near, |reg| reached.is_near(reg)) {
            for_each_operand(inst, side, near, |operand, side| {
                if operand.role.writes() {
                    written[*operand.reg][side as usize] = true;
                    if places.home(*operand.reg).is_none() {
                        places.set(*operand.reg, side);
                    }
                }
            });
        }
    }
    for vreg in model.registers() {
        let at = |side: Side| reached.sides[vreg][side as usize];
        if places.home(vreg).is_none() {
            places.set(vreg, if at(Side::Far) { Side::Far } else { Side::Near });
        }
        for side in Side::ALL.into_iter().filter(|&side| at(side)) {
            if places.home(vreg) != Some(side) {
                let computed = written[vreg][side as usize];
                places.add(vreg, side, if computed { Origin::Computed } else { Origin::Copied });
            }
        }
    }
    (places, sides)
}

/// Checks that every register has a place where it is read or written, and that its bank has an
/// entry there.
///
/// # Errors
/// The first that has none.
pub fn check(
    func: &MachFunction,
    near: Near,
    places: &Placement<VReg, Side>,
) -> Result<(), String> {
    let mut reads = Vec::new();
    for (block, data) in &func.blocks {
        for (index, inst) in data.insts.iter().enumerate() {
            let possible = possible_sides(&inst.inst, near, |reg| places.has(*reg, Side::Near));
            for &side in possible {
                for_each_operand(&inst.inst, side, near, |operand, side| {
                    let by = format!("instruction {index} of {block}");
                    reads.push(nbcc_placement::Read { by, entity: *operand.reg, place: side });
                });
            }
        }
    }
    nbcc_placement::verify(places, reads, |_, _| true)
        .map_err(|what| format!("{}: {what}", func.name))
}
