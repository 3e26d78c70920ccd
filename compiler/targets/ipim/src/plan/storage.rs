//! Where buffers lie in banks: each in a place of its own or, where banks are too small for that, those
//! that are needed at different times in the same one.

use nbcc_base::Span;
use nbcc_isa_ipim::layout::{Layout, Role};
use nbcc_isa_ipim::{ATOM_BYTES, ELEMENT_BYTES};

use super::planner::{PlanError, Planner};
use super::{BufferId, Nest, Step, beside, fills};

/// Bytes in front of a buffer and behind it: vectors may begin before the first element or end behind
/// the last.
const MARGIN: u64 = 16;

/// The first and the last step during which a buffer may not be written by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Life {
    first: usize,
    last: usize,
}

impl Life {
    fn meets(self, other: Life) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

impl Planner<'_> {
    /// Takes bytes of every bank for what is no buffer, or a buffer that lives throughout.
    pub(super) fn reserve(
        &mut self,
        bytes: u64,
        what: &str,
        span: Option<Span>,
    ) -> Result<u32, PlanError> {
        let base = self.plan.bank_end;
        let end = u64::from(base).saturating_add(bytes.next_multiple_of(16));
        self.plan.bank_end = self.within_bank(end, what, span)?;
        Ok(base)
    }

    fn within_bank(&self, end: u64, what: &str, span: Option<Span>) -> Result<u32, PlanError> {
        let most = self.machine.memory.bank_bytes;
        match u32::try_from(end) {
            Ok(end) if end <= most => Ok(end),
            _ => {
                let message = format!("{what} does not fit: {end} bytes of {most} in a bank");
                Err(PlanError { message, span })
            }
        }
    }

    pub(super) fn place_buffers(&mut self) -> Result<(), PlanError> {
        let row = self.machine.dram.row_bytes;
        let groups = beside::groups(&self.plan, row);
        if self.place_apart(&groups, row) || self.place_apart(&[], row) {
            return Ok(());
        }
        if self.place_apart(&[], ATOM_BYTES) {
            return Ok(());
        }
        self.place_by_life(self.plan.buffers.iter().map(size).collect())
    }

    /// Gives each buffer a place of its own, those of a group beside each other, as far as the bank has
    /// room: whether it has.
    fn place_apart(&mut self, groups: &[Vec<(BufferId, u32)>], row: u32) -> bool {
        let ids: Vec<BufferId> = self.plan.buffers.keys().collect();
        for &id in &ids {
            if let Layout::Tiled(tiled) = &mut self.plan.buffers[id].layout {
                tiled.beside = 0;
            }
        }
        let mut places: Vec<Vec<(BufferId, u64)>> =
            groups.iter().map(|group| self.lay_beside(group)).collect();
        let is_placed = |id: &BufferId| groups.iter().flatten().any(|(other, _)| other == id);
        places.extend(ids.iter().filter(|id| !is_placed(id)).map(|&id| vec![(id, 0)]));
        places.sort_by_key(|members| members.iter().map(|&(id, _)| id).min());
        let bytes = |&(id, offset): &(BufferId, u64)| {
            size((id, &self.plan.buffers[id])).1.saturating_add(offset)
        };
        let sizes: Vec<u64> =
            places.iter().map(|members| members.iter().map(bytes).max().unwrap_or(0)).collect();
        let most = u64::from(self.machine.memory.bank_bytes);
        let begin = self.plan.bank_end.into();
        let Some((bases, end)) = apart(&sizes, begin, row.into(), most) else { return false };
        for (members, base) in places.iter().zip(bases) {
            for &(id, offset) in members {
                self.plan.buffers[id].base = (base + offset) as u32;
            }
        }
        self.plan.bank_end = end as u32;
        true
    }

    /// Lays buffers beside each other: how many bytes behind their common begin each begins.
    fn lay_beside(&mut self, group: &[(BufferId, u32)]) -> Vec<(BufferId, u64)> {
        let buffers = &mut self.plan.buffers;
        let all: u32 = group.iter().map(|&(id, _)| buffers[id].tiled().width()).sum();
        for &(id, _) in group {
            if let Layout::Tiled(tiled) = &mut buffers[id].layout {
                tiled.beside = all - tiled.width();
            }
        }
        group.iter().map(|&(id, before)| (id, u64::from(before * ELEMENT_BYTES))).collect()
    }

    /// The largest first, each as low as those allow that live at the same time.
    fn place_by_life(&mut self, mut sizes: Vec<(BufferId, u64)>) -> Result<(), PlanError> {
        sizes.sort_by_key(|&(_, bytes)| std::cmp::Reverse(bytes));
        let begin = u64::from(self.plan.bank_end);
        let mut placed: Vec<(Life, u64, u64)> = Vec::new();
        for (id, bytes) in sizes {
            let life = self.life(id);
            let mut taken: Vec<(u64, u64)> = placed
                .iter()
                .filter(|(other, ..)| life.meets(*other))
                .map(|&(_, from, to)| (from, to))
                .collect();
            taken.sort_unstable();
            let mut base = begin;
            for (from, to) in taken {
                if base.saturating_add(bytes) > from {
                    base = base.max(to);
                }
            }
            let name = format!("`{}`", self.plan.buffers[id].name);
            let span = self.defined_at(id);
            let end = self.within_bank(base.saturating_add(bytes), &name, span)?;
            self.plan.buffers[id].base = (base + MARGIN) as u32;
            self.plan.bank_end = self.plan.bank_end.max(end);
            placed.push((life, base, base + bytes));
        }
        Ok(())
    }

    /// From the first step that uses a buffer to the last. What other vaults read of it they may read
    /// until all have met at the next barrier. The host writes before all steps and reads behind them.
    fn life(&self, id: BufferId) -> Life {
        let steps = &self.plan.steps;
        let uses = |step: &Step| buffers(step).contains(&id);
        let (first, last) = (steps.iter().position(uses), steps.iter().rposition(uses));
        let (Some(first), Some(last)) = (first, last) else {
            return Life { first: 0, last: steps.len() };
        };
        let buffers = &self.plan.buffers;
        let computed = |id: BufferId| buffers[id].role != Some(Role::Input);
        let others_wait = |step: &Step| match step {
            Step::Exchange(of) => computed(*of) && fills(&buffers[*of]),
            Step::Redistribute { from, .. } => computed(*from),
            _ => false,
        };
        let last = match self.machine.vaults() {
            1 => last,
            _ => {
                let next = steps[last + 1..].iter().position(others_wait);
                next.map_or(steps.len(), |next| last + next)
            }
        };
        match self.plan.buffers[id].role {
            None => Life { first, last },
            Some(Role::Output) => Life { first, last: steps.len() },
            Some(Role::Input | Role::Param) => Life { first: 0, last },
        }
    }
}

/// Where buffers lie that have places of their own from `end` on, and where the last one ends, if that is
/// not behind `most`. What has a row of elements at least does not reach into one row more than its bytes
/// need; small buffers lie close, since what is in one row is accessed without opening another.
fn apart(sizes: &[u64], mut end: u64, row: u64, most: u64) -> Option<(Vec<u64>, u64)> {
    let mut bases = vec![];
    for &bytes in sizes {
        let mut base = end.checked_add(MARGIN)?;
        let elements = bytes - 2 * MARGIN;
        let reaches = (base % row).checked_add(elements)?;
        if elements >= row && reaches > elements.checked_next_multiple_of(row)? {
            base = base.checked_next_multiple_of(row)?;
        }
        bases.push(base);
        end = base.checked_add(elements)?.checked_add(MARGIN)?;
    }
    (end <= most).then_some((bases, end))
}

/// Bytes that a buffer takes in a bank, margins included.
fn size((id, buffer): (BufferId, &super::BufferPlan)) -> (BufferId, u64) {
    let bytes = buffer.to_buffer(Role::Output).size_bytes();
    (id, bytes.next_multiple_of(16).saturating_add(2 * MARGIN))
}

/// The buffers that a step reads and writes.
fn buffers(step: &Step) -> Vec<BufferId> {
    let of_nest = |nest: &Nest| -> Vec<BufferId> {
        let reads = nest.reads.iter().map(|read| read.buffer);
        reads.chain(nest.copy_of.values().copied()).collect()
    };
    match step {
        Step::Exchange(buffer) => vec![*buffer],
        Step::Redistribute { from, to, .. } => vec![*from, *to],
        Step::Tiles(step) => [&step.targets[..], &of_nest(&step.nest)].concat(),
        Step::Reduce(step) => [&[step.target][..], &of_nest(&step.nest)].concat(),
        Step::Serial(step) => {
            let sources = step.sources.values().copied();
            step.targets.iter().copied().chain(sources).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where buffers of so many bytes lie from 16 on, in rows of 2,048.
    fn bases(bytes: &[u64], most: u64) -> Option<Vec<u64>> {
        let sizes: Vec<u64> = bytes.iter().map(|bytes| bytes + 2 * MARGIN).collect();
        apart(&sizes, 16, 2048, most).map(|(bases, _)| bases)
    }

    #[test]
    fn what_has_a_row_begins_with_one_where_it_needs_one_less_then() {
        assert_eq!(bases(&[6144, 6144], 1 << 20), Some(vec![2048, 10240]));
        assert_eq!(bases(&[2064, 2064], 1 << 20), Some(vec![32, 2128]));
        assert_eq!(bases(&[6144, 6144], 16384 + 15), None);
    }

    #[test]
    fn small_buffers_lie_close() {
        assert_eq!(bases(&[1024, 1024], 1 << 20), Some(vec![32, 1088]));
    }
}
