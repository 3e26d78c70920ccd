//! What is said of places: for each instruction what either side costs and what would flip it, for
//! each kernel how much lives where, what is moved, and what that costs.

use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;
use nbcc_analysis::listing::Listing;
use nbcc_ir::{Function, Value};
use nbcc_isa::Instruction;
use nbcc_isa_mpu::location::{Near, Rule, Side, for_each_operand};
use nbcc_isa_simt::operands::Space;
use nbcc_isa_simt::{Category, Hint, Inst, Op, Unit};
use nbcc_mach::VReg;
use nbcc_pipeline::Context;
use nbcc_placement::{Message, Move, Remark, RemarkKind, Summary, Term};
use nbcc_simt::backend::select::MachFunction;

use super::located::{Location, shares};
use super::model::{End, Model, Net, Node, Sums};

const NOTHING: &str = "nothing";
const FETCHED: &str = "instructions are fetched there";
/// Why the value of a store is read far, and what would have it elsewhere.
const APART: (&str, &str) = (
    "the threads of a warp are not expected to fill the words of a near-bank unit in their order, so that the \
     load-store unit sends each word",
    "neighbouring threads that store neighbouring words",
);

/// The remarks of a kernel whose instructions have their hints by a policy, and what `explain` says
/// of it.
pub fn of_kernel(
    policy: &'static str,
    ir: &Function,
    func: &MachFunction,
    values: &SecondaryMap<VReg, Option<Value>>,
    located: &Location,
    machine_near: Near,
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
    let (mut sums, mut moves) = (SecondaryMap::new(), SecondaryMap::new());
    for vreg in model.registers() {
        sums[vreg] = model.sums(vreg, &located.sides);
        moves[vreg] = Moves::of(&model.nets[vreg], sums[vreg]);
    }
    for (number, node) in model.nodes.iter().enumerate().filter(|(_, node)| node.span.is_some()) {
        let (block, at) = node.at;
        let inst = &func.blocks[block].insts[at].inst;
        let (message, terms) = if node.is_free() {
            let text = (inst.mnemonic(), inst.hint);
            of_instruction(number, text, located, name, &sums)
        } else if is_jump(inst) {
            continue;
        } else {
            of_fixed(inst, node, &moves, machine_near, name)
        };
        cx.remarks.push(remark("Side", ir, node.span, message, terms));
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
    if node.sent[Side::Near as usize] > 0 {
        terms.push(Term::new("OffloadBytes", node.sent[Side::Near as usize]));
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

/// A branch of all threads, which straightening of branches may leave out.
fn is_jump<R>(inst: &Inst<R>) -> bool {
    matches!(inst.op, Op::Bra { .. }) && inst.guard.is_none()
}

/// The remarks that need a kernel's code as it runs: on jumps that are left, and on the lines of its
/// source of which no instruction is.
pub fn of_code(ir: &Function, func: &MachFunction, source: Option<&Listing>, cx: &mut Context<'_>) {
    let mut lines = BTreeSet::new();
    for inst in func.blocks.values().flat_map(|data| &data.insts) {
        let Some(span) = inst.span else { continue };
        lines.insert(cx.sources.start_of(span).line);
        if is_jump(&inst.inst) {
            let message = Message::of("`bra` executes ")
                .value("Side", Side::Far)
                .text(", as the machine fixes it: ")
                .value("Why", FETCHED);
            let terms = vec![Term::new("FlippedBy", NOTHING)];
            cx.remarks.push(remark("Side", ir, inst.span, message, terms));
        }
    }
    for span in source.iter().flat_map(|source| &source.code).filter_map(|line| line.span) {
        if !lines.contains(&cx.sources.start_of(span).line) {
            let message = Message::of(
                "no instruction is left of this: it is folded, part of another one, or not needed",
            );
            cx.remarks.push(remark("Gone", ir, Some(span), message, vec![]));
        }
    }
}

/// What is said of an instruction whose side the machine fixes: why, and what the place of each register
/// costs.
fn of_fixed(
    inst: &Inst<VReg>,
    node: &Node,
    moves: &SecondaryMap<VReg, Moves>,
    near: Near,
    name: impl Fn(VReg) -> String,
) -> (Message, Vec<Term>) {
    let begin = Message::of(format!("`{}` ", inst.mnemonic()));
    let side = match node.rule {
        Rule::At(side) => side,
        _ if node.apart => Side::Far,
        Rule::Split | Rule::SplitByHint | Rule::Free => Side::Near,
    };
    let message = match node.rule {
        Rule::At(_) => begin.text("executes ").value("Side", side),
        _ => begin.text("has its address far and its value ").value("Side", side),
    };
    let (why, flip) = if node.apart { APART } else { reason(inst, near) };
    let message = message.text(", as the machine fixes it: ").value("Why", why);
    let mut terms = vec![Term::new("Executions", node.weight)];
    for_each_operand(inst, side, near, |operand, at| {
        let end = match (operand.role.reads(), operand.role.writes()) {
            (true, false) => "Reads",
            (false, _) => "Writes",
            (true, true) => "Updates",
        };
        let vreg = *operand.reg;
        terms.push(Term::new(end, moves[vreg].text(&name(vreg), at)));
    });
    terms.push(Term::new("FlippedBy", flip));
    (message, terms)
}

/// What the moves of a register cost, in bytes over the TSVs.
#[derive(Clone, Copy, Default)]
struct Moves {
    /// As it is.
    now: u64,
    /// With all that has a choice on either side, if something has.
    apart: Option<[u64; 2]>,
}

impl Moves {
    fn of(net: &Net, sums: Sums) -> Moves {
        let free = |&(end, _): &(End, u64)| matches!(end, End::Of(_));
        let apart = |side| {
            let sums = net.sums(|end| match end {
                End::At(fixed) => fixed,
                End::Of(_) => side,
            });
            sums.cost(net.bytes)
        };
        let chosen = net.writes.iter().chain(&net.reads).any(free);
        Moves { now: sums.cost(net.bytes), apart: chosen.then(|| Side::ALL.map(apart)) }
    }

    /// What is said of a register that an instruction whose side is fixed has on a side.
    fn text(&self, name: &str, at: Side) -> String {
        let text = format!("{name} {at}: {} bytes over the TSVs", self.now);
        match self.apart {
            None => text + ", no choice",
            Some([far, near]) => {
                format!("{text}; {near} were all else that has a choice near, {far} far")
            }
        }
    }
}

/// Why the machine fixes the side of an instruction, and what would have it elsewhere.
fn reason(inst: &Inst<VReg>, near: Near) -> (&'static str, &'static str) {
    if !near.compute {
        return (
            "nothing computes near the banks of this machine",
            "a machine with near-bank units",
        );
    }
    match inst.op.unit() {
        Unit::Control => (FETCHED, NOTHING),
        Unit::Sync => ("warps wait there for each other", NOTHING),
        Unit::Sfu => ("special functions have units there only", NOTHING),
        Unit::Host => ("the host is called from there", NOTHING),
        Unit::Lanes => ("lanes exchange values there", NOTHING),
        Unit::Alu => ("addresses are converted there", NOTHING),
        Unit::Lsu => match inst.op.space() {
            Some(Space::Shared) if near.shared => {
                ("shared memory is near", "shared memory on the base die (memory.near_shared)")
            }
            Some(Space::Shared) => {
                ("shared memory is far", "shared memory near the banks (memory.near_shared)")
            }
            Some(Space::Param) => ("parameters are kept there", NOTHING),
            _ if inst.category() == Category::Atomic => {
                ("the load-store unit takes address and operands from there", NOTHING)
            }
            _ => ("the load-store unit is far, and data go to and from the banks", NOTHING),
        },
    }
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
