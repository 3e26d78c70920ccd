//! The check of a placement: every value has a place, and every use can take its operand there.

use nbcc_ir::{Function, VerifierError};

use crate::moves::{Use, uses};
use crate::{Place, Placement};

/// Checks a placement of a verified function. `allowed` says whether a use can take its operand
/// from a place; a target that moves values for their users allows every place. `result` says
/// whether an instruction can leave a result at a place. An empty list means that all is well.
pub fn verify_placement<P: Place>(
    func: &Function,
    placement: &Placement<P>,
    allowed: impl Fn(Use, P) -> bool,
    result: impl Fn(nbcc_ir::Inst, P) -> bool,
) -> Vec<VerifierError> {
    let mut errors = Vec::new();
    let mut error = |entity: String, message: String| {
        errors.push(VerifierError { function: func.name.clone(), entity, message });
    };
    for &block in &func.layout {
        let data = &func.blocks[block];
        for &param in &data.params {
            if placement.get(param).is_none() {
                error(param.to_string(), "has no place".to_string());
            }
        }
        for &inst in &data.insts {
            for &value in &func.insts[inst].results {
                match placement.get(value) {
                    None => error(value.to_string(), "has no place".to_string()),
                    Some(place) if !result(inst, place) => {
                        error(value.to_string(), format!("cannot be made at {place}"));
                    }
                    Some(_) => {}
                }
            }
        }
    }
    for site in uses(func) {
        let Some(place) = placement.get(site.value) else { continue };
        if allowed(site.by, place) {
            continue;
        }
        let entity = match site.by {
            Use::Operand(inst, _) => match func.result(inst) {
                Some(value) => value.to_string(),
                None => inst.to_string(),
            },
            Use::Terminator(block, _) => block.to_string(),
            Use::Argument(_, param) => param.to_string(),
        };
        error(entity, format!("cannot take {} from {place}", site.value));
    }
    errors
}
