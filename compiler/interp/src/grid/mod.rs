//! The oracle of grids: every thread of a launch runs by itself, blocks one after another; one that
//! takes long lets others go ahead, since it may wait for them. The
//! threads of a block take turns; they wait for each other at barriers and at operations of a warp.
//!
//! An operation that names a mask of lanes completes when all threads of the mask that have not
//! ended wait at it. One that does not (the old forms, `activemask`) takes the threads that wait
//! at the same instruction once no thread of the warp can go on otherwise, those first that are
//! behind in control flow. Everything follows from
//! the launch alone, so that two runs give the same.

mod fault;
mod local;
mod memory;
mod order;
mod printf;
mod thread;
mod warp;

use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;
use nbcc_ir::{Barrier, BarrierKind, Func, Module, Object, Op, SimtOp, Space};

pub use fault::{Fault, FaultKind};
use memory::View;
pub use memory::{GridMemory, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_BYTES};
use thread::{Context, Prepared, Status, Thread};

/// A launch of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Blocks along each dimension.
    pub grid: [u32; 3],
    /// Threads of a block along each dimension.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared_bytes: u32,
    /// The parameters, laid out as the kernel says.
    pub params: Vec<u8>,
}

/// Limits of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Instructions of all threads together.
    pub steps: u64,
    /// Threads of a block.
    pub block_threads: u32,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u64,
    /// Bytes of local memory of a thread.
    pub local_bytes: u64,
    /// Bytes of the state of blocks that have begun and not ended, together; one block always may.
    pub running_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            steps: 1 << 36,
            block_threads: 1024,
            shared_bytes: 1 << 18,
            local_bytes: 1 << 19,
            running_bytes: 1 << 30,
        }
    }
}

/// Steps that a thread takes before others have their turn: long, since most never wait.
const TURN: u64 = 4096;
/// Barriers of a block.
const BARRIERS: usize = 16;

/// Runs a kernel; what it prints goes to `print`. The module must have passed the verifier.
///
/// # Errors
/// What ended the launch, with the block and thread.
pub fn launch(
    module: &Module,
    kernel: Func,
    launch: &Launch,
    memory: &mut GridMemory,
    limits: &Limits,
    print: &mut dyn FnMut(&[u8]),
) -> Result<(), Fault> {
    let name = module.functions[kernel].name.clone();
    let refuse = |message: String| Fault {
        kind: Box::new(FaultKind::Launch(message)),
        kernel: name.clone(),
        block: [0; 3],
        thread: [0; 3],
        span: None,
    };
    let threads = launch.block.iter().fold(1u64, |all, &n| all.saturating_mul(n.into()));
    if threads == 0 || threads > u64::from(limits.block_threads) {
        return Err(refuse(format!("a block has {threads} threads")));
    }
    let table = module.functions[kernel].kernel.as_ref();
    let Some(table) = table else { return Err(refuse("it is no kernel".into())) };
    if (launch.params.len() as u64) < table.params_size() {
        let (given, wanted) = (launch.params.len(), table.params_size());
        return Err(refuse(format!("{given} bytes are given for {wanted} bytes of parameters")));
    }
    let objects = reachable_objects(module, kernel);
    let mut addresses = SecondaryMap::new();
    let mut sizes = [0u64; 2];
    for &id in &objects {
        let object = &module.objects[id];
        let size = match object.space {
            Space::Shared if !object.dynamic => &mut sizes[0],
            Space::Local => &mut sizes[1],
            _ => continue,
        };
        let address = size.next_multiple_of(object.align.into());
        addresses[id] = address;
        *size = address.saturating_add(object.size);
    }
    let dynamic = objects.iter().filter(|&&id| module.objects[id].dynamic);
    let align = dynamic.clone().map(|&id| u64::from(module.objects[id].align)).max();
    let start = sizes[0].next_multiple_of(align.unwrap_or(1).max(16));
    for &id in dynamic {
        addresses[id] = start;
    }
    let shared = start + u64::from(launch.dynamic_shared_bytes);
    if shared > limits.shared_bytes || sizes[1] > limits.local_bytes {
        return Err(refuse(format!(
            "it needs {shared} bytes of shared and {} of local memory",
            sizes[1]
        )));
    }
    let context = Context {
        module,
        functions: module.functions.values().map(Prepared::new).collect(),
        objects: addresses,
        grid: launch.grid,
        block: launch.block,
        shared_bytes: [shared, u64::from(launch.dynamic_shared_bytes)],
    };
    let begin = |position: [u32; 3]| BlockRun {
        context: &context,
        position,
        threads: (0..threads as u32)
            .map(|number| Thread::new(&context, kernel, number, sizes[1]))
            .collect(),
        shared: vec![0; shared as usize],
        params: &launch.params,
        arrived: vec![Vec::new(); BARRIERS],
    };
    order::run(begin, launch.grid, memory, limits, print).map_err(|(block, number, kind)| {
        let thread = &block.threads[number];
        Fault {
            kind: Box::new(kind),
            kernel: name.clone(),
            block: block.position,
            thread: thread.position,
            span: thread.span(&context),
        }
    })
}

/// The data objects whose address a kernel or what it calls takes.
fn reachable_objects(module: &Module, kernel: Func) -> BTreeSet<Object> {
    let mut objects = BTreeSet::new();
    let mut seen = BTreeSet::from([kernel]);
    let mut work = vec![kernel];
    while let Some(func) = work.pop() {
        let func = &module.functions[func];
        for &block in &func.layout {
            for &inst in &func.blocks[block].insts {
                match func.insts[inst].op {
                    Op::Simt(SimtOp::Address(object), _) => {
                        objects.insert(object);
                    }
                    Op::Call(callee, _) if seen.insert(callee) => work.push(callee),
                    _ => {}
                }
            }
        }
    }
    objects
}

struct BlockRun<'a> {
    context: &'a Context<'a>,
    position: [u32; 3],
    threads: Vec<Thread>,
    shared: Vec<u8>,
    params: &'a [u8],
    /// The threads that have arrived at each barrier without waiting.
    arrived: Vec<Vec<usize>>,
}

type BlockFault = (usize, FaultKind);

impl BlockRun<'_> {
    /// Runs it for a while: about `turn` steps, where others wait only until a thread has had a whole turn
    /// without an end or a barrier, as one that spins has. Tells whether it has ended.
    fn run(
        &mut self,
        memory: &mut GridMemory,
        steps: &mut u64,
        limit: u64,
        (turn, others_wait): (u64, bool),
        print: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, BlockFault> {
        let end = steps.saturating_sub(turn);
        loop {
            let (mut ran, mut spins) = (false, false);
            for number in 0..self.threads.len() {
                let thread = &mut self.threads[number];
                if thread.status != Status::Ready {
                    continue;
                }
                ran = true;
                let turn = TURN.min(*steps);
                if turn == 0 {
                    return Err((number, FaultKind::StepLimit(limit)));
                }
                // The thread's own memory is lent to the view while it runs.
                let mut local = std::mem::take(&mut thread.local);
                let mut view = View {
                    global: memory,
                    shared: &mut self.shared,
                    local: &mut local,
                    params: self.params,
                };
                let left = thread.run(self.context, &mut view, self.position, turn, print);
                thread.local = local;
                let left = left.map_err(|kind| (number, kind))?;
                spins |= left == 0 && thread.status == Status::Ready;
                *steps -= turn - left;
                self.arrive(number)?;
            }
            let released = self.release_warps()? | self.release_barriers()?;
            if ran || released {
                if *steps <= end || spins && others_wait {
                    return Ok(false);
                }
                continue;
            }
            let waiting = self.threads.iter().position(|thread| thread.status != Status::Done);
            return match waiting {
                None => Ok(true),
                Some(number) => {
                    let Status::Waiting(op, _) = &self.threads[number].status else {
                        unreachable!("a thread that is ready runs")
                    };
                    Err((number, FaultKind::Deadlock(op.to_string())))
                }
            };
        }
    }

    /// Bytes of its state.
    fn bytes(&self) -> u64 {
        let threads: u64 = self.threads.iter().map(Thread::bytes).sum();
        threads + self.shared.len() as u64
    }

    /// An arrival at a barrier does not wait.
    fn arrive(&mut self, number: usize) -> Result<(), BlockFault> {
        if let Status::Waiting(SimtOp::Barrier(barrier), args) = &self.threads[number].status {
            let id = self.barrier_number(number, args)?;
            if barrier.kind == BarrierKind::Arrive {
                let wanted = args.get(1).copied();
                self.arrived[id].push(number);
                self.threads[number].release(self.context, [0, 0]);
                self.complete_arrivals(id, wanted);
            }
        }
        Ok(())
    }

    /// A barrier at which threads only arrive starts anew when all have.
    fn complete_arrivals(&mut self, id: usize, wanted: Option<u64>) {
        let waits = self.threads.iter().any(|thread| match &thread.status {
            Status::Waiting(SimtOp::Barrier(_), args) => args[0] == id as u64,
            _ => false,
        });
        if !waits && wanted.is_some_and(|wanted| self.count(&self.arrived[id]) >= wanted) {
            self.arrived[id].clear();
        }
    }

    fn barrier_number(&self, number: usize, args: &[u64]) -> Result<usize, BlockFault> {
        let fault = |message: String| Err((number, FaultKind::Synchronization(message)));
        if args[0] >= BARRIERS as u64 {
            return fault(format!("there is no barrier {}", args[0]));
        }
        Ok(args[0] as usize)
    }

    /// How many threads count as arrived: those that are, and the lanes of their warps that do not
    /// exist or have ended.
    fn count(&self, numbers: &[usize]) -> u64 {
        let mut warps: Vec<usize> = numbers.iter().map(|number| number / 32).collect();
        warps.sort_unstable();
        warps.dedup();
        let absent = |warp: &usize| {
            let lanes = warp * 32..warp * 32 + 32;
            let gone = lanes.filter(|&lane| {
                !numbers.contains(&lane)
                    && self.threads.get(lane).is_none_or(|thread| thread.status == Status::Done)
            });
            gone.count() as u64
        };
        numbers.len() as u64 + warps.iter().map(absent).sum::<u64>()
    }

    /// Completes the operations of warps that can be. Where no thread of a warp can go on, those
    /// without a mask take who is there.
    fn release_warps(&mut self) -> Result<bool, BlockFault> {
        let mut released = false;
        for first in (0..self.threads.len()).step_by(32) {
            let mut released_here = false;
            let lanes = first..self.threads.len().min(first + 32);
            let mut unmasked = None;
            for number in lanes.clone() {
                let Status::Waiting(op, args) = &self.threads[number].status else { continue };
                if matches!(op, SimtOp::Barrier(_)) {
                    continue;
                }
                let (op, args) = (*op, args.clone());
                let Some(mask) = warp::named_mask(&op, &args) else {
                    // Those that are behind come first, as where threads that part meet again.
                    let place = self.threads[number].place(self.context);
                    if unmasked.as_ref().is_none_or(|(first, _)| place < *first) {
                        unmasked = Some((place, op));
                    }
                    continue;
                };
                if mask >> (number - first) & 1 == 0 {
                    let message = format!("{op} does not name the lane that executes it");
                    return Err((number, FaultKind::Synchronization(message)));
                }
                let taking: Vec<usize> =
                    lanes.clone().filter(|lane| mask >> (lane - first) & 1 == 1).collect();
                let there = |&lane: &usize| match &self.threads[lane].status {
                    Status::Waiting(other, other_args) => {
                        *other == op && warp::named_mask(other, other_args) == Some(mask)
                    }
                    Status::Done => true,
                    Status::Ready => false,
                };
                if taking.iter().all(there) {
                    self.complete(&op, first, &taking);
                    released_here = true;
                }
            }
            let blocked = lanes.clone().all(|lane| self.threads[lane].status != Status::Ready);
            if let Some((place, op)) = unmasked.filter(|_| blocked && !released_here) {
                let at = |&lane: &usize| {
                    let thread = &self.threads[lane];
                    matches!(&thread.status, Status::Waiting(other, _) if *other == op)
                        && thread.place(self.context) == place
                };
                let taking: Vec<usize> = lanes.filter(at).collect();
                self.complete(&op, first, &taking);
                released_here = true;
            }
            released |= released_here;
        }
        Ok(released)
    }

    fn complete(&mut self, op: &SimtOp, first: usize, taking: &[usize]) {
        let mut lanes = Vec::new();
        for &number in taking {
            if let Status::Waiting(_, args) = &self.threads[number].status {
                lanes.push(((number - first) as u32, args.clone()));
            }
        }
        let results = warp::together(op, &lanes);
        for ((lane, _), results) in lanes.iter().zip(results) {
            self.threads[first + *lane as usize].release(self.context, results);
        }
    }

    fn release_barriers(&mut self) -> Result<bool, BlockFault> {
        let mut released = false;
        for id in 0..BARRIERS {
            let mut waiting: Vec<(usize, Barrier, Option<u64>, u64)> = Vec::new();
            for (number, thread) in self.threads.iter().enumerate() {
                if let Status::Waiting(SimtOp::Barrier(barrier), args) = &thread.status
                    && self.barrier_number(number, args)? == id
                {
                    let count = barrier.counted.then(|| args[1]);
                    let predicate = args.last().copied().unwrap_or(0);
                    waiting.push((number, *barrier, count, predicate));
                }
            }
            let Some(&(first, barrier, count, _)) = waiting.first() else { continue };
            if let Some(&(number, ..)) = waiting.iter().find(|(_, other, other_count, _)| {
                *other_count != count || other.kind != barrier.kind
            }) {
                let message = format!("threads wait at barrier {id} with different operands");
                return Err((number.max(first), FaultKind::Synchronization(message)));
            }
            let mut there: Vec<usize> = waiting.iter().map(|&(number, ..)| number).collect();
            there.extend(&self.arrived[id]);
            let complete = match count {
                Some(count) => self.count(&there) >= count,
                None => {
                    there.sort_unstable();
                    let ended = |(number, thread): (usize, &Thread)| {
                        thread.status == Status::Done || there.binary_search(&number).is_ok()
                    };
                    self.threads.iter().enumerate().all(ended)
                }
            };
            if !complete {
                continue;
            }
            self.arrived[id].clear();
            let yes = waiting.iter().filter(|(.., predicate)| *predicate != 0).count() as u64;
            let result = match barrier.kind {
                BarrierKind::Sync | BarrierKind::Arrive => 0,
                BarrierKind::RedPopc => yes,
                BarrierKind::RedAnd => u64::from(yes == waiting.len() as u64),
                BarrierKind::RedOr => u64::from(yes > 0),
            };
            for &(number, ..) in &waiting {
                self.threads[number].release(self.context, [result, 0]);
            }
            released = true;
        }
        Ok(released)
    }
}
