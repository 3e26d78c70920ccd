//! Variables as data objects of the IR.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use nbcc_base::{Diagnostic, Diagnostics};
use nbcc_ir::{DataObject, Func, Module, Object, Relocation, RelocationTarget, Space};

use crate::ast::{Linkage, ScalarType, StateSpace};
use crate::check::codes;
use crate::resolved::{self, FunctionId, Resolved, Variable, VariableId};

/// The object of each variable that has one.
pub type Objects = SecondaryMap<VariableId, PackedOption<Object>>;

fn space_of(variable: &Variable) -> Option<Space> {
    let opaque = matches!(
        variable.scalar,
        ScalarType::Texref | ScalarType::Samplerref | ScalarType::Surfref
    );
    match variable.space {
        _ if opaque => None,
        StateSpace::Global => Some(Space::Global),
        StateSpace::Const => Some(Space::Const),
        StateSpace::Shared => Some(Space::Shared),
        StateSpace::Local => Some(Space::Local),
        StateSpace::Reg | StateSpace::Param | StateSpace::Tex => None,
    }
}

/// Makes an object of every variable in memory. `used` tells of variables declared elsewhere
/// whether anything refers to them: then there is nothing to link with.
pub fn make(
    module: &Resolved<'_>,
    used: &SecondaryMap<VariableId, bool>,
    functions: &SecondaryMap<FunctionId, PackedOption<Func>>,
    ir: &mut Module,
    diagnostics: &mut Diagnostics,
) -> Objects {
    let mut objects = Objects::new();
    let mut names = Names::default();
    for (id, variable) in &module.variables {
        let Some(space) = space_of(variable) else { continue };
        let dynamic = variable.space == StateSpace::Shared && variable.bytes.is_none();
        if variable.linkage == Linkage::Extern && !dynamic {
            // Shared variables declared elsewhere with a size are as good as defined.
            if variable.space != StateSpace::Shared {
                if used[id] {
                    let name = module.names.text(variable.name);
                    diagnostics.push(
                        Diagnostic::error(
                            &codes::CALLEE,
                            format!("the variable `{name}` is defined nowhere"),
                        )
                        .at(variable.span, "declared here")
                        .help("define it in this file; there is no linking"),
                    );
                }
                continue;
            }
        }
        let function = variable.function.map(|f| module.names.text(module.functions[f].name));
        let object = ir.objects.push(DataObject {
            name: names.unique(module.names.text(variable.name), function),
            space,
            align: variable.align.max(1),
            size: variable.bytes.unwrap_or(0),
            dynamic,
            bytes: variable.initial.as_ref().map_or(Vec::new(), |i| i.bytes.clone()),
            relocations: Vec::new(),
        });
        objects[id] = Some(object).into();
    }
    for (id, variable) in &module.variables {
        let (Some(object), Some(initial)) = (objects[id].expand(), &variable.initial) else {
            continue;
        };
        for relocation in &initial.relocations {
            match relocate(module, relocation, &objects, functions) {
                Some(relocation) => ir.objects[object].relocations.push(relocation),
                None => diagnostics.push(
                    Diagnostic::error(
                        &codes::TARGET,
                        format!(
                            "the initial contents of `{}` refer to what is defined nowhere",
                            module.names.text(variable.name)
                        ),
                    )
                    .at(variable.span, "initialised here")
                    .help("define what it refers to in this file"),
                ),
            }
        }
    }
    objects
}

fn relocate(
    module: &Resolved<'_>,
    relocation: &resolved::Relocation,
    objects: &Objects,
    functions: &SecondaryMap<FunctionId, PackedOption<Func>>,
) -> Option<Relocation> {
    let target = match relocation.target {
        resolved::RelocationTarget::Variable(variable) => {
            let object = objects[variable].expand()?;
            if relocation.generic {
                RelocationTarget::Generic(object)
            } else {
                RelocationTarget::Object(object)
            }
        }
        resolved::RelocationTarget::Function(function) => {
            let real = module.functions[function].alias.unwrap_or(function);
            RelocationTarget::Function(functions[real].expand()?)
        }
    };
    Some(Relocation {
        offset: relocation.offset,
        width: relocation.width as u8,
        shift: relocation.shift.min(63) as u8,
        target,
        addend: relocation.addend,
    })
}

/// Gives out names that are not taken.
#[derive(Debug, Default)]
pub struct Names {
    taken: BTreeMap<String, u32>,
}

impl Names {
    /// The name itself, or with the function that it belongs to, or with a number.
    pub fn unique(&mut self, name: &str, function: Option<&str>) -> String {
        let mut candidate = name.to_string();
        if self.taken.contains_key(&candidate) {
            if let Some(function) = function {
                candidate = format!("{function}.{name}");
            }
            while let Some(count) = self.taken.get_mut(&candidate) {
                *count += 1;
                candidate = format!("{candidate}.{count}");
            }
        }
        self.taken.insert(candidate.clone(), 0);
        candidate
    }
}
