//! Rewriting a function instruction by instruction, in place.

use nbcc_ir::{Builder, Function, Inst, Op, Replacements, Value};

/// What becomes of an instruction.
pub enum Rewrite {
    /// It stays.
    Keep,
    /// It goes; its result is this value.
    Replace(Value),
    /// It goes and had no result.
    Remove,
}

/// Offers every instruction of every block, in layout order, to `rewrite`, which may append other
/// instructions in its place through the builder.
pub fn rewrite(
    func: &mut Function,
    mut rewrite: impl FnMut(&mut Builder<'_>, Inst, &Op) -> Rewrite,
) {
    let mut replacements = Replacements::new();
    for block in func.layout.clone() {
        let insts = std::mem::take(&mut func.blocks[block].insts);
        for inst in insts {
            let op = func.insts[inst].op.clone().map_args(|v| replacements.resolve(v));
            let span = func.insts[inst].span;
            let mut b = Builder::at(func, block);
            b.set_span(span);
            match rewrite(&mut b, inst, &op) {
                Rewrite::Keep => {
                    func.insts[inst].op = op;
                    func.blocks[block].insts.push(inst);
                }
                Rewrite::Replace(new) => {
                    let old = func.result(inst).unwrap_or_else(|| panic!("{inst} has no result"));
                    replacements.replace(old, new);
                }
                Rewrite::Remove => {}
            }
        }
    }
    replacements.apply(func);
}
