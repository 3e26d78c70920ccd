//! Specifiers and declarations (C11, 6.7).

use std::collections::BTreeMap;

use nbcc_base::Span;

use super::declarator::{Extents, MAX_DEPTH};
use super::{MAX_STATIC, Sema, Symbol};
use crate::codes;
use crate::sema::tree::{Defined, Global, Stmt, StmtKind};
use crate::syntax::ast::{self, Declaration, Ident, Part, SpecItem, Specs, Storage, Word};
use crate::syntax::type_errors::open_type;
use crate::types::{Enum, Int, Kind, Len, Member, Qual, Struct, Ty, Types};

/// Members of structures that are objects of their own at most, all levels together.
const MAX_OBJECTS: u64 = 4096;

/// What specifiers say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base {
    pub(super) of: Qual,
    pub(super) storage: Option<Storage>,
}

impl Sema<'_> {
    /// Reads specifiers. `declares_tag` where nothing but a tag is declared.
    pub(super) fn specs(&mut self, specs: &Specs, declares_tag: bool) -> Base {
        let (mut words, mut ty, mut storage) = (Vec::new(), None, None);
        let (mut is_const, mut is_restrict) = (false, false);
        // Where the braces of a type end that further specifiers follow.
        let mut brace = None;
        for (item, span) in &specs.items {
            let found = match item {
                SpecItem::Word(word) => {
                    words.push(*word);
                    continue;
                }
                SpecItem::Storage(class) => {
                    if storage.is_some_and(|before| before != *class) {
                        let message = "two words for how long a variable lives";
                        let help =
                            "leave one out: `static`, `extern`, `typedef`, `register`, `auto`";
                        self.error(&codes::SPECIFIERS, *span, message, "the second", help);
                    }
                    storage = Some(*class);
                    continue;
                }
                SpecItem::Const => {
                    is_const = true;
                    continue;
                }
                SpecItem::Restrict => {
                    is_restrict = true;
                    continue;
                }
                SpecItem::Nothing => continue,
                SpecItem::Named(name) => match self.lookup(name.name) {
                    Some(Symbol::Typedef(of)) => {
                        is_const |= of.is_const;
                        is_restrict |= of.is_restrict;
                        of.ty
                    }
                    _ => {
                        self.unknown(name.name, name.span);
                        Types::ERROR
                    }
                },
                SpecItem::Struct(tag, members) => {
                    self.structure(*tag, members.as_deref(), *span, declares_tag)
                }
                SpecItem::Enum(tag, list) => self.enumeration(*tag, list.as_deref(), *span),
            };
            if ty.is_some() || !words.is_empty() {
                self.bad_specs(brace, specs.span);
            }
            if matches!(item, SpecItem::Struct(_, Some(_)) | SpecItem::Enum(_, Some(_))) {
                let end = span.end as usize;
                brace = Some(Span::new(span.source, end.saturating_sub(1), end));
            }
            ty = Some(found);
        }
        let ty = match ty {
            Some(ty) if words.is_empty() => ty,
            Some(_) => {
                self.bad_specs(brace, specs.span);
                Types::ERROR
            }
            None if words.is_empty() => {
                self.without_type(specs.span);
                Types::ERROR
            }
            None => self.words(&words, specs.span),
        };
        let is_restrict = is_restrict && self.types.is_pointer(ty);
        Base { of: Qual { ty, is_const, is_restrict }, storage }
    }

    fn bad_specs(&mut self, brace: Option<Span>, span: Span) {
        if let Some(brace) = brace {
            return self.diagnostics.push(open_type(brace));
        }
        let help = "write one type, as in `unsigned long` or `int16_t`";
        self.error(&codes::SPECIFIERS, span, "these words make no type", "no type", help);
    }

    /// Reports a declaration whose words name no type.
    fn without_type(&mut self, span: Span) {
        let message = "a declaration without a type";
        let help = "write the type, as in `const int` or `static int16_t`";
        self.error(&codes::SPECIFIERS, span, message, "names no type", help);
    }

    fn words(&mut self, words: &[Word], span: Span) -> Ty {
        let count = |word: Word| words.iter().filter(|&&w| w == word).count();
        let (signed, unsigned) = (count(Word::Signed), count(Word::Unsigned));
        let (short, long, int) = (count(Word::Short), count(Word::Long), count(Word::Int));
        let (char, void, bool) = (count(Word::Char), count(Word::Void), count(Word::Bool));
        let signs = signed + unsigned;
        let found = match (void, bool, char, short, long) {
            (1, 0, 0, 0, 0) if signs + int == 0 => return Types::VOID,
            (0, 1, 0, 0, 0) if signs + int == 0 => Some(Int::Bool),
            (0, 0, 1, 0, 0) if int == 0 && signs <= 1 => Some(match (signed, unsigned) {
                (1, _) => Int::SChar,
                (_, 1) => Int::UChar,
                _ => Int::Char,
            }),
            (0, 0, 0, 1, 0) if int <= 1 && signs <= 1 => {
                Some(if unsigned == 1 { Int::UShort } else { Int::Short })
            }
            (0, 0, 0, 0, 1) if int <= 1 && signs <= 1 => {
                Some(if unsigned == 1 { Int::ULong } else { Int::Long })
            }
            (0, 0, 0, 0, 2) if int <= 1 && signs <= 1 => {
                Some(if unsigned == 1 { Int::ULLong } else { Int::LLong })
            }
            (0, 0, 0, 0, 0) if int <= 1 && signs <= 1 && int + signs > 0 => {
                Some(if unsigned == 1 { Int::UInt } else { Int::Int })
            }
            _ => None,
        };
        match found {
            Some(int) => self.types.int(int),
            None => {
                self.bad_specs(None, span);
                Types::ERROR
            }
        }
    }

    fn find_tag(&self, tag: Ident) -> Option<Ty> {
        self.scopes.iter().rev().find_map(|scope| scope.tags.get(&tag.name)).copied()
    }

    fn own_tag(&self, tag: Ident) -> Option<Ty> {
        self.scopes.last().and_then(|scope| scope.tags.get(&tag.name)).copied()
    }

    fn set_tag(&mut self, tag: Option<Ident>, ty: Ty) {
        if let (Some(tag), Some(scope)) = (tag, self.scopes.last_mut()) {
            scope.tags.insert(tag.name, ty);
        }
    }

    fn structure(
        &mut self,
        tag: Option<Ident>,
        members: Option<&[ast::MemberDecl]>,
        span: Span,
        declares_tag: bool,
    ) -> Ty {
        let known = match (tag, members) {
            (Some(tag), None) if !declares_tag => self.find_tag(tag),
            (Some(tag), _) => self.own_tag(tag),
            (None, _) => None,
        };
        let ty = match known {
            Some(ty) if matches!(self.types.kind(ty), Kind::Struct(_)) => ty,
            Some(_) => {
                let help = "choose another tag";
                let message = "the tag is one of another kind of type";
                self.error(&codes::DUPLICATE, span, message, "declared as another kind", help);
                return Types::ERROR;
            }
            None => {
                let tag_name = tag.map(|tag| tag.name);
                let sums = Default::default();
                let data = Struct { tag: tag_name, members: None, size: 0, align: 1, sums };
                self.types.structs.push(data);
                let ty = self.types.make(Kind::Struct(self.types.structs.len() as u32 - 1));
                self.set_tag(tag, ty);
                ty
            }
        };
        let Some(declarations) = members else { return ty };
        if self.types.members(ty).is_some() {
            let help = "remove one definition, or choose another tag";
            self.error(&codes::DUPLICATE, span, "a structure is defined twice", "again", help);
            return ty;
        }
        let mut list: Vec<Member> = Vec::new();
        for declaration in declarations {
            let base = self.specs(&declaration.specs, false);
            if declaration.members.is_empty() {
                let is_struct = matches!(self.types.kind(base.of.ty), Kind::Struct(_));
                let is_anonymous = declaration
                    .specs
                    .items
                    .iter()
                    .any(|(item, _)| matches!(item, SpecItem::Struct(None, Some(_))));
                if is_struct && is_anonymous {
                    list.push(Member { name: None, of: base.of, offset: 0 });
                }
                continue;
            }
            for declarator in &declaration.members {
                let Some(name) = declarator.name else { continue };
                let of = self.declared(base.of, declarator, Extents::Constant);
                let of = self.checked_member(of, name);
                if self.find_in(&list, name.name).is_some() {
                    self.duplicate(name.name, name.span, span);
                    continue;
                }
                list.push(Member { name: Some(name.name), of, offset: 0 });
            }
        }
        if list.is_empty() {
            let help = "give it a member";
            self.error(&codes::INCOMPLETE, span, "a structure without members", "empty", help);
        }
        let (mut size, mut align) = (0_u64, 1_u64);
        for member in &mut list {
            let own = self.types.align(member.of.ty);
            align = align.max(own);
            size = size.next_multiple_of(own);
            member.offset = size;
            size =
                size.saturating_add(self.types.size(member.of.ty).unwrap_or(1 << 60)).min(1 << 60);
        }
        size = size.next_multiple_of(align);
        let sums = self.types.sums_of(&list);
        if sums.depth > MAX_DEPTH || sums.objects > MAX_OBJECTS {
            let help = "give all numbers in it one type, or use arrays of their own";
            let message = "a structure of too many levels or members of several types";
            self.error(&codes::LIMIT, span, message, "too large", help);
            return Types::ERROR;
        }
        if let Kind::Struct(number) = self.types.kind(ty) {
            let data = &mut self.types.structs[number as usize];
            (data.members, data.size, data.align) = (Some(list), size, align);
            data.sums = sums;
        }
        ty
    }

    /// The path to a member, through structures without a name.
    pub(super) fn find_in(
        &self,
        members: &[Member],
        name: crate::names::Name,
    ) -> Option<Vec<usize>> {
        for (number, member) in members.iter().enumerate() {
            if member.name == Some(name) {
                return Some(vec![number]);
            }
            let inner = self.types.members(member.of.ty).filter(|_| member.name.is_none());
            if let Some(mut path) = inner.and_then(|inner| self.find_in(inner, name)) {
                path.insert(0, number);
                return Some(path);
            }
        }
        None
    }

    /// Refuses what is no type of a member.
    fn checked_member(&mut self, of: Qual, name: Ident) -> Qual {
        let mut inner = of.ty;
        while let Kind::Array(element, len) = self.types.kind(inner) {
            if len == Len::Unknown {
                let message = "flexible array members are not supported";
                let help = "give the array its length, or pass it as a parameter of its own";
                self.error(&codes::FLEXIBLE, name.span, message, "has no length", help);
                return Qual { ty: Types::ERROR, ..of };
            }
            inner = element.ty;
        }
        if self.types.is_pointer(inner) {
            let message = "pointers in structures are not supported";
            let help = "keep an index into the array instead";
            self.error(&codes::POINTER_MEMBER, name.span, message, "holds a pointer", help);
            return Qual { ty: Types::ERROR, ..of };
        }
        if !self.types.is_complete(of.ty) {
            self.incomplete(of.ty, name.span);
            return Qual { ty: Types::ERROR, ..of };
        }
        of
    }

    pub(super) fn incomplete(&mut self, ty: Ty, span: Span) {
        let text = self.text(ty);
        if ty == Types::VOID {
            let message = "an object of the type `void`, which has no values";
            let help = "give it a type with values, as `int`";
            return self.error(&codes::INCOMPLETE, span, message, "no value", help);
        }
        let message = format!("the type {text} is not complete");
        if self.is_told(ty) {
            return;
        }
        let tag = self.tag_of(ty);
        let help = match (tag.and_then(|tag| self.near_tag(tag)), self.types.kind(ty)) {
            (Some(near), _) => format!("did you mean `struct {near}`?"),
            (None, Kind::Array(..)) => "write its length in the brackets".to_string(),
            _ => "define its members before".to_string(),
        };
        self.error(&codes::INCOMPLETE, span, message, "needs a complete type", help);
    }

    fn tag_of(&self, ty: Ty) -> Option<crate::names::Name> {
        match self.types.kind(ty) {
            Kind::Struct(number) => self.types.structs[number as usize].tag,
            _ => None,
        }
    }

    /// Whether it was said that a structure is not complete, or that its members are refused. From now
    /// on it was.
    pub(super) fn is_told(&mut self, ty: Ty) -> bool {
        let Some(tag) = self.tag_of(ty) else { return false };
        let told = self.refused.has(tag);
        self.refused.add(tag);
        told
    }

    /// The tag that was probably meant.
    fn near_tag(&self, tag: crate::names::Name) -> Option<String> {
        let known = self.scopes.iter().rev().flat_map(|scope| &scope.tags);
        let known = known.filter(|&(_, &ty)| self.types.is_complete(ty));
        let mut known: Vec<&str> = known.map(|(&tag, _)| self.names.text(tag)).collect();
        known.sort_unstable();
        nbcc_base::nearest(self.name(tag), known).map(String::from)
    }

    fn enumeration(
        &mut self,
        tag: Option<Ident>,
        list: Option<&[(Ident, Option<ast::Expr>)]>,
        span: Span,
    ) -> Ty {
        let Some(list) = list else {
            let known = tag.and_then(|tag| self.find_tag(tag));
            return match known {
                Some(ty) if matches!(self.types.kind(ty), Kind::Enum(_)) => ty,
                _ if tag.is_some_and(|tag| self.refused.has(tag.name)) => Types::ERROR,
                _ => {
                    let help = match tag.and_then(|tag| self.near_tag(tag.name)) {
                        Some(near) => format!("did you mean `enum {near}`?"),
                        None => "define its constants before: `enum tag { A, B };`".to_string(),
                    };
                    if let Some(tag) = tag {
                        self.refused.add(tag.name);
                    }
                    let message = "the enumeration is not defined";
                    self.error(&codes::INCOMPLETE, span, message, "not known", help);
                    Types::ERROR
                }
            };
        };
        if let Some(tag) = tag
            && self.own_tag(tag).is_some()
        {
            self.duplicate(tag.name, tag.span, span);
        }
        let data = Enum { tag: tag.map(|tag| tag.name), int: Int::UInt, is_complete: false };
        self.types.enums.push(data);
        let number = self.types.enums.len() - 1;
        let ty = self.types.make(Kind::Enum(number as u32));
        self.set_tag(tag, ty);
        let mut next = 0_i64;
        for (name, value) in list {
            if let Some(value) = value {
                next = self.constant(value).unwrap_or(next);
            }
            if i32::try_from(next).is_err() {
                let message = format!("`{}` does not fit an `int`", self.name(name.name));
                let help = "use a `static const` variable of a wider type";
                self.error(&codes::CONSTANT, name.span, message, format!("is {next}"), help);
                next = 0;
            }
            if next < 0 {
                self.types.enums[number].int = Int::Int;
            }
            let symbol = Symbol::Constant(next, Types::INT);
            if let Some((_, first)) = self.declare(name.name, symbol, name.span) {
                self.duplicate(name.name, name.span, first);
            }
            next += 1;
        }
        self.types.enums[number].is_complete = true;
        ty
    }

    /// A declaration, within a function or outside; statements that make its variables.
    pub(super) fn declaration(&mut self, declaration: Declaration, out: &mut Vec<Stmt>) {
        let base = self.specs(&declaration.specs, declaration.items.is_empty());
        for (declarator, init) in declaration.items {
            let Some(name) = declarator.name else { continue };
            if let Some(Part::Function { variadic: true, .. }) = declarator.parts.first() {
                self.refused.add(name.name);
            }
            let is_local = self.current.number.is_some()
                && !matches!(
                    base.storage,
                    Some(Storage::Typedef | Storage::Static | Storage::Extern)
                );
            let points = matches!(declarator.parts.first(), Some(Part::Pointer(_)));
            let mode = if is_local && points { Extents::Pointed } else { Extents::Constant };
            let known = self.current.extents.len();
            let of = self.declared(base.of, &declarator, mode);
            for (local, value) in self.current.extents.split_off(known) {
                self.current.locals[local as usize].written = 1;
                let init = crate::sema::tree::Init { values: BTreeMap::from([(0, value)]) };
                out.push(Stmt { kind: StmtKind::Local(local, Some(init)), span: name.span });
            }
            if base.storage == Some(Storage::Typedef) {
                let symbol = Symbol::Typedef(of);
                if let Some((old, first)) = self.declare(name.name, symbol, name.span)
                    && !matches!(old, Symbol::Typedef(old) if self.types.compatible(old.ty, of.ty))
                {
                    self.duplicate(name.name, name.span, first);
                }
                continue;
            }
            if matches!(self.types.kind(of.ty), Kind::Function(_)) {
                self.prototype(name, of.ty, base.storage == Some(Storage::Static));
                continue;
            }
            let is_global = self.current.number.is_none();
            if is_global || matches!(base.storage, Some(Storage::Static | Storage::Extern)) {
                self.global(name, of, base.storage, init);
            } else {
                self.local(name, of, init, declaration.span, out);
            }
        }
    }

    fn prototype(&mut self, name: Ident, ty: Ty, is_static: bool) {
        let found = self.lookup(name.name);
        if let Some(Symbol::Function(number)) = found {
            self.agrees(number, ty, false, name.span);
            self.functions[number].is_static |= is_static;
            return;
        }
        let number = self.add_function(name, ty, is_static);
        // A prototype belongs to the file, wherever it stands.
        self.scopes[0].symbols.insert(name.name, (Symbol::Function(number), name.span));
        if self.scopes.len() > 1 {
            self.declare(name.name, Symbol::Function(number), name.span);
        }
    }

    /// Refuses variables of types that have no values. The type, or that of an error.
    fn checked_variable(&mut self, of: Qual, name: Ident, has_init: bool) -> Qual {
        let is_open = matches!(self.types.kind(of.ty), Kind::Array(_, Len::Unknown));
        let element = match self.types.kind(of.ty) {
            Kind::Array(element, _) => element.ty,
            _ => of.ty,
        };
        if of.ty == Types::VOID || !self.types.is_complete(element) || is_open && !has_init {
            self.incomplete(of.ty, name.span);
            return Qual { ty: Types::ERROR, ..of };
        }
        // A size that is not known here is one beyond 64 bits.
        if !is_open && self.types.size(of.ty).is_none_or(|size| size > MAX_STATIC) {
            self.too_large(name);
            return Qual { ty: Types::ERROR, ..of };
        }
        of
    }

    fn too_large(&mut self, name: Ident) {
        let message = format!("`{}` makes the variables larger than 1 GiB", self.name(name.name));
        let help = "use smaller arrays, or array parameters";
        self.error(&codes::LIMIT, name.span, message, "too large", help);
    }

    fn global(&mut self, name: Ident, of: Qual, storage: Option<Storage>, init: Option<ast::Init>) {
        let is_extern = storage == Some(Storage::Extern);
        let in_file = self.scopes.len() == 1;
        let defined = match &init {
            Some(_) => Defined::Wholly,
            None if is_extern => Defined::No,
            None if in_file => Defined::Tentatively,
            None => Defined::Wholly,
        };
        if is_extern && !in_file && init.is_some() {
            let help = "leave out `extern`, or give the value where the file defines it";
            let message =
                format!("`{}` of another place is initialised here", self.name(name.name));
            self.error(&codes::INITIALISER, name.span, message, "an `extern` with a value", help);
        }
        // The length may come with another declaration.
        let may_be_open = init.is_none() && (is_extern || in_file && storage.is_none());
        let of = match self.types.kind(of.ty) {
            Kind::Array(_, Len::Unknown) if may_be_open => of,
            _ => self.checked_variable(of, name, init.is_some()),
        };
        let known = self.scopes.last().and_then(|scope| scope.symbols.get(&name.name)).copied();
        // What the name of a file's variable means in the file, wherever that is declared.
        let linked = match self.linked.get(&name.name) {
            _ if !in_file && !is_extern => None,
            Some(&(number, first)) => Some((Symbol::Global(number), first)),
            None => self.scopes[0].symbols.get(&name.name).copied(),
        };
        let number = match (known, linked) {
            (Some((Symbol::Global(own), first)), Some((Symbol::Global(number), _)))
                if own != number =>
            {
                self.duplicate(name.name, name.span, first);
                return;
            }
            (None | Some((Symbol::Global(_), _)), Some((Symbol::Global(number), first))) => {
                self.redeclared(number, of, defined, name, first);
                number
            }
            (Some((_, first)), _) | (_, Some((_, first))) => {
                self.duplicate(name.name, name.span, first);
                return;
            }
            (None, None) => {
                self.globals.push(Global {
                    name: name.name,
                    ty: of.ty,
                    is_const: of.is_const,
                    is_restrict: of.is_restrict,
                    in_memory: false,
                    written: false,
                    defined,
                    values: Default::default(),
                    pointer: None,
                });
                let number = self.globals.len() - 1;
                if in_file || is_extern {
                    self.linked.insert(name.name, (number, name.span));
                }
                self.count_static(of.ty, name);
                number
            }
        };
        if known.is_none() {
            self.declare(name.name, Symbol::Global(number), name.span);
        }
        if let Some(init) = init {
            let ty = self.static_init(number, of, &init);
            self.globals[number].ty = ty;
        }
        let ty = self.globals[number].ty;
        self.globals[number].in_memory |= self.has_array(ty);
    }

    /// Brings together two declarations of one variable.
    fn redeclared(&mut self, number: usize, of: Qual, defined: Defined, name: Ident, first: Span) {
        let data = &self.globals[number];
        let (before, twice) = (data.ty, data.defined.min(defined) == Defined::Wholly);
        if twice || !self.types.compatible(before, of.ty) {
            self.duplicate(name.name, name.span, first);
        }
        let is_open = |types: &Types, ty| matches!(types.kind(ty), Kind::Array(_, Len::Unknown));
        if !is_open(&self.types, of.ty) {
            if is_open(&self.types, before) {
                self.count_static(of.ty, name);
            }
            self.globals[number].ty = of.ty;
        }
        self.globals[number].defined = self.globals[number].defined.max(defined);
    }

    /// Refuses more variables that live as long as the program than there is room for.
    fn count_static(&mut self, ty: Ty, name: Ident) {
        self.static_bytes = self.static_bytes.saturating_add(self.types.size(ty).unwrap_or(0));
        if self.static_bytes > MAX_STATIC {
            self.static_bytes = 0;
            self.too_large(name);
        }
    }

    /// Arrays whose length no declaration said have one element (6.9.2).
    pub(super) fn complete_tentative(&mut self) {
        for global in &mut self.globals {
            if let Kind::Array(of, Len::Unknown) = self.types.kind(global.ty)
                && global.defined == Defined::Tentatively
            {
                global.ty = self.types.make(Kind::Array(of, Len::Fixed(1)));
            }
        }
    }

    fn local(
        &mut self,
        name: Ident,
        of: Qual,
        init: Option<ast::Init>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let of = self.checked_variable(of, name, init.is_some());
        let local = self.add_local(name.name, of.ty, name.span);
        let known = self.scopes.last().and_then(|scope| scope.symbols.get(&name.name));
        if let Some(&(_, first)) = known {
            self.duplicate(name.name, name.span, first);
        }
        self.declare(name.name, Symbol::Local(local), name.span);
        self.current.locals[local as usize].is_const = of.is_const;
        self.current.locals[local as usize].is_restrict = of.is_restrict;
        let init = init.map(|init| {
            let (ty, values) = self.init(of.ty, &init);
            self.current.locals[local as usize].ty = ty;
            self.current.locals[local as usize].written += 1;
            crate::sema::tree::Init { values }
        });
        out.push(Stmt { kind: StmtKind::Local(local, init), span });
    }
}
