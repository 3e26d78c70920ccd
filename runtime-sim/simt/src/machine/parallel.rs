//! A launch on several threads. Blocks are independent by the programming model, but nothing keeps a
//! program from using what others do. So they run beside those before them on what memory was before all
//! of them ([`crate::machine::ahead`]), some in a row each; then rows are gone through in their order. One
//! that saw nothing that those before it stored did what it would have done behind them: what it stored,
//! printed and counted is taken, and the fault that it ended in is the launch's. At the first one that
//! did see it, or that has a block which lets others go ahead, the rest is thrown away, and blocks run one
//! after another for a while.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};

use nbcc_isa_simt::operands::Space;
use nbcc_isa_simt::{Op, PhysReg};
use nbcc_sim_engine::{Progress, Team};

use crate::machine::ahead::{Ahead, Written};
use crate::machine::context::{Context, State};
use crate::machine::device::RunOptions;
use crate::machine::fault::Fault;
use crate::machine::grid::{InOrder, fault};
use crate::machine::printf::MAX_OUTPUT;
use crate::machine::statistics::Counters;
use crate::machine::transfer::polls;
use crate::machine::view::View;
use crate::memory::Memory;

/// Instructions of a launch for which threads are worth it.
const WORTH: u64 = 1 << 15;
/// Instructions of a row, about.
const ROW: u64 = 1 << 14;
/// Rows a thread, so that none waits long for the last one.
const ROWS: usize = 4;

/// Blocks one after another on what memory was before.
struct Row {
    first: u64,
    count: u64,
    memory: Ahead,
    counters: Counters,
    output: Vec<u8>,
    /// Whether all have ended.
    outcome: Result<bool, Box<Fault>>,
}

/// Runs all blocks of a grid.
///
/// # Errors
/// The first fault.
pub fn run(
    context: &Context<'_>,
    state: &mut State<'_>,
    options: &RunOptions,
    kept: &mut Kept,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), Box<Fault>> {
    let mut order = InOrder::new(context);
    let total = order.total();
    let mut alone = total;
    if options.threads > 1 && total > 1 && may_be_independent(context) {
        // The first one tells how long they are.
        order.run(1, context, state, options.max_cycles, progress)?;
        let left = total - order.started();
        let instructions: u64 = state.counters.cores.iter().sum();
        if (instructions / order.started()).saturating_mul(left) >= WORTH {
            alone = 0;
        }
    }
    if alone > 0 {
        return order.run(total, context, state, options.max_cycles, progress);
    }
    let memories = std::mem::take(&mut kept.memories);
    let rows = Rows::new(context, state, options, memories, &mut kept.written);
    let (memories, result) = rows.run(&mut order, context, options, progress);
    kept.memories = memories;
    result
}

/// Whether blocks may do what they would do one after another: they do not ask what time it is, and
/// hardly do where they wait for what others change, or want to know what they changed.
fn may_be_independent(context: &Context<'_>) -> bool {
    let from = context.kernel.entry as usize;
    let text = &context.program.code.text[from..from + context.kernel.instructions as usize];
    let depends = |op: &Op<PhysReg>| {
        let shared = matches!(op.space(), Some(Space::Global | Space::Generic));
        op.reads_clock() || polls(op) && shared
    };
    !text.iter().any(|inst| depends(&inst.op))
}

/// What is kept from launch to launch, since it takes longer to make than many a launch.
#[derive(Debug, Default)]
pub struct Kept {
    memories: Vec<Ahead>,
    written: Written,
}

/// Rows that run side by side, and what all of them share.
struct Rows<'a> {
    rows: Vec<Mutex<Row>>,
    memory: RwLock<&'a mut Memory>,
    counters: &'a mut Counters,
    output: &'a mut Vec<u8>,
    written: &'a mut Written,
    threads: usize,
}

const LOCK: &str = "a thread that runs blocks has panicked";

impl<'a> Rows<'a> {
    fn new(
        context: &Context<'_>,
        state: &'a mut State<'_>,
        options: &RunOptions,
        mut memories: Vec<Ahead>,
        written: &'a mut Written,
    ) -> Rows<'a> {
        let blocks: u64 = context.grid.iter().map(|n| u64::from(*n)).product();
        let threads = options.threads.min(blocks.try_into().unwrap_or(usize::MAX));
        let memory = state.memory.whole();
        memories.iter_mut().for_each(|kept| kept.begin(memory));
        memories.resize_with(threads * ROWS, || Ahead::new(memory));
        written.begin(memory);
        let row = |memory| Row {
            first: 0,
            count: 0,
            memory,
            counters: state.counters.zeros(),
            output: Vec::new(),
            outcome: Ok(true),
        };
        Rows {
            rows: memories.into_iter().map(|memory| Mutex::new(row(memory))).collect(),
            written,
            memory: RwLock::new(memory),
            counters: state.counters,
            output: state.output,
            threads,
        }
    }

    /// Runs all blocks that have not begun.
    fn run(
        mut self,
        order: &mut InOrder,
        context: &Context<'_>,
        options: &RunOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> (Vec<Ahead>, Result<(), Box<Fault>>) {
        let (rows, max_cycles) = (std::mem::take(&mut self.rows), options.max_cycles);
        let (memory, next) = (self.memory, AtomicUsize::new(0));
        let team = Team::new(self.threads - 1);
        let blocks = InOrder::new(context);
        let work = |count: u64| {
            while let Some(row) = rows[..count as usize].get(next.fetch_add(1, Ordering::Relaxed)) {
                let memory = memory.read().expect(LOCK);
                row.lock().expect(LOCK).run(&blocks, context, &memory, max_cycles);
            }
        };
        let result = std::thread::scope(|scope| {
            let _lead = team.lead();
            for worker in 0..self.threads - 1 {
                let (team, work) = (&team, &work);
                scope.spawn(move || team.work(worker, work));
            }
            let (mut each, mut wrong) = (1, 0_u64);
            while order.started() < order.total() {
                let left = order.total() - order.started();
                let each = &mut each;
                *each = left.div_ceil(rows.len() as u64).min(*each);
                let count = left.div_ceil(*each).min(rows.len() as u64);
                let mut first = order.started();
                for row in &rows[..count as usize] {
                    let mut row = row.lock().expect(LOCK);
                    (row.first, row.count) = (first, (*each).min(order.total() - first));
                    first += row.count;
                }
                next.store(0, Ordering::Relaxed);
                team.round(count, || work(count), |_| ());

                let mut memory = memory.write().expect(LOCK);
                self.written.clear();
                let before: u64 = self.counters.cores.iter().sum();
                let mut taken = 0;
                for row in &rows[..count as usize] {
                    let row = row.lock().expect(LOCK);
                    if !row.is_right(self.written, self.counters, self.output, max_cycles) {
                        break;
                    }
                    row.take(&mut memory, self.written, self.counters, self.output)?;
                    order.skip(row.count);
                    taken += 1;
                }
                let mut state = State {
                    memory: View::Whole(&mut memory),
                    counters: self.counters,
                    output: self.output,
                    near: 0,
                };
                order.report(&state, progress);
                if taken == count {
                    let did = state.counters.cores.iter().sum::<u64>() - before;
                    let blocks = count * *each;
                    *each = (ROW * blocks / did.max(1)).clamp(1, 1 << 20);
                    wrong /= 2;
                } else {
                    // Twice as long each time that it was wrong.
                    wrong = 2 * wrong + 1;
                    let until = (order.started() + wrong * count * *each).min(order.total());
                    order.run(until, context, &mut state, max_cycles, progress)?;
                }
            }
            Ok(())
        });
        let memory_of = |row: Mutex<Row>| row.into_inner().expect(LOCK).memory;
        (rows.into_iter().map(memory_of).collect(), result)
    }
}

impl Row {
    /// Runs its blocks, or those before one that does not end at once.
    fn run(&mut self, blocks: &InOrder, context: &Context<'_>, memory: &Memory, max_cycles: u64) {
        self.memory.clear();
        self.counters.clear();
        self.output.clear();
        self.outcome = Ok(true);
        for number in self.first..self.first + self.count {
            let mut block = blocks.block(number, context);
            let mut state = State {
                memory: View::Ahead(memory, &mut self.memory),
                counters: &mut self.counters,
                output: &mut self.output,
                near: 0,
            };
            self.outcome = block
                .run(context, &mut state, max_cycles)
                .map_err(|stopped| fault(context, block.index(), stopped));
            if self.outcome != Ok(true) || self.memory.is_lost() {
                return;
            }
        }
    }

    /// Whether it has done what it would have done behind all before it.
    fn is_right(
        &self,
        written: &Written,
        counters: &Counters,
        output: &[u8],
        max_cycles: u64,
    ) -> bool {
        let cycles = counters.cores.iter().zip(&self.counters.cores);
        self.outcome != Ok(false)
            && self.memory.holds(written)
            && cycles.into_iter().all(|(before, own)| own == &0 || before + own < max_cycles)
            && output.len() + self.output.len() < MAX_OUTPUT
    }

    /// Takes what it has done.
    ///
    /// # Errors
    /// The fault that it ended in.
    fn take(
        &self,
        memory: &mut Memory,
        written: &mut Written,
        counters: &mut Counters,
        output: &mut Vec<u8>,
    ) -> Result<(), Box<Fault>> {
        self.memory.apply(memory, written);
        counters.take_part(&self.counters);
        output.extend_from_slice(&self.output);
        self.outcome.clone().map(|_| ())
    }
}
