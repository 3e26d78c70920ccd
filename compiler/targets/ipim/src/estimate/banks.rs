//! The banks of a group and their controller, as far as they decide when accesses are done: rows, the
//! queue of requests, of which those to the open row go first (docs/dram.md). All engines of the group
//! access the same places: the bank that is served first and the one that is served last stand for all.
//! What the last one is late by, since rows are opened one after another, the first is early by when
//! rows change again, so that a change costs both the same.

use std::collections::VecDeque;

use nbcc_isa::dram::Dram;
use nbcc_isa_ipim::{Addr, Inst, Machine, Memory};
use nbcc_mach::{AffineAddress, InstData, VReg};

/// A row of banks, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Row {
    /// The one of that number.
    Number(u32),
    /// That of some objects, at an address.
    Of(u32, AffineAddress),
    /// Any.
    Unknown,
}

/// An access that has been asked for.
#[derive(Clone, Debug)]
struct Request {
    number: usize,
    row: Row,
    arrives: u64,
    /// Cycles in which it holds the commands of the group.
    served: u64,
    writes: bool,
    /// Cycles from the end of its data, or from its command if it writes, until it is done.
    after: u64,
}

/// What a bank does, in cycles.
#[derive(Clone, Copy, Debug, Default)]
struct Bank {
    /// When the next access can start.
    free: u64,
    activated: u64,
    /// The end of the data of the last access that wrote.
    written: u64,
    /// The last access that read.
    read: u64,
}

impl Bank {
    /// When the open row may be closed.
    fn closable(&self, dram: &Dram) -> u64 {
        (self.read + u64::from(dram.t_rtp))
            .max(self.written + u64::from(dram.t_wr))
            .max(self.activated + u64::from(dram.t_ras))
    }

    /// Opens a row for an access that has come at `arrives`, not before `earliest`.
    fn activate(&mut self, arrives: u64, was_open: bool, earliest: u64, dram: &Dram) {
        let closed = match was_open {
            true => self.closable(dram).max(arrives) + u64::from(dram.t_rp),
            false => 0,
        };
        self.activated = closed.max(arrives).max(earliest);
    }

    /// Serves an access, the row of which is open. Gives the cycle of the last of its commands.
    fn access(&mut self, request: &Request, dram: &Dram) -> u64 {
        let mut start = self.free.max(request.arrives);
        start = start.max(self.activated + u64::from(dram.t_rcd));
        if !request.writes {
            start = start.max(self.written + u64::from(dram.t_wtr_l));
        }
        self.free = start + request.served;
        let last = start + request.served.saturating_sub(1);
        if request.writes {
            self.written = last + u64::from(dram.t_cwl + dram.t_bl);
        } else {
            self.read = last;
        }
        last
    }
}

/// The banks of a group.
pub struct Banks<'a> {
    machine: &'a Machine,
    requests: VecDeque<Request>,
    /// When each access is done, by number, once that is known.
    done: Vec<Option<u64>>,
    open: Option<Row>,
    /// That whose rows are opened first, and that whose are opened last.
    first: Bank,
    last: Bank,
}

impl<'a> Banks<'a> {
    /// Banks whose rows are closed.
    pub fn new(machine: &'a Machine) -> Banks<'a> {
        let (first, last) = Default::default();
        Banks { machine, requests: VecDeque::new(), done: vec![], open: None, first, last }
    }

    /// Asks for the access of an instruction, which comes to the banks at `arrives`, holds the commands
    /// of the group for `served` cycles, and is done `after` cycles behind what it reads or its last
    /// command that writes. Gives its number.
    pub fn request(
        &mut self,
        data: &InstData<Inst<VReg>>,
        arrives: u64,
        served: u64,
        writes: bool,
        after: u32,
    ) -> usize {
        self.done.push(None);
        let number = self.done.len() - 1;
        let row = row(data, self.machine.dram.row_bytes);
        let after = u64::from(after);
        self.requests.push_back(Request { number, row, arrives, served, writes, after });
        number
    }

    /// When an access is done. All that come before that must have been asked for.
    pub fn done(&mut self, number: usize) -> u64 {
        loop {
            match self.done[number] {
                Some(at) => return at,
                None => self.serve(self.next()),
            }
        }
    }

    /// When an access is done, if that is before `at` or known.
    pub fn done_by(&mut self, number: usize, at: u64) -> Option<u64> {
        while self.done[number].is_none() && self.start_of(&self.requests[self.next()]) < at {
            self.serve(self.next());
        }
        self.done[number]
    }

    /// The request that is served next: the first, or one to the open row that can start before that
    /// row may be closed.
    fn next(&self) -> usize {
        let queue = self.machine.dram.request_queue / self.machine.hierarchy.pes;
        let queued = self.requests.iter().take(queue.max(1) as usize).enumerate();
        let Some(first) = self.requests.front() else { return 0 };
        let hits =
            |request: &Request| self.open.as_ref().is_some_and(|row| same(row, &request.row));
        let closed = self.last.closable(&self.machine.dram).max(first.arrives);
        let before = |request: &Request| hits(request) && self.start_of(request) < closed;
        let mut hit = queued.filter(|(_, request)| before(request)).map(|(place, _)| place);
        if self.open.is_none() || hits(first) { 0 } else { hit.next().unwrap_or(0) }
    }

    fn start_of(&self, request: &Request) -> u64 {
        self.last.free.max(request.arrives)
    }

    fn serve(&mut self, place: usize) {
        let Some(request) = self.requests.remove(place) else { return };
        let dram = &self.machine.dram;
        let [first, last] = [&mut self.first, &mut self.last];
        if !self.open.as_ref().is_some_and(|open| same(open, &request.row)) {
            let apart = u64::from(dram.t_rrd_l) * u64::from(self.machine.hierarchy.pes - 1);
            first.activate(request.arrives, self.open.is_some(), 0, dram);
            last.activate(request.arrives, self.open.is_some(), first.activated + apart, dram);
        }
        first.access(&request, dram);
        let end = last.access(&request, dram);
        let data = if request.writes { 0 } else { u64::from(dram.t_cl + dram.t_bl) };
        self.done[request.number] = Some(end + data + request.after);
        self.open = Some(request.row);
    }
}

/// The row that an access goes to.
fn row(data: &InstData<Inst<VReg>>, row_bytes: u32) -> Row {
    if let Inst::LdRf { dram: Addr::Direct(address), .. }
    | Inst::StRf { dram: Addr::Direct(address), .. } = data.inst
    {
        return Row::Number(address / row_bytes);
    }
    let Some(access) = data.access_of(Memory::Bank) else { return Row::Unknown };
    match (access.rows, &access.address) {
        (Some(rows), Some(address)) => {
            let constant = address.constant / row_bytes;
            Row::Of(rows, AffineAddress { terms: address.terms.clone(), constant })
        }
        (Some(rows), None) => Row::Of(rows, AffineAddress::default()),
        (None, _) => Row::Unknown,
    }
}

/// Whether two rows are taken to be one: those of the same objects are unless their addresses say more.
fn same(a: &Row, b: &Row) -> bool {
    match (a, b) {
        (Row::Of(one, x), Row::Of(other, y)) if one == other => x.terms != y.terms || x == y,
        _ => a == b,
    }
}
