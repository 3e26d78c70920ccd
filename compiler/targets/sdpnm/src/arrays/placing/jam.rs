//! Several iterations of a loop as one of an array (Callahan, Cocke, Kennedy, "Estimating interlock and
//! improving balance for pipelined architectures", JPDC 1988): they share what they load, and where
//! operations of one do not fill whole cycles, those of several do better.

use std::collections::BTreeSet;

use nbcc_analysis::{AffineForms, LoopForest};
use nbcc_ir::{Block, Cfg, Dominators, Func, Function, LoopInfo, Module};
use nbcc_isa_sdpnm::Array;
use nbcc_opt::{cse, dce, fold, licm, params, unroll};

use super::choose::{self, Bodies, Candidate, Chosen};
use super::place::MOST_NODES;
use crate::arrays::facts::shape::Shape;
use crate::arrays::iteration::build::Built;
use crate::arrays::loops::flatten;
use crate::arrays::{Arrays, Tools};

/// Iterations at a time at most, and operations of all of them: mapping takes longer the more there are.
const MOST_TIMES: u32 = 8;
const MOST_OPERATIONS: usize = 192;

/// How often the array then starts them at least: the first ones wait for each other.
const LEAST_ROUNDS: u64 = 8;

/// A loop of which several iterations are one.
struct Jammed {
    function: Function,
    of: Candidate,
    bodies: Bodies,
}

/// Chooses a body for a loop and maps it, with as many iterations at a time as take the fewest cycles;
/// the function is changed where that is more than one.
///
/// # Errors
/// Why no array runs the loop.
pub(crate) fn choose(
    module: &mut Module,
    func: Func,
    of: Candidate,
    tools: Tools<'_>,
    arrays: &Arrays,
) -> Result<(Candidate, Chosen), String> {
    let single = choose::bodies(module, func, &of, tools)?;
    let array = &tools.machine.array;
    note(&single, 1, array, tools);
    let jammed = match (tools.wishes.unroll, tools.wishes.ii) {
        (Some(1), _) | (None, Some(_)) => None,
        (Some(times), _) => asked(module, func, &of, &single, times, tools)
            .map_err(|why| tools.notes.borrow_mut().unmet.insert("unroll", why))
            .ok(),
        (None, None) => best(module, func, &of, &single, tools),
    };
    if let Some(Jammed { function, of: new, bodies }) = jammed {
        let old = std::mem::replace(&mut module.functions[func], function);
        let several = choose::choose(module, func, &new, &bodies, None, tools, arrays);
        let jammed = std::mem::replace(&mut module.functions[func], old);
        let is_asked = tools.wishes.unroll.is_some();
        if let Err(why) = &several {
            let text = format!("{} iterations at a time: {why}", new.times);
            tools.notes.borrow_mut().others.push(text);
            if is_asked {
                tools.notes.borrow_mut().unmet.insert("unroll", why.clone());
            }
        }
        if let Ok(several) = several {
            if is_asked {
                module.functions[func] = jammed;
                return Ok((new, several));
            }
            let cycles = several.mapped.cycles / f64::from(new.times);
            let one = choose::choose(module, func, &of, &single, Some(cycles), tools, arrays);
            return Ok(match one {
                Ok(one) if one.mapped.cycles < cycles => {
                    let found = one.mapped.cycles;
                    let text = format!(
                        "{} iterations at a time: mapped, {cycles:.2} cycles an iteration, {found:.2} one at a time",
                        new.times
                    );
                    tools.notes.borrow_mut().others.push(text);
                    (of, one)
                }
                _ => {
                    module.functions[func] = jammed;
                    (new, several)
                }
            });
        }
    }
    let one = choose::choose(module, func, &of, &single, None, tools, arrays)?;
    Ok((of, one))
}

/// The loop with as many iterations at a time as an array is estimated to take the fewest cycles for,
/// where that is more than one.
fn best(
    module: &mut Module,
    func: Func,
    of: &Candidate,
    single: &Bodies,
    tools: Tools<'_>,
) -> Option<Jammed> {
    let array = &tools.machine.array;
    let (interval, size) = expected(single, array);
    let mut least = f64::from(interval);
    // What several iterations do one after the other takes several times as long.
    let is_recurrence = single.bounds.rec > 1 && single.bounds.rec >= interval;
    if !tools.jams || is_recurrence || least <= size as f64 / array.pes() as f64 * GAIN {
        return None;
    }
    let trips = {
        let function = &module.functions[func];
        let forms = AffineForms::new(function, &Cfg::new(function));
        flatten::trips(function, &of.shape, &forms)?
    };
    let mut found = None;
    for times in 2..=MOST_TIMES {
        let rounds = trips / u64::from(times);
        let is_whole = trips % u64::from(times) == 0 && rounds >= LEAST_ROUNDS;
        if !is_whole || size * times as usize > MOST_OPERATIONS {
            continue;
        }
        let jammed = unrolled(&module.functions[func], of.shape.header, trips, times);
        let Some((jammed, shape)) = jammed else { continue };
        let old = std::mem::replace(&mut module.functions[func], jammed);
        let core_cycles = of.core_cycles * times;
        let of = Candidate { shape, core_cycles, times, ..of.clone() };
        let bodies = choose::bodies(module, func, &of, tools);
        let function = std::mem::replace(&mut module.functions[func], old);
        let Ok(bodies) = bodies else { continue };
        note(&bodies, times, array, tools);
        let cycles = f64::from(expected(&bodies, array).0) / f64::from(times);
        if cycles * GAIN < least {
            least = cycles;
            found = Some(Jammed { function, of, bodies });
        }
    }
    found
}

/// The loop with as many iterations at a time as are asked for.
///
/// # Errors
/// Why it cannot be that.
fn asked(
    module: &mut Module,
    func: Func,
    of: &Candidate,
    single: &Bodies,
    times: u32,
    tools: Tools<'_>,
) -> Result<Jammed, String> {
    if !tools.jams {
        return Err("the pass `jam` does not run".into());
    }
    let trips = {
        let function = &module.functions[func];
        let forms = AffineForms::new(function, &Cfg::new(function));
        flatten::trips(function, &of.shape, &forms)
    };
    let trips = trips.ok_or("how often the loop runs is known at run time only")?;
    if trips % u64::from(times) != 0 {
        return Err(format!("the loop runs {trips} times, which is no multiple of {times}"));
    }
    let (_, size) = expected(single, &tools.machine.array);
    let all = size.saturating_mul(times as usize);
    if all > MOST_NODES {
        return Err(format!("these are {all} operations, of {MOST_NODES} at most"));
    }
    let jammed = unrolled(&module.functions[func], of.shape.header, trips, times);
    let (jammed, shape) = jammed.ok_or("its iterations cannot stand one behind the other")?;
    let old = std::mem::replace(&mut module.functions[func], jammed);
    let of = Candidate { shape, core_cycles: of.core_cycles * times, times, ..of.clone() };
    let bodies = choose::bodies(module, func, &of, tools);
    let function = std::mem::replace(&mut module.functions[func], old);
    let bodies = bodies?;
    note(&bodies, times, &tools.machine.array, tools);
    Ok(Jammed { function, of, bodies })
}

/// Notes what so many iterations at a time are estimated to take.
fn note(bodies: &Bodies, times: u32, array: &Array, tools: Tools<'_>) {
    let (interval, size) = expected(bodies, array);
    let each = f64::from(interval) / f64::from(times);
    let what = match times {
        1 => "one iteration at a time".to_string(),
        times => format!("{times} iterations at a time"),
    };
    let text = format!(
        "{what}: {size} operations, an interval of about {interval}, {each:.2} cycles an iteration"
    );
    tools.notes.borrow_mut().others.push(text);
}

/// What is gained by more iterations at a time at least, as a factor.
const GAIN: f64 = 1.08;

/// The interval that a mapping will have, about, and the operations of an iteration.
fn expected(bodies: &Bodies, array: &Array) -> (u32, usize) {
    let all = [&bodies.plain].into_iter().chain(&bodies.reusing);
    let interval = |built: &Built| {
        let size = built.body.nodes.len();
        let mii = super::place::bounds(&built.body, array).mii;
        // A fifth more for what hands values on.
        let filled = (size + size / 5).div_ceil(array.pes());
        (mii.max(filled as u32), size)
    };
    all.map(interval).min().unwrap_or((u32::MAX, 0))
}

/// The function in which a loop of so many trips does as many iterations at a time as given, a divisor of
/// that number, and the loop.
pub(crate) fn unrolled(
    func: &Function,
    header: Block,
    trips: u64,
    times: u32,
) -> Option<(Function, Shape)> {
    let mut func = func.clone();
    let info = func.blocks[header].loop_info.take();
    let (name, counter) = info.map_or((String::new(), None), |info| (info.name, info.counter));
    func.blocks[header].loop_info = Some(LoopInfo { name, trips: Some(trips), counter });
    let headers = |func: &Function| -> BTreeSet<Block> {
        let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
        forest.loops.values().map(|data| data.header).collect()
    };
    let before = headers(&func);
    unroll::run_where(&mut func, |_, candidate| match candidate.blocks[0] == header {
        true => times.into(),
        false => 1,
    });
    // Constants that copies share must not be results of the loop.
    for clean in [fold::run, cse::run, licm::run, dce::run] {
        clean(&mut func);
    }
    let mut new = headers(&func).into_iter().filter(|header| !before.contains(header));
    let (header, None) = (new.next()?, new.next()) else { return None };
    let cfg = Cfg::new(&func);
    let forest = LoopForest::new(&cfg, &Dominators::new(&func));
    let l = forest.headed_by(header)?;
    func.preheader(&cfg, header, |block| forest.contains(l, block));
    params::run(&mut func);
    let cfg = Cfg::new(&func);
    let forest = LoopForest::new(&cfg, &Dominators::new(&func));
    let shape = Shape::new(&func, &cfg, &forest, forest.headed_by(header)?).ok()?;
    Some((func, shape))
}
