//! What lowering knows of the function that it builds: variables, objects and pointers, the calls that
//! are inlined, and what checked programs keep beside them.

use std::collections::{BTreeMap, HashMap, HashSet};

use nbcc_base::{Diagnostics, Span};
use nbcc_ir::{Block, Function, Mem, Module, Value};

use super::ssa::{Ssa, Var};
use crate::names::{Name, Names};
use crate::sema::tree::Program;
use crate::types::Types;

/// A pointer: which object, and which scalar of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pointer {
    pub(super) object: Which,
    pub(super) at: Offset,
    /// Which promises it was made under, where these are checked and there may be any.
    pub(super) origin: Option<Value>,
}

/// Which object a pointer points into.
#[derive(Clone, Copy, Debug)]
pub(super) enum Which {
    /// The one of that number; 0 is null.
    Known(u32),
    /// What a value says.
    Value(Value),
}

/// A number of scalars: a value, if there is one, and a constant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Offset {
    pub(super) value: Option<Value>,
    pub(super) constant: i64,
}

/// The value of an expression.
#[derive(Clone, Debug)]
pub(super) enum Val {
    Void,
    Int(Value),
    Pointer(Pointer),
    /// The scalars of a structure.
    Parts(Vec<Value>),
    /// A structure in memory.
    At(Pointer),
}

/// What the number of an object stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    Null,
    /// A structure of several objects, whose numbers follow.
    Group,
    Memory(Mem),
    /// A text, to which nothing is stored.
    Text(Mem),
}

/// Where a variable lives.
#[derive(Clone, Debug)]
pub(super) enum Variable {
    /// An integer, or the scalars of a structure.
    Values(Vec<Var>),
    Pointer(PointerVars),
    /// In the objects from that number on.
    Memory(u32),
}

/// The values of a variable that is a pointer.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointerVars {
    pub(super) object: Var,
    /// The number of the scalar in it.
    pub(super) at: Var,
    /// Where promises are checked.
    pub(super) origin: Option<Var>,
    /// What it promises itself.
    pub(super) promise: Option<Promise>,
}

/// The truth values.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Of variables that were declared without a value.
    pub(super) variables: BTreeMap<Var, Var>,
    /// Of objects, by their numbers.
    pub(super) objects: BTreeMap<u32, Mem>,
}

/// The number of a promise.
pub(super) type Promise = u32;

/// What is known of promises.
#[derive(Debug, Default)]
pub(super) struct Promises {
    pub(super) count: u32,
    /// Those that hold here.
    pub(super) here: Vec<Promise>,
    /// Those of pointers of the file, which hold always, by their numbers.
    pub(super) of_file: Vec<(usize, Promise)>,
}

impl Promises {
    pub(super) fn add(&mut self) -> Promise {
        self.count += 1;
        self.count - 1
    }
}

/// A call that is inlined.
pub(super) struct Frame {
    /// Number of the function.
    pub(super) function: usize,
    /// Its variables; made when they are first met.
    pub(super) variables: Vec<Option<Variable>>,
    /// Where it goes on when it returns, and what the result is put into.
    pub(super) returns_to: Block,
    pub(super) result: Option<Variable>,
    /// Where `break` and `continue` lead.
    pub(super) breaks: Vec<Block>,
    pub(super) continues: Vec<Block>,
    /// The blocks of labels of cases.
    pub(super) labels: HashMap<u32, Block>,
    /// How many loops are around.
    pub(super) loops: u32,
}

/// The function that is built.
pub(super) struct Lower<'a> {
    pub(super) program: &'a Program,
    pub(super) types: &'a mut Types,
    pub(super) names: &'a Names,
    pub(super) diagnostics: &'a mut Diagnostics,
    pub(super) module: Module,
    pub(super) func: Function,
    pub(super) ssa: Ssa,
    pub(super) block: Block,
    pub(super) span: Option<Span>,
    pub(super) frames: Vec<Frame>,
    pub(super) globals: Vec<Option<Variable>>,
    /// The objects by their numbers; number 0 is null.
    pub(super) objects: Vec<Object>,
    /// Constants of the entry block that say which object a pointer points into.
    pub(super) numbers: HashMap<u32, Value>,
    pub(super) mem_names: HashMap<String, u32>,
    /// What was written to, where reads of what was not end the run.
    pub(super) written: Option<Written>,
    /// What `restrict` pointers promise, where that is checked.
    pub(super) promises: Option<Promises>,
    pub(super) too_large: bool,
    /// The loops that the module knows.
    pub(super) loops: HashSet<Span>,
    /// Names without a definition, or of functions without a value, that are reported.
    pub(super) refused: HashSet<Name>,
}

impl<'a> Lower<'a> {
    /// At the entry of an empty function.
    pub(super) fn new(
        program: &'a Program,
        func: Function,
        checked: bool,
        types: &'a mut Types,
        names: &'a Names,
        diagnostics: &'a mut Diagnostics,
    ) -> Lower<'a> {
        Lower {
            program,
            types,
            names,
            diagnostics,
            module: Module::default(),
            block: func.entry(),
            func,
            ssa: Ssa::default(),
            span: None,
            frames: Vec::new(),
            globals: program.globals.iter().map(|_| None).collect(),
            objects: vec![Object::Null],
            numbers: HashMap::new(),
            mem_names: HashMap::new(),
            written: checked.then(Written::default),
            promises: checked.then(Promises::default),
            too_large: false,
            loops: HashSet::new(),
            refused: HashSet::new(),
        }
    }

    /// The memory object of a number; `None` for null and for numbers of whole structures.
    pub(super) fn mem_of(&self, number: u32) -> Option<Mem> {
        match self.objects.get(number as usize) {
            Some(Object::Memory(mem) | Object::Text(mem)) => Some(*mem),
            _ => None,
        }
    }

    /// The call at hand.
    pub(super) fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a function is lowered")
    }
}
