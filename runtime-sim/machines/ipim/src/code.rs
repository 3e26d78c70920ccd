//! The program as control cores run it: decoded once, shared by all vaults.

use nbcc_isa_ipim::{Coordinate, Inst, Program};

use crate::decode::decode;
use crate::fault::FaultKind;

/// An instruction ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// An instruction that the machine has.
    Run(Inst<u8>),
    /// `seti_crf` of a coordinate of the vault.
    Place {
        /// The CtrlRF entry.
        dst: u8,
        /// What it is set to.
        coordinate: Coordinate,
    },
    /// An instruction whose execution is a fault.
    Fault(FaultKind),
}

/// A program decoded for a machine.
#[derive(Clone, Debug)]
pub struct Code {
    /// One an instruction.
    pub steps: Vec<Step>,
}

impl Code {
    /// Decodes the text of a program for its machine. Patches of the prologue that
    /// stand at no `seti_crf` are left alone.
    pub fn new(program: &Program) -> Code {
        let mut steps: Vec<Step> = program
            .code
            .text
            .iter()
            .map(|inst| match decode(inst, &program.machine) {
                Ok(inst) => Step::Run(inst),
                Err(fault) => Step::Fault(fault),
            })
            .collect();
        for patch in &program.prologue {
            if let Some(step) = steps.get_mut(patch.index as usize)
                && let Step::Run(Inst::SetiCrf { dst, .. }) = step
            {
                *step = Step::Place { dst: *dst, coordinate: patch.coordinate };
            }
        }
        Code { steps }
    }

    /// Instructions of the program.
    pub fn len(&self) -> u32 {
        self.steps.len() as u32
    }

    /// Whether the program has no instruction.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}
