//! Initial values: nested lists become bytes and addresses at offsets.

use nbcc_base::text::counted;
use nbcc_base::{Diagnostic, Failed, Span};

use super::Resolver;
use super::scope::Entity;
use crate::ast::{Constant, InitAddress, InitItem, Initializer, ScalarType, StateSpace};
use crate::codes;
use crate::resolved::{Initial, Relocation, RelocationTarget, Variable};

/// The initial values of a file have at most this many bytes.
const MAX_INITIAL: u64 = 256 << 20;

/// A list that is open.
struct Level {
    /// How many items it may have.
    limit: Option<u64>,
    /// How many items it has so far.
    count: u64,
}

impl Resolver<'_, '_> {
    /// Lays out an initialiser for a variable of these dimensions. Gives how many items its outermost
    /// list has.
    ///
    /// Values lie one behind the other, whatever braces are around them: where an inner list is shorter
    /// than its dimension, the next one goes on behind it, and zeros come last. So does `ptxas`.
    pub(super) fn initial(
        &mut self,
        variable: &Variable,
        dimensions: &[Option<u64>],
        initializer: &Initializer,
    ) -> Result<(Initial, u64), Failed> {
        let width = u64::from(variable.scalar.bytes().unwrap_or(1));
        // What the lists of each depth hold: dimensions, then the elements of a vector.
        let mut shape: Vec<Option<u64>> = dimensions.to_vec();
        if variable.vector > 1 {
            shape.push(Some(u64::from(variable.vector)));
        }
        let mut initial = Initial::default();
        let mut levels: Vec<Level> = Vec::with_capacity(shape.len());
        let mut rows = 0;
        let mut offset = 0;
        for &item in &initializer.items {
            if let InitItem::Close(span) = item {
                let level = levels.pop().expect("the parser matches braces");
                let vector = variable.vector > 1 && levels.len() + 1 == shape.len();
                if vector && level.count != u64::from(variable.vector) {
                    return self.fail(
                        Diagnostic::error(
                            &codes::INITIALIZER_SHAPE,
                            format!(
                                "{} for a vector of {}",
                                counted(level.count, "value"),
                                variable.vector
                            ),
                        )
                        .at(span, "a vector takes exactly as many values as it has elements")
                        .help(format!(
                            "write {} between the braces",
                            counted(variable.vector, "value")
                        )),
                    );
                }
                if levels.is_empty() {
                    rows = level.count;
                }
                continue;
            }
            let span = match item {
                InitItem::Open(span) | InitItem::Close(span) => span,
                InitItem::Constant(_, span) => span,
                InitItem::Address(address) => address.span,
            };
            if let Some(level) = levels.last_mut() {
                if level.limit.is_some_and(|limit| level.count >= limit) {
                    let limit = level.limit.unwrap_or(0);
                    return self.fail(
                        Diagnostic::error(
                            &codes::INITIALIZER_SHAPE,
                            format!("more than {limit} values in an initialiser"),
                        )
                        .at(span, format!("there are {limit} elements"))
                        .and(variable.span, "declared here")
                        .help(
                            "leave the values beyond the last element out, or \
                                 declare a larger array",
                        ),
                    );
                }
                level.count += 1;
            }
            if self.initial_bytes + offset >= MAX_INITIAL {
                return self.initial_too_large(span);
            }
            if let InitItem::Open(_) = item {
                match shape.get(levels.len()) {
                    Some(&limit) => levels.push(Level { limit, count: 0 }),
                    None => {
                        return self.fail(
                            Diagnostic::error(
                                &codes::INITIALIZER_SHAPE,
                                "braces around a single value",
                            )
                            .at(span, format!("the variable has {} dimensions", shape.len()))
                            .and(variable.span, "declared here")
                            .help("leave the braces out"),
                        );
                    }
                }
                continue;
            }
            if levels.len() < shape.len() {
                let missing = shape.len() - levels.len();
                return self.fail(
                    Diagnostic::error(&codes::INITIALIZER_SHAPE, "a value where a list is needed")
                        .at(span, "expected `{`")
                        .and(
                            variable.span,
                            format!("needs {} of braces", counted(missing, "more pair")),
                        )
                        .help(
                            "put braces around the values of each dimension, as in \
                             `{{1, 2}, {3, 4}}`",
                        ),
                );
            }
            self.initial_value(variable.scalar, offset, item, span, &mut initial)?;
            offset += width;
        }
        self.initial_bytes += initial.bytes.len() as u64;
        if self.initial_bytes > MAX_INITIAL {
            return self.initial_too_large(initializer.span);
        }
        if rows == 0 && dimensions.first().is_some_and(Option::is_none) {
            return self.fail(
                Diagnostic::error(&codes::INITIALIZER_SHAPE, "an array without elements")
                    .at(initializer.span, "at least one value is needed to tell the size")
                    .help("write the size between the brackets"),
            );
        }
        Ok((initial, rows))
    }

    fn initial_too_large<T>(&mut self, span: Span) -> Result<T, Failed> {
        self.fail(
            Diagnostic::error(&codes::TOO_LARGE, "more than 256 MiB of initial values")
                .at(span, "too much")
                .help(
                    "leave the initial values out and copy the contents in a \
                     [[symbol]] of the launch file",
                ),
        )
    }

    fn initial_value(
        &mut self,
        scalar: ScalarType,
        offset: u64,
        item: InitItem,
        span: Span,
        initial: &mut Initial,
    ) -> Result<(), Failed> {
        let width = scalar.bytes().unwrap_or(1);
        let bits: u128 = match item {
            InitItem::Constant(constant, _) => match number(scalar, constant) {
                Some(bits) => bits,
                None => {
                    let what = match constant {
                        Constant::Int { .. } => "an integer",
                        Constant::F32(_) | Constant::F64(_) => "a float",
                    };
                    return self.fail(
                        Diagnostic::error(
                            &codes::INITIALIZER_VALUE,
                            format!("{what} as initial value of type `.{}`", scalar.name()),
                        )
                        .at(span, format!("{what} is no value of this type"))
                        .help(format!("write a value of `.{}`", scalar.name())),
                    );
                }
            },
            InitItem::Address(address) => {
                let relocation = self.initial_address(scalar, offset, address)?;
                initial.relocations.push(relocation);
                0
            }
            InitItem::Open(_) | InitItem::Close(_) => {
                unreachable!("no value")
            }
        };
        let end = (offset + u64::from(width)) as usize;
        if initial.bytes.len() < end {
            initial.bytes.resize(end, 0);
        }
        initial.bytes[offset as usize..end].copy_from_slice(&bits.to_le_bytes()[..width as usize]);
        Ok(())
    }

    fn initial_address(
        &mut self,
        scalar: ScalarType,
        offset: u64,
        address: InitAddress,
    ) -> Result<Relocation, Failed> {
        use ScalarType::*;
        let wide = matches!(scalar, B32 | U32 | S32 | B64 | U64 | S64);
        let masked = wide || matches!(scalar, B8 | U8 | S8);
        if !(if address.mask.is_some() { masked } else { wide }) {
            return self.fail(
                Diagnostic::error(
                    &codes::INITIALIZER_VALUE,
                    format!("an address as initial value of type `.{}`", scalar.name()),
                )
                .at(address.span, "addresses need an integer type of 32 or 64 bits")
                .help("`0xFF(name)` is the lowest byte of an address"),
            );
        }
        let mut shift = 0;
        let mut width = scalar.bytes().unwrap_or(1);
        if let Some(mask) = address.mask {
            shift = mask.trailing_zeros();
            if mask == 0 || !shift.is_multiple_of(8) || mask >> shift != 0xff {
                return self.fail(
                    Diagnostic::error(
                        &codes::INITIALIZER_VALUE,
                        format!("the mask {mask:#x} takes no byte out of an address"),
                    )
                    .at(address.span, "no mask of a byte")
                    .help("masks are 0xFF, 0xFF00, and so on up to 0xFF00000000000000"),
                );
            }
            width = 1;
        }
        let name = self.text(address.name.symbol);
        let error = |message: String, label: &str| {
            Diagnostic::error(&codes::INITIALIZER_NAME, message)
                .at(address.name.span, label.to_owned())
                .help("store the address when the program runs, or leave the initial value out")
        };
        let target = match self.scopes.get(address.name.symbol).map(|b| b.entity) {
            Some(Entity::Variable(variable)) => {
                let space = self.resolved.variables[variable].space;
                if !matches!(space, StateSpace::Global | StateSpace::Const) {
                    return self.fail(error(
                        format!("the address of `{name}`, which is in `.{}`", space.name()),
                        "only `.global` and `.const` variables have addresses before the launch",
                    ));
                }
                RelocationTarget::Variable(variable)
            }
            Some(Entity::Function(function)) => {
                if address.generic {
                    return self.fail(error(
                        format!("the generic address of the function `{name}`"),
                        "functions have one address only",
                    ));
                }
                RelocationTarget::Function(function)
            }
            Some(Entity::Register(_) | Entity::Table(_)) => {
                return self.fail(error(format!("`{name}` has no address"), "not a variable"));
            }
            None if self.is_doubtful(address.name.symbol) => return Err(Failed),
            None => {
                return self.fail(
                    error(format!("`{name}` is not declared"), "unknown here")
                        .help("what an initial value names has to be declared before it"),
                );
            }
        };
        Ok(Relocation {
            offset,
            width,
            target,
            generic: address.generic,
            addend: address.offset,
            shift,
        })
    }
}

/// The bits of a number as a value of a type; `None` if it is none. Bits that are too many are cut
/// off. Single precision in hexadecimal is never converted, as `ptxas` does it.
fn number(scalar: ScalarType, constant: Constant) -> Option<u128> {
    use ScalarType::*;
    Some(match (scalar, constant) {
        (
            U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64 | B8 | B16 | B32 | B64 | B128,
            Constant::Int { bits, .. },
        ) => u128::from(bits),
        (F32 | B32, Constant::F64(bits)) => u128::from((f64::from_bits(bits) as f32).to_bits()),
        (F32 | F64 | B8 | B16 | B32 | B64, Constant::F32(bits)) => u128::from(bits),
        (F64 | B8 | B16 | B64, Constant::F64(bits)) => u128::from(bits),
        _ => return None,
    })
}
