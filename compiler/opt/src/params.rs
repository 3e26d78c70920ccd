//! Removal of block parameters that stand for one value: every edge gives that value, or the
//! parameter itself (Braun et al., "Simple and Efficient Construction of Static Single Assignment
//! Form", CC 2013, section 3.1).

use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;
use nbcc_ir::{Cfg, Function, Replacements, Value, ValueDef};

/// Replaces such parameters by their value.
pub fn run(func: &mut Function) -> bool {
    let cfg = Cfg::new(func);
    // The arguments for each parameter, and the parameters each value is an argument for.
    let mut args: SecondaryMap<Value, Vec<Value>> = SecondaryMap::new();
    let mut feeds: SecondaryMap<Value, Vec<Value>> = SecondaryMap::new();
    let mut work = BTreeSet::new();
    for block in cfg.reverse_postorder() {
        for to in func.terminator(block).successors() {
            for (&arg, &param) in to.args.iter().zip(&func.blocks[to.block].params) {
                args[param].push(arg);
                feeds[arg].push(param);
                work.insert(param);
            }
        }
    }
    let mut replacements = Replacements::new();
    let mut removed: SecondaryMap<Value, bool> = SecondaryMap::new();
    while let Some(param) = work.pop_first() {
        if removed[param] {
            continue;
        }
        debug_assert!(matches!(func.values[param].def, ValueDef::Param(..)));
        let mut only = None;
        let mut differ = false;
        for arg in &mut args[param] {
            *arg = replacements.resolve(*arg);
            if *arg != param {
                differ |= only.is_some_and(|value| value != *arg);
                only = Some(*arg);
            }
        }
        let Some(value) = only.filter(|_| !differ) else { continue };
        replacements.replace(param, value);
        removed[param] = true;
        // What took the parameter now takes the value: it may have become trivial.
        let fed = std::mem::take(&mut feeds[param]);
        work.extend(fed.iter().filter(|&&p| !removed[p]));
        feeds[value].extend(fed);
    }
    if replacements.is_empty() {
        return false;
    }
    replacements.apply(func);
    func.remove_params(|param| removed[param]);
    true
}
