//! What is said of places: for each instruction what either side costs and what would flip it, for
//! each kernel how much lives where, what is moved, and what that costs.

use cranelift_entity::SecondaryMap;
use nbcc_ir::{Function, Value};
use nbcc_isa::Instruction;
use nbcc_isa_mpu::location::Side;
use nbcc_isa_simt::Hint;
use nbcc_mach::VReg;
use nbcc_pipeline::Context;
use nbcc_placement::{Message, Move, Remark, RemarkKind, Summary, Term};
use nbcc_simt::backend::select::MachFunction;

use super::model::{Model, Sums};
use super::{Location, shares};

/// The remarks of a kernel whose instructions have their hints by a policy, and what `explain` says
/// of it.
pub fn of_kernel(
    policy: &'static str,
    ir: &Function,
    func: &MachFunction,
    values: &SecondaryMap<VReg, Option<Value>>,
    located: &Location,
    cx: &mut Context<'_>,
) -> Vec<(&'static str, String)> {
    let span = ir.first_span();
    let [near, far, both] = shares(located).map(|share| format!("{share:.1} %"));
    let message = Message::of("of the registers ")
        .value("NearRegisters", near)
        .text(" are labelled near, ")
        .value("FarRegisters", far)
        .text(" far, ")
        .value("BothRegisters", both)
        .text(" both");
    let mut findings = vec![("labels", message.to_string())];
    cx.remarks.push(remark("Labels", ir, span, message, vec![]));
    let model = &located.model;
    if located.gave_up {
        let message = Message::of("policy ")
            .value("Policy", policy)
            .text(" takes too long for so many instructions: they are where `annotated` has them");
        findings.push(("policy", message.to_string()));
        let remark = remark("GaveUp", ir, span, message, vec![]);
        cx.remarks.push(Remark { kind: RemarkKind::Missed, ..remark });
    }
    let weight = |vreg: VReg| {
        let writes = &model.nets[vreg].writes;
        writes.iter().map(|&(_, weight)| weight).fold(0, u64::saturating_add)
    };
    let served = |m: &Move<VReg, Side>| {
        let reads = model.nets[m.entity].reads.iter();
        reads.filter(|&&(end, _)| model.side(&located.sides, end) == m.to).count() as u64
    };
    let summary = Summary::of(&located.places, weight, served);
    let mut terms =
        vec![Term::new("Policy", policy), Term::new("EstimatedBytes", model.cost(&located.sides))];
    terms.extend(summary.terms(Side::name));
    let bytes = model.cost(&located.sides);
    findings.push((
        "places",
        format!("{}; {bytes} bytes over the TSVs estimated", summary.message(Side::name)),
    ));
    cx.remarks.push(remark("Places", ir, span, summary.message(Side::name), terms));
    let name = |vreg: VReg| values[vreg].map_or_else(|| vreg.to_string(), |v| v.to_string());
    let mut sums = SecondaryMap::new();
    for vreg in model.registers() {
        sums[vreg] = model.sums(vreg, &located.sides);
    }
    for (number, node) in model.nodes.iter().enumerate() {
        if node.is_free() && node.span.is_some() {
            let (block, at) = node.at;
            let inst = &func.blocks[block].insts[at].inst;
            let text = (inst.mnemonic(), inst.hint);
            let (message, terms) = of_instruction(number, text, located, name, &sums);
            cx.remarks.push(remark("Side", ir, node.span, message, terms));
        }
    }
    findings
}

/// The remark on a profile that was given, which knows the kernel or not, and what `explain` says.
pub fn of_profile(ir: &Function, is_known: bool, cx: &mut Context<'_>) -> String {
    let message = match is_known {
        true => Message::of("weights of instructions are their executions in the profile"),
        false => Message::of("the profile has no line of this kernel: loops decide the weights"),
    };
    let text = message.to_string();
    let remark = remark("Profile", ir, ir.first_span(), message, vec![]);
    cx.remarks.push(match is_known {
        true => remark,
        false => Remark { kind: RemarkKind::Missed, ..remark },
    });
    text
}

/// What is said of an instruction.
fn of_instruction(
    number: usize,
    (mnemonic, hint): (&str, Hint),
    located: &Location,
    name: impl Fn(VReg) -> String,
    sums: &SecondaryMap<VReg, Sums>,
) -> (Message, Vec<Term>) {
    let model = &located.model;
    let side = located.sides[number];
    let [far, near] = model.sides_cost(number, side, sums, None);
    let message = Message::of(format!("`{mnemonic}` executes "))
        .value("Side", side)
        .text(if hint == Hint::None { " if its sources are there" } else { "" })
        .text(": ")
        .value("NearBytes", near)
        .text(" bytes over the TSVs near, ")
        .value("FarBytes", far)
        .text(" far");
    let node = &model.nodes[number];
    let mut terms = vec![Term::new("Executions", node.weight)];
    if node.offload > 0 {
        terms.push(Term::new("OffloadBytes", node.offload));
    }
    let flips = flips(model, number, side, near < far, sums);
    let cheaper = if near < far { Side::Near } else { Side::Far };
    terms.push(match (near == far, flips.is_empty()) {
        (true, _) => Term::new("FlippedBy", "anything: both sides cost the same"),
        (false, true) => {
            Term::new("FlippedBy", format!("no single register: {cheaper} is cheaper"))
        }
        (false, false) => {
            let names: Vec<String> =
                flips.iter().map(|&(vreg, to)| format!("{} {to}", name(vreg))).collect();
            Term::new("FlippedBy", names.join(", or "))
        }
    });
    (message, terms)
}

/// The registers each of which would turn round which side is cheaper, were all else that writes and
/// reads it on that side.
fn flips(
    model: &Model,
    number: usize,
    now: Side,
    near: bool,
    sums: &SecondaryMap<VReg, Sums>,
) -> Vec<(VReg, Side)> {
    let mut found = Vec::new();
    for own in &model.nodes[number].nets {
        for to in Side::ALL {
            let apart = Some((own.vreg, to));
            let [at_far, at_near] = model.sides_cost(number, now, sums, apart);
            if near && at_far < at_near || !near && at_near < at_far {
                found.push((own.vreg, to));
            }
        }
    }
    found
}

fn remark(
    name: &'static str,
    ir: &Function,
    span: Option<nbcc_base::Span>,
    message: Message,
    terms: Vec<Term>,
) -> Remark {
    let (kind, function) = (RemarkKind::Analysis, ir.name.clone());
    Remark { kind, pass: "locate", name, function, span, message, terms }
}
