//! An auditor of command logs. It shares nothing with the controller but the
//! configuration: it states each constraint again, as a gap between two commands
//! of a log (JESD79-4, JESD235), and compares each command with all earlier ones
//! that can still matter.

use std::collections::VecDeque;

use nbcc_sim_engine::Cycle;

use crate::command::Command;
use crate::config::{DataPath, DramConfig, RefreshPolicy};
use crate::controller::Issued;

/// A command that the channel does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} to bank {} row {} at cycle {}: {reason}", issued.command.name(), issued.bank, issued.row, issued.cycle)]
pub struct Violation {
    /// The command at fault.
    pub issued: Issued,
    /// What forbids it.
    pub reason: String,
}

/// Checks a log, command by command.
#[derive(Clone, Debug)]
pub struct Auditor {
    config: DramConfig,
    /// The row in each row buffer, by bank and `row % row_buffers`.
    open: Vec<Option<u32>>,
    /// Commands of the last `horizon` cycles.
    recent: VecDeque<Issued>,
    horizon: Cycle,
    last: Option<Issued>,
    last_refresh: Option<Cycle>,
    refreshes: u64,
    checked: u64,
}

impl Auditor {
    /// An auditor of a channel that starts with all rows closed.
    pub fn new(config: &DramConfig) -> Auditor {
        let c = config;
        let longest = [
            c.t_rc,
            c.t_ras + c.t_rp,
            c.t_faw,
            c.t_rrd_s,
            c.t_rrd_l,
            c.t_rcd,
            c.t_ccd_s,
            c.t_ccd_l,
            c.t_rtp + c.t_rp,
            c.t_cl + c.t_bl + c.t_rtw_gap,
            c.t_cwl + c.t_bl + c.t_wr + c.t_rp,
            c.t_cwl + c.t_bl + c.t_wtr_s.max(c.t_wtr_l),
        ];
        Auditor {
            open: vec![None; (c.banks * c.row_buffers) as usize],
            recent: VecDeque::new(),
            horizon: Cycle::from(longest.into_iter().max().unwrap_or(0)),
            last: None,
            last_refresh: None,
            refreshes: 0,
            checked: 0,
            config: config.clone(),
        }
    }

    /// Commands recorded so far.
    pub fn checked(&self) -> u64 {
        self.checked
    }

    /// Checks a command and records it.
    ///
    /// # Errors
    /// The constraint that it breaks; it is then not recorded.
    pub fn check(&mut self, issued: Issued) -> Result<(), Violation> {
        if let Some(reason) = self.objection(&issued) {
            return Err(Violation { issued, reason });
        }
        self.record(issued);
        Ok(())
    }

    /// Checks that no refresh was left out up to `end`.
    ///
    /// # Errors
    /// The refresh that is missing, blamed on the last command.
    pub fn finish(&self, end: Cycle) -> Result<(), Violation> {
        match (self.missing_refresh(end), self.last) {
            (Some(reason), Some(issued)) => Err(Violation { issued, reason }),
            _ => Ok(()),
        }
    }

    /// Why a command may not issue, if so.
    pub fn objection(&self, next: &Issued) -> Option<String> {
        if let Some(last) = self.last
            && next.cycle <= last.cycle
        {
            return Some(format!("the command bus carries another at {}", last.cycle));
        }
        self.wrong_state(next)
            .or_else(|| self.too_early(next))
            .or_else(|| self.too_many_activates(next))
            .or_else(|| self.missing_refresh(next.cycle))
    }

    fn buffer(&self, of: &Issued) -> usize {
        let n = self.config.row_buffers;
        (of.bank * n + of.row % n) as usize
    }

    fn wrong_state(&self, next: &Issued) -> Option<String> {
        let open = self.open[self.buffer(next)];
        let wrong = match next.command {
            Command::Activate => open.is_some(),
            Command::Precharge => open != Some(next.row),
            Command::Read | Command::Write | Command::ReadAuto | Command::WriteAuto => {
                open != Some(next.row)
            }
            Command::PrechargeAll => false,
            Command::Refresh => {
                let due = (self.refreshes + 1) * Cycle::from(self.config.t_refi);
                if self.config.refresh == RefreshPolicy::None || next.cycle < due {
                    return Some("no refresh is due".to_owned());
                }
                return self.open.iter().any(Option::is_some).then(|| "a row is open".to_owned());
            }
        };
        wrong.then(|| match open {
            Some(row) => format!("row {row} is open"),
            None => "no row is open".to_owned(),
        })
    }

    fn too_early(&self, next: &Issued) -> Option<String> {
        if let Some(refresh) = self.last_refresh
            && next.cycle < refresh + Cycle::from(self.config.t_rfc)
        {
            return Some(format!("the refresh at {refresh} is still running"));
        }
        for prev in self.recent.iter().rev() {
            if prev.cycle + self.horizon <= next.cycle {
                break;
            }
            let gap = self.gap(prev, next);
            if next.cycle < prev.cycle + Cycle::from(gap) {
                return Some(format!(
                    "only {} cycles after {} to bank {} row {}, must be {gap}",
                    next.cycle - prev.cycle,
                    prev.command.name(),
                    prev.bank,
                    prev.row,
                ));
            }
        }
        None
    }

    /// Cycles that `next` must keep from `prev`.
    fn gap(&self, prev: &Issued, next: &Issued) -> u32 {
        use Command::*;

        let c = &self.config;
        let same_bank = prev.bank == next.bank;
        let same_group = prev.bank % c.bank_groups == next.bank % c.bank_groups;
        let same_buffer = same_bank && prev.row % c.row_buffers == next.row % c.row_buffers;
        let (same_path, close_path) = match c.data_path {
            DataPath::Shared => (true, same_group),
            DataPath::PerBank => (same_bank, same_bank),
        };
        let when = |holds: bool, gap: u32| if holds { gap } else { 0 };
        let write_end = c.t_cwl + c.t_bl;

        match (prev.command, next.command) {
            (Activate, Activate) => c
                .t_rrd_s
                .max(when(same_group, c.t_rrd_l))
                .max(when(same_buffer, c.t_rc.max(c.t_ras + c.t_rp))),
            (Activate, Precharge) => when(same_buffer, c.t_ras),
            (Activate, PrechargeAll) => c.t_ras,
            (Activate, Refresh) => c.t_rc.max(c.t_ras + c.t_rp),
            (Activate, Read | ReadAuto | Write | WriteAuto) => when(same_buffer, c.t_rcd),

            (Precharge, Activate) => when(same_buffer, c.t_rp),
            (PrechargeAll, Activate) => c.t_rp,
            (Precharge | PrechargeAll, Refresh) => c.t_rp,

            (Read | ReadAuto, Read | ReadAuto) | (Write | WriteAuto, Write | WriteAuto) => {
                when(same_path, c.t_bl.max(c.t_ccd_s)).max(when(close_path, c.t_ccd_l))
            }
            // Write data starts `tRTW_gap` after read data ends.
            (Read | ReadAuto, Write | WriteAuto) => {
                when(same_path, (c.t_cl + c.t_bl + c.t_rtw_gap).saturating_sub(c.t_cwl))
            }
            (Write | WriteAuto, Read | ReadAuto) => {
                when(same_path, write_end + c.t_wtr_s).max(when(close_path, write_end + c.t_wtr_l))
            }

            (Read, Precharge) => when(same_buffer, c.t_rtp),
            (Write, Precharge) => when(same_buffer, write_end + c.t_wr),
            (Read | ReadAuto, PrechargeAll) => c.t_rtp,
            (Write | WriteAuto, PrechargeAll) => write_end + c.t_wr,
            (ReadAuto, Activate) => when(same_buffer, c.t_rtp + c.t_rp),
            (WriteAuto, Activate) => when(same_buffer, write_end + c.t_wr + c.t_rp),
            (ReadAuto, Refresh) => c.t_rtp + c.t_rp,
            (WriteAuto, Refresh) => write_end + c.t_wr + c.t_rp,

            // The row state rules these out, or the pair is free of constraints.
            (Read | Write, Activate | Refresh)
            | (ReadAuto | WriteAuto, Precharge)
            | (Precharge | PrechargeAll, _)
            | (Refresh, _) => 0,
        }
    }

    fn too_many_activates(&self, next: &Issued) -> Option<String> {
        if next.command != Command::Activate {
            return None;
        }
        let window = Cycle::from(self.config.t_faw);
        let in_window = self
            .recent
            .iter()
            .rev()
            .take_while(|prev| prev.cycle + window > next.cycle)
            .filter(|prev| prev.command == Command::Activate)
            .count();
        (in_window >= 4).then(|| format!("four activates in the {window} cycles before"))
    }

    /// The refresh of each interval starts before the next interval does.
    fn missing_refresh(&self, now: Cycle) -> Option<String> {
        let due = now / Cycle::from(self.config.t_refi);
        (self.config.refresh == RefreshPolicy::AllBank && self.refreshes + 1 < due)
            .then(|| format!("{} refreshes so far, but {due} fell due", self.refreshes))
    }

    fn record(&mut self, issued: Issued) {
        let buffer = self.buffer(&issued);
        match issued.command {
            Command::Activate => self.open[buffer] = Some(issued.row),
            Command::Precharge | Command::ReadAuto | Command::WriteAuto => {
                self.open[buffer] = None;
            }
            Command::PrechargeAll => self.open.fill(None),
            Command::Refresh => {
                self.last_refresh = Some(issued.cycle);
                self.refreshes += 1;
            }
            Command::Read | Command::Write => {}
        }
        while let Some(oldest) = self.recent.front()
            && oldest.cycle + self.horizon <= issued.cycle
        {
            self.recent.pop_front();
        }
        self.recent.push_back(issued);
        self.last = Some(issued);
        self.checked += 1;
    }
}
