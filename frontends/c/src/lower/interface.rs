//! The function that hosts call: its parameters become those of the entry block and memory objects
//! that are given, its body is inlined.

use nbcc_base::extent::{ExtentExpr, Step};
use nbcc_base::member::{Component, Member};
use nbcc_base::{Diagnostic, Failed, Span};
use nbcc_ir::{
    ArrayParam, Extent, Interface, InterfaceParam, Mem, MemData, NumType, Space, Storage,
    Terminator, Type,
};

use super::build::ir_type;
use super::place::whole;
use super::state::{Lower, Object, Pointer, Val};
use crate::codes;
use crate::sema::tree::{Extent as Declared, Function, Param};
use crate::types::{Int, Kind, Layout, Len, Ty, Types};

/// An array of structures as hosts know it.
struct Outer {
    name: String,
    shape: Vec<Extent>,
    is_const: bool,
}

impl Lower<'_> {
    /// Builds the function.
    pub(super) fn entry(&mut self, number: usize) -> Result<(), Failed> {
        let program = self.program;
        let function = &program.functions[number];
        let block = self.func.entry();
        self.ssa.seal(&mut self.func, block);
        self.promises_of_file();
        let mut params = Vec::new();
        let mut args = Vec::new();
        // The number among the scalars of each variable that is one.
        let mut scalars: Vec<(u32, u32)> = Vec::new();
        for param in &function.params {
            let name = param.name.map(|name| self.names.text(name).to_string());
            let name = name.unwrap_or_else(|| format!("arg{}", params.len()));
            if let Some(int) = self.types.as_int(param.ty) {
                let value = self.func.add_param(block, ir_type(int));
                scalars.push((param.local, scalars.len() as u32));
                params.push(InterfaceParam {
                    name,
                    ty: self.given_as(param.ty, int),
                    array: None,
                    members: vec![],
                    value: None,
                });
                // A truth value is 0 or 1, whatever is given.
                let value = match int {
                    Int::Bool => {
                        let truth = self.is_set(value);
                        self.widen(truth, false, Type::I8)
                    }
                    _ => value,
                };
                args.push(Val::Int(value));
                continue;
            }
            let pointer = self.array(function, param, &name, &scalars, &mut params)?;
            args.push(Val::Pointer(pointer));
        }
        let result = match self.types.kind(function.result) {
            Kind::Void => None,
            _ => match self.types.as_int(function.result) {
                Some(int) => Some(int),
                None => return self.refuse(function.span, "the result is no integer"),
            },
        };
        self.func.results = result.map(ir_type).into_iter().collect();
        let value = self.inlined(number, args, Some(function.span));
        let values = match value {
            Val::Int(value) => vec![value],
            _ => vec![],
        };
        self.terminate(Terminator::Return(values));
        let result = result.map(|int| self.given_as(function.result, int));
        self.func.interface = Some(Interface { params, result });
        Ok(())
    }

    fn refuse<T>(&mut self, span: Span, message: &str) -> Result<T, Failed> {
        let error = Diagnostic::error(&codes::ENTRY_TYPE, message);
        let error = error.at(span, "not given by hosts");
        self.diagnostics
            .fail(error.help("take integers and arrays, and give an integer or nothing"))
    }

    /// The memory object of an array parameter, or the objects of one of structures with members of
    /// several types.
    fn array(
        &mut self,
        function: &Function,
        param: &Param,
        name: &str,
        scalars: &[(u32, u32)],
        params: &mut Vec<InterfaceParam>,
    ) -> Result<Pointer, Failed> {
        let Some(of) = self.types.pointee(param.ty) else {
            return self.refuse(param.span, "a structure is given by value");
        };
        if !self.types.is_complete(of.ty) || of.ty == Types::VOID {
            return self.refuse(param.span, "a pointer to what has no elements");
        }
        let mut shape = Vec::new();
        shape.push(match param.extent {
            Some(Declared::Fixed(count)) => fixed(count),
            Some(Declared::Var(local)) => self.declared(function, local, param, scalars)?,
            None => Extent::Given,
        });
        let mut inner = of.ty;
        while let Kind::Array(element, len) = self.types.kind(inner) {
            shape.push(match len {
                Len::Fixed(count) => fixed(count),
                Len::Var(local) => self.declared(function, local, param, scalars)?,
                Len::Unknown => Extent::Given,
            });
            inner = element.ty;
        }
        let is_const = of.is_const || self.elements_are_const(of.ty);
        let Layout::Uniform(int, leaves) = self.types.layout(inner) else {
            let outer = Outer { name: name.to_string(), shape, is_const };
            return self.structures(&outer, inner, param.span, params);
        };
        if self.types.members(inner).is_some() {
            shape.push(fixed(leaves));
        }
        let (number, mem) = self.given(name, int, product(&shape));
        let shape = if shape.len() == 1 { vec![] } else { shape };
        params.push(InterfaceParam {
            name: self.func.mems[mem].name.clone(),
            ty: self.given_as(inner, int),
            array: Some(ArrayParam { mem, is_const, shape }),
            members: vec![],
            value: None,
        });
        Ok(whole(number))
    }

    /// The type by which hosts give what is computed with as `int`: enumerations are signed for them,
    /// whatever their constants are.
    fn given_as(&self, ty: Ty, int: Int) -> NumType {
        let int = if self.is_enum(ty) { Int::Int } else { int };
        NumType::Int(int.ir())
    }

    /// Whether all scalars of a type are of enumerations.
    fn is_enum(&self, ty: Ty) -> bool {
        match self.types.kind(ty) {
            Kind::Enum(_) => true,
            Kind::Array(of, _) => self.is_enum(of.ty),
            Kind::Struct(_) => {
                let members = self.types.members(ty).unwrap_or_default();
                members.iter().all(|member| self.is_enum(member.of.ty))
            }
            _ => false,
        }
    }

    /// A memory object that hosts give, and its number.
    fn given(&mut self, name: &str, int: Int, extent: Extent) -> (u32, Mem) {
        let name = self.mem_name(name);
        let number = self.add_mem(MemData {
            extents: vec![extent],
            storage: Storage::Param,
            ..MemData::new(name, ir_type(int).scalar, &[], Space::Global)
        });
        (number, self.mem_of(number).expect("a memory object"))
    }

    /// The memory objects of an array of structures, in the order of
    /// [`Lower::allocate`](super::objects).
    fn structures(
        &mut self,
        outer: &Outer,
        ty: Ty,
        span: Span,
        params: &mut Vec<InterfaceParam>,
    ) -> Result<Pointer, Failed> {
        let bytes = self.types.size(ty).unwrap_or(u64::MAX);
        let number = self.objects.len() as u32;
        let start = Member { of: outer.name.clone(), bytes, offset: 0, path: vec![] };
        let first = params.len();
        self.members_of(outer, ty, &outer.name, &start, params);
        let too_many = |param: &InterfaceParam| {
            let width = u64::from(param.ty.ty().scalar.bytes());
            !param.members.iter().all(|member| member.is_sound(width))
        };
        if params[first..].iter().any(too_many) {
            return self.refuse(span, "structures of so many numbers");
        }
        Ok(whole(number))
    }

    fn members_of(
        &mut self,
        outer: &Outer,
        ty: Ty,
        name: &str,
        at: &Member,
        params: &mut Vec<InterfaceParam>,
    ) {
        self.objects.push(Object::Group);
        let fields = self.fields(ty);
        for (number, (field, of)) in fields.into_iter().enumerate() {
            let (inner, at) = self.member_at(at, ty, number);
            let name = format!("{name}.{field}");
            let Layout::Uniform(int, _) = self.types.layout(of) else {
                self.members_of(outer, inner, &name, &at, params);
                continue;
            };
            let mut members = Vec::new();
            self.scalars_at(inner, at, &mut members);
            let mut shape = outer.shape.clone();
            let scalars = members.iter().map(Member::scalars).fold(0, u64::saturating_add);
            shape.push(fixed(scalars));
            let (_, mem) = self.given(&name, int, product(&shape));
            params.push(InterfaceParam {
                name: self.func.mems[mem].name.clone(),
                ty: self.given_as(of, int),
                array: Some(ArrayParam { mem, is_const: outer.is_const, shape }),
                members,
                value: None,
            });
        }
    }

    /// A member of the structure that lies at a place, its type without being an array.
    fn member_at(&self, at: &Member, ty: Ty, number: usize) -> (Ty, Member) {
        let member = &self.types.members(ty).unwrap_or_default()[number];
        let mut inner = member.of.ty;
        let mut counts = Vec::new();
        while let Kind::Array(of, Len::Fixed(count)) = self.types.kind(inner) {
            counts.push(count);
            inner = of.ty;
        }
        let mut at = at.clone();
        at.offset += member.offset;
        if let Some(name) = member.name {
            let name = self.names.text(name).to_string();
            let bytes = self.types.members(inner).and(self.types.size(inner));
            at.path.push(Component { name, bytes, counts });
        }
        (inner, at)
    }

    /// The scalars of a type whose scalars are of one type, each by its own name.
    fn scalars_at(&self, ty: Ty, at: Member, all: &mut Vec<Member>) {
        let Some(members) = self.types.members(ty) else { return all.push(at) };
        for number in 0..members.len() {
            let (inner, at) = self.member_at(&at, ty, number);
            self.scalars_at(inner, at, all);
        }
    }

    fn elements_are_const(&self, ty: Ty) -> bool {
        match self.types.kind(ty) {
            Kind::Array(of, _) => of.is_const || self.elements_are_const(of.ty),
            _ => false,
        }
    }

    fn declared(
        &mut self,
        function: &Function,
        local: u32,
        param: &Param,
        scalars: &[(u32, u32)],
    ) -> Result<Extent, Failed> {
        let scalar = |local: u32| {
            scalars.iter().find(|&&(known, _)| known == local).map(|&(_, number)| number)
        };
        let expr = function.extents.iter().find(|(known, _)| *known == local);
        let found = expr.and_then(|(_, expr)| self.extent_of(expr, &scalar));
        match found {
            Some(expr) => Ok(simple(expr)),
            None => {
                let span = expr.map_or(param.span, |(_, expr)| expr.span);
                let message = "an extent that is not made of constants and scalars";
                self.refuse(span, message)
            }
        }
    }
}

fn fixed(count: u64) -> Extent {
    Extent::constant(i64::try_from(count).unwrap_or(i64::MAX))
}

/// An expression that is one parameter, or a constant, as what it is.
fn simple(expr: ExtentExpr) -> Extent {
    match expr.steps() {
        // A cast to 64 bits keeps every value.
        [Step::Param(number)] => Extent::Param(*number),
        [Step::Param(number), Step::Op(nbcc_base::extent::ExtentOp::Cast, width)]
            if width.bits == 64 && width.signed =>
        {
            Extent::Param(*number)
        }
        _ => Extent::Expr(expr),
    }
}

/// The product of extents; given where one of them is.
fn product(shape: &[Extent]) -> Extent {
    if let [only] = shape {
        return only.clone();
    }
    let as_expr = |extent: &Extent| match extent {
        Extent::Fixed(count) => ExtentExpr::new(vec![Step::Const(i64::from(*count))]).ok(),
        Extent::Param(number) => ExtentExpr::new(vec![Step::Param(*number)]).ok(),
        Extent::Expr(expr) => Some(expr.clone()),
        Extent::Given => None,
    };
    let mut fixed_product = Some(1_u32);
    let mut all: Option<ExtentExpr> = None;
    for extent in shape {
        let Some(expr) = as_expr(extent) else { return Extent::Given };
        all = match all {
            None => Some(expr),
            Some(all) => match all.times(&expr) {
                Some(all) => Some(all),
                None => return Extent::Given,
            },
        };
        fixed_product = match (fixed_product, extent) {
            (Some(product), Extent::Fixed(count)) => product.checked_mul(*count),
            _ => None,
        };
    }
    match (fixed_product.filter(|&count| count <= i32::MAX as u32), all) {
        (Some(count), _) => Extent::Fixed(count),
        (None, Some(expr)) => Extent::Expr(expr),
        (None, None) => Extent::Given,
    }
}
