//! `--emit ddg`: the data-flow graph of each innermost loop, and which access hands a value to which,
//! within a loop and between loops, in the notation of the paper's Algorithms 1 and 2: `SM` is what was
//! in memory before, `L0.I1 store3 -> L1.I1 load2 (a + 4)` a value that operation `store3` of loop 0
//! stored in its iteration 1 and `load2` of loop 1 reads in its iteration 1, the fourth element of `a`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use nbcc_analysis::{Affine, AffineForms, LoopForest};
use nbcc_ir::{Block, Cfg, Dominators, Function, Inst, Mem, Op, Value, ValueDef};

use nbcc_opt::params;

use crate::arrays::facts::evolution::{Evolution, Evolutions};
use crate::arrays::facts::shape::{Shape, Trips};
use crate::arrays::versions::version::results;

/// Iterations that are listed where there are as many.
const LISTED: u32 = 9;

/// Iterations that are listed where nobody knows how many there are.
const LISTED_OF_MANY: u32 = 4;

/// An access of a loop.
struct Access {
    /// What the listing calls it.
    name: String,
    mem: Mem,
    element: Option<Evolution>,
    is_store: bool,
}

/// A loop that is listed.
struct Listed {
    shape: Shape,
    names: BTreeMap<Inst, String>,
    accesses: Vec<Access>,
}

/// The listing of a function.
pub fn listing(func: &mut Function) -> String {
    let headers: Vec<Block> = {
        let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
        let innermost = forest.loops.values().filter(|data| data.inner.is_empty());
        innermost.map(|data| data.header).collect()
    };
    let mut out = String::new();
    let mut loops: Vec<Listed> = Vec::new();
    let mut skipped = Vec::new();
    for header in headers {
        let cfg = Cfg::new(func);
        let forest = LoopForest::new(&cfg, &Dominators::new(func));
        let Some(l) = forest.headed_by(header) else { continue };
        func.preheader(&cfg, header, |block| forest.contains(l, block));
        params::run(func);
        let cfg = Cfg::new(func);
        let forest = LoopForest::new(&cfg, &Dominators::new(func));
        let Some(l) = forest.headed_by(header) else { continue };
        match Shape::new(func, &cfg, &forest, l) {
            Ok(shape) => loops.push(listed(func, shape)),
            Err(why) => skipped.push(format!("# the loop at {header} is not listed: {why}")),
        }
    }
    for (number, of) in loops.iter().enumerate() {
        graph(func, number, of, &mut out);
        accesses(func, number, &loops, &mut out);
        out.push('\n');
    }
    for line in skipped {
        let _ = writeln!(out, "{line}");
    }
    out
}

/// What a listing says of a loop.
fn listed(func: &Function, shape: Shape) -> Listed {
    let forms = AffineForms::new(func, &Cfg::new(func));
    let evolutions = Evolutions::new(func, &shape, &forms);
    let mut names = BTreeMap::new();
    let mut accesses = Vec::new();
    for inst in work(func, &shape, &evolutions) {
        let op = &func.insts[inst].op;
        let name = format!("{}{}", word(op), names.len() + 1);
        let (mem, subscripts, is_store) = match op {
            Op::Load(_, mem, subscripts) => (Some(*mem), &subscripts[..], false),
            Op::Store(mem, subscripts, _) => (Some(*mem), &subscripts[..], true),
            _ => (None, &[][..], false),
        };
        if let Some(mem) = mem {
            let element = match subscripts {
                &[index] => evolutions.of(index),
                _ => None,
            };
            accesses.push(Access { name: name.clone(), mem, element, is_store });
        }
        names.insert(inst, name);
    }
    Listed { names, accesses, shape }
}

/// The operations of an iteration in order: stores, and what leads to them or to values that are read
/// later; not what only counts or makes subscripts that grow by as much each time.
fn work(func: &Function, shape: &Shape, evolutions: &Evolutions<'_>) -> Vec<Inst> {
    let mut needed: BTreeSet<Inst> = BTreeSet::new();
    let mut values: Vec<Value> = results(func, shape);
    values.retain(|&value| evolutions.of(value).is_none());
    for &block in &shape.blocks {
        for &inst in &func.blocks[block].insts {
            if let Op::Store(_, subscripts, value) = &func.insts[inst].op {
                needed.insert(inst);
                values.push(*value);
                values.extend(subscripts.iter().filter(|&&v| evolutions.of(v).is_none()));
            }
        }
        if block != shape.latch {
            func.terminator(block).for_each_arg(|value| values.push(value));
        }
    }
    let mut seen = BTreeSet::new();
    while let Some(value) = values.pop() {
        if !shape.defines(func, value) || !seen.insert(value) {
            continue;
        }
        let inst = match func.values[value].def {
            ValueDef::Param(block, number) => {
                if block == shape.header && evolutions.of(value).is_none() {
                    values.push(shape.back_args[number as usize]);
                }
                continue;
            }
            ValueDef::Result(inst, _) => inst,
        };
        let op = &func.insts[inst].op;
        if matches!(op, Op::Const(..)) {
            continue;
        }
        needed.insert(inst);
        match op {
            Op::Load(_, _, subscripts) => {
                values.extend(subscripts.iter().filter(|&&v| evolutions.of(v).is_none()));
            }
            op => op.for_each_arg(|arg| values.push(arg)),
        }
    }
    let blocks = shape.blocks.iter().flat_map(|&block| &func.blocks[block].insts);
    blocks.copied().filter(|inst| needed.contains(inst)).collect()
}

/// What the listing calls an operation.
fn word(op: &Op) -> String {
    match op {
        Op::Load(..) => "load".into(),
        Op::Store(..) => "store".into(),
        Op::Binary(op, ..) => format!("{op:?}").to_lowercase(),
        Op::Unary(op, ..) => format!("{op:?}").to_lowercase(),
        Op::Icmp(cond, ..) => format!("{cond:?}").to_lowercase(),
        Op::Convert(op, ..) => format!("{op:?}").to_lowercase(),
        Op::Select(..) => "select".into(),
        other => format!("{other:?}").split(['(', ' ']).next().unwrap_or_default().to_lowercase(),
    }
}

/// The header of a loop and its data-flow graph.
fn graph(func: &Function, number: usize, of: &Listed, out: &mut String) {
    let _ = writeln!(out, "### loop{number} ###");
    for &block in &of.shape.blocks {
        for inst in &func.blocks[block].insts {
            let Some(to) = of.names.get(inst) else { continue };
            let op = &func.insts[*inst].op;
            let mut from: Vec<String> = Vec::new();
            op.for_each_arg(|arg| from.extend(source(func, of, arg)));
            from.dedup();
            match from.is_empty() {
                true => {
                    let _ = writeln!(out, "{to}");
                }
                false => {
                    let _ = writeln!(out, "{} -> {to}", from.join(", "));
                }
            }
        }
    }
}

/// The operation that makes a value, with the number of iterations that lie between.
fn source(func: &Function, of: &Listed, mut value: Value) -> Option<String> {
    let mut distance = 0;
    loop {
        match func.values[value].def {
            ValueDef::Result(inst, _) => {
                let name = of.names.get(&inst)?;
                return Some(match distance {
                    0 => name.clone(),
                    _ => format!("{name} [{distance}]"),
                });
            }
            ValueDef::Param(block, number) if block == of.shape.header && distance < 16 => {
                value = of.shape.back_args[number as usize];
                distance += 1;
            }
            ValueDef::Param(..) => return None,
        }
    }
}

/// How many iterations of a loop are listed, and how many there are.
fn iterations(shape: &Shape) -> (u32, Option<u32>) {
    match shape.trips {
        Trips::Known(trips) => (trips.min(LISTED), Some(trips)),
        Trips::While { .. } => (LISTED_OF_MANY, None),
    }
}

/// The loads of a loop, iteration by iteration, and where their values come from.
fn accesses(func: &Function, number: usize, loops: &[Listed], out: &mut String) {
    let of = &loops[number];
    for iteration in 0..iterations(&of.shape).0 {
        let _ = writeln!(out, "--- innerloop = {iteration} ---");
        for (place, load) in of.accesses.iter().enumerate().filter(|(_, a)| !a.is_store) {
            let name = &func.mems[load.mem].name;
            let Some(element) = &load.element else {
                let _ = writeln!(out, "? -> L{number}.I{iteration} {} ({name} + ?)", load.name);
                continue;
            };
            let at = at(element, i64::from(iteration));
            let from = writer(loops, number, place, i64::from(iteration), load.mem, &at);
            let element = shown(&at);
            let _ = writeln!(
                out,
                "{from} -> L{number}.I{iteration} {} ({name} + {element})",
                load.name
            );
        }
    }
}

/// The element that an access takes in an iteration.
fn at(element: &Evolution, iteration: i64) -> Affine {
    element.start.plus(&element.step, iteration as i32)
}

/// An element as a sum.
fn shown(at: &Affine) -> String {
    let mut text = String::new();
    for (value, factor) in &at.terms {
        let _ = match factor {
            1 => write!(text, "{value} + "),
            _ => write!(text, "{factor} * {value} + "),
        };
    }
    let _ = write!(text, "{}", at.constant);
    text
}

/// Who stored an element last: in this loop, in one before it, or nobody that is listed.
fn writer(
    loops: &[Listed],
    number: usize,
    place: usize,
    iteration: i64,
    mem: Mem,
    wanted: &Affine,
) -> String {
    for before in (0..=number).rev() {
        let of = &loops[before];
        let mut found: Option<(i64, usize)> = None;
        for (order, store) in of.accesses.iter().enumerate() {
            if !store.is_store || store.mem != mem {
                continue;
            }
            let Some(element) = &store.element else { return "?".into() };
            let most = match before == number {
                // In the same iteration what stands before it, else what an earlier one stored.
                true => iteration - i64::from(order > place),
                false => iterations(&of.shape).1.map_or(i64::from(u32::MAX), |n| i64::from(n) - 1),
            };
            let Some(apart) = wanted.plus(&element.start, -1).as_constant() else {
                return "?".into();
            };
            let Some(step) = element.step.as_constant() else { return "?".into() };
            let at = match step {
                0 if apart == 0 => most,
                0 => continue,
                step if apart % step == 0 => i64::from(apart / step),
                _ => continue,
            };
            if (0..=most).contains(&at) {
                found = found.max(Some((at, order)));
            }
        }
        if let Some((at, order)) = found {
            return format!("L{before}.I{at} {}", of.accesses[order].name);
        }
    }
    "SM".into()
}
