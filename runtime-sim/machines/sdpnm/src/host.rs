//! The host controller: it moves bytes between the memory and shared memories, while the core waits.

use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::config::ArrayKind;
use nbcc_isa_sdpnm::core::arrays::{FROM, MOVE, TO};
use nbcc_sim_dram::{Kind, Stats};

use crate::banks::Banks;
use crate::{Core, Fault};

/// What was moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// How often the core asked for it.
    pub moves: u64,
    /// Bytes from the memory.
    pub read: u64,
    /// Bytes to the memory.
    pub written: u64,
    /// Cycles that this took.
    pub cycles: u64,
}

/// The host controller.
#[derive(Clone, Debug)]
pub struct Host {
    from: u32,
    to: u32,
    banks: Banks,
    /// What was moved.
    pub moved: Moved,
}

impl Host {
    /// Before a call.
    ///
    /// # Errors
    /// What is wrong with the banks.
    pub fn new(machine: &Machine) -> Result<Host, Fault> {
        Ok(Host { from: 0, to: 0, banks: Banks::new(machine)?, moved: Moved::default() })
    }

    /// What the banks counted.
    pub fn banks(&self) -> Stats {
        self.banks.stats()
    }
}

impl Core<'_> {
    /// Takes a word that the core stores to the page of the host controller; `None` where there is no such
    /// word, or no memory to move bytes from or to.
    pub(crate) fn ask_host(&mut self, offset: u32, word: &[u8]) -> Option<()> {
        let word = u32::from_le_bytes(word.try_into().ok()?);
        match offset {
            FROM => self.host.from = word,
            TO => self.host.to = word,
            MOVE => self.move_bytes(word)?,
            _ => return None,
        }
        self.arrays.traffic.core_stored += 4;
        Some(())
    }

    fn move_bytes(&mut self, bytes: u32) -> Option<()> {
        // Who moves more than a shared memory holds moves it nowhere.
        if bytes > self.program.machine.shared_bytes() {
            return None;
        }
        let (from, to) = (self.host.from, self.host.to);
        let copied = self.read(from, bytes)?.to_vec();
        match self.arrays.array_at(to) {
            Some(_) => self.arrays.write(to, &copied)?,
            None => self.memory.write(to, &copied)?,
        }
        let arrays = [from, to].map(|address| self.arrays.array_at(address));
        let idle = arrays.iter().flatten().map(|&array| self.arrays.idle(array)).max();
        let begin = self.now.max(idle.unwrap_or(0));
        let machine = &self.program.machine;
        let is_beside = |array: &Option<usize>| {
            array.is_none_or(|array| machine.arrays.kinds[array] == ArrayKind::Spea)
        };
        let each = match arrays.iter().all(is_beside) {
            true => machine.shared.beside_bytes,
            false => machine.shared.staging_bytes,
        };
        let mut end = begin;
        if arrays[0].is_none() {
            end = self.host.banks.stream(end, from, bytes, Kind::Read, each);
            self.host.moved.read += u64::from(bytes);
        }
        if arrays[1].is_none() {
            end = self.host.banks.stream(end, to, bytes, Kind::Write, each);
            self.host.moved.written += u64::from(bytes);
        }
        if arrays.iter().all(Option::is_some) {
            end += u64::from(bytes.div_ceil(each));
        }
        self.host.moved.moves += 1;
        self.host.moved.cycles += end - begin;
        if let (Some(trace), Some(&lane)) = (&mut self.trace, self.lanes.last()) {
            trace.push(lane, "move", begin, end - begin, bytes.into());
        }
        self.now = end;
        Some(())
    }
}
