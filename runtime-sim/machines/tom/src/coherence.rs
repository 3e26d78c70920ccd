//! What a multiprocessor sees of memory (section 4.4.2). Instructions are executed on one memory, but a
//! private cache keeps the contents of a line as it came, and what the GPU writes takes its time to come
//! to memory. Where that is not what memory holds, the difference is kept here: the old contents of a
//! line that another multiprocessor writes while it is cached, and of one that is written by a store of
//! the GPU which is not over, for multiprocessors in stacks. A load sees these; without the three steps
//! of the section it would be wrong, which tests show by leaving each out.
//!
//! The shared cache's contents are not kept: that its lines are invalidated is a matter of time only.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use nbcc_sim_simt::lanes_of;
use nbcc_sim_simt::memory::{FIRST_ADDRESS, Memory};

use crate::directory::Directory;
use crate::issue::Issue;
use crate::plan::Plan;
use crate::sm::Sm;

/// Steps of coherence that are left out: for tests, which show that each is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// A warp leaves before what its block wrote is in memory.
    pub keeps_writes: bool,
    /// The private cache of a stack is not emptied before a block begins.
    pub keeps_cache: bool,
    /// Lines that a block wrote are not invalidated for its requester.
    pub keeps_lines: bool,
}

/// Bytes of a line, or those of its beginning that are memory.
type Contents = Box<[u8]>;

/// A line that stores of the GPU write which are not over.
#[derive(Debug)]
struct Flying {
    stores: u32,
    old: Contents,
}

/// Bytes of a line that a store writes: the first and the one behind the last.
type Written = (u64, u32, u32);

/// Contents of caches, and of memory as stacks see it, that differ from what was executed.
#[derive(Debug)]
pub struct Copies {
    line_bytes: u32,
    /// Multiprocessors of the GPU.
    gpu_sms: u32,
    /// The private caches that hold a line.
    holders: Directory,
    /// By multiprocessor: the lines of its cache that are not what memory holds.
    stale: Vec<HashMap<u64, Contents, FixedState>>,
    flying: HashMap<u64, Flying, FixedState>,
    /// What stores write that are not over, by multiprocessor and number.
    stores: HashMap<(u32, u64), Vec<Written>, FixedState>,
    /// Lines that were put into memory for an instruction, with what is there.
    swapped: Vec<(u64, Contents)>,
    /// What the instruction writes.
    written: Vec<Written>,
    /// Empty lists for the stores to come.
    spare: Vec<Vec<Written>>,
}

/// The part of a line that is memory.
fn line_of(memory: &mut Memory, line: u64, line_bytes: u32) -> Option<&mut [u8]> {
    let address = line.wrapping_mul(line_bytes.into()).wrapping_add(FIRST_ADDRESS);
    let (base, size) = memory.allocation_of(address)?;
    let bytes = (base + size - address).min(line_bytes.into());
    memory.host_slice(address, bytes).ok()
}

impl Copies {
    /// Nothing is cached.
    pub fn new(line_bytes: u32, gpu_sms: u32, sms: u32) -> Copies {
        Copies {
            line_bytes,
            gpu_sms,
            holders: Directory::new(sms),
            stale: (0..sms).map(|_| HashMap::default()).collect(),
            flying: HashMap::default(),
            stores: HashMap::default(),
            swapped: Vec::new(),
            written: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// A line comes into a private cache.
    fn filled(&mut self, sm: u32, line: u64) {
        self.forget(sm, line);
        self.holders.insert(line, sm);
        // From memory, where what is on its way has not come.
        if sm >= self.gpu_sms
            && let Some(flying) = self.flying.get(&line)
        {
            self.stale[sm as usize].insert(line, flying.old.clone());
        }
    }

    fn dropped(&mut self, sm: u32, line: u64) {
        self.forget(sm, line);
        self.holders.remove(line, sm);
    }

    /// A private cache no longer holds what a line was.
    fn forget(&mut self, sm: u32, line: u64) {
        let stale = &mut self.stale[sm as usize];
        if !stale.is_empty() {
            stale.remove(&line);
        }
    }

    /// A store is over: what it wrote is in memory.
    pub fn store_over(&mut self, sm: u32, store: u64, memory: &mut Memory) {
        let Some(mut parts) = self.stores.remove(&(sm, store)) else { return };
        for (line, first, end) in parts.drain(..) {
            let Some(flying) = self.flying.get_mut(&line) else { continue };
            let range = first as usize..end as usize;
            if let Some(now) = line_of(memory, line, self.line_bytes)
                && let (Some(old), Some(now)) = (flying.old.get_mut(range.clone()), now.get(range))
            {
                old.copy_from_slice(now);
            }
            flying.stores -= 1;
            if flying.stores == 0 {
                self.flying.remove(&line);
            }
        }
        self.spare.push(parts);
    }

    /// Before an instruction that accesses the lines of `sm.lines` is executed.
    pub fn before(
        &mut self,
        sm: &Sm,
        go: &Issue,
        plan: &Plan,
        addresses: &[u64; 32],
        memory: &mut Memory,
    ) {
        if plan.store || plan.atomic {
            self.before_write(sm, go, plan, addresses, memory);
        } else if plan.weak {
            self.before_load(sm, memory);
        }
    }

    /// Memory is for a moment what the multiprocessor sees.
    fn before_load(&mut self, sm: &Sm, memory: &mut Memory) {
        let in_stack = sm.number >= self.gpu_sms;
        let stale = &self.stale[sm.number as usize];
        if stale.is_empty() && (!in_stack || self.flying.is_empty()) {
            return;
        }
        for line in sm.lines.iter().map(|touched| touched.line).filter(|line| !Sm::is_local(*line))
        {
            let cached = sm.cache.peek(line);
            let seen = match stale.get(&line).filter(|_| cached) {
                Some(copy) => copy,
                None if in_stack && !cached => match self.flying.get(&line) {
                    Some(flying) => &flying.old,
                    None => continue,
                },
                None => continue,
            };
            let mut seen = seen.clone();
            if let Some(now) = line_of(memory, line, self.line_bytes) {
                now.swap_with_slice(&mut seen);
                self.swapped.push((line, seen));
            }
        }
    }

    /// Caches that hold a line keep what it was.
    fn before_write(
        &mut self,
        sm: &Sm,
        go: &Issue,
        plan: &Plan,
        addresses: &[u64; 32],
        memory: &mut Memory,
    ) {
        let size = u64::from(self.line_bytes);
        if sm.lines.iter().any(|touched| Sm::is_local(touched.line)) {
            // A warp's own, which it takes along.
            return;
        }
        for touched in &sm.lines {
            let line = touched.line;
            let flies = sm.number < self.gpu_sms && plan.store;
            let mut others =
                self.holders.holders(line).filter(|other| *other != sm.number).peekable();
            if others.peek().is_none() && !flies {
                continue;
            }
            let Some(now) = line_of(memory, line, self.line_bytes) else { continue };
            for other in others {
                self.stale[other as usize].entry(line).or_insert_with(|| (&*now).into());
            }
            if flies {
                let new = || Flying { stores: 0, old: (&*now).into() };
                // Once for each part that is noted below.
                self.flying.entry(line).or_insert_with(new);
            }
        }
        for lane in lanes_of(go.lanes) {
            let address = addresses[lane].wrapping_sub(FIRST_ADDRESS);
            let end = address.saturating_add(plan.bytes.into());
            let mut at = address;
            while at < end {
                let (line, first) = (at / size, (at % size) as u32);
                let last = (end - line * size).min(size) as u32;
                match self.written.last_mut() {
                    // Neighbours are mostly those of neighbours.
                    Some((same, _, end)) if *same == line && *end == first => *end = last,
                    _ => self.written.push((line, first, last)),
                }
                at = (line + 1) * size;
            }
        }
    }

    /// Behind it.
    pub fn after(&mut self, sm: u32, plan: &Plan, store: u64, memory: &mut Memory) {
        for (line, mut seen) in self.swapped.drain(..) {
            if let Some(now) = line_of(memory, line, self.line_bytes) {
                now.swap_with_slice(&mut seen);
            }
        }
        if self.written.is_empty() {
            return;
        }
        // What a cache holds is written with memory.
        let stale = &mut self.stale[sm as usize];
        if !stale.is_empty() {
            for &(line, first, end) in &self.written {
                let range = first as usize..end as usize;
                if let Some(copy) = stale.get_mut(&line)
                    && let Some(now) = line_of(memory, line, self.line_bytes)
                    && let (Some(copy), Some(now)) = (copy.get_mut(range.clone()), now.get(range))
                {
                    copy.copy_from_slice(now);
                }
            }
        }
        if sm < self.gpu_sms && plan.store {
            let empty = self.spare.pop().unwrap_or_default();
            let parts = std::mem::replace(&mut self.written, empty);
            for (line, ..) in &parts {
                if let Some(flying) = self.flying.get_mut(line) {
                    flying.stores += 1;
                }
            }
            self.stores.insert((sm, store), parts);
        }
        self.written.clear();
    }
}

impl Sm {
    /// A line comes into the private cache.
    pub fn fill_line(&mut self, line: u64, copies: Option<&mut Copies>) {
        let left = self.cache.fill(line);
        let Some(copies) = copies else { return };
        if let Some(left) = left {
            copies.dropped(self.number, left);
        }
        if !Sm::is_local(line) {
            copies.filled(self.number, line);
        }
    }

    /// A line of the private cache is no longer valid.
    pub fn drop_line(&mut self, line: u64, copies: Option<&mut Copies>) {
        self.cache.drop_line(line);
        if let Some(copies) = copies {
            copies.dropped(self.number, line);
        }
    }

    /// No line of the private cache is valid any more.
    pub fn clear_cache(&mut self, copies: Option<&mut Copies>) {
        if let Some(copies) = copies {
            let held = self.cache.held().filter(|line| !Sm::is_local(*line));
            held.for_each(|line| copies.holders.remove(line, self.number));
            copies.stale[self.number as usize].clear();
        }
        self.cache.clear();
    }
}
