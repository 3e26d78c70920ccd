//! What is made of a module before its functions are lowered.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use nbcc_ir::Func;

use super::callgraph::{self, Candidates};
use super::objects::Objects;
use crate::check::Forms;
use crate::resolved::{FunctionId, Resolved, TableId};

/// What lowering a function needs to know of the module.
pub struct Plan<'a> {
    /// The module.
    pub module: &'a Resolved<'a>,
    /// What its instructions are.
    pub forms: &'a Forms,
    /// The IR functions of those that have bodies.
    pub functions: SecondaryMap<FunctionId, PackedOption<Func>>,
    /// The objects of its variables.
    pub objects: Objects,
    /// The functions that calls through pointers may mean.
    pub candidates: Candidates,
    /// The number of the first object that a function adds for itself.
    pub first_own_object: u32,
}

impl Plan<'_> {
    /// The IR function of a function, or of that of which it is an alias.
    pub fn function(&self, function: FunctionId) -> Option<Func> {
        self.functions[callgraph::real(self.module, function)].expand()
    }

    /// The functions that calls through pointers with that table may mean.
    pub fn candidates(&self, function: FunctionId, table: TableId) -> Vec<FunctionId> {
        self.candidates.get(&(function, table)).cloned().unwrap_or_default()
    }
}
