//! Copies between host memory and banks, where the layout says, by elements that lie one behind the
//! other in a bank.

use std::collections::BTreeMap;
use std::ops::Range;

use nbcc_isa_ipim::layout::Role;
use nbcc_isa_ipim::{Buffer, ELEMENT_BYTES, LANES, Layout, Location, Machine, Program};
use nbcc_sim_ipim::fault::FaultKind;
use nbcc_sim_ipim::memory::SharedImage;
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
        for_each_stretch(buffer, |elements, place| {
            let words = &params[&buffer.name].words[elements];
            for (address, word) in (place.address..).step_by(ELEMENT_BYTES as usize).zip(words) {
                shared.write_word(address, *word);
            }
            Ok(())
        })
        .map_err(|kind| HostError::Load { name: buffer.name.clone(), kind })?;
    }
    Ok(shared)
}

/// Writes an input to its banks.
pub fn scatter(
    simulation: &mut Simulation,
    buffer: &Buffer,
    image: &Image,
) -> Result<(), FaultKind> {
    for_each_stretch(buffer, |elements, place| {
        let (vault, engine) = bank(simulation.machine(), &place);
        simulation
            .banks_mut(vault)
            .write_words(engine, place.address, &image.words[elements])
            .map_err(|kind| *kind)
    })
}

/// Reads an output from its banks.
pub fn gather(simulation: &Simulation, buffer: &Buffer) -> Image {
    let mut image = Image::zeroed(buffer.element, &buffer.extent);
    for_each_stretch(buffer, |elements, place| {
        let (vault, engine) = bank(simulation.machine(), &place);
        let banks = &simulation.vaults()[vault as usize].banks;
        banks.read_words(engine, place.address, &mut image.words[elements]);
        Ok(())
    })
    .expect("reading does not fail");
    image
}

/// The global number of the vault, and the engine in it.
fn bank(machine: &Machine, place: &Location) -> (u32, usize) {
    let vault = place.cube * machine.hierarchy.vaults + place.vault;
    (vault, (place.pg * machine.hierarchy.pes + place.pe) as usize)
}

/// Calls `f` with the elements of each stretch that lies in one piece in a bank, innermost dimension
/// first, and the place of the first.
fn for_each_stretch(
    buffer: &Buffer,
    mut f: impl FnMut(Range<usize>, Location) -> Result<(), FaultKind>,
) -> Result<(), FaultKind> {
    let mut coords = buffer.min.clone();
    let mut index = 0;
    while index < buffer.elements() as usize {
        let place = buffer.locate(&coords).expect("coordinates inside of a valid buffer");
        let mut step = buffer.contiguous(&coords);
        f(index..index + step as usize, place)?;
        index += step as usize;
        for (coord, (min, extent)) in coords.iter_mut().zip(buffer.min.iter().zip(&buffer.extent)) {
            *coord += step as i32;
            if i64::from(*coord) < i64::from(*min) + i64::from(*extent) {
                break;
            }
            *coord = *min;
            step = 1;
        }
    }
    Ok(())
}
