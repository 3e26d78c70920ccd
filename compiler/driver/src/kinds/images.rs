//! Image pipelines: from images by name to images in order.

use std::collections::BTreeMap;

use nbcc_isa::LoadError;
use nbcc_stages::{ElementType, Image};

use super::{Measured, RunError, RunOptions};

/// Runs image pipelines.
pub struct ImageRunner {
    /// What a binary says of itself.
    pub describe: fn(&[u8]) -> Result<ImageProgram, LoadError>,
    /// Runs a binary on its machine.
    pub run: fn(&[u8], ImageRequest<'_>) -> Result<ImageRan, RunError>,
}

/// What a binary says of itself.
#[derive(Clone, Debug)]
pub struct ImageProgram {
    /// The name of the machine that it was compiled for.
    pub machine: String,
    /// Its inputs, with their extents.
    pub inputs: Vec<InputSpec>,
    /// Its outputs, in their order.
    pub outputs: Vec<OutputSpec>,
    /// Its scalar parameters.
    pub params: Vec<ParamSpec>,
}

/// What a program says of an input.
#[derive(Clone, Debug)]
pub struct InputSpec {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub ty: ElementType,
    /// How many dimensions it has.
    pub dims: u32,
    /// Its extents, where the program is already compiled for them.
    pub extent: Option<Vec<u32>>,
}

/// What a program says of an output.
#[derive(Clone, Debug)]
pub struct OutputSpec {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub ty: ElementType,
    /// How many dimensions it has.
    pub dims: usize,
}

/// A scalar parameter of a binary.
#[derive(Clone, Debug)]
pub struct ParamSpec {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: ElementType,
    /// Whether a value must be given.
    pub is_required: bool,
}

/// A run.
pub struct ImageRequest<'a> {
    /// The inputs, all that the program reads; others are ignored.
    pub inputs: BTreeMap<String, Image>,
    /// Words of the scalar parameters that are set; those that the program lacks are ignored.
    pub params: BTreeMap<String, u32>,
    /// How.
    pub options: RunOptions<'a>,
}

/// What a run leaves behind.
#[derive(Debug)]
pub struct ImageRan {
    /// The outputs, in the order of [`ImageProgram::outputs`].
    pub outputs: Vec<Image>,
    /// What is known of the run.
    pub measured: Measured,
}
