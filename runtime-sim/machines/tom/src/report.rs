//! What is told of a launch that does not come to its end: on which multiprocessor the warp is that is
//! named, and the request that it waits for.

use nbcc_sim_simt::machine::block::BlockFault;
use nbcc_sim_simt::machine::fault::Fault;
use nbcc_sim_simt::machine::grid;
use nbcc_sim_simt::memory::FIRST_ADDRESS;

use crate::residents::{Departure, Resident, Role, Warp};
use crate::sm::{Env, Shared, Sm};
use crate::stall::Stall;

impl Sm {
    /// What a user is told of a fault on the multiprocessor of that number.
    #[cold]
    pub fn fault(env: &Env<'_, '_>, sm: u32, index: [u32; 3], fault: BlockFault) -> Box<Fault> {
        let note = format!("on {}, warp {} of the block", name(env, sm), fault.warp);
        let mut out = grid::fault(env.context, index, fault);
        out.notes.push(note);
        out
    }
}

/// The fault of a launch that has had its cycles, or in which nothing will happen any more: that of the
/// first block that is there.
#[cold]
pub fn unfinished(
    sms: &[Sm],
    env: &Env<'_, '_>,
    shared: &Shared<'_, '_>,
    stopped: impl Fn(&Resident) -> BlockFault,
) -> Option<Box<Fault>> {
    let blocks = |sm: &'_ Sm| sm.blocks.iter().position(Option::is_some);
    let (sm, place) = sms.iter().find_map(|sm| Some((sm, blocks(sm)?)))?;
    let resident = sm.blocks[place].as_ref()?;
    let fault = stopped(resident);
    let index = resident.task.map_or(fault.warp, |_| 0);
    let mut out = Sm::fault(env, sm.number, resident.block.index(), fault);
    out.notes.extend(waits(sms, sm, resident, index, env, shared));
    out.notes.extend(refused(sms, env, shared));
    Some(out)
}

/// The request of a block for which there is no place in its stack, the one that came first.
fn refused(sms: &[Sm], env: &Env<'_, '_>, shared: &Shared<'_, '_>) -> Option<String> {
    let (host, token) = sms.iter().find_map(|sm| Some((sm, *sm.arrivals.front()?)))?;
    let task = shared.tasks.get(token)?;
    let begin = env.table.entries[task.number as usize].begin;
    Some(format!(
        "the request of {} for stack {} of cycle {}, for {}, waits for a place on {}",
        name(env, task.sm),
        task.stack,
        task.since,
        line(env, begin),
        name(env, host.number)
    ))
}

/// A multiprocessor by its number, and where it is.
fn name(env: &Env<'_, '_>, sm: u32) -> String {
    match sm.checked_sub(env.machine.gpu.sms) {
        Some(number) => {
            format!("multiprocessor {sm}, of stack {}", number / env.machine.stack.sms.max(1))
        }
        None => format!("multiprocessor {sm}"),
    }
}

/// An instruction by its source line, where that is known.
fn line(env: &Env<'_, '_>, pc: u32) -> String {
    match env.context.program.code.lines.line(pc as usize) {
        Some((file, at)) => format!("{file}:{}", at.line),
        None => format!("instruction {pc}"),
    }
}

/// What a warp waits for, a line each.
fn waits(
    sms: &[Sm],
    sm: &Sm,
    resident: &Resident,
    index: usize,
    env: &Env<'_, '_>,
    shared: &Shared<'_, '_>,
) -> Vec<String> {
    let (scheduler, slot) = resident.places[index];
    let place = (scheduler as usize, slot as usize);
    let Some(warp) = &sm.schedulers[place.0].warps[place.1] else { return Vec::new() };
    match &warp.role {
        Role::Away => away(sms, sm, place, env, shared),
        Role::Leaves(departure) => vec![leaves(resident, departure)],
        _ => vec![request(sm, place, warp, env, shared)],
    }
}

/// A warp that is to be offloaded.
fn leaves(resident: &Resident, departure: &Departure) -> String {
    let before = resident.stores.iter().filter(|store| **store <= departure.stores).count();
    format!(
        "its request for stack {} of cycle {} waits for {before} stores of the block and for registers",
        departure.stack, departure.decided
    )
}

/// A warp whose block was offloaded.
fn away(
    sms: &[Sm],
    sm: &Sm,
    place: (usize, usize),
    env: &Env<'_, '_>,
    shared: &Shared<'_, '_>,
) -> Vec<String> {
    let mut own =
        shared.tasks.iter().filter(|(_, task)| (task.sm, task.place) == (sm.number, place));
    let Some((token, task)) = own.next() else { return Vec::new() };
    let request = format!("its request for stack {} of cycle {}", task.stack, task.since);
    for host in sms {
        if let Some(before) = host.arrivals.iter().position(|arrived| *arrived == token) {
            let name = name(env, host.number);
            return vec![format!("{request} waits for a place on {name}, behind {before} others")];
        }
        let visits = |visitor: &&Resident| visitor.task == Some(token);
        if let Some(visitor) = host.blocks.iter().flatten().find(visits) {
            let at = visitor.block.warps()[0].paths.current();
            let at = at.map_or(String::new(), |(pc, ..)| format!(", at {}", line(env, pc)));
            let mut out = vec![format!("{request} runs on {}{at}", name(env, host.number))];
            out.extend(waits(sms, host, visitor, 0, env, shared));
            return out;
        }
    }
    vec![format!("{request} is on its way")]
}

/// What a warp has asked of memory or of its block.
fn request(
    sm: &Sm,
    place: (usize, usize),
    warp: &Warp,
    env: &Env<'_, '_>,
    shared: &Shared<'_, '_>,
) -> String {
    let own =
        sm.flights.iter().filter(|(_, flight)| (flight.go.scheduler, flight.go.slot) == place);
    let Some((number, flight)) = own.min_by_key(|(_, flight)| flight.go.now) else {
        return match warp.why {
            Stall::Barrier => "it waits for other warps of the block".into(),
            _ if warp.parked => "it waits for the load-store unit, which takes no more".into(),
            _ => "no request of it is pending".into(),
        };
    };
    let access = format!("its access of {}, of cycle {},", line(env, flight.go.pc), flight.go.now);
    if sm.waiting.iter().any(|waiting| waiting.flight == number) {
        return format!("{access} waits for a place among those of the multiprocessor");
    }
    let mut missing = sm.misses.iter().filter(|(_, miss)| miss.flights.contains(&number));
    match missing.next() {
        Some((_, miss)) if Sm::is_local(miss.line) => {
            format!(
                "{access} waits for a line of local memory, of stack {}",
                shared.map.stack(miss.line)
            )
        }
        Some((_, miss)) => format!(
            "{access} waits for the line at {:#x}, of stack {}",
            shared.map.address(miss.line).wrapping_add(FIRST_ADDRESS),
            shared.map.stack(miss.line)
        ),
        None => format!("{access} waits for {} acknowledgments", flight.left),
    }
}
