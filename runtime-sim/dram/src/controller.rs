//! A memory controller of one channel: queues, scheduling, refresh.
//!
//! Time is counted in ticks. In each tick at most one command issues; requests
//! enqueued at `t` take part from tick `t + 1` on. The order of precedence within
//! a tick is that of Ramulator 2.1 (Luo et al., CAL 2023): requests that have
//! activated their row, then a pending refresh, then (only when no refresh is
//! pending) the other requests by the scheduler's policy. No row is closed
//! between the activate of a request and its column command.
//!
//! The controller is event driven: [`Controller::advance`] jumps from one command
//! to the next, with the same result as ticking cycle by cycle. This works
//! because, while nothing is enqueued or issued, every waiting request's next
//! command and first legal cycle are fixed, so the next command is the minimum of
//! (cycle, precedence, age) over the requests.

mod schedule;

use std::sync::Arc;

use nbcc_sim_engine::{Cycle, NEVER};

use crate::command::Command;
use crate::config::{ConfigError, DramConfig, PagePolicy, QueueKind, RefreshPolicy, SlotRelease};
use crate::device::Device;
use crate::standard::Model;
use crate::stats::Stats;

use schedule::{Action, Plan};

/// Direction of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Read a column.
    Read,
    /// Write a column.
    Write,
}

/// A request for one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Returned in its [`Completion`]; the controller does not look at it.
    pub id: u64,
    /// Read or write.
    pub kind: Kind,
    /// Bank, below `banks`.
    pub bank: u32,
    /// Row, below `rows`.
    pub row: u32,
    /// Column, below `columns_per_row`.
    pub column: u32,
}

/// A request is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Of the request.
    pub id: u64,
    /// For a read, the cycle at which its data has arrived (read command + tCL +
    /// tBL); for a write, the cycle at which its command issues.
    pub finish: Cycle,
}

/// A command as it went over the command bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issued {
    /// When.
    pub cycle: Cycle,
    /// What.
    pub command: Command,
    /// Bank; 0 for channel-wide commands.
    pub bank: u32,
    /// Row that is opened, accessed or closed; 0 for channel-wide commands.
    pub row: u32,
    /// Column of a column command, else 0.
    pub column: u32,
}

/// A request that has not had its column command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    id: u64,
    row: u32,
    column: u32,
    bank: u32,
    buffer: u32,
    /// Older entries to the same address that must go first.
    hazards: u16,
    /// A younger entry waits for this one.
    blocks: bool,
    write: bool,
    /// Its activate has issued.
    active: bool,
    /// Counted as hit, miss or conflict.
    counted: bool,
}

impl Entry {
    fn same_address(&self, other: &Entry) -> bool {
        self.row == other.row && self.column == other.column && self.bank == other.bank
    }

    fn column_command(&self) -> Command {
        if self.write { Command::Write } else { Command::Read }
    }
}

/// What the queue thinks of one row buffer.
#[derive(Clone, Copy, Debug, Default)]
struct BufferUse {
    /// Entries that activated the row in it.
    active: u32,
    /// The scan that last saw an entry hit it.
    hit_scan: u64,
}

/// A controller with its channel.
#[derive(Clone, Debug)]
pub struct Controller {
    device: Device,
    /// Unserved requests, oldest first.
    queue: Vec<Entry>,
    buffers: Box<[BufferUse]>,
    plan: Plan,
    /// Whether `plan` holds.
    planned: bool,
    /// Ticks up to this one are done.
    now: Cycle,
    next_refresh: Cycle,
    pending_refreshes: u32,
    /// Slots taken by reads and by writes.
    slots: [u32; 2],
    /// Entries in `queue` that are writes.
    writes: u32,
    /// Entries in `queue` that have activated their row.
    active: u32,
    scan: u64,
    write_mode: bool,
    /// Completions found while enqueueing, for the next `advance`.
    early: Vec<Completion>,
    stats: Stats,
    log: Option<Vec<Issued>>,
}

impl Controller {
    /// A controller at cycle 0, idle, all rows closed.
    ///
    /// # Errors
    /// When the configuration is not valid.
    pub fn new(config: &DramConfig) -> Result<Controller, ConfigError> {
        Ok(Controller::with_model(Model::new(config)?))
    }

    /// As [`Controller::new`], sharing a compiled model among many controllers.
    pub fn with_model(model: Arc<Model>) -> Controller {
        let config = &model.config;
        let slots = match config.queue {
            QueueKind::Unified => config.read_queue_size,
            QueueKind::Split => config.read_queue_size + config.write_queue_size,
        };
        Controller {
            queue: Vec::with_capacity(slots as usize),
            buffers: vec![BufferUse::default(); (config.banks * config.row_buffers) as usize]
                .into(),
            plan: Plan::nothing(false),
            planned: false,
            now: 0,
            next_refresh: match config.refresh {
                RefreshPolicy::AllBank => Cycle::from(config.t_refi),
                RefreshPolicy::None => NEVER,
            },
            pending_refreshes: 0,
            slots: [0; 2],
            writes: 0,
            active: 0,
            scan: 0,
            write_mode: false,
            early: Vec::new(),
            stats: Stats::default(),
            log: None,
            device: Device::new(model),
        }
    }

    /// The configuration.
    pub fn config(&self) -> &DramConfig {
        &self.device.model().config
    }

    /// The last tick that is done.
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// Requests that wait for their column command.
    pub fn pending(&self) -> usize {
        self.queue.len()
    }

    /// Counters so far.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Starts to log commands.
    pub fn enable_log(&mut self) {
        self.log.get_or_insert_default();
    }

    /// The commands logged since the last call; empty unless logging is enabled.
    pub fn take_log(&mut self) -> Vec<Issued> {
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Whether this controller and another of the same model, at the same tick and with the same
    /// requests waiting, behave alike from now on. False where either has completed something
    /// that was not taken yet.
    pub fn is_equivalent(&self, other: &Controller) -> bool {
        self.now == other.now
            && self.early.is_empty()
            && other.early.is_empty()
            && self.queue == other.queue
            && self.slots == other.slots
            && self.next_refresh == other.next_refresh
            && self.pending_refreshes == other.pending_refreshes
            && self.write_mode == other.write_mode
            && self.device.is_equivalent(&other.device, self.now)
    }

    /// Whether a request of this kind would find a free slot.
    #[inline]
    pub fn has_room(&self, kind: Kind) -> bool {
        let config = self.config();
        match (config.queue, kind) {
            (QueueKind::Unified, _) => self.slots[0] + self.slots[1] < config.read_queue_size,
            (QueueKind::Split, Kind::Read) => self.slots[0] < config.read_queue_size,
            (QueueKind::Split, Kind::Write) => self.slots[1] < config.write_queue_size,
        }
    }

    /// Offers a request at cycle `now`, after that tick and before the next; false
    /// when its queue is full. Ticks up to `now` that were not advanced over yet
    /// are done first (what they complete comes out of the next `advance`).
    ///
    /// # Panics
    /// When `now` lies before a tick that is done, or the bank does not exist.
    pub fn try_enqueue(&mut self, now: Cycle, request: Request) -> bool {
        assert!(
            now >= self.now,
            "request {} enqueued at {now}, after tick {}",
            request.id,
            self.now
        );
        if now > self.now {
            let mut early = std::mem::take(&mut self.early);
            self.run(now, &mut early);
            self.early = early;
        }

        let config = &self.device.model().config;
        assert!(
            request.bank < config.banks && request.row < config.rows,
            "request {} names bank {} row {}",
            request.id,
            request.bank,
            request.row
        );
        let mut entry = Entry {
            id: request.id,
            row: request.row,
            column: request.column,
            bank: request.bank,
            buffer: self.device.buffer_of(request.bank, request.row) as u32,
            hazards: 0,
            blocks: false,
            write: request.kind == Kind::Write,
            active: false,
            counted: false,
        };
        if config.queue == QueueKind::Split && config.write_forwarding && self.forward(&entry) {
            return true;
        }
        if !self.has_room(request.kind) {
            self.stats.rejected += 1;
            return false;
        }
        if entry.write || self.writes > 0 {
            for older in &mut self.queue {
                if older.same_address(&entry) && (older.write || entry.write) {
                    older.blocks = true;
                    entry.hazards += 1;
                }
            }
        }
        self.count_request(entry.write);
        self.slots[usize::from(entry.write)] += 1;
        self.writes += u32::from(entry.write);
        self.queue.push(entry);
        self.planned = self.planned && self.plan_youngest();
        true
    }

    /// Serves a request from a write that still waits in the queue.
    fn forward(&mut self, entry: &Entry) -> bool {
        if self.writes == 0
            || !self
                .queue
                .iter()
                .any(|older| older.write && !older.active && older.same_address(entry))
        {
            return false;
        }
        self.count_request(entry.write);
        self.stats.hits += 1;
        if entry.write {
            self.stats.coalesced += 1;
        } else {
            self.stats.forwarded += 1;
        }
        self.early.push(Completion { id: entry.id, finish: self.now + Cycle::from(!entry.write) });
        true
    }

    fn count_request(&mut self, write: bool) {
        self.stats.requests += 1;
        if write {
            self.stats.writes += 1;
        } else {
            self.stats.reads += 1;
        }
    }

    /// The next cycle at which this controller does something for a request, if
    /// none is enqueued before; `None` when no request waits. Until that cycle
    /// there is no need to advance.
    pub fn next_event(&mut self) -> Option<Cycle> {
        if let Some(completion) = self.early.first() {
            return Some(completion.finish.max(self.now));
        }
        if self.queue.is_empty() {
            return None;
        }
        self.make_plan();
        Some(self.plan.cycle)
    }

    /// Does all ticks up to and including `until`. A completion is appended as soon
    /// as it is certain, which for a read is when its command issues: its `finish`
    /// then lies ahead.
    pub fn advance(&mut self, until: Cycle, done: &mut Vec<Completion>) {
        done.append(&mut self.early);
        self.run(until, done);
    }

    fn run(&mut self, until: Cycle, done: &mut Vec<Completion>) {
        loop {
            self.make_plan();
            if self.plan.cycle > until || self.plan.action == Action::Nothing {
                if until > self.now {
                    self.write_mode = self.plan.write_mode;
                    self.pass(until);
                }
                return;
            }
            self.execute(done);
        }
    }

    /// Moves the clock over ticks in which nothing changes.
    fn pass(&mut self, until: Cycle) {
        if !self.queue.is_empty() {
            self.stats.busy_cycles += until - self.now;
        }
        self.now = until;
    }

    #[inline]
    fn execute(&mut self, done: &mut Vec<Completion>) {
        self.planned = false;
        let Plan { cycle, command, write_mode, .. } = self.plan;
        if self.plan.action == Action::RefreshDue {
            // It falls due at the start of its tick, which is still to be done.
            if cycle > self.now + 1 {
                self.write_mode = write_mode;
                self.pass(cycle - 1);
            }
            self.pending_refreshes += 1;
            self.next_refresh += Cycle::from(self.config().t_refi);
            return;
        }
        self.write_mode = write_mode;
        self.pass(cycle);
        if self.plan.action == Action::Serve {
            self.serve(self.plan.index as usize, command, done);
        } else {
            self.pending_refreshes -= u32::from(command == Command::Refresh);
            self.stats.rows_closed += u64::from(self.device.open_rows());
            self.issue(command, 0, 0, 0);
        }
    }

    fn issue(&mut self, command: Command, bank: u32, row: u32, column: u32) {
        self.device.issue(command, bank, row, self.now);
        self.stats.commands.add(command);
        if let Some(log) = &mut self.log {
            log.push(Issued { cycle: self.now, command, bank, row, column });
        }
    }

    fn serve(&mut self, index: usize, command: Command, done: &mut Vec<Completion>) {
        let release = self.config().slot_release;
        let entry = &mut self.queue[index];
        if !entry.counted {
            entry.counted = true;
            *match command {
                Command::Activate => &mut self.stats.misses,
                Command::Precharge => &mut self.stats.conflicts,
                _ => &mut self.stats.hits,
            } += 1;
        }
        let kind = usize::from(entry.write);
        match command {
            Command::Activate => {
                entry.active = true;
                self.active += 1;
                self.buffers[entry.buffer as usize].active += 1;
                if release == SlotRelease::Activate {
                    self.slots[kind] -= 1;
                }
                let entry = *entry;
                self.issue(command, entry.bank, entry.row, 0);
            }
            Command::Precharge => {
                let (bank, buffer) = (entry.bank, entry.buffer as usize);
                let row = self.device.open_row(buffer).expect("PRE of an open row");
                self.stats.rows_closed += 1;
                self.issue(command, bank, row, 0);
            }
            _ => {
                let entry = self.queue.remove(index);
                if entry.active {
                    self.active -= 1;
                    self.buffers[entry.buffer as usize].active -= 1;
                }
                if !entry.active || release == SlotRelease::Column {
                    self.slots[kind] -= 1;
                }
                self.writes -= u32::from(entry.write);
                if entry.blocks {
                    for younger in &mut self.queue[index..] {
                        if younger.same_address(&entry) && (younger.write || entry.write) {
                            younger.hazards -= 1;
                        }
                    }
                }
                let command = self.with_page_policy(command, &entry);
                self.stats.rows_closed += u64::from(command.closes_row());
                self.issue(command, entry.bank, entry.row, entry.column);
                let latency = if entry.write { 0 } else { self.config().read_latency() };
                done.push(Completion { id: entry.id, finish: self.now + Cycle::from(latency) });
            }
        }
    }

    /// The column command for an entry that has left the queue: with
    /// auto-precharge if the closed-page policy finds no further hit.
    fn with_page_policy(&self, command: Command, entry: &Entry) -> Command {
        if self.config().page_policy == PagePolicy::Open
            || self.queue.iter().any(|e| e.buffer == entry.buffer && e.row == entry.row)
        {
            return command;
        }
        match command {
            Command::Read => Command::ReadAuto,
            _ => Command::WriteAuto,
        }
    }
}
