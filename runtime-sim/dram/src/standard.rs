//! Timing constraints as data, and their compiled form.
//!
//! Each [`Rule`] says: after a command of `prev`, a command of `next` in the same
//! scope waits `latency` cycles. The set of rules is that of DDR4 and HBM2 with
//! one rank (JESD79-4, JESD235), in the form Ramulator 2 (Luo et al., CAL 2023)
//! gives to a standard.

use std::sync::Arc;

use crate::command::Command;
use crate::config::{ConfigError, DataPath, DramConfig};

use Command::{Activate, Precharge, PrechargeAll, Read, ReadAuto, Refresh, Write, WriteAuto};

/// The part of a channel within which a rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole channel.
    Channel,
    /// One bank group.
    Group,
    /// One row buffer (one bank, when it has a single row buffer).
    Buffer,
    /// The data path: the channel, or a bank when each has its own.
    Data,
    /// The data path within a bank group: the group, or a bank.
    DataGroup,
}

/// One timing constraint.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Names of the parameters behind it.
    pub name: &'static str,
    /// Where both commands must be for it to hold.
    pub scope: Scope,
    /// The earlier command.
    pub prev: &'static [Command],
    /// The later command. `Read` and `Write` stand for their auto-precharge forms
    /// too: those are never more or less constrained.
    pub next: &'static [Command],
    /// Cycles between them.
    pub latency: fn(&DramConfig) -> u32,
    /// The rule counts from the `window`-th most recent `prev`: 1, or 4 for
    /// activates within the channel.
    pub window: u32,
}

const RD: &[Command] = &[Read, ReadAuto];
const WR: &[Command] = &[Write, WriteAuto];

const fn rule(
    name: &'static str,
    scope: Scope,
    prev: &'static [Command],
    next: &'static [Command],
    latency: fn(&DramConfig) -> u32,
) -> Rule {
    Rule { name, scope, prev, next, latency, window: 1 }
}

/// Every constraint between two commands of one channel.
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    rule("tBL", Scope::Data, RD, &[Read], |c| c.t_bl),
    rule("tBL", Scope::Data, WR, &[Write], |c| c.t_bl),
    rule("tCCD_S", Scope::Data, RD, &[Read], |c| c.t_ccd_s),
    rule("tCCD_S", Scope::Data, WR, &[Write], |c| c.t_ccd_s),
    rule("tCCD_L", Scope::DataGroup, RD, &[Read], |c| c.t_ccd_l),
    rule("tCCD_L", Scope::DataGroup, WR, &[Write], |c| c.t_ccd_l),
    rule("tCL+tBL+tRTW_gap-tCWL", Scope::Data, RD, &[Write], DramConfig::read_to_write),
    rule("tCWL+tBL+tWTR_S", Scope::Data, WR, &[Read], DramConfig::write_to_read_s),
    rule("tCWL+tBL+tWTR_L", Scope::DataGroup, WR, &[Read], DramConfig::write_to_read_l),

    rule("tRRD_S", Scope::Channel, &[Activate], &[Activate], |c| c.t_rrd_s),
    rule("tRRD_L", Scope::Group, &[Activate], &[Activate], |c| c.t_rrd_l),
    Rule { window: 4, ..rule("tFAW", Scope::Channel, &[Activate], &[Activate], |c| c.t_faw) },

    rule("tRC", Scope::Buffer, &[Activate], &[Activate], |c| c.t_rc),
    rule("tRAS+tRP", Scope::Buffer, &[Activate], &[Activate], |c| c.t_ras + c.t_rp),
    rule("tRCD", Scope::Buffer, &[Activate], &[Read, Write], |c| c.t_rcd),
    rule("tRAS", Scope::Buffer, &[Activate], &[Precharge], |c| c.t_ras),
    rule("tRP", Scope::Buffer, &[Precharge], &[Activate], |c| c.t_rp),
    rule("tRTP", Scope::Buffer, &[Read], &[Precharge], |c| c.t_rtp),
    rule("tCWL+tBL+tWR", Scope::Buffer, &[Write], &[Precharge], DramConfig::write_to_pre),
    rule("tRTP+tRP", Scope::Buffer, &[ReadAuto], &[Activate], |c| c.t_rtp + c.t_rp),
    rule("tCWL+tBL+tWR+tRP", Scope::Buffer, &[WriteAuto], &[Activate], |c| c.write_to_pre() + c.t_rp),

    rule("tRAS", Scope::Channel, &[Activate], &[PrechargeAll], |c| c.t_ras),
    rule("tRTP", Scope::Channel, RD, &[PrechargeAll], |c| c.t_rtp),
    rule("tCWL+tBL+tWR", Scope::Channel, WR, &[PrechargeAll], DramConfig::write_to_pre),
    rule("tRP", Scope::Channel, &[PrechargeAll], &[Activate], |c| c.t_rp),

    rule("tRC", Scope::Channel, &[Activate], &[Refresh], |c| c.t_rc),
    rule("tRAS+tRP", Scope::Channel, &[Activate], &[Refresh], |c| c.t_ras + c.t_rp),
    rule("tRP", Scope::Channel, &[Precharge, PrechargeAll], &[Refresh], |c| c.t_rp),
    rule("tRTP+tRP", Scope::Channel, &[ReadAuto], &[Refresh], |c| c.t_rtp + c.t_rp),
    rule("tCWL+tBL+tWR+tRP", Scope::Channel, &[WriteAuto], &[Refresh], |c| c.write_to_pre() + c.t_rp),
    rule("tRFC", Scope::Channel, &[Refresh], &[Activate, PrechargeAll, Refresh], |c| c.t_rfc),
];

/// Classes of commands with constraints of their own as later commands.
pub(crate) const SLOTS: usize = 6;

/// The class of a command: auto-precharge forms share that of the plain one.
#[inline]
pub(crate) const fn slot(command: Command) -> usize {
    match command {
        Activate => 0,
        Precharge => 1,
        PrechargeAll => 2,
        Read | ReadAuto => 3,
        Write | WriteAuto => 4,
        Refresh => 5,
    }
}

/// Levels at which ready times are kept.
pub(crate) const CHANNEL: usize = 0;
pub(crate) const GROUP: usize = 1;
pub(crate) const BANK: usize = 2;
pub(crate) const BUFFER: usize = 3;
const LEVELS: usize = 4;

/// Effect of a command on one level: `ready[slot] >= now + latency`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effect {
    pub slot: u8,
    pub latency: u32,
}

/// A configuration, checked, with its rules compiled per level and command.
/// Controllers of the same machine share one.
#[derive(Clone, Debug)]
pub struct Model {
    /// The configuration it was made from.
    pub config: DramConfig,
    effects: Vec<Effect>,
    /// Range in `effects` for each level and earlier command.
    ranges: [[(u16, u16); Command::COUNT]; LEVELS],
    /// Latency of the rules that count from the fourth most recent activate.
    pub(crate) four_activates: u32,
    /// Levels that carry any rule: a single group is folded into the channel, and
    /// a single row buffer is its bank.
    pub(crate) uses_group: bool,
    pub(crate) uses_bank: bool,
}

impl Model {
    /// Compiles a configuration.
    ///
    /// # Errors
    /// When the configuration is not valid.
    pub fn new(config: &DramConfig) -> Result<Arc<Model>, ConfigError> {
        config.validate()?;
        let uses_group = config.bank_groups > 1;
        let uses_bank = config.row_buffers > 1;
        let bank = if uses_bank { BANK } else { BUFFER };
        let group = if uses_group { GROUP } else { CHANNEL };
        let shared = config.data_path == DataPath::Shared;
        let level_of = |scope| match scope {
            Scope::Channel => CHANNEL,
            Scope::Group => group,
            Scope::Buffer => BUFFER,
            Scope::Data if shared => CHANNEL,
            Scope::DataGroup if shared => group,
            Scope::Data | Scope::DataGroup => bank,
        };

        let mut effects = Vec::new();
        let mut ranges = [[(0, 0); Command::COUNT]; LEVELS];
        for (level, ranges) in ranges.iter_mut().enumerate() {
            for prev in Command::ALL {
                let mut longest = [0; SLOTS];
                for rule in RULES {
                    if rule.window == 1
                        && level_of(rule.scope) == level
                        && rule.prev.contains(&prev)
                    {
                        for &next in rule.next {
                            let latency = &mut longest[slot(next)];
                            *latency = (rule.latency)(config).max(*latency);
                        }
                    }
                }
                let start = effects.len() as u16;
                for (slot, &latency) in longest.iter().enumerate() {
                    if latency > 0 {
                        effects.push(Effect { slot: slot as u8, latency });
                    }
                }
                ranges[prev.index()] = (start, effects.len() as u16);
            }
        }
        let four_activates = RULES
            .iter()
            .filter(|rule| rule.window == 4)
            .map(|rule| (rule.latency)(config))
            .max()
            .unwrap_or(0);
        Ok(Arc::new(Model {
            config: config.clone(),
            effects,
            ranges,
            four_activates,
            uses_group,
            uses_bank,
        }))
    }

    /// What `command` does to the ready times of a level.
    #[inline]
    pub(crate) fn effects(&self, level: usize, command: Command) -> &[Effect] {
        let (start, end) = self.ranges[level][command.index()];
        &self.effects[usize::from(start)..usize::from(end)]
    }
}
