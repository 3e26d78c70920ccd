//! The state of a channel: which rows are open, and when each command may issue.
//!
//! Knows nothing of requests and policies. Ready times are kept per level
//! (channel, group, bank, row buffer) and class of command, so that asking costs
//! one maximum over the levels and issuing touches only what a rule names.

use std::sync::Arc;

use nbcc_sim_engine::Cycle;

use crate::command::Command;
use crate::standard::{BANK, BUFFER, CHANNEL, Effect, GROUP, Model, SLOTS, slot};

/// No row.
const CLOSED: u32 = u32::MAX;

/// First cycle at which a command of each class may issue.
type Ready = [Cycle; SLOTS];

#[inline]
fn apply(ready: &mut Ready, effects: &[Effect], now: Cycle) {
    for effect in effects {
        let at = &mut ready[usize::from(effect.slot)];
        *at = (*at).max(now + Cycle::from(effect.latency));
    }
}

#[derive(Clone, Debug)]
struct Buffer {
    ready: Ready,
    row: u32,
}

/// A DRAM channel without its controller.
#[derive(Clone, Debug)]
pub struct Device {
    model: Arc<Model>,
    channel: Ready,
    groups: Box<[Ready]>,
    banks: Box<[Ready]>,
    buffers: Box<[Buffer]>,
    /// First cycle at which a further activate fits the four-activate window, for
    /// each of the last four activates; a ring.
    four_activates: [Cycle; 4],
    oldest_activate: usize,
    open_rows: u32,
}

impl Device {
    /// A channel with all rows closed that has never seen a command.
    pub fn new(model: Arc<Model>) -> Device {
        let config = &model.config;
        let count = |used: bool, n: u32| if used { n as usize } else { 0 };
        Device {
            channel: [0; SLOTS],
            groups: vec![[0; SLOTS]; count(model.uses_group, config.bank_groups)].into(),
            banks: vec![[0; SLOTS]; count(model.uses_bank, config.banks)].into(),
            buffers: vec![
                Buffer { ready: [0; SLOTS], row: CLOSED };
                (config.banks * config.row_buffers) as usize
            ]
            .into(),
            four_activates: [0; 4],
            oldest_activate: 0,
            open_rows: 0,
            model,
        }
    }

    /// The configuration behind it.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Index of the row buffer that a row uses.
    #[inline]
    pub fn buffer_of(&self, bank: u32, row: u32) -> usize {
        let per_bank = self.model.config.row_buffers;
        if per_bank == 1 { bank as usize } else { (bank * per_bank + row % per_bank) as usize }
    }

    /// The row in a row buffer, if it is open.
    #[inline]
    pub fn open_row(&self, buffer: usize) -> Option<u32> {
        let row = self.buffers[buffer].row;
        (row != CLOSED).then_some(row)
    }

    /// Number of rows that are open.
    #[inline]
    pub fn open_rows(&self) -> u32 {
        self.open_rows
    }

    /// The next command that brings the channel closer to `goal` (a column command
    /// or a refresh): `goal` itself once nothing is in its way.
    #[inline]
    pub fn prerequisite(&self, goal: Command, bank: u32, row: u32) -> Command {
        if goal.is_column() {
            self.next_column_step(goal, self.buffer_of(bank, row), row)
        } else if goal == Command::Refresh && self.open_rows > 0 {
            Command::PrechargeAll
        } else {
            goal
        }
    }

    #[inline]
    pub(crate) fn next_column_step(&self, goal: Command, buffer: usize, row: u32) -> Command {
        match self.buffers[buffer].row {
            open if open == row => goal,
            CLOSED => Command::Activate,
            _ => Command::Precharge,
        }
    }

    /// First cycle at which no timing constraint forbids `command`. Bank and row
    /// are ignored for channel-wide commands.
    #[inline]
    pub fn earliest(&self, command: Command, bank: u32, row: u32) -> Cycle {
        if command.is_channel_wide() {
            self.channel[slot(command)]
        } else {
            self.earliest_at(command, bank, self.buffer_of(bank, row))
        }
    }

    #[inline]
    pub(crate) fn earliest_at(&self, command: Command, bank: u32, buffer: usize) -> Cycle {
        let slot = slot(command);
        let mut at = self.channel[slot].max(self.buffers[buffer].ready[slot]);
        if self.model.uses_group {
            at = at.max(self.groups[(bank % self.model.config.bank_groups) as usize][slot]);
        }
        if self.model.uses_bank {
            at = at.max(self.banks[bank as usize][slot]);
        }
        if command == Command::Activate {
            at = at.max(self.four_activates[self.oldest_activate]);
        }
        at
    }

    /// Whether `command` may issue at `cycle`: its prerequisite is met and no
    /// constraint forbids it.
    pub fn is_legal(&self, command: Command, bank: u32, row: u32, cycle: Cycle) -> bool {
        let buffer = self.buffer_of(bank, row);
        let state = match command {
            Command::Activate => self.open_row(buffer).is_none(),
            Command::Precharge => self.open_row(buffer).is_some(),
            Command::PrechargeAll => true,
            Command::Refresh => self.open_rows == 0,
            _ => self.open_row(buffer) == Some(row),
        };
        state && cycle >= self.earliest(command, bank, row)
    }

    /// Issues a command; bank and row are ignored for channel-wide commands.
    #[inline]
    pub fn issue(&mut self, command: Command, bank: u32, row: u32, now: Cycle) {
        debug_assert!(
            self.is_legal(command, bank, row, now),
            "illegal {} to bank {bank} row {row} at {now}",
            command.name()
        );
        let model = &*self.model;
        apply(&mut self.channel, model.effects(CHANNEL, command), now);
        if command.is_channel_wide() {
            if command == Command::PrechargeAll {
                for buffer in &mut self.buffers {
                    buffer.row = CLOSED;
                }
                self.open_rows = 0;
            }
            return;
        }

        let buffer = self.buffer_of(bank, row);
        if model.uses_group {
            let group = &mut self.groups[(bank % model.config.bank_groups) as usize];
            apply(group, model.effects(GROUP, command), now);
        }
        if model.uses_bank {
            let bank = &mut self.banks[bank as usize];
            apply(bank, model.effects(BANK, command), now);
        }
        let buffer = &mut self.buffers[buffer];
        apply(&mut buffer.ready, model.effects(BUFFER, command), now);
        if command == Command::Activate {
            buffer.row = row;
            self.open_rows += 1;
            self.four_activates[self.oldest_activate] = now + Cycle::from(model.four_activates);
            self.oldest_activate = (self.oldest_activate + 1) % 4;
        } else if command.closes_row() {
            buffer.row = CLOSED;
            self.open_rows -= 1;
        }
    }
    /// Whether this channel and another of the same model behave alike from tick
    /// `now + 1` on: the same rows are open, and what still forbids a command forbids
    /// it as long.
    pub fn is_equivalent(&self, other: &Device, now: Cycle) -> bool {
        let next = now + 1;
        let alike =
            |a: &Ready, b: &Ready| a.iter().zip(b).all(|(a, b)| (*a).max(next) == (*b).max(next));
        let activates = |device: &Device| {
            let ring = (0..4).map(|at| device.four_activates[(device.oldest_activate + at) % 4]);
            ring.map(|cycle| cycle.max(next)).collect::<Vec<_>>()
        };
        alike(&self.channel, &other.channel)
            && self.groups.iter().zip(&other.groups).all(|(a, b)| alike(a, b))
            && self.banks.iter().zip(&other.banks).all(|(a, b)| alike(a, b))
            && self
                .buffers
                .iter()
                .zip(&other.buffers)
                .all(|(a, b)| a.row == b.row && alike(&a.ready, &b.ready))
            && activates(self) == activates(other)
    }
}
