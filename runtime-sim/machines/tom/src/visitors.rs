//! A multiprocessor in a stack: blocks come, run, and go back (section 4.2). It holds as many as it has
//! places for warps; more of them wait in their order.

use nbcc_sim_engine::Cycle;
use nbcc_sim_simt::machine::block::Block;
use nbcc_sim_simt::paths::Paths;

use crate::message::{Ask, Request};
use crate::residents::{Resident, Role, Warp};
use crate::sm::{Env, Shared, Sm};
use crate::task::answer_bytes;

impl Sm {
    /// A request has come.
    pub fn arrived(
        &mut self,
        now: Cycle,
        token: u32,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) {
        shared.tasks.get_mut(token).expect("a task").arrived = now;
        self.arrivals.push_back(token);
        self.admit(now, env, shared);
    }

    /// Blocks begin as long as there is room.
    fn admit(&mut self, now: Cycle, env: &Env<'_, '_>, shared: &mut Shared<'_, '_>) {
        while let Some(place) = self.blocks.iter().position(Option::is_none)
            && let Some(token) = self.arrivals.pop_front()
        {
            // The second step of section 4.4.2.
            if env.is_coherent && !shared.faults.keeps_cache {
                self.clear_cache(shared.copies.as_deref_mut());
            }
            self.begin(now, place, token, env, shared);
        }
    }

    fn begin(
        &mut self,
        now: Cycle,
        place: usize,
        token: u32,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) {
        let task = shared.tasks.get_mut(token).expect("a task");
        task.begun = now;
        let entry = &env.table.entries[task.number as usize];
        let threads = task.warp.take().expect("a warp that was sent");
        let block = Block::of_visitor(task.index, self.number, threads);
        let (home, slot) = self.free_place();
        let role = Role::Visits { end: entry.end };
        let warp = Warp::new(env, now, (place, 0), entry.begin, task.home, role);
        self.schedulers[home].warps[slot] = Some(warp);
        let places = vec![(home as u32, slot as u32)];
        self.blocks[place] = Some(Resident::new(now, block, places, Some(token)));
        self.prepare(home, slot, env);
    }

    /// A block goes back; another takes its place.
    pub fn go_back(
        &mut self,
        now: Cycle,
        resident: Resident,
        token: u32,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) {
        let task = shared.tasks.get_mut(token).expect("a task");
        task.held = now - task.begun;
        shared.turns[task.stack as usize].add(task.held as f64);
        let entry = &env.table.entries[task.number as usize];
        task.warp = resident.block.into_warps().pop();
        let address = env.machine.link.address_bytes;
        let written = if env.is_coherent { task.written.len() } else { 0 };
        let answer = answer_bytes(entry, task.lanes, written, address);
        task.did.bytes += u64::from(answer.max(env.machine.link.acknowledgment_bytes));
        let from = (env.clock.time(now + 1), task.sm);
        self.out.push(Request::of_block(from, token, Ask::Return, task.stack, [0, answer]));
        self.admit(now, env, shared);
    }
}

/// Whether a visitor's threads are all at its end; paths that are there wait for the others.
pub fn is_at_end(paths: &mut Paths, end: u32) -> bool {
    loop {
        match paths.current() {
            Some((pc, ..)) if pc == end => paths.block(end),
            Some(_) => return false,
            None if paths.release() => {}
            None => return true,
        }
    }
}
