//! Initialisers (C11, 6.7.9): what each scalar of an object starts as. Scalars are numbered as they
//! lie in the object.

use std::collections::BTreeMap;

use nbcc_base::Span;

use super::Sema;
use crate::codes;
use crate::sema::tree::{Expr, ExprKind};
use crate::syntax::ast::{self, Designator};
use crate::types::{Kind, Len, Qual, Ty, Types};

/// Elements of an array at most whose length its initialiser says.
const MAX_LENGTH: u64 = 1 << 30;

/// What is collected.
struct Filler<'t> {
    items: &'t [(Vec<Designator>, ast::Init)],
    next: usize,
    /// Designators of the next item that are followed already.
    followed: usize,
    /// The value of the next item, where it was looked at already.
    value: Option<Expr>,
}

impl Sema<'_> {
    /// The type of an object, its length known, and its values by scalar.
    pub(super) fn init(&mut self, ty: Ty, init: &ast::Init) -> (Ty, BTreeMap<u64, Expr>) {
        let mut values = BTreeMap::new();
        let count = self.init_into(ty, 0, init, &mut values);
        let ty = match self.types.kind(ty) {
            Kind::Array(of, Len::Unknown) => {
                self.types.make(Kind::Array(of, Len::Fixed(count.max(1))))
            }
            _ => ty,
        };
        (ty, values)
    }

    /// Initialises an object from its scalar `at` on; the elements that it takes, if it is an array.
    fn init_into(
        &mut self,
        ty: Ty,
        at: u64,
        init: &ast::Init,
        values: &mut BTreeMap<u64, Expr>,
    ) -> u64 {
        if let (Kind::Array(of, len), Some(bytes)) = (self.types.kind(ty), text_of(init))
            && self.types.as_int(of.ty).is_some_and(|int| int.bits() == 8)
        {
            return self.text_into(of.ty, len, at, bytes, init.span(), values);
        }
        match (self.types.kind(ty), init) {
            (Kind::Error, ast::Init::List(..)) => 1,
            (Kind::Array(..) | Kind::Struct(_), ast::Init::List(items, span)) => {
                let mut filler = Filler { items, next: 0, followed: 0, value: None };
                let count = self.fill(ty, at, &mut filler, true, values);
                if filler.next < items.len() {
                    let extra = items[filler.next].1.span();
                    let message = "more initialisers than there are elements or members";
                    self.error(&codes::INITIALISER, extra, message, "one too many", "remove it");
                }
                let _ = span;
                count
            }
            (Kind::Array(..), ast::Init::Expr(expr)) => {
                let help = "write the elements in braces: `{ 1, 2, 3 }`";
                self.error(
                    &codes::INITIALISER,
                    expr.span,
                    "an array is no single value",
                    "not in braces",
                    help,
                );
                0
            }
            (_, ast::Init::List(items, span)) => {
                match &items[..] {
                    [(designators, inner)] if designators.is_empty() => {
                        self.init_into(ty, at, inner, values);
                    }
                    [] => {
                        let zero = self.int_const(0, Types::INT, *span);
                        let value = self.assigned(zero, ty, "a variable");
                        values.insert(at, value);
                    }
                    _ => {
                        let help = "give it one value";
                        self.error(
                            &codes::INITIALISER,
                            *span,
                            "several values for one",
                            "too many",
                            help,
                        );
                    }
                }
                1
            }
            (_, ast::Init::Expr(expr)) => {
                let value = self.expr(expr);
                let value = self.assigned(value, ty, "a variable");
                if value.ty != Types::ERROR {
                    self.put(at, value, values);
                }
                1
            }
        }
    }

    /// Sets a scalar, or those of a structure.
    fn put(&mut self, at: u64, value: Expr, values: &mut BTreeMap<u64, Expr>) {
        self.forget(value.ty, at, values);
        values.insert(at, value);
    }

    /// An initialiser of a whole object takes the place of those before it of its parts (6.7.9, 19),
    /// one of a part that of a structure before it, as a whole: gcc has it so.
    fn forget(&self, ty: Ty, at: u64, values: &mut BTreeMap<u64, Expr>) {
        let count = self.types.leaves(ty);
        if let Some((&start, whole)) = values.range(..=at).next_back()
            && self.types.leaves(whole.ty) > count.max(at - start)
        {
            values.remove(&start);
        }
        if count > 1 {
            let covered: Vec<u64> = values.range(at..at + count).map(|(&at, _)| at).collect();
            for at in covered {
                values.remove(&at);
            }
        }
    }

    fn text_into(
        &mut self,
        of: Ty,
        len: Len,
        at: u64,
        bytes: &[u8],
        span: Span,
        values: &mut BTreeMap<u64, Expr>,
    ) -> u64 {
        if let Len::Fixed(count) = len
            && (bytes.len() as u64) > count
        {
            let message = format!("a text of {} characters for an array of {count}", bytes.len());
            self.error(&codes::INITIALISER, span, message, "too long", "make the array longer");
            return count;
        }
        let int = self.types.as_int(of);
        for (number, &byte) in bytes.iter().enumerate() {
            let value = int.map_or(0, |int| int.wrap(i64::from(byte)));
            let value = self.int_const(value, of, span);
            values.insert(at + number as u64, value);
        }
        bytes.len() as u64 + 1
    }

    /// Fills an array or structure from a list: all that is left of it where the list is the
    /// object's own, else as much as it takes. The elements that it took, if it is an array.
    fn fill(
        &mut self,
        ty: Ty,
        at: u64,
        filler: &mut Filler<'_>,
        own: bool,
        values: &mut BTreeMap<u64, Expr>,
    ) -> u64 {
        let (mut number, mut most) = (0_u64, 0_u64);
        let mut is_first = true;
        while let Some((designators, init)) = filler.items.get(filler.next) {
            let designated = filler.followed < designators.len();
            let mut path = None;
            if designated {
                if !(own || is_first && filler.followed > 0) {
                    // It begins at the object of the braces.
                    break;
                }
                match self.designated(ty, &designators[filler.followed]) {
                    Some((found, inner)) => {
                        number = found;
                        path = inner;
                    }
                    None => {
                        filler.next += 1;
                        (filler.followed, filler.value) = (0, None);
                        continue;
                    }
                }
                filler.followed += 1;
            }
            is_first = false;
            let Some((of, start)) = self.sub_object(ty, number) else { break };
            if let Kind::Array(_, Len::Unknown) = self.types.kind(ty)
                && number >= MAX_LENGTH
            {
                let help = "use a smaller index";
                self.error(
                    &codes::LIMIT,
                    init.span(),
                    "an array of more than 2^30 elements",
                    "too large",
                    help,
                );
                return 1;
            }
            let start = at + start;
            number += 1;
            most = most.max(number);
            if let Some((inner, start_of)) = path {
                // A member of a structure without a name.
                self.item_into(inner, start + start_of, filler, values);
                continue;
            }
            self.item_into(of, start, filler, values);
        }
        most
    }

    /// Initialises an object with the next item, or with several where it has no braces.
    fn item_into(
        &mut self,
        of: Ty,
        start: u64,
        filler: &mut Filler<'_>,
        values: &mut BTreeMap<u64, Expr>,
    ) {
        let (designators, init) = &filler.items[filler.next];
        let aggregate = matches!(self.types.kind(of), Kind::Array(..) | Kind::Struct(_));
        if filler.followed < designators.len() {
            if aggregate {
                self.fill(of, start, filler, false, values);
            } else {
                let span = init.span();
                let help = "name members of structures and elements of arrays";
                self.error(
                    &codes::INITIALISER,
                    span,
                    "a designator within a number",
                    "no part of it",
                    help,
                );
                filler.next += 1;
                (filler.followed, filler.value) = (0, None);
            }
            return;
        }
        let done = |filler: &mut Filler<'_>| {
            filler.next += 1;
            (filler.followed, filler.value) = (0, None);
        };
        let ast::Init::Expr(expr) = init else {
            self.forget(of, start, values);
            self.init_into(of, start, init, values);
            return done(filler);
        };
        let is_text = matches!(self.types.kind(of), Kind::Array(..)) && text_of(init).is_some();
        if is_text {
            self.forget(of, start, values);
            self.init_into(of, start, init, values);
            return done(filler);
        }
        let value = match filler.value.take() {
            Some(value) => value,
            None => self.expr(expr),
        };
        let whole = !aggregate
            || value.ty == Types::ERROR
            || self.types.members(value.ty).is_some() && self.types.compatible(value.ty, of);
        if whole {
            let value = self.assigned(value, of, "an element");
            if value.ty != Types::ERROR {
                self.put(start, value, values);
            }
            return done(filler);
        }
        // Without braces, the elements of the inner object follow in the list.
        filler.value = Some(value);
        let before = filler.next;
        filler.followed = designators.len();
        self.fill_from(of, start, filler, values);
        if filler.next == before {
            done(filler);
        }
    }

    fn fill_from(
        &mut self,
        of: Ty,
        start: u64,
        filler: &mut Filler<'_>,
        values: &mut BTreeMap<u64, Expr>,
    ) {
        let mut number = 0;
        loop {
            let Some((designators, _)) = filler.items.get(filler.next) else { return };
            if number > 0 && !designators.is_empty() {
                return;
            }
            let Some((inner, offset)) = self.sub_object(of, number) else { return };
            number += 1;
            if number > 1 {
                filler.followed = 0;
            }
            self.item_into(inner, start + offset, filler, values);
        }
    }

    /// The element or member of that number, and its first scalar.
    fn sub_object(&self, ty: Ty, number: u64) -> Option<(Ty, u64)> {
        match self.types.kind(ty) {
            Kind::Array(of, len) => {
                let inside = match len {
                    Len::Fixed(count) => number < count,
                    _ => true,
                };
                inside.then(|| (of.ty, number * self.types.leaves(of.ty)))
            }
            Kind::Struct(_) => {
                let members = self.types.members(ty)?;
                let member = members.get(number as usize)?;
                let before = members[..number as usize].iter();
                Some((member.of.ty, before.map(|member| self.types.leaves(member.of.ty)).sum()))
            }
            _ => None,
        }
    }

    /// The number of what a designator names; for a member of a structure without a name also its
    /// type and first scalar within that.
    #[allow(clippy::type_complexity)]
    fn designated(&mut self, ty: Ty, designator: &Designator) -> Option<(u64, Option<(Ty, u64)>)> {
        match (self.types.kind(ty), designator) {
            (Kind::Array(_, len), Designator::Index(index)) => {
                let at = self.constant(index)?;
                let inside = match len {
                    Len::Fixed(count) => at >= 0 && (at as u64) < count,
                    _ => at >= 0,
                };
                if !inside {
                    let message = format!("the designated element {at} is outside of the array");
                    let help = "name an element that there is";
                    self.error(&codes::INDEX, index.span, message, "outside", help);
                    return None;
                }
                Some((at as u64, None))
            }
            (Kind::Struct(_), Designator::Member(name)) => {
                let members = self.types.members(ty)?;
                let Some(path) = self.find_in(members, name.name) else {
                    self.no_member(ty, *name);
                    return None;
                };
                let (&first, rest) = path.split_first()?;
                let (mut inner, _) = self.sub_object(ty, first as u64)?;
                let mut offset = 0;
                for &number in rest {
                    let (next, start) = self.sub_object(inner, number as u64)?;
                    inner = next;
                    offset += start;
                }
                Some((first as u64, (!rest.is_empty()).then_some((inner, offset))))
            }
            (_, designator) => {
                let span = match designator {
                    Designator::Index(index) => index.span,
                    Designator::Member(name) => name.span,
                };
                let message = "a designator that does not go with the type";
                let help = "`[3]` names elements of arrays, `.x` members of structures";
                self.error(&codes::INITIALISER, span, message, "no part of it", help);
                None
            }
        }
    }

    /// Initialises a variable that lives as long as the program; its type, the length known.
    pub(super) fn static_init(&mut self, number: usize, of: Qual, init: &ast::Init) -> Ty {
        let (ty, values) = self.init(of.ty, init);
        if ty != Types::ERROR && self.types.size(ty).is_none_or(|size| size > super::MAX_STATIC) {
            let help = "use smaller arrays, or array parameters";
            self.error(
                &codes::LIMIT,
                init.span(),
                "more than 1 GiB of variables",
                "too large",
                help,
            );
            return Types::ERROR;
        }
        let mut constants = BTreeMap::new();
        for (at, value) in values {
            let span = value.span;
            match value.kind {
                ExprKind::Const(0) => {}
                ExprKind::Const(value) => {
                    constants.insert(at, value);
                }
                ExprKind::Null | ExprKind::Bad => {}
                _ if self.types.is_pointer(value.ty) && is_address(&value) => {
                    self.globals[number].pointer = Some(value);
                }
                _ => {
                    let message = "the initialiser of a variable that is static is no constant";
                    let help = "assign it in the function, or compute the value beforehand";
                    self.error(&codes::CONSTANT, span, message, "not constant", help);
                }
            }
        }
        self.globals[number].values = constants;
        ty
    }
}

/// Whether a pointer is an address that is known before the program runs.
fn is_address(value: &Expr) -> bool {
    use crate::sema::tree::PlaceKind;
    match &value.kind {
        ExprKind::Repoint(inner) => is_address(inner),
        ExprKind::Offset(pointer, by, _) => {
            is_address(pointer) && matches!(by.kind, ExprKind::Const(_))
        }
        ExprKind::Address(place) => {
            let mut place = &**place;
            loop {
                match &place.kind {
                    PlaceKind::Global(_) => return true,
                    PlaceKind::Index(inner, index) => {
                        if !matches!(index.kind, ExprKind::Const(_)) {
                            return false;
                        }
                        place = inner;
                    }
                    PlaceKind::Member(inner, _) => place = inner,
                    PlaceKind::Deref(pointer) => return is_address(pointer),
                    _ => return false,
                }
            }
        }
        _ => false,
    }
}

/// The bytes of an initialiser that is a text.
fn text_of(init: &ast::Init) -> Option<&[u8]> {
    match init {
        ast::Init::Expr(ast::Expr { kind: ast::ExprKind::Text(bytes), .. }) => Some(bytes),
        ast::Init::List(items, _) => match &items[..] {
            [(designators, inner @ ast::Init::Expr(_))] if designators.is_empty() => text_of(inner),
            _ => None,
        },
        ast::Init::Expr(_) => None,
    }
}
