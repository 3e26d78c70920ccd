//! A memory of which one row is open at a time: accesses to another one wait until that is open. List
//! schedulers that know of it stay in the open row while something there is left for which there are
//! registers, as first-ready access scheduling does in the queue of a memory controller (Rixner,
//! Dally, Kapasi, Mattson, Owens, "Memory Access Scheduling", ISCA 2000).

/// What a block accesses of such a memory.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// For each instruction that accesses the memory, the stream of accesses that it belongs to: those to
    /// one row that all read, or all write. Empty where there is no such memory.
    pub streams: Vec<Option<usize>>,
    /// For each instruction, the stream whose accesses are all that it makes addresses for.
    pub addresses: Vec<Option<usize>>,
    /// For each stream, which row it is of, and whether it writes.
    pub rows: Vec<(usize, bool)>,
    /// Cycles that the memory is busy with an access.
    pub served: u32,
    /// Cycles between the end of an access and the next one, where that is to another row, by whether
    /// the first one writes.
    pub turn: [u32; 2],
    /// The same where it reads what the open row holds and the one before wrote.
    pub back: u32,
}

impl Rows {
    /// Whether there is an order of accesses to choose.
    pub fn several(&self) -> bool {
        self.rows.len() > 1
    }

    /// The stream that an instruction accesses, or makes addresses for.
    fn stream(&self, at: usize) -> Option<usize> {
        self.accesses(at).or(self.addresses.get(at).copied().flatten())
    }

    fn accesses(&self, at: usize) -> Option<usize> {
        self.streams.get(at).copied().flatten()
    }

    /// Cycles between accesses of two streams.
    fn between(&self, from: usize, to: usize) -> u32 {
        let ((a, wrote), (b, writes)) = (self.rows[from], self.rows[to]);
        match () {
            _ if from == to => 0,
            _ if a != b => self.turn[usize::from(wrote)],
            _ if wrote && !writes => self.back,
            _ => 0,
        }
    }
}

/// The memory while a block is put in order.
pub(crate) struct OpenRow<'a> {
    rows: &'a Rows,
    /// The stream that was accessed last.
    open: Option<usize>,
    /// When the memory can serve the next access of it.
    pub(crate) free: u32,
    /// How many instructions of each stream can issue soon.
    coming: Vec<usize>,
    /// How many accesses of each stream are left.
    left: Vec<usize>,
}

impl OpenRow<'_> {
    pub(crate) fn new(rows: &Rows) -> OpenRow<'_> {
        let mut left = vec![0; rows.rows.len()];
        rows.streams.iter().flatten().for_each(|&stream| left[stream] += 1);
        OpenRow { rows, open: None, free: 0, coming: vec![0; rows.rows.len()], left }
    }

    /// An instruction can issue when some cycles have passed.
    pub(crate) fn comes(&mut self, at: usize) {
        if let Some(stream) = self.rows.stream(at) {
            self.coming[stream] += 1;
        }
    }

    /// It issues, or cannot any more.
    pub(crate) fn goes(&mut self, at: usize) {
        if let Some(stream) = self.rows.stream(at) {
            self.coming[stream] -= 1;
        }
    }

    /// Whether the open row has something left that can issue soon.
    pub(crate) fn holds(&self) -> bool {
        self.open.is_some_and(|open| self.coming[open] > 0)
    }

    /// Whether an instruction accesses the open stream.
    pub(crate) fn is_open(&self, at: usize) -> bool {
        self.open.is_some() && self.rows.accesses(at) == self.open
    }

    /// Whether an instruction accesses another one.
    pub(crate) fn turns(&self, at: usize) -> bool {
        self.rows.accesses(at).is_some_and(|stream| Some(stream) != self.open)
    }

    /// Whether an instruction makes addresses for another one.
    pub(crate) fn leads_away(&self, at: usize) -> bool {
        self.rows.stream(at).is_some_and(|stream| Some(stream) != self.open)
    }

    /// Cycles that waiting for something else may take before another row had better be opened.
    pub(crate) fn patience(&self) -> u32 {
        self.rows.turn[0]
    }

    /// Of instructions of which one is to open a row, the one whose stream has fewest accesses left: what
    /// waits for it waits for no others then, and constants come before what they are used with.
    pub(crate) fn shortest(&self, among: impl Iterator<Item = usize>) -> Option<usize> {
        let left = |at: usize| Some((self.left[self.rows.accesses(at)?], at));
        among.filter_map(left).min_by_key(|&(left, _)| left).map(|(_, at)| at)
    }

    /// Issues an instruction; how many cycles later than at once the memory serves it.
    pub(crate) fn issue(&mut self, at: usize, clock: u32) -> u32 {
        let Some(stream) = self.rows.accesses(at) else { return 0 };
        let between = self.open.map_or(0, |open| self.rows.between(open, stream));
        let start = clock.max(self.free + between);
        self.free = start + self.rows.served;
        self.open = Some(stream);
        self.left[stream] -= 1;
        start - clock
    }
}
