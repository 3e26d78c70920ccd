//! Spaces of memory.

use nbcc_ir::Space;
use nbcc_isa_simt::operands;

/// The machine's name of a space.
pub fn space(space: Space) -> operands::Space {
    match space {
        Space::Generic => operands::Space::Generic,
        Space::Global => operands::Space::Global,
        Space::Shared => operands::Space::Shared,
        Space::Local => operands::Space::Local,
        Space::Const => operands::Space::Const,
        Space::Param => operands::Space::Param,
    }
}
