//! Calls of functions on SDPNM's core.

use nbcc_isa::Signature;
use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_sim_engine::{Statistics, Trace};
use nbcc_sim_sdpnm::{Core, Fault, Options, collect};

use crate::function::{self, Argument, Bound, Machine, Returned};
use crate::profile::{Cost, Profile};

/// What a call leaves behind.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Result and arrays.
    pub returned: Returned,
    /// Instructions issued.
    pub instructions: u64,
    /// What was measured.
    pub statistics: Statistics,
    /// Where cycles went.
    pub profile: Profile,
    /// The timeline, if one was asked for.
    pub trace: Option<Trace>,
}

/// A core, and how it is to run.
struct Called<'a, 'b, 'c> {
    core: Core<'a>,
    /// The numbers of array parameters that are still to be placed, the next one last.
    parameters: Vec<u32>,
    signature: &'a Signature,
    options: &'b mut Options<'c>,
}

impl Machine for Called<'_, '_, '_> {
    type Error = Fault;

    fn place(&mut self, bytes: &[u8]) -> Result<u64, Fault> {
        let parameter = self.parameters.pop().unwrap_or(u32::MAX);
        self.core.place(parameter, bytes).map(u64::from)
    }

    fn call(&mut self, arguments: &[Argument<'_>]) -> Result<Option<u64>, Fault> {
        for (number, argument) in arguments.iter().enumerate() {
            let words: Vec<u32> = match *argument {
                Argument::Scalar(bits) => vec![bits as u32, (bits >> 32) as u32],
                Argument::Array { address, shape } => {
                    // Binding refuses arrays of more elements than words count.
                    let all = shape.iter().product::<u64>();
                    let extents = shape.iter().map(|&extent| extent as u32);
                    [address as u32, all as u32].into_iter().chain(extents).collect()
                }
            };
            self.core.set_argument(number, &words);
        }
        let result = self.core.run(self.options)?;
        for (param, argument) in self.signature.params.iter().zip(arguments) {
            if let Argument::Array { address, shape } = *argument
                && param.array.as_ref().is_some_and(|array| !array.is_const)
            {
                let bytes = shape.iter().product::<u64>() * u64::from(param.ty.bytes());
                self.core.fetch(address as u32, bytes as u32);
            }
        }
        Ok(self.signature.result.is_some().then_some(result))
    }

    fn read(&self, address: u64, bytes: u64) -> Vec<u8> {
        self.core.read(address as u32, bytes as u32).unwrap_or_default().to_vec()
    }
}

/// Calls the function of a program on arguments that are bound to its signature.
///
/// # Errors
/// What ended the call early.
///
/// # Panics
/// The program has no signature.
pub fn call(
    program: &CoreProgram,
    arguments: &Bound,
    options: &mut Options<'_>,
) -> Result<Ran, Fault> {
    let signature = program.signature.as_ref().expect("a program with a signature");
    // Said before anything is copied that has no room.
    let most = program.machine.memory_bytes();
    if arguments.arrays.iter().map(|array| array.bytes.len() as u64).sum::<u64>() > most {
        return Err(Fault::Full { bytes: most });
    }
    let core = Core::new(program)?;
    let all = signature.params.iter().enumerate();
    let arrays = all.filter(|(_, param)| param.array.is_some());
    let parameters = arrays.map(|(number, _)| number as u32).rev().collect();
    let mut called = Called { core, parameters, signature, options };
    let mut returned = function::call(&mut called, signature, arguments)?;
    if let (Some(bits), Some(ty)) = (&mut returned.result, signature.result) {
        *bits &= u64::MAX >> (64 - 8 * ty.bytes());
    }
    let Core { measures, arrays, host, trace, .. } = called.core;
    let stalled = measures.stalled(program);
    let costs: Vec<Cost> = measures
        .issued
        .iter()
        .zip(stalled)
        .map(|(&issued, stalled)| Cost { issued, stalled })
        .collect();
    let mut profile = Profile::new(&program.code, &costs);
    // What arrays do is on the lines of their operations, beside what the core does there.
    let contexts = program.packages.iter().zip(&arrays.packages).flat_map(|(package, measured)| {
        package.contexts.iter().zip(&measured.ran).map(|(placed, runs)| (placed.line, *runs))
    });
    profile.add_operations(&program.code.lines.files, contexts);
    Ok(Ran {
        returned,
        instructions: measures.instructions(),
        statistics: collect(program, &measures, &arrays, &host),
        profile,
        trace,
    })
}
