//! Copies between host memory and banks, where the layout says, by elements that lie one behind the
//! other in a bank.

use std::collections::BTreeMap;
use std::ops::Range;

use nbcc_isa_ipim::layout::Role;
use nbcc_isa_ipim::{Buffer, ELEMENT_BYTES, LANES, Layout, Location, Machine, Program};
use nbcc_sim_ipim::fault::FaultKind;
use nbcc_sim_ipim::memory::{Banks, SharedImage};
use nbcc_sim_ipim::simulation::Simulation;

use crate::{HostError, Image};

/// What every bank holds before the program runs: constants and parameters. All names
/// are checked.
pub fn shared_image(
    program: &Program,
    params: &BTreeMap<String, Image>,
) -> Result<SharedImage, HostError> {
    let mut shared = SharedImage::default();
    let constants = program.rodata.bytes.as_chunks::<4>().0;
    for (index, bytes) in constants.iter().enumerate() {
        let address = program.rodata.address + index as u32 * ELEMENT_BYTES;
        shared.write_word(address, u32::from_le_bytes(*bytes));
    }
    for param in &program.params {
        let given = params.get(&param.name).map(|image| image.words[0]);
        let missing = || HostError::Missing { what: "parameter", name: param.name.clone() };
        let word = given.or(param.default).ok_or_else(missing)?;
        for lane in 0..LANES as u32 {
            shared.write_word(param.address + lane * ELEMENT_BYTES, word);
        }
    }
    for buffer in &program.buffers {
        if buffer.role != Role::Param || buffer.layout != Layout::Replicated {
            continue;
        }
        let stretches = Stretches::new(buffer);
        stretches.for_each(0..stretches.rows(), |elements, place| {
            let words = &params[&buffer.name].words[elements];
            for (address, word) in (place.address..).step_by(ELEMENT_BYTES as usize).zip(words) {
                shared.write_word(address, *word);
            }
            Ok::<(), HostError>(())
        })?;
    }
    Ok(shared)
}

/// Writes an input to its banks, on `threads` threads.
pub fn scatter(
    simulation: &mut Simulation,
    buffer: &Buffer,
    image: &Image,
    threads: usize,
) -> Result<(), FaultKind> {
    let turned = (!buffer.backwards.is_empty()).then(|| image.turned(&buffer.backwards));
    let image = turned.as_ref().unwrap_or(image);
    let machine = simulation.machine().clone();
    let parts = threads.clamp(1, machine.vaults() as usize);
    // Each thread has every so many-th vault.
    let mut banks: Vec<Vec<&mut Banks>> = (0..parts).map(|_| Vec::new()).collect();
    for (vault, of_vault) in simulation.banks_mut().enumerate() {
        banks[vault % parts].push(of_vault);
    }
    let stretches = Stretches::new(buffer);
    let write = |part: usize, mut banks: Vec<&mut Banks>| {
        stretches.for_each(0..stretches.rows(), |elements, place| {
            let (vault, engine) = bank(&machine, &place);
            if vault as usize % parts == part {
                let words = &image.words[elements];
                return banks[vault as usize / parts].write_words(engine, place.address, words);
            }
            Ok(())
        })
    };
    std::thread::scope(|scope| {
        let mut banks = banks.into_iter().enumerate();
        let own = banks.next();
        let others: Vec<_> =
            banks.map(|(part, banks)| scope.spawn(move || write(part, banks))).collect();
        let own = own.map_or(Ok(()), |(part, banks)| write(part, banks));
        others.into_iter().fold(own, |so_far, other| {
            so_far.and(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    })
    .map_err(|kind| *kind)
}

/// Reads an output from its banks, on `threads` threads.
pub fn gather(simulation: &Simulation, buffer: &Buffer, threads: usize) -> Image {
    let mut image = Image::zeroed(buffer.element, &buffer.extent);
    let stretches = Stretches::new(buffer);
    let rows = stretches.rows().div_ceil(threads.max(1)).max(1);
    let read = |first: usize, words: &mut [u32]| {
        let last = (first + rows).min(stretches.rows());
        let begin = first * stretches.row_length;
        let done = stretches.for_each(first..last, |elements, place| {
            let (vault, engine) = bank(simulation.machine(), &place);
            let words = &mut words[elements.start - begin..elements.end - begin];
            simulation.vaults()[vault as usize].banks.read_words(engine, place.address, words);
            Ok::<(), FaultKind>(())
        });
        done.expect("reading does not fail");
    };
    std::thread::scope(|scope| {
        let parts = image.words.chunks_mut(rows * stretches.row_length);
        let mut parts = (0..).step_by(rows).zip(parts);
        let own = parts.next();
        for (first, words) in parts {
            scope.spawn(move || read(first, words));
        }
        if let Some((first, words)) = own {
            read(first, words);
        }
    });
    image
}

/// The global number of the vault, and the engine in it.
fn bank(machine: &Machine, place: &Location) -> (u32, usize) {
    let vault = place.cube * machine.hierarchy.vaults + place.vault;
    (vault, (place.pg * machine.hierarchy.pes + place.pe) as usize)
}

/// The elements of a buffer by stretches that lie in one piece in a bank.
///
/// What a coordinate adds to the place of an element does not depend on the other coordinates. So the
/// stretches of one row say how far those of any row lie from the first.
struct Stretches<'a> {
    buffer: &'a Buffer,
    /// Those of the first row: where they begin, their length, and their place.
    first: Vec<(usize, usize, Location)>,
    row_length: usize,
}

impl Stretches<'_> {
    fn new(buffer: &Buffer) -> Stretches<'_> {
        let row_length = buffer.extent.first().map_or(1, |extent| *extent as usize);
        let mut coords = buffer.min.clone();
        let (mut first, mut at) = (Vec::new(), 0);
        while at < row_length {
            let length = buffer.contiguous(&coords);
            first.push((at, length as usize, locate(buffer, &coords)));
            at += length as usize;
            if let Some(coord) = coords.first_mut() {
                *coord += length as i32;
            }
        }
        Stretches { buffer, first, row_length }
    }

    /// The number of rows: elements of all dimensions but the first.
    fn rows(&self) -> usize {
        self.buffer.extent.iter().skip(1).map(|extent| *extent as usize).product()
    }

    /// The number of the element at `coords` in the host's image.
    fn element(&self, coords: &[i32]) -> usize {
        let is_whole = self.buffer.part_of.is_empty();
        let along = coords.iter().zip(&self.buffer.min).zip(self.buffer.image());
        along.rev().fold(0, |n, ((coord, min), extent)| {
            let first = if is_whole { *min } else { 0 };
            n * *extent as usize + (coord - first) as usize
        })
    }

    /// Calls `f` with the elements of each stretch of the rows, innermost dimension first, and the
    /// place of the first of them.
    fn for_each<E>(
        &self,
        rows: Range<usize>,
        mut f: impl FnMut(Range<usize>, Location) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut coords = self.buffer.min.clone();
        for row in rows {
            let mut rest = row;
            for (coord, (min, extent)) in
                coords.iter_mut().zip(self.buffer.min.iter().zip(&self.buffer.extent)).skip(1)
            {
                *coord = min + (rest % *extent as usize) as i32;
                rest /= *extent as usize;
            }
            let place = locate(self.buffer, &coords);
            let (origin, element) = (self.first[0].2, self.element(&coords));
            for (begin, length, there) in &self.first {
                let at = element + begin;
                f(at..at + length, moved(place, origin, *there))?;
            }
        }
        Ok(())
    }
}

fn locate(buffer: &Buffer, coords: &[i32]) -> Location {
    buffer.locate(coords).expect("coordinates inside of a valid buffer")
}

/// As far from `place` as `to` is from `from`.
fn moved(place: Location, from: Location, to: Location) -> Location {
    let by = |place: u32, from: u32, to: u32| place.wrapping_add(to.wrapping_sub(from));
    Location {
        cube: by(place.cube, from.cube, to.cube),
        vault: by(place.vault, from.vault, to.vault),
        pg: by(place.pg, from.pg, to.pg),
        pe: by(place.pe, from.pe, to.pe),
        address: by(place.address, from.address, to.address),
    }
}
