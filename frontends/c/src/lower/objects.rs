//! Where variables live: in values, or in memory objects.

use nbcc_ir::{DataObject, Extent, MemData, Space, Storage, Type};

use super::build::ir_type;
use super::state::{Lower, Object, Offset, Pointer, PointerVars, Promise, Variable, Which};
use crate::types::{Int, Kind, Layout, Len, Ty};

/// Who holds a new object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// The function.
    Function,
    /// The module, with these contents.
    Module { is_const: bool },
}

impl Lower<'_> {
    /// A name that no memory object has yet.
    pub(super) fn mem_name(&mut self, name: &str) -> String {
        let name = if name.is_empty() { "tmp" } else { name };
        let count = self.mem_names.entry(name.to_string()).or_insert(0);
        *count += 1;
        let (number, first) = (*count, *count == 1);
        let unique = if first { name.to_string() } else { format!("{name}.{number}") };
        if !first {
            return self.mem_name(&unique);
        }
        unique
    }

    pub(super) fn add_mem(&mut self, data: MemData) -> u32 {
        let mem = self.func.mems.push(data);
        self.objects.push(Object::Memory(mem));
        self.objects.len() as u32 - 1
    }

    /// Whether nothing may be stored to an object because it is a text.
    pub(super) fn is_text(&self, number: u32) -> bool {
        matches!(self.objects.get(number as usize), Some(Object::Text(_)))
    }

    /// Makes the objects of a type, `count` of it one behind the other; the number of the first.
    pub(super) fn allocate(&mut self, ty: Ty, name: &str, count: u64, holder: Holder) -> u32 {
        match self.types.layout(ty) {
            Layout::Uniform(int, leaves) => {
                let extent = u32::try_from(leaves.saturating_mul(count)).unwrap_or(u32::MAX >> 1);
                let name = self.mem_name(name);
                let element = ir_type(int).scalar;
                let mut data = MemData {
                    extents: vec![Extent::Fixed(extent.max(1))],
                    ..MemData::new(name.clone(), element, &[], Space::Local)
                };
                if let Holder::Module { is_const } = holder {
                    let space = if is_const { Space::Const } else { Space::Global };
                    let object = self.module.objects.push(DataObject {
                        name: format!("{}.{name}", self.func.name),
                        space,
                        align: int.bits() / 8,
                        size: u64::from(extent.max(1)) * u64::from(int.bits() / 8),
                        dynamic: false,
                        bytes: Vec::new(),
                        relocations: Vec::new(),
                    });
                    data.space = space;
                    data.storage = Storage::Object(object);
                }
                let number = self.add_mem(data);
                if self.written.is_some() && holder == Holder::Function {
                    self.track(number);
                }
                number
            }
            Layout::Mixed => match self.types.kind(ty) {
                Kind::Array(of, len) => {
                    let own = if let Len::Fixed(own) = len { own } else { 1 };
                    self.allocate(of.ty, name, count.saturating_mul(own), holder)
                }
                _ => {
                    self.objects.push(Object::Group);
                    let number = self.objects.len() as u32 - 1;
                    for (field, of) in self.fields(ty) {
                        self.allocate(of, &format!("{name}.{field}"), count, holder);
                    }
                    number
                }
            },
        }
    }

    /// The members of a structure with their names.
    pub(super) fn fields(&self, ty: Ty) -> Vec<(String, Ty)> {
        let members = self.types.members(ty).unwrap_or_default();
        let name = |(number, member): (usize, &crate::types::Member)| {
            let name = member.name.map(|name| self.names.text(name).to_string());
            (name.unwrap_or_else(|| number.to_string()), member.of.ty)
        };
        members.iter().enumerate().map(name).collect()
    }

    /// How many numbers the objects of a type take.
    pub(super) fn numbers_of(&self, ty: Ty) -> u32 {
        self.types.sums(ty).objects as u32
    }

    /// A pointer to a member of the structure that a pointer points to.
    pub(super) fn member_of(&mut self, pointer: Pointer, ty: Ty, number: usize) -> Pointer {
        let members: Vec<Ty> =
            self.types.members(ty).unwrap_or_default().iter().map(|member| member.of.ty).collect();
        let before = &members[..number.min(members.len())];
        match self.types.layout(ty) {
            Layout::Uniform(..) => {
                let leaves: u64 = before.iter().map(|&ty| self.types.leaves(ty)).sum();
                let constant = pointer.at.constant + leaves as i64;
                Pointer { at: Offset { constant, ..pointer.at }, ..pointer }
            }
            Layout::Mixed => {
                let delta = 1 + before.iter().map(|&ty| self.numbers_of(ty)).sum::<u32>();
                let object = match pointer.object {
                    Which::Known(0) => Which::Known(0),
                    Which::Known(number) => Which::Known(number + delta),
                    Which::Value(value) => {
                        // Null stays null.
                        let zero = self.i32(0);
                        let is_null = self.compare(nbcc_ir::IntCond::Eq, value, zero);
                        let delta = self.i32(delta.into());
                        let moved = self.binary(nbcc_ir::BinaryOp::Iadd, value, delta);
                        Which::Value(self.select(is_null, zero, moved))
                    }
                };
                let inner = members[number];
                let unit = self.unit(inner);
                let at = self.scaled(pointer.at, unit);
                Pointer { object, at, ..pointer }
            }
        }
    }

    /// By how much a pointer to a type moves in its object from one value to the next: scalars, or
    /// values where the scalars lie in several objects. Extents that are variables are left out.
    pub(super) fn unit(&self, ty: Ty) -> u64 {
        match (self.types.layout(ty), self.types.kind(ty)) {
            (Layout::Uniform(_, leaves), _) => leaves,
            (_, Kind::Array(of, Len::Fixed(count))) => self.unit(of.ty).saturating_mul(count),
            (_, Kind::Array(of, _)) => self.unit(of.ty),
            _ => 1,
        }
    }

    /// The same as a number, with the extents that are variables.
    pub(super) fn stride(&mut self, ty: Ty) -> Offset {
        let constant = self.unit(ty).min(1 << 40) as i64;
        let mut stride = Offset { value: None, constant };
        let mut inner = ty;
        while let Kind::Array(of, len) = self.types.kind(inner) {
            if let Len::Var(local) = len {
                let count = self.extent_value(local);
                stride = match stride {
                    Offset { value: None, constant: 1 } => {
                        Offset { value: Some(count), constant: 0 }
                    }
                    Offset { value: None, constant } => {
                        let factor = self.i32(constant);
                        let product = self.binary(nbcc_ir::BinaryOp::Imul, count, factor);
                        Offset { value: Some(product), constant: 0 }
                    }
                    Offset { value: Some(value), .. } => {
                        let product = self.binary(nbcc_ir::BinaryOp::Imul, value, count);
                        Offset { value: Some(product), constant: 0 }
                    }
                };
            }
            inner = of.ty;
        }
        stride
    }

    /// Makes a variable.
    pub(super) fn make_variable(&mut self, ty: Ty, in_memory: bool, name: &str) -> Variable {
        if in_memory {
            return Variable::Memory(self.allocate(ty, name, 1, Holder::Function));
        }
        if self.types.is_pointer(ty) {
            return Variable::Pointer(self.pointer_vars(None));
        }
        let mut all = Vec::new();
        self.scalars(ty, &mut all);
        Variable::Values(all.into_iter().map(|int| self.ssa.variable(ir_type(int))).collect())
    }

    /// Makes the values of a pointer.
    pub(super) fn pointer_vars(&mut self, promise: Option<Promise>) -> PointerVars {
        let [object, at] = [(); 2].map(|()| self.ssa.variable(Type::I32));
        let origin = self.promises.is_some().then(|| self.ssa.variable(Type::I32));
        PointerVars { object, at, origin, promise }
    }

    /// The types of the scalars of a type without large arrays.
    pub(super) fn scalars(&self, ty: Ty, all: &mut Vec<Int>) {
        match self.types.kind(ty) {
            Kind::Struct(_) => {
                for member in self.types.members(ty).unwrap_or_default() {
                    self.scalars(member.of.ty, all);
                }
            }
            Kind::Array(of, Len::Fixed(count)) => {
                for _ in 0..count {
                    self.scalars(of.ty, all);
                }
            }
            _ => all.extend(self.types.as_int(ty)),
        }
    }

    /// A pointer to the scalar of that number of a value that a pointer points to, and its type.
    pub(super) fn scalar_at(&mut self, pointer: Pointer, ty: Ty, leaf: u64) -> (Pointer, Int) {
        match self.types.layout(ty) {
            Layout::Uniform(int, _) => {
                let constant = pointer.at.constant + leaf as i64;
                (Pointer { at: Offset { constant, ..pointer.at }, ..pointer }, int)
            }
            Layout::Mixed => match self.types.kind(ty) {
                Kind::Array(of, _) => {
                    let each = self.types.leaves(of.ty).max(1);
                    let unit = self.unit(of.ty) as i64;
                    let constant = pointer.at.constant + (leaf / each) as i64 * unit;
                    let inner = Pointer { at: Offset { constant, ..pointer.at }, ..pointer };
                    self.scalar_at(inner, of.ty, leaf % each)
                }
                _ => {
                    let members: Vec<Ty> = self.fields(ty).into_iter().map(|(_, ty)| ty).collect();
                    let mut leaf = leaf;
                    for (number, &member) in members.iter().enumerate() {
                        let leaves = self.types.leaves(member);
                        if leaf < leaves {
                            let inner = self.member_of(pointer, ty, number);
                            return self.scalar_at(inner, member, leaf);
                        }
                        leaf -= leaves;
                    }
                    (pointer, Int::Int)
                }
            },
        }
    }
}
