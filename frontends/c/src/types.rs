//! Types (C11, 6.2.5), each kept once, and their layout on LP64: `int` 32 bits, `long` 64.

use std::collections::HashMap;

use nbcc_ir::IntType;

use crate::names::{Name, Names};

/// Integer types, by name: `long` and `long long` differ although they have the same values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::enum_variant_names, reason = "`int` is what C calls one of them")]
pub(crate) enum Int {
    Bool,
    Char,
    SChar,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    LLong,
    ULLong,
}

impl Int {
    /// Bits of a value in memory.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Int::Bool | Int::Char | Int::SChar | Int::UChar => 8,
            Int::Short | Int::UShort => 16,
            Int::Int | Int::UInt => 32,
            Int::Long | Int::ULong | Int::LLong | Int::ULLong => 64,
        }
    }

    pub(crate) fn is_signed(self) -> bool {
        matches!(self, Int::Char | Int::SChar | Int::Short | Int::Int | Int::Long | Int::LLong)
    }

    /// The type as the IR names it.
    pub(crate) fn ir(self) -> IntType {
        match (self.bits(), self.is_signed()) {
            (8, true) => IntType::S8,
            (8, false) => IntType::U8,
            (16, true) => IntType::S16,
            (16, false) => IntType::U16,
            (32, true) => IntType::S32,
            (32, false) => IntType::U32,
            (_, true) => IntType::S64,
            (_, false) => IntType::U64,
        }
    }

    /// The conversion rank (6.3.1.1).
    fn rank(self) -> u32 {
        match self {
            Int::Bool => 0,
            Int::Char | Int::SChar | Int::UChar => 1,
            Int::Short | Int::UShort => 2,
            Int::Int | Int::UInt => 3,
            Int::Long | Int::ULong => 4,
            Int::LLong | Int::ULLong => 5,
        }
    }

    /// After the integer promotions (6.3.1.1).
    pub(crate) fn promoted(self) -> Int {
        if self.rank() < 3 { Int::Int } else { self }
    }

    /// What the usual arithmetic conversions make of two types (6.3.1.8).
    pub(crate) fn common(self, other: Int) -> Int {
        let (a, b) = (self.promoted(), other.promoted());
        let (low, high) = if a.rank() < b.rank() { (a, b) } else { (b, a) };
        if high.is_signed() == low.is_signed() || !high.is_signed() || high.bits() > low.bits() {
            return if high.rank() == low.rank() && !low.is_signed() { low } else { high };
        }
        // The signed one has not all values of the unsigned one.
        match high {
            Int::Int => Int::UInt,
            Int::Long => Int::ULong,
            _ => Int::ULLong,
        }
    }

    /// A value brought into the type: its bits, extended by their sign or by zeros.
    pub(crate) fn wrap(self, value: i64) -> i64 {
        if self == Int::Bool {
            return i64::from(value != 0);
        }
        let unused = 64 - self.bits();
        if self.is_signed() {
            (value << unused) >> unused
        } else {
            (((value << unused) as u64) >> unused) as i64
        }
    }

    pub(crate) fn text(self) -> &'static str {
        match self {
            Int::Bool => "_Bool",
            Int::Char => "char",
            Int::SChar => "signed char",
            Int::UChar => "unsigned char",
            Int::Short => "short",
            Int::UShort => "unsigned short",
            Int::Int => "int",
            Int::UInt => "unsigned int",
            Int::Long => "long",
            Int::ULong => "unsigned long",
            Int::LLong => "long long",
            Int::ULLong => "unsigned long long",
        }
    }
}

/// A type, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ty(u32);

/// How many elements an array has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Len {
    Fixed(u64),
    /// What that variable of the function holds: an extent of a parameter. Of a prototype it is none
    /// of any function's.
    Var(u32),
    /// Not known yet.
    Unknown,
}

impl Len {
    /// The number, where it is a constant.
    pub(crate) fn fixed(self) -> Option<u64> {
        match self {
            Len::Fixed(count) => Some(count),
            Len::Var(_) | Len::Unknown => None,
        }
    }
}

/// What a type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// That of what was reported already.
    Error,
    Void,
    Int(Int),
    Enum(u32),
    Struct(u32),
    Pointer(Qual),
    Array(Qual, Len),
    Function(u32),
}

/// A type and whether it is `const`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Qual {
    pub(crate) ty: Ty,
    pub(crate) is_const: bool,
    /// Set of pointers only, which nothing points to: types do not differ by it.
    pub(crate) is_restrict: bool,
}

impl Qual {
    /// A type that may be `const`.
    pub(crate) fn new(ty: Ty, is_const: bool) -> Qual {
        Qual { ty, is_const, is_restrict: false }
    }
}

/// A member of a structure.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// `None` for an anonymous structure.
    pub(crate) name: Option<Name>,
    pub(crate) of: Qual,
    /// Bytes.
    pub(crate) offset: u64,
}

/// A structure.
#[derive(Clone, Debug)]
pub(crate) struct Struct {
    pub(crate) tag: Option<Name>,
    /// `None` until it is complete.
    pub(crate) members: Option<Vec<Member>>,
    /// Bytes.
    pub(crate) size: u64,
    pub(crate) align: u64,
    /// What is known of its members together, so that nobody walks through all of them again.
    pub(crate) sums: Sums,
}

/// What a type is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// Scalars.
    pub(crate) leaves: u64,
    /// The type of all of them, if it is one.
    pub(crate) scalar: Option<Int>,
    /// How many numbers of objects it takes where they are of several types.
    pub(crate) objects: u64,
    pub(crate) has_array: bool,
    /// Levels of arrays and structures.
    pub(crate) depth: u32,
}

/// An enumeration.
#[derive(Clone, Debug)]
pub(crate) struct Enum {
    pub(crate) tag: Option<Name>,
    /// The integer type that it is compatible with, as gcc chooses it.
    pub(crate) int: Int,
    pub(crate) is_complete: bool,
}

/// The type of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Signature {
    pub(crate) result: Ty,
    pub(crate) params: Vec<Ty>,
    /// Whether nothing is said of its parameters: `()`.
    pub(crate) open: bool,
}

/// The scalars of a type that are all of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// So many of one type, one behind the other.
    Uniform(Int, u64),
    /// Scalars of several types: an object for each member.
    Mixed,
}

/// The types of a compilation.
#[derive(Debug)]
pub(crate) struct Types {
    kinds: Vec<Kind>,
    sums: Vec<Sums>,
    numbers: HashMap<Kind, Ty>,
    pub(crate) structs: Vec<Struct>,
    pub(crate) enums: Vec<Enum>,
    pub(crate) functions: Vec<Signature>,
}

impl Types {
    pub(crate) const ERROR: Ty = Ty(0);
    pub(crate) const VOID: Ty = Ty(1);
    pub(crate) const BOOL: Ty = Ty(2);
    pub(crate) const CHAR: Ty = Ty(3);
    pub(crate) const INT: Ty = Ty(4);
    pub(crate) const LONG: Ty = Ty(5);
    pub(crate) const ULONG: Ty = Ty(6);

    pub(crate) fn new() -> Types {
        let mut types = Types {
            kinds: Vec::new(),
            sums: Vec::new(),
            numbers: HashMap::new(),
            structs: Vec::new(),
            enums: Vec::new(),
            functions: Vec::new(),
        };
        let fixed = [
            Kind::Error,
            Kind::Void,
            Kind::Int(Int::Bool),
            Kind::Int(Int::Char),
            Kind::Int(Int::Int),
            Kind::Int(Int::Long),
            Kind::Int(Int::ULong),
        ];
        for kind in fixed {
            types.make(kind);
        }
        types
    }

    pub(crate) fn make(&mut self, kind: Kind) -> Ty {
        if let Some(&ty) = self.numbers.get(&kind) {
            return ty;
        }
        let ty = Ty(self.kinds.len() as u32);
        let sums = match kind {
            Kind::Array(of, len) => {
                let inner = self.sums(of.ty);
                let count = if let Len::Fixed(count) = len { count } else { 1 };
                let leaves = inner.leaves.saturating_mul(count);
                Sums { leaves, has_array: true, depth: inner.depth + 1, ..inner }
            }
            Kind::Pointer(to) => {
                let depth = match self.kind(to.ty) {
                    Kind::Struct(_) => 1,
                    _ => self.sums(to.ty).depth + 1,
                };
                Sums { leaves: 1, scalar: None, objects: 1, has_array: false, depth }
            }
            Kind::Int(int) => {
                let scalar = Some(match int {
                    Int::Char => Int::SChar,
                    Int::LLong => Int::Long,
                    Int::ULLong => Int::ULong,
                    other => other,
                });
                Sums { leaves: 1, scalar, objects: 1, ..Sums::default() }
            }
            _ => Sums { leaves: 1, objects: 1, ..Sums::default() },
        };
        self.kinds.push(kind);
        self.sums.push(sums);
        self.numbers.insert(kind, ty);
        ty
    }

    pub(crate) fn int(&mut self, int: Int) -> Ty {
        self.make(Kind::Int(int))
    }

    pub(crate) fn pointer(&mut self, to: Qual) -> Ty {
        self.make(Kind::Pointer(to))
    }

    pub(crate) fn function(&mut self, signature: Signature) -> Ty {
        let number = match self.functions.iter().position(|known| *known == signature) {
            Some(number) => number,
            None => {
                self.functions.push(signature);
                self.functions.len() - 1
            }
        };
        self.make(Kind::Function(number as u32))
    }

    pub(crate) fn kind(&self, ty: Ty) -> Kind {
        self.kinds[ty.0 as usize]
    }

    /// The integer type of integers and enumerations.
    pub(crate) fn as_int(&self, ty: Ty) -> Option<Int> {
        match self.kind(ty) {
            Kind::Int(int) => Some(int),
            Kind::Enum(number) => Some(self.enums[number as usize].int),
            _ => None,
        }
    }

    pub(crate) fn is_pointer(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), Kind::Pointer(_))
    }

    /// What a pointer points to.
    pub(crate) fn pointee(&self, ty: Ty) -> Option<Qual> {
        match self.kind(ty) {
            Kind::Pointer(to) => Some(to),
            _ => None,
        }
    }

    /// The members of a complete structure.
    pub(crate) fn members(&self, ty: Ty) -> Option<&[Member]> {
        match self.kind(ty) {
            Kind::Struct(number) => self.structs[number as usize].members.as_deref(),
            _ => None,
        }
    }

    /// Whether objects of the type can be made.
    pub(crate) fn is_complete(&self, ty: Ty) -> bool {
        match self.kind(ty) {
            Kind::Void | Kind::Function(_) => false,
            Kind::Struct(number) => self.structs[number as usize].members.is_some(),
            Kind::Enum(number) => self.enums[number as usize].is_complete,
            Kind::Array(of, Len::Fixed(_) | Len::Var(_)) => self.is_complete(of.ty),
            Kind::Array(_, Len::Unknown) => false,
            Kind::Error | Kind::Int(_) | Kind::Pointer(_) => true,
        }
    }

    /// Bytes of a value, where they are known and fit 64 bits.
    pub(crate) fn size(&self, ty: Ty) -> Option<u64> {
        match self.kind(ty) {
            Kind::Error => Some(4),
            Kind::Void | Kind::Function(_) => None,
            Kind::Int(int) => Some(u64::from(int.bits() / 8)),
            Kind::Enum(_) => Some(4),
            Kind::Pointer(_) => Some(8),
            Kind::Struct(number) => {
                let data = &self.structs[number as usize];
                data.members.as_ref().map(|_| data.size)
            }
            Kind::Array(of, Len::Fixed(count)) => self.size(of.ty)?.checked_mul(count),
            Kind::Array(..) => None,
        }
    }

    /// The address of a value is a multiple of so many bytes.
    pub(crate) fn align(&self, ty: Ty) -> u64 {
        match self.kind(ty) {
            Kind::Struct(number) => self.structs[number as usize].align,
            Kind::Array(of, _) => self.align(of.ty),
            _ => self.size(ty).unwrap_or(1),
        }
    }

    /// How many scalars a value has; what a dimension that is no constant has is left out.
    pub(crate) fn leaves(&self, ty: Ty) -> u64 {
        self.sums(ty).leaves
    }

    /// What a type is made of.
    pub(crate) fn sums(&self, ty: Ty) -> Sums {
        match self.kind(ty) {
            Kind::Struct(number) => self.structs[number as usize].sums,
            Kind::Enum(_) => Sums { scalar: self.as_int(ty), ..self.sums[ty.0 as usize] },
            _ => self.sums[ty.0 as usize],
        }
    }

    /// What a structure of these members is made of.
    pub(crate) fn sums_of(&self, members: &[Member]) -> Sums {
        let mut all = Sums { objects: 1, ..Sums::default() };
        for (number, member) in members.iter().enumerate() {
            let one = self.sums(member.of.ty);
            all.leaves = all.leaves.saturating_add(one.leaves);
            all.scalar = if number == 0 || all.scalar == one.scalar { one.scalar } else { None };
            all.objects = all.objects.saturating_add(one.objects);
            all.has_array |= one.has_array;
            all.depth = all.depth.max(one.depth + 1);
        }
        if all.scalar.is_some() {
            all.objects = 1;
        }
        all
    }

    /// How the scalars of a type lie.
    pub(crate) fn layout(&self, ty: Ty) -> Layout {
        match self.sums(ty).scalar {
            Some(int) => Layout::Uniform(int, self.leaves(ty)),
            None => Layout::Mixed,
        }
    }

    /// Whether values of the types go together: the same type, but for what arrays do not say.
    pub(crate) fn compatible(&self, a: Ty, b: Ty) -> bool {
        if a == b {
            return true;
        }
        match (self.kind(a), self.kind(b)) {
            (Kind::Error, _) | (_, Kind::Error) => true,
            (Kind::Array(x, m), Kind::Array(y, n)) => {
                let lens = match (m, n) {
                    (Len::Fixed(m), Len::Fixed(n)) => m == n,
                    _ => true,
                };
                lens && self.compatible(x.ty, y.ty)
            }
            (Kind::Pointer(x), Kind::Pointer(y)) => {
                x.is_const == y.is_const && self.compatible(x.ty, y.ty)
            }
            (Kind::Enum(n), Kind::Int(int)) | (Kind::Int(int), Kind::Enum(n)) => {
                self.enums[n as usize].int == int
            }
            (Kind::Function(m), Kind::Function(n)) => {
                let (m, n) = (&self.functions[m as usize], &self.functions[n as usize]);
                let params = match (m.open, n.open) {
                    (true, true) => true,
                    (true, false) => n.params.iter().all(|&param| self.is_promoted(param)),
                    (false, true) => m.params.iter().all(|&param| self.is_promoted(param)),
                    (false, false) => {
                        m.params.len() == n.params.len()
                            && m.params.iter().zip(&n.params).all(|(&a, &b)| self.compatible(a, b))
                    }
                };
                params && self.compatible(m.result, n.result)
            }
            _ => false,
        }
    }

    /// Whether the default argument promotions leave a type as it is (6.5.2.2, 6): what a parameter is
    /// of a function of which a declaration says nothing of the parameters.
    fn is_promoted(&self, ty: Ty) -> bool {
        self.as_int(ty).is_none_or(|int| int == int.promoted())
    }

    /// The type as people write it.
    pub(crate) fn text(&self, ty: Ty, names: &Names) -> String {
        let tag = |word: &str, tag: Option<Name>| match tag {
            Some(name) => format!("{word} {}", names.text(name)),
            None => format!("{word} without a name"),
        };
        let qualified = |of: Qual| {
            let text = self.text(of.ty, names);
            if of.is_const { format!("const {text}") } else { text }
        };
        match self.kind(ty) {
            Kind::Error => "?".into(),
            Kind::Void => "void".into(),
            Kind::Int(int) => int.text().into(),
            Kind::Enum(number) => tag("enum", self.enums[number as usize].tag),
            Kind::Struct(number) => tag("struct", self.structs[number as usize].tag),
            Kind::Pointer(to) => format!("{} *", qualified(to)),
            Kind::Array(of, len) => match len {
                Len::Fixed(count) => format!("{} [{count}]", qualified(of)),
                _ => format!("{} []", qualified(of)),
            },
            Kind::Function(number) => {
                let signature = &self.functions[number as usize];
                let params: Vec<String> =
                    signature.params.iter().map(|&param| self.text(param, names)).collect();
                format!("{} ({})", self.text(signature.result, names), params.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_conversions_are_those_of_lp64() {
        assert_eq!(Int::Short.common(Int::UChar), Int::Int);
        assert_eq!(Int::Int.common(Int::UInt), Int::UInt);
        assert_eq!(Int::UInt.common(Int::Long), Int::Long);
        assert_eq!(Int::ULong.common(Int::LLong), Int::ULLong);
        assert_eq!(Int::ULong.common(Int::Int), Int::ULong);
        assert_eq!(Int::LLong.common(Int::Long), Int::LLong);
        assert_eq!(Int::Long.common(Int::ULong), Int::ULong);
        assert_eq!(Int::Char.wrap(200), -56);
        assert_eq!(Int::UInt.wrap(-1), 0xffff_ffff);
        assert_eq!(Int::Bool.wrap(4), 1);
    }
}
