//! The program as control cores run it: decoded once, shared by all vaults.

use nbcc_isa_ipim::{Inst, Machine, PhysReg};

use crate::decode::decode;
use crate::fault::FaultKind;

/// A place of a vault in the machine that the loader patches into its prologue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinate {
    /// Number of the cube.
    Chip,
    /// Number of the vault in its cube.
    Vault,
    /// Column of the vault in the whole machine, cubes side by side.
    Column,
    /// Row of the vault in the whole machine.
    Row,
}

impl Coordinate {
    /// Its value in a vault, by the vault's global number.
    pub fn of(self, vault: u32, machine: &Machine) -> u32 {
        let h = &machine.hierarchy;
        let (chip, vault) = (vault / h.vaults, vault % h.vaults);
        let [columns, rows] = machine.vault_mesh();
        match self {
            Coordinate::Chip => chip,
            Coordinate::Vault => vault,
            Coordinate::Column => chip % h.cube_columns * columns + vault % columns,
            Coordinate::Row => chip / h.cube_columns * rows + vault / columns,
        }
    }
}

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
    /// Decodes `text`. `prologue` names instructions by index and the coordinate that
    /// each of them is to set; those that are no `seti_crf` are left alone.
    pub fn new(text: &[Inst<PhysReg>], prologue: &[(u32, Coordinate)], machine: &Machine) -> Code {
        let mut steps: Vec<Step> = text
            .iter()
            .map(|inst| match decode(inst, machine) {
                Ok(inst) => Step::Run(inst),
                Err(fault) => Step::Fault(fault),
            })
            .collect();
        for (index, coordinate) in prologue {
            if let Some(step) = steps.get_mut(*index as usize)
                && let Step::Run(Inst::SetiCrf { dst, .. }) = step
            {
                *step = Step::Place { dst: *dst, coordinate: *coordinate };
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
