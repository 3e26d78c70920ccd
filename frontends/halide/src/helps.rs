//! Helps that several errors share, or that depend on what stands at the fault.

use nbcc_stages::ElementType;

use crate::syntax::ast::TypeWord;
use crate::value::Value;
use crate::value::types::c_name;

/// Where a size or an extent is less than 1.
pub(crate) const AT_LEAST_ONE: &str = "write 1 or more";

/// Where something has more dimensions than there can be.
pub(crate) const FEWER_DIMENSIONS: &str =
    "join two dimensions: one Var `i`, with `i % width` and `i / width` for the two";

/// Where a number is no `int`.
pub(crate) const SMALLER_INT: &str = "write a smaller number, or a float such as `4e9f`";

/// Where `rfactor` is called otherwise.
pub(crate) const RFACTOR: &str = "write `rfactor(r.y, v)`, with a Var `v`";

/// Names of coordinates, for examples.
const COORDINATES: [&str; 4] = ["x", "y", "c", "n"];

/// `x, y`: so many coordinates as an example.
pub(crate) fn coordinates(dims: usize) -> String {
    let mut names = COORDINATES[..dims.min(4)].join(", ");
    if dims > COORDINATES.len() {
        names += ", ...";
    }
    names
}

/// Where a Func is used too early.
pub(crate) fn define_first(name: &str) -> String {
    format!("define it before this: `{name}(x, y) = ...;`")
}

/// How a function, directive or method is called that takes so many arguments.
pub(crate) fn usage(name: &str, arguments: usize) -> String {
    let directive = crate::schedule::directives::DIRECTIVES.iter().find(|d| d.name == name);
    if let Some(directive) = directive {
        return format!("write `{}`", directive.usage);
    }
    let names = ["a", "b", "c", "d", "e", "f"];
    format!("write `{name}({})`", names[..arguments.min(names.len())].join(", "))
}

/// Where a conversion has not one argument.
pub(crate) fn conversion(ty: &str) -> String {
    format!("write `cast<{ty}>(e)`")
}

/// Where a dimension has a number that is too large.
pub(crate) fn dimension_number(dims: usize) -> String {
    match dims {
        0 => "leave it out: there are no dimensions".to_owned(),
        1 => "write `0`".to_owned(),
        _ => format!("write a number from 0 to {}", dims - 1),
    }
}

/// Where an index is outside what it chooses from.
pub(crate) fn index(what: &str, len: usize) -> String {
    match (what, len) {
        ("RDom", _) => format!("an RDom of more dimensions has more pairs: `{}`", rdom(len + 1)),
        (_, 0) => format!("the {what} has no elements: add some first"),
        (_, 1) => "write `0`".to_owned(),
        _ => format!("write an index from 0 to {}", len - 1),
    }
}

/// An RDom of so many dimensions, as an example.
pub(crate) fn rdom(dims: usize) -> String {
    format!("RDom r({});", ["0, 3"].repeat(dims).join(", "))
}

/// What a value of a type is made of, where another one stands.
pub(crate) fn made_of(word: TypeWord, given: &Value) -> &'static str {
    match (word, given) {
        (_, Value::Array(_)) => "take one of its elements: `[0]`",
        (TypeWord::Func, _) => "define a Func of it: `Func f; f(x, y) = ...;`",
        (TypeWord::Var, _) => "declare a Var: `Var x;`",
        (TypeWord::RVar, _) => "take a variable of an RDom: `r.x`",
        (TypeWord::RDom, _) => "declare an RDom: `RDom r(0, 3);`",
        (TypeWord::Tuple, _) => "write `Tuple(a, b)`",
        (TypeWord::ImageParam, _) => "declare an input: `ImageParam in(Float(32), 2);`",
        (TypeWord::Type, _) => "write `Float(32)` or `UInt(8)`",
        (TypeWord::Target, _) => "write `get_target()`",
        (TypeWord::Text, _) => "write it in quotes; of a number, `std::to_string(n)`",
        _ => "leave the value out",
    }
}

/// Where something is assigned to that keeps the value it was declared with.
pub(crate) fn fixed(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "assign its elements one by one: `a[0] = ...;`",
        Value::Input(_) => "declare a Func for the new image: `Func f; f(x, y) = ...;`",
        _ => "declare a new one under a name of its own",
    }
}

/// Where a const is assigned to.
pub(crate) const NOT_CONST: &str = "declare it without `const`, or give the new value another name";

/// Where a type stands in an expression.
pub(crate) fn type_in_expression(word: &str, is_c: bool) -> String {
    match is_c {
        true => format!("a value is converted with `cast<{word}>(...)`"),
        false => format!("give the {word} a name in a statement of its own before this"),
    }
}

/// What is written instead of a word of C++ that the language does not have.
pub(crate) fn foreign(word: &str) -> &'static str {
    match word {
        "do" => "write `while (condition) { ... }`, or a `for`",
        "goto" => "put what may be left out under an `if`",
        "union" => "declare each of its members as a variable",
        "new" | "delete" => "declare a variable: what it holds needs no `new`",
        "operator" => "write a function with a name: `Expr add(Expr a, Expr b) { ... }`",
        "try" | "throw" => "leave it out: nothing fails while a pipeline is built",
        _ => "write it with constants, `for`, `if` and functions",
    }
}

/// Where an output is defined with another number of dimensions than it is declared with.
pub(crate) fn declare_output(ty: Option<ElementType>, dims: usize) -> String {
    format!("declare it as `Output<Buffer<{}, {dims}>>`", ty.map_or("float", c_name))
}
