//! The event-driven controller against a plain one that ticks cycle by cycle,
//! keeps a list for each stage of a request, and asks the auditor whether a command
//! may issue: same commands, same completions, same counts.

mod common;

use common::{Rng, random_machine, random_request};
use nbcc_sim_dram::audit::Auditor;
use nbcc_sim_dram::{
    Command, Completion, Controller, Cycle, DramConfig, Issued, Kind, PagePolicy, QueueKind,
    RefreshPolicy, Request, Scheduler, SlotRelease,
};

#[derive(Clone, Copy)]
struct Waiting {
    /// Order of arrival.
    age: u64,
    request: Request,
}

fn write(request: &Request) -> bool {
    request.kind == Kind::Write
}

fn same_address(a: &Request, b: &Request) -> bool {
    (a.bank, a.row, a.column) == (b.bank, b.row, b.column)
}

/// One must not pass the other.
fn ordered(a: &Request, b: &Request) -> bool {
    same_address(a, b) && (write(a) || write(b))
}

struct Plain {
    config: DramConfig,
    auditor: Auditor,
    /// Row in each row buffer.
    open: Vec<Option<u32>>,
    waiting: Vec<Waiting>,
    activated: Vec<Waiting>,
    now: Cycle,
    age: u64,
    refreshes_due: u32,
    draining: bool,
    log: Vec<Issued>,
    done: Vec<Completion>,
    busy: u64,
}

impl Plain {
    fn new(config: &DramConfig) -> Plain {
        Plain {
            auditor: Auditor::new(config),
            open: vec![None; (config.banks * config.row_buffers) as usize],
            config: config.clone(),
            waiting: Vec::new(),
            activated: Vec::new(),
            now: 0,
            age: 0,
            refreshes_due: 0,
            draining: false,
            log: Vec::new(),
            done: Vec::new(),
            busy: 0,
        }
    }

    fn buffer(&self, bank: u32, row: u32) -> usize {
        (bank * self.config.row_buffers + row % self.config.row_buffers) as usize
    }

    fn taken(&self, writes: bool) -> u32 {
        let held = match self.config.slot_release {
            SlotRelease::Activate => &[][..],
            SlotRelease::Column => &self.activated,
        };
        let all = self.waiting.iter().chain(held);
        all.filter(|w| write(&w.request) == writes).count() as u32
    }

    fn offer(&mut self, request: Request) -> bool {
        let writes = write(&request);
        let c = &self.config;
        if c.queue == QueueKind::Split
            && c.write_forwarding
            && self.waiting.iter().any(|w| write(&w.request) && same_address(&w.request, &request))
        {
            let finish = if writes { self.now } else { self.now + 1 };
            self.done.push(Completion { id: request.id, finish });
            return true;
        }
        let full = match (c.queue, writes) {
            (QueueKind::Unified, _) => self.taken(false) + self.taken(true) >= c.read_queue_size,
            (QueueKind::Split, false) => self.taken(false) >= c.read_queue_size,
            (QueueKind::Split, true) => self.taken(true) >= c.write_queue_size,
        };
        if !full {
            self.waiting.push(Waiting { age: self.age, request });
            self.age += 1;
        }
        !full
    }

    fn allows(&self, command: Command, bank: u32, row: u32) -> bool {
        let issued = Issued { cycle: self.now, command, bank, row, column: 0 };
        self.auditor.objection(&issued).is_none()
    }

    fn issue(&mut self, command: Command, bank: u32, row: u32, column: u32) {
        let issued = Issued { cycle: self.now, command, bank, row, column };
        self.auditor.check(issued).expect("allowed");
        self.log.push(issued);
        let buffer = self.buffer(bank, row);
        match command {
            Command::Activate => self.open[buffer] = Some(row),
            Command::Precharge | Command::ReadAuto | Command::WriteAuto => {
                self.open[buffer] = None;
            }
            Command::PrechargeAll => self.open.fill(None),
            _ => {}
        }
    }

    fn tick(&mut self) {
        self.now += 1;
        self.busy += u64::from(!self.waiting.is_empty() || !self.activated.is_empty());
        if self.config.refresh == RefreshPolicy::AllBank
            && self.now.is_multiple_of(Cycle::from(self.config.t_refi))
        {
            self.refreshes_due += 1;
        }
        if self.serve_activated() {
            return;
        }
        if self.refreshes_due > 0 {
            self.refresh();
        } else {
            self.serve_waiting();
        }
    }

    fn refresh(&mut self) {
        if self.open.iter().all(Option::is_none) {
            if self.allows(Command::Refresh, 0, 0) {
                self.issue(Command::Refresh, 0, 0, 0);
                self.refreshes_due -= 1;
            }
        } else if self.activated.is_empty() && self.allows(Command::PrechargeAll, 0, 0) {
            self.issue(Command::PrechargeAll, 0, 0, 0);
        }
    }

    fn column(&mut self, of: Waiting) {
        let Request { id, bank, row, column, .. } = of.request;
        let others = self.waiting.iter().chain(&self.activated);
        let hit_again = others
            .filter(|w| w.age != of.age)
            .any(|w| w.request.bank == bank && w.request.row == row);
        let auto = self.config.page_policy == PagePolicy::Closed && !hit_again;
        let (command, finish) = if write(&of.request) {
            (if auto { Command::WriteAuto } else { Command::Write }, self.now)
        } else {
            let data = self.now + Cycle::from(self.config.t_cl + self.config.t_bl);
            (if auto { Command::ReadAuto } else { Command::Read }, data)
        };
        self.issue(command, bank, row, column);
        self.done.push(Completion { id, finish });
    }

    fn serve_activated(&mut self) -> bool {
        let mut order: Vec<usize> = (0..self.activated.len()).collect();
        order.sort_by_key(|&i| self.activated[i].age);
        for i in order {
            let w = self.activated[i];
            let command = if write(&w.request) { Command::Write } else { Command::Read };
            if self.allows(command, w.request.bank, w.request.row) {
                self.activated.remove(i);
                self.column(w);
                return true;
            }
        }
        false
    }

    fn serve_waiting(&mut self) {
        let c = &self.config;
        if c.queue == QueueKind::Split {
            let (reads, writes) = (self.taken(false), self.taken(true));
            let size = f64::from(c.write_queue_size);
            let high = size * f64::from(c.write_drain_high_percent) / 100.0;
            let low = size * f64::from(c.write_drain_low_percent) / 100.0;
            if !self.draining {
                self.draining = f64::from(writes) > high || reads == 0;
            } else if (writes == 0 || f64::from(writes) < low) && reads > 0 {
                self.draining = false;
            }
        }
        if c.scheduler == Scheduler::Fcfs && !self.activated.is_empty() {
            return;
        }

        let mut rows_hit = Vec::new();
        for i in 0..self.waiting.len() {
            let w = self.waiting[i];
            let delays_younger =
                self.waiting[i + 1..].iter().any(|y| ordered(&w.request, &y.request));
            if self.config.queue == QueueKind::Split
                && write(&w.request) != self.draining
                && !delays_younger
            {
                continue;
            }
            let waits_for_older = self.waiting[..i]
                .iter()
                .chain(self.activated.iter().filter(|a| a.age < w.age))
                .any(|older| ordered(&older.request, &w.request));
            let Request { bank, row, .. } = w.request;
            let buffer = self.buffer(bank, row);
            let (command, with_row) = match self.open[buffer] {
                Some(open) if open == row && write(&w.request) => (Command::Write, row),
                Some(open) if open == row => (Command::Read, row),
                Some(open) => (Command::Precharge, open),
                None => (Command::Activate, row),
            };
            let claimed =
                self.activated.iter().any(|a| self.buffer(a.request.bank, a.request.row) == buffer);
            let keeps_hit =
                self.config.scheduler == Scheduler::FrFcfsRowHit && rows_hit.contains(&buffer);
            if command.is_column() {
                rows_hit.push(buffer);
            }
            let held = command == Command::Precharge && (claimed || keeps_hit);
            if !waits_for_older && !held && self.allows(command, bank, with_row) {
                if command.is_column() {
                    self.waiting.remove(i);
                    self.column(w);
                } else {
                    self.issue(command, bank, with_row, 0);
                    if command == Command::Activate {
                        self.waiting.remove(i);
                        self.activated.push(w);
                    }
                }
                return;
            }
            if self.config.scheduler == Scheduler::Fcfs {
                return;
            }
        }
    }
}

fn sorted(mut completions: Vec<Completion>) -> Vec<(Cycle, u64)> {
    completions.sort_by_key(|c| (c.finish, c.id));
    completions.iter().map(|c| (c.finish, c.id)).collect()
}

/// How the event-driven controller is driven.
#[derive(Clone, Copy, Debug)]
enum Drive {
    /// Advanced at each tick.
    Ticks,
    /// Advanced only when a request is offered.
    Jumps,
    /// Advanced at each of its events.
    Events,
    /// Enqueued into without advancing; that does the ticks in between.
    Late,
}

/// A request and the cycles since the one before; the whole trace.
type Traffic = Vec<(Cycle, Request)>;

fn drive(
    config: &DramConfig,
    traffic: &Traffic,
    end: Cycle,
    how: Drive,
) -> (Controller, Vec<bool>, Vec<Completion>) {
    let mut controller = Controller::new(config).expect("a valid machine");
    controller.enable_log();
    let mut done = Vec::new();
    let mut taken = Vec::new();
    let mut now = 0;
    let advance = |controller: &mut Controller, to: Cycle, done: &mut Vec<Completion>| match how {
        Drive::Ticks => {
            for tick in controller.now() + 1..=to {
                controller.advance(tick, done);
            }
        }
        Drive::Jumps => controller.advance(to, done),
        Drive::Events => {
            while let Some(event) = controller.next_event().filter(|&event| event <= to) {
                let before = controller.stats().commands.total();
                if event > controller.now() + 1 {
                    controller.advance(event - 1, done);
                    assert_eq!(controller.stats().commands.total(), before, "an early command");
                }
                controller.advance(event, done);
            }
            controller.advance(to, done);
        }
        Drive::Late => {}
    };
    for &(gap, request) in traffic {
        now += gap;
        advance(&mut controller, now, &mut done);
        taken.push(controller.try_enqueue(now, request));
    }
    advance(&mut controller, end, &mut done);
    controller.advance(end, &mut done);
    (controller, taken, done)
}

#[test]
fn equal_to_ticking() {
    let mut random = Rng(0x71C4);
    for case in 0..400 {
        let config = random_machine(&mut random);
        let gaps = random.pick(&[1, 3, 10, 80]);
        let writes = random.pick(&[1, 3, 7]);
        let traffic: Traffic = (0..200)
            .map(|id| {
                let idle = if random.below(60) == 0 { random.below(3000) } else { 0 };
                let gap = Cycle::from(random.below(gaps) + idle);
                (gap, random_request(&mut random, &config, id, writes))
            })
            .collect();
        let end = traffic.iter().map(|(gap, _)| gap).sum::<Cycle>() + 6000;

        let mut plain = Plain::new(&config);
        let mut taken = Vec::new();
        for (gap, request) in &traffic {
            for _ in 0..*gap {
                plain.tick();
            }
            taken.push(plain.offer(*request));
        }
        while plain.now < end {
            plain.tick();
        }
        assert!(plain.waiting.is_empty() && plain.activated.is_empty(), "case {case}");
        let expected = sorted(plain.done);

        for how in [Drive::Ticks, Drive::Jumps, Drive::Events, Drive::Late] {
            let (mut controller, took, done) = drive(&config, &traffic, end, how);
            let what = format!("case {case}, {how:?}, {config:?}");
            assert_eq!(took, taken, "accepted, {what}");
            let log = controller.take_log();
            if let Some(at) =
                (0..log.len().max(plain.log.len())).find(|&at| log.get(at) != plain.log.get(at))
            {
                panic!("command {at}: {:?}, expected {:?}, {what}", log.get(at), plain.log.get(at));
            }
            assert_eq!(sorted(done), expected, "completions, {what}");
            assert_eq!(controller.stats().busy_cycles, plain.busy, "busy cycles, {what}");
            let refused = taken.iter().filter(|taken| !**taken).count() as u64;
            assert_eq!(controller.stats().rejected, refused, "{what}");
        }
    }
}
