//! The arrays as the core sees them: control pages, windows on shared memories, homes. A loop is run
//! whole when it is started: nothing that others do reaches it before its end, since every access of the
//! core to the array waits for that.

mod plan;
mod run;
pub(crate) mod statistics;

use nbcc_isa_sdpnm::core::arrays::{
    BUSY, CONTROL, CONTROL_BYTES, COPY, COPY_AT, COPY_BYTES, FIRST, GLOBALS, GROUP, ITERATIONS,
    MEMBERS, PLACES, PRESENT, PRESENT_WORDS, START, WINDOW, WINDOW_BYTES,
};
use nbcc_isa_sdpnm::core::{CoreProgram, Homed};

use crate::Fault;
use plan::Plan;
use run::{Abort, Parts};

/// What an array did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArrayMeasures {
    /// Loops that were started.
    pub starts: u64,
    /// Cycles in which a loop ran, stalls included.
    pub busy: u64,
    /// Cycles of these in which accesses waited for a bank of the shared memory.
    pub conflicts: u64,
    /// Cycles in which packages were loaded, and changed to.
    pub configuration: u64,
    /// Contexts that were loaded.
    pub loaded: u64,
    /// Global registers that the core wrote or read.
    pub globals: u64,
}

/// What a package did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageMeasures {
    /// How often it was started.
    pub starts: u64,
    /// Iterations, of all starts.
    pub iterations: u64,
    /// Cycles in which it ran, stalls included.
    pub cycles: u64,
    /// How often the operation of each context ran.
    pub ran: Vec<u64>,
}

/// What moved between core, memory and arrays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes that the loader brought into shared memories before the call, and fetched after it.
    pub staged: u64,
    /// Cycles that took.
    pub staging_cycles: u64,
    /// Bytes that the core loaded from windows and control pages.
    pub core_loaded: u64,
    /// Bytes that the core stored to them.
    pub core_stored: u64,
    /// Bytes that were copied from one shared memory to another.
    pub copied: u64,
}

/// An array.
#[derive(Clone, Debug)]
struct Array {
    shared: Vec<u8>,
    globals: Vec<u32>,
    iterations: u32,
    /// The number of the first iteration.
    first: u32,
    /// What is copied next: from which address on, and how many bytes.
    copy: [u32; 2],
    /// Packages in the configuration memory, the one used last at the end.
    loaded: Vec<u32>,
    /// The first cycle in which it is idle again.
    until: u64,
    /// The first byte that no home takes.
    free: u32,
    present: [u32; PRESENT_WORDS as usize],
    places: Vec<u32>,
}

/// When a loop was loaded and ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Started {
    pub array: usize,
    pub package: u32,
    pub at: u64,
    pub configuration: u64,
    pub cycles: u64,
}

/// All arrays of a machine.
#[derive(Clone, Debug)]
pub struct Arrays {
    arrays: Vec<Array>,
    /// A bit for each array that the page of a group reaches.
    members: u32,
    plans: Vec<Option<Plan>>,
    /// By the numbers of arrays.
    pub measures: Vec<ArrayMeasures>,
    /// By the numbers of packages.
    pub packages: Vec<PackageMeasures>,
    /// What moved.
    pub traffic: Traffic,
}

/// What an address below the memory of data is.
enum Place {
    /// An offset in the control page of an array.
    Control(usize, u32),
    /// An offset in the shared memory of an array.
    Window(usize, u32),
    /// An offset in the page of a group.
    Group(u32),
}

impl Arrays {
    /// The arrays before a call; homes of objects are filled by [`Arrays::place_objects`].
    pub(crate) fn new(program: &CoreProgram) -> Arrays {
        let machine = &program.machine;
        let count = machine.arrays.kinds.len();
        let array = Array {
            shared: Vec::new(),
            globals: vec![0; machine.control.globals as usize],
            iterations: 0,
            first: 0,
            copy: [0; 2],
            loaded: Vec::new(),
            until: 0,
            free: 0,
            present: [0; PRESENT_WORDS as usize],
            places: vec![0; program.homes.len()],
        };
        let mut arrays = vec![array; count];
        // Where nothing uses arrays, they cost nothing.
        if !program.packages.is_empty() || !program.homes.is_empty() {
            for array in &mut arrays {
                array.shared = vec![0; machine.shared_bytes() as usize];
            }
        }
        let measured = |package: &nbcc_isa_sdpnm::config::Package| PackageMeasures {
            ran: vec![0; package.contexts.len()],
            ..PackageMeasures::default()
        };
        Arrays {
            arrays,
            members: 0,
            plans: vec![None; program.packages.len()],
            measures: vec![ArrayMeasures::default(); count],
            packages: program.packages.iter().map(measured).collect(),
            traffic: Traffic::default(),
        }
    }

    /// Copies objects to their homes; `memory` gives the bytes of a program before its call.
    pub(crate) fn place_objects<'m>(
        &mut self,
        program: &CoreProgram,
        memory: impl Fn(u32, u32) -> Option<&'m [u8]>,
    ) {
        for (number, home) in program.homes.iter().enumerate() {
            let Homed::Object { from, at } = home.what else { continue };
            let array = &mut self.arrays[usize::from(home.array)];
            // Programs are checked; what lies behind the memory in use is zero.
            if let Some(bytes) = memory(from.address, from.bytes) {
                array.shared[at as usize..][..bytes.len()].copy_from_slice(bytes);
            }
            array.take(number, at, from.bytes);
            self.count_staged(program, from.bytes);
            self.place_twins(program, number, at, memory(from.address, from.bytes).unwrap_or(&[]));
        }
    }

    /// Makes room for the twins of a home that begins at an address and holds these bytes.
    fn place_twins(&mut self, program: &CoreProgram, of: usize, at: u32, bytes: &[u8]) {
        for (number, home) in program.homes.iter().enumerate() {
            let Homed::Twin { of: other, filled } = home.what else { continue };
            if other as usize != of {
                continue;
            }
            // Shared memories are of one size, and where a home is, there is nothing else of its twins.
            let array = &mut self.arrays[usize::from(home.array)];
            array.take(number, at, bytes.len() as u32);
            if filled {
                array.shared[at as usize..][..bytes.len()].copy_from_slice(bytes);
                self.count_staged(program, bytes.len() as u32);
            }
        }
    }

    /// Copies an array parameter to its homes, where it fits. The address of its only home, if it has
    /// one that fits.
    pub(crate) fn place_parameter(
        &mut self,
        program: &CoreProgram,
        parameter: u32,
        bytes: &[u8],
    ) -> Option<u32> {
        let mut only = None;
        let homes = || {
            let all = program.homes.iter().enumerate();
            all.filter(|(_, home)| home.what == Homed::Parameter(parameter))
        };
        for (number, home) in homes() {
            let array = &mut self.arrays[usize::from(home.array)];
            let at = array.free.next_multiple_of(program.machine.home_alignment());
            let room = (array.shared.len() as u64).saturating_sub(at.into());
            if bytes.len() as u64 > room {
                continue;
            }
            array.shared[at as usize..][..bytes.len()].copy_from_slice(bytes);
            array.take(number, at, bytes.len() as u32);
            only = Some(WINDOW + u32::from(home.array) * WINDOW_BYTES + at);
            self.count_staged(program, bytes.len() as u32);
            self.place_twins(program, number, at, bytes);
        }
        only.filter(|_| homes().count() == 1)
    }

    /// Notes that the loader moves so many bytes.
    pub(crate) fn count_staged(&mut self, program: &CoreProgram, bytes: u32) {
        self.traffic.staged += u64::from(bytes);
        let cycles = bytes.div_ceil(program.machine.shared.staging_bytes);
        self.traffic.staging_cycles += u64::from(cycles);
    }

    /// The array in whose window an address lies.
    pub(crate) fn array_at(&self, address: u32) -> Option<usize> {
        match self.place(address)? {
            Place::Window(array, _) => Some(array),
            _ => None,
        }
    }

    /// The first cycle in which an array is idle.
    pub(crate) fn idle(&self, array: usize) -> u64 {
        self.arrays[array].until
    }

    /// Writes bytes to a window; `None` where it has no room for them.
    pub(crate) fn write(&mut self, address: u32, bytes: &[u8]) -> Option<()> {
        let Some(Place::Window(array, offset)) = self.place(address) else { return None };
        let to = self.arrays[array].shared.get_mut(offset as usize..)?.get_mut(..bytes.len())?;
        to.copy_from_slice(bytes);
        Some(())
    }

    /// The bytes in a window.
    pub(crate) fn window(&self, address: u32, bytes: u32) -> Option<&[u8]> {
        let Some(Place::Window(array, offset)) = self.place(address) else { return None };
        self.arrays[array].shared.get(offset as usize..)?.get(..bytes as usize)
    }

    fn place(&self, address: u32) -> Option<Place> {
        if let Some(offset) = address.checked_sub(GROUP).filter(|&offset| offset < CONTROL_BYTES) {
            return Some(Place::Group(offset));
        }
        let part = |first: u32, bytes: u32| {
            let offset = address.checked_sub(first)?;
            let array = (offset / bytes) as usize;
            (array < self.arrays.len()).then_some((array, offset % bytes))
        };
        let control = part(CONTROL, CONTROL_BYTES).map(|(a, offset)| Place::Control(a, offset));
        control.or_else(|| part(WINDOW, WINDOW_BYTES).map(|(a, offset)| Place::Window(a, offset)))
    }

    /// Bytes that the core loads from an address; `now` becomes the cycle in which the array has them.
    pub(crate) fn load<const N: usize>(&mut self, address: u32, now: &mut u64) -> Option<[u8; N]> {
        let bytes = match self.place(address)? {
            Place::Window(array, offset) => {
                let array = &self.arrays[array];
                let bytes = array.shared.get(offset as usize..)?.get(..N)?.try_into().ok()?;
                *now = (*now).max(array.until);
                bytes
            }
            Place::Control(number, offset) => {
                let array = &self.arrays[number];
                let is_global = (offset - GLOBALS) / 4 < array.globals.len() as u32;
                let word = match offset {
                    _ if !offset.is_multiple_of(4) => return None,
                    _ if is_global => array.globals[(offset - GLOBALS) as usize / 4],
                    ITERATIONS => array.iterations,
                    BUSY => 0,
                    PRESENT..PLACES => *array.present.get((offset - PRESENT) as usize / 4)?,
                    PLACES.. => *array.places.get((offset - PLACES) as usize / 4)?,
                    _ => return None,
                };
                let bytes = word.to_le_bytes().as_slice().try_into().ok()?;
                *now = (*now).max(array.until);
                self.measures[number].globals += u64::from(is_global);
                bytes
            }
            Place::Group(_) => return None,
        };
        self.traffic.core_loaded += N as u64;
        Some(bytes)
    }

    /// Takes bytes that the core stores; `now` becomes the cycle in which the array takes them. A loop
    /// that this starts is run to its end, in `limit` cycles from 0 on.
    ///
    pub(crate) fn store<const N: usize>(
        &mut self,
        program: &CoreProgram,
        address: u32,
        bytes: [u8; N],
        now: &mut u64,
        limit: u64,
    ) -> Result<Option<Started>, NotStored> {
        let mut started = None;
        match self.place(address).ok_or(NotStored::Nowhere)? {
            Place::Window(array, offset) => {
                let array = &mut self.arrays[array];
                let to = array.shared.get_mut(offset as usize..).and_then(|to| to.get_mut(..N));
                to.ok_or(NotStored::Nowhere)?.copy_from_slice(&bytes);
                *now = (*now).max(array.until);
            }
            Place::Control(number, offset) => {
                let word: [u8; 4] = bytes.as_slice().try_into().map_err(|_| NotStored::Nowhere)?;
                let word = u32::from_le_bytes(word);
                let array = &mut self.arrays[number];
                let global = (offset - GLOBALS) as usize / 4;
                match offset {
                    _ if !offset.is_multiple_of(4) => return Err(NotStored::Nowhere),
                    _ if global < array.globals.len() => {
                        *now = (*now).max(array.until);
                        array.globals[global] = word;
                        self.measures[number].globals += 1;
                    }
                    ITERATIONS | FIRST | COPY_AT | COPY_BYTES => {
                        *now = (*now).max(array.until);
                        *match offset {
                            ITERATIONS => &mut array.iterations,
                            FIRST => &mut array.first,
                            COPY_AT => &mut array.copy[0],
                            _ => &mut array.copy[1],
                        } = word;
                    }
                    COPY => {
                        *now = (*now).max(array.until);
                        self.copy(program, number, word as usize, *now)
                            .ok_or(NotStored::Nowhere)?;
                    }
                    START => {
                        *now = (*now).max(array.until);
                        started = Some(self.start(program, number, word, *now, limit)?);
                    }
                    _ => return Err(NotStored::Nowhere),
                }
            }
            Place::Group(offset) => {
                let word: [u8; 4] = bytes.as_slice().try_into().map_err(|_| NotStored::Nowhere)?;
                let word = u32::from_le_bytes(word);
                let global = (offset - GLOBALS) as usize / 4;
                let count = program.machine.control.globals as usize;
                match offset {
                    _ if !offset.is_multiple_of(4) => return Err(NotStored::Nowhere),
                    _ if global < count => {
                        let all = self.arrays.iter_mut().zip(&mut self.measures).enumerate();
                        let is_member = |number: usize| self.members >> number.min(31) & 1 == 1;
                        for (_, (array, measures)) in all.filter(|(number, _)| is_member(*number)) {
                            *now = (*now).max(array.until);
                            array.globals[global] = word;
                            measures.globals += 1;
                        }
                    }
                    MEMBERS => self.members = word,
                    _ => return Err(NotStored::Nowhere),
                }
            }
        }
        self.traffic.core_stored += N as u64;
        Ok(started)
    }

    /// Copies bytes of one shared memory to another one; `None` where there are none.
    fn copy(&mut self, program: &CoreProgram, to: usize, from: usize, at: u64) -> Option<()> {
        let [first, bytes] = self.arrays[to].copy;
        let source = self.arrays.get(from).filter(|_| from != to)?;
        let copied = source.shared.get(first as usize..)?.get(..bytes as usize)?.to_vec();
        let begin = at.max(source.until);
        self.arrays[to].shared.get_mut(first as usize..)?[..copied.len()].copy_from_slice(&copied);
        let end = begin + u64::from(bytes.div_ceil(program.machine.shared.staging_bytes));
        (self.arrays[to].until, self.arrays[from].until) = (end, end);
        self.traffic.copied += u64::from(bytes);
        Some(())
    }

    /// Loads a package where that is needed and runs it.
    fn start(
        &mut self,
        program: &CoreProgram,
        number: usize,
        index: u32,
        at: u64,
        limit: u64,
    ) -> Result<Started, Abort> {
        let machine = &program.machine;
        let package = program.packages.get(index as usize);
        let package = package.filter(|package| usize::from(package.array) == number);
        let package = package.ok_or(Abort::Package { number: index })?;
        let configuration = self.configure(program, number, index);
        let plan = self.plans[index as usize].get_or_insert_with(|| Plan::new(package, machine));
        let array = &mut self.arrays[number];
        let mut parts = Parts {
            shared: &mut array.shared,
            globals: &mut array.globals,
            banks: machine.shared.banks,
            pes: machine.array.pes(),
        };
        let left = limit.saturating_sub(at.saturating_add(configuration));
        let measured = &mut self.packages[index as usize];
        let iterations = (std::mem::take(&mut array.first), array.iterations);
        let done = run::run(package, plan, iterations, left, &mut parts, &mut measured.ran)?;
        measured.starts += 1;
        measured.iterations += u64::from(array.iterations);
        measured.cycles += done.cycles;
        let measures = &mut self.measures[number];
        measures.starts += 1;
        measures.busy += done.cycles;
        measures.conflicts += done.conflicts;
        measures.configuration += configuration;
        array.until = at + configuration + done.cycles;
        Ok(Started { array: number, package: index, at, configuration, cycles: done.cycles })
    }

    /// Makes a package the one that runs next; the cycles until it does. The configuration memory has
    /// room for so many contexts a PE; packages that were not used for longest make room.
    fn configure(&mut self, program: &CoreProgram, number: usize, index: u32) -> u64 {
        let machine = &program.machine;
        let array = &mut self.arrays[number];
        let contexts = |package: u32| u32::from(program.packages[package as usize].ii);
        let mut cycles = u64::from(machine.control.switch_cycles);
        match array.loaded.iter().position(|loaded| *loaded == index) {
            Some(at) => {
                array.loaded.remove(at);
            }
            None => {
                let room = machine.control.context_sets * machine.array.contexts;
                let mut taken: u32 = array.loaded.iter().map(|&loaded| contexts(loaded)).sum();
                while taken + contexts(index) > room {
                    taken -= contexts(array.loaded.remove(0));
                }
                let rows = u64::from(machine.array.rows * contexts(index));
                cycles += rows * u64::from(machine.control.load_row_cycles);
                let loaded = program.packages[index as usize].contexts.len() as u64;
                self.measures[number].loaded += loaded;
            }
        }
        array.loaded.push(index);
        cycles
    }

    /// The first cycle in which all arrays are idle.
    pub(crate) fn idle_at(&self) -> u64 {
        self.arrays.iter().map(|array| array.until).max().unwrap_or(0)
    }
}

impl Array {
    /// Notes a home.
    fn take(&mut self, number: usize, at: u32, bytes: u32) {
        self.free = self.free.max(at + bytes);
        self.present[number / 32] |= 1 << (number % 32);
        self.places[number] = at;
    }
}

/// Why a word that the core stores does nothing.
pub(crate) enum NotStored {
    /// There is no such place.
    Nowhere,
    /// It starts a loop that is given up.
    GivenUp(Abort),
}

impl From<Abort> for NotStored {
    fn from(early: Abort) -> NotStored {
        NotStored::GivenUp(early)
    }
}

/// What ended a loop early, as a fault of the instruction that started it.
pub(crate) fn fault(program: &CoreProgram, early: Abort, at: u32, index: u32, limit: u64) -> Fault {
    match early {
        Abort::Cycles => Fault::Cycles { limit, at },
        Abort::Package { number } => Fault::Package { at, number },
        Abort::Access { context, cycle, address } => {
            let package = &program.packages[index as usize];
            let placed = &package.contexts[context as usize];
            Fault::Array {
                array: program.machine.array_name(package.array.into()),
                package: package.name.clone(),
                pe: placed.pe,
                cycle,
                address,
                bytes: placed.context.memory.width.bytes(),
                line: placed.line,
            }
        }
    }
}
