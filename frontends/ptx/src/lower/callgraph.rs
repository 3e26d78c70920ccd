//! Who calls whom: recursion is refused here, and calls through pointers get the functions that
//! they may mean.
//!
//! A pointer may mean any function whose address is taken somewhere and that takes and gives the
//! same as the prototype of the call. Functions that would lead back to the caller are left out: a
//! call that goes there at run time ends in a trap.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use cranelift_entity::SecondaryMap;
use nbcc_base::{Diagnostic, Diagnostics, Failed, Span};

use super::passing::alike;
use crate::check::codes;
use crate::resolved::{
    AddressBase, Body, BodyItem, Callee, FunctionId, Operand, OperandKind, RelocationTarget,
    Resolved, TableId, TableKind, Variable, VariableId,
};

/// The functions that the calls through pointers with a table may mean.
pub type Candidates = BTreeMap<(FunctionId, TableId), Vec<FunctionId>>;

/// More calls of possible functions than this, or more work to find them, make a module too large.
const EDGES: usize = 1 << 20;
const WORK: usize = 1 << 29;

/// What a module refers to.
#[derive(Debug, Default)]
pub struct References {
    /// Variables that code or initial contents name.
    pub variables: SecondaryMap<VariableId, bool>,
    /// Functions whose address is taken.
    pub functions: SecondaryMap<FunctionId, bool>,
}

impl References {
    /// Reads a module.
    pub fn new(module: &Resolved<'_>) -> References {
        let mut references = References::default();
        for variable in module.variables.values() {
            for relocation in variable.initial.iter().flat_map(|i| &i.relocations) {
                match relocation.target {
                    RelocationTarget::Variable(to) => references.variables[to] = true,
                    RelocationTarget::Function(to) => {
                        references.functions[real(module, to)] = true;
                    }
                }
            }
        }
        for function in module.functions.values() {
            for item in function.body.iter().flat_map(|body| &body.items) {
                match item {
                    BodyItem::Instruction(inst) => references.operands(module, &inst.operands),
                    BodyItem::Call(call) => {
                        references.operands(module, &call.arguments);
                        references.operands(module, &call.returns);
                    }
                    BodyItem::Label(_) => {}
                }
            }
        }
        references
    }

    fn operands(&mut self, module: &Resolved<'_>, operands: &[Operand]) {
        for operand in operands {
            match &operand.kind {
                OperandKind::Variable(variable, _)
                | OperandKind::Address(AddressBase::Variable(variable), _) => {
                    self.variables[*variable] = true;
                }
                OperandKind::Function(function) => self.functions[real(module, *function)] = true,
                OperandKind::Vector(elements) => {
                    for element in elements {
                        match &element.kind {
                            OperandKind::Variable(variable, _) => self.variables[*variable] = true,
                            OperandKind::Function(function) => {
                                self.functions[real(module, *function)] = true;
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// The function that has the body: that of which another one is an alias.
pub fn real(module: &Resolved<'_>, function: FunctionId) -> FunctionId {
    module.functions[function].alias.unwrap_or(function)
}

struct Graph {
    edges: SecondaryMap<FunctionId, Vec<(FunctionId, Span)>>,
    count: usize,
}

/// Refuses recursion; the functions that calls through pointers may mean.
pub fn analyse(
    module: &Resolved<'_>,
    references: &References,
    diagnostics: &mut Diagnostics,
) -> Result<Candidates, Failed> {
    let mut graph = Graph { edges: SecondaryMap::new(), count: 0 };
    for (id, function) in &module.functions {
        let Some(body) = &function.body else { continue };
        for item in &body.items {
            if let BodyItem::Call(call) = item
                && let Callee::Function(callee) = call.callee
            {
                graph.add(id, real(module, callee), call.span);
            }
        }
    }
    recursion(module, &graph, diagnostics)?;
    let mut candidates = Candidates::new();
    let (mut calls, mut work) = (0, 0);
    for (id, function) in &module.functions {
        let Some(body) = &function.body else { continue };
        let mut callers = None;
        for item in &body.items {
            let BodyItem::Call(call) = item else { continue };
            let Callee::Register(_, table) = call.callee else { continue };
            if let Entry::Vacant(vacant) = candidates.entry((id, table)) {
                // Whoever reaches this function would close a cycle.
                let callers = callers.get_or_insert_with(|| graph.reaching(module, id));
                let mut list = possible(module, body, table, references);
                list.retain(|&to| !callers[to]);
                for &to in &list {
                    graph.add(id, to, call.span);
                }
                vacant.insert(list);
                work += module.functions.len() + graph.count;
            }
            calls += candidates[&(id, table)].len();
            if calls > EDGES || work > WORK {
                return diagnostics.fail(
                    Diagnostic::error(
                        &codes::TOO_LARGE,
                        "too many functions may be called through pointers",
                    )
                    .at(call.span, "one of these calls")
                    .help("name the functions that the call may reach in a `.calltargets`"),
                );
            }
        }
    }
    Ok(candidates)
}

impl Graph {
    fn add(&mut self, from: FunctionId, to: FunctionId, span: Span) {
        self.edges[from].push((to, span));
        self.count += 1;
    }

    /// The functions from which calls lead to one, itself included.
    fn reaching(&self, module: &Resolved<'_>, to: FunctionId) -> SecondaryMap<FunctionId, bool> {
        let mut callers: SecondaryMap<FunctionId, Vec<FunctionId>> = SecondaryMap::new();
        for from in module.functions.keys() {
            for &(callee, _) in &self.edges[from] {
                callers[callee].push(from);
            }
        }
        let mut found = SecondaryMap::new();
        found[to] = true;
        let mut stack = vec![to];
        while let Some(function) = stack.pop() {
            for &caller in &callers[function] {
                if !std::mem::replace(&mut found[caller], true) {
                    stack.push(caller);
                }
            }
        }
        found
    }
}

fn possible(
    module: &Resolved<'_>,
    body: &Body,
    table: TableId,
    references: &References,
) -> Vec<FunctionId> {
    let variable = |&id: &VariableId| &module.variables[id];
    match &body.tables[table].kind {
        TableKind::CallTargets(list) => {
            let mut list: Vec<FunctionId> = list.iter().map(|&(f, _)| real(module, f)).collect();
            list.sort_unstable();
            list.dedup();
            list.retain(|&f| module.functions[f].body.is_some());
            list
        }
        TableKind::Prototype { returns, params, .. } => {
            let returns: Vec<&Variable> = returns.iter().map(variable).collect();
            let params: Vec<&Variable> = params.iter().map(variable).collect();
            let fits = |id: &FunctionId| {
                let function = &module.functions[*id];
                let list = |parameters: &[crate::resolved::Parameter]| {
                    parameters.iter().map(|p| variable(&p.variable())).collect::<Vec<_>>()
                };
                references.functions[*id]
                    && !function.entry
                    && function.body.is_some()
                    && alike(&list(&function.returns), &returns)
                    && alike(&list(&function.params), &params)
            };
            module.functions.keys().filter(fits).collect()
        }
        TableKind::BranchTargets(_) => Vec::new(),
    }
}

/// Depth-first search for a call that leads back to a function that is being called.
fn recursion(
    module: &Resolved<'_>,
    graph: &Graph,
    diagnostics: &mut Diagnostics,
) -> Result<(), Failed> {
    #[derive(Clone, Copy, Default, PartialEq)]
    enum State {
        #[default]
        New,
        Open,
        Done,
    }
    let mut state: SecondaryMap<FunctionId, State> = SecondaryMap::new();
    for start in module.functions.keys() {
        if state[start] != State::New {
            continue;
        }
        state[start] = State::Open;
        let mut path = vec![(start, 0)];
        while let Some((function, next)) = path.last_mut() {
            let function = *function;
            let Some(&(to, span)) = graph.edges[function].get(*next) else {
                state[function] = State::Done;
                path.pop();
                continue;
            };
            *next += 1;
            match state[to] {
                State::New => {
                    state[to] = State::Open;
                    path.push((to, 0));
                }
                State::Open => {
                    let from = path.iter().position(|&(f, _)| f == to).unwrap_or(0);
                    let name = |f: FunctionId| module.names.text(module.functions[f].name);
                    let mut cycle: Vec<String> =
                        path[from..].iter().map(|&(f, _)| format!("`{}`", name(f))).collect();
                    cycle.push(format!("`{}`", name(to)));
                    if cycle.len() > 12 {
                        cycle.splice(6..cycle.len() - 5, ["...".to_string()]);
                    }
                    return diagnostics.fail(
                        Diagnostic::error(
                            &codes::RECURSION,
                            format!("recursion: {}", cycle.join(" calls ")),
                        )
                        .at(span, format!("this calls `{}` again", name(to)))
                        .help("write a loop, with a stack in local memory where one is needed"),
                    );
                }
                State::Done => {}
            }
        }
    }
    Ok(())
}
