//! Variables: whether type, space, alignment and dimensions of a declaration are possible, and how
//! many bytes it takes.

use nbcc_base::{Diagnostic, Failed, Span};

use super::Resolver;
use crate::ast::{Declaration, Declarator, Linkage, ScalarType, StateSpace};
use crate::codes;
use crate::resolved::{FunctionId, Variable};

/// Where a declaration stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Module,
    Body,
    EntryParameter,
    FunctionParameter { last: bool },
    Return { only: bool },
}

/// More bytes than this no variable has.
const MAX_BYTES: u64 = 1 << 40;

/// The greatest alignment of a variable: what the binary's loader can promise.
const MAX_ALIGN: u64 = 1 << 20;

/// The greatest alignment of what calls pass.
const MAX_PARAM_ALIGN: u64 = 128;

impl Resolver<'_, '_> {
    /// What the declaration says of all its names: types and space fit the place.
    pub(super) fn check_declaration(
        &mut self,
        declaration: &Declaration,
        place: Place,
    ) -> Result<(), Failed> {
        self.check_space(declaration, place)?;
        self.check_type(declaration)?;
        if let Some((align, span)) = declaration.align {
            let parameter =
                declaration.space == StateSpace::Param && place != Place::EntryParameter;
            let greatest = if parameter { MAX_PARAM_ALIGN } else { MAX_ALIGN };
            if !align.is_power_of_two() {
                return self.fail(
                    Diagnostic::error(
                        &codes::ALIGNMENT,
                        format!("an alignment of {align}, which is no power of two"),
                    )
                    .at(span, "not a power of two")
                    .help("write a power of two, as in `.align 16`"),
                );
            }
            if align > greatest {
                return self.fail(
                    Diagnostic::error(&codes::ALIGNMENT, format!("an alignment of {align}"))
                        .at(span, format!("at most {greatest} here"))
                        .help(format!("write `.align {greatest}` or less")),
                );
            }
        }
        Ok(())
    }

    fn check_space(&mut self, declaration: &Declaration, place: Place) -> Result<(), Failed> {
        let space = declaration.space;
        let span = declaration.space_span;
        let error = |code, message: &str, label: &str| {
            Diagnostic::error(code, message.to_owned()).at(span, label.to_owned())
        };
        if space == StateSpace::Tex {
            return self.fail(
                error(&codes::UNSUPPORTED, "`.tex` is not supported", "gone since PTX version 1.5")
                    .help("pass a pointer to `.global` memory in its place"),
            );
        }
        if declaration.bank.is_some() {
            return self.fail(
                error(
                    &codes::UNSUPPORTED,
                    "banks of constant memory are not supported",
                    "gone since PTX version 2.2",
                )
                .help("write `.const` without a number"),
            );
        }
        match (place, space) {
            (Place::Module, StateSpace::Reg | StateSpace::Local) => {
                let name = space.name();
                return self.fail(
                    error(
                        &codes::SPACE,
                        &format!("a `.{name}` variable outside a function"),
                        "belongs to functions",
                    )
                    .help("declare it in the function that uses it"),
                );
            }
            (Place::Module, StateSpace::Param) => {
                return self.fail(
                    error(
                        &codes::SPACE,
                        "a `.param` variable outside a function",
                        "parameters belong to functions",
                    )
                    .help("declare it in the function that calls with it, or in `.global`"),
                );
            }
            (Place::EntryParameter, StateSpace::Param) => {}
            (Place::EntryParameter, _) => {
                return self.fail(
                    error(
                        &codes::PARAMETER,
                        "a parameter of a kernel outside `.param`",
                        "has to be `.param`",
                    )
                    .help("write `.param` in its place"),
                );
            }
            (Place::Return { only: false }, StateSpace::Param) => {
                return self.fail(
                    error(
                        &codes::PARAMETER,
                        "several results in `.param`",
                        "several results have to be `.reg`",
                    )
                    .help("write `.reg` in its place, or give one result that is an array"),
                );
            }
            (
                Place::FunctionParameter { .. } | Place::Return { .. },
                StateSpace::Param | StateSpace::Reg,
            ) => {}
            (Place::FunctionParameter { .. } | Place::Return { .. }, _) => {
                return self.fail(
                    error(
                        &codes::PARAMETER,
                        "a parameter of a function in another space",
                        "has to be `.param` or `.reg`",
                    )
                    .help("write `.param` in its place, and pass an address where memory is meant"),
                );
            }
            _ => {}
        }
        let (linkage, linkage_span) = declaration.linkage;
        if linkage == Linkage::Common && space != StateSpace::Global {
            return self.fail(
                Diagnostic::error(&codes::LINKAGE, "`.common` of a variable outside `.global`")
                    .at(linkage_span, "for `.global` variables only")
                    .help("leave `.common` out"),
            );
        }
        if declaration.managed && space != StateSpace::Global {
            return self.fail(
                Diagnostic::error(&codes::SPACE, "`.managed` of a variable outside `.global`")
                    .at(span, "managed memory is `.global`")
                    .help("declare the variable in `.global`, or leave `.managed` out"),
            );
        }
        Ok(())
    }

    fn check_type(&mut self, declaration: &Declaration) -> Result<(), Failed> {
        let ty = &declaration.ty;
        let span = ty.scalar_span;
        let name = ty.scalar.name();
        let register = declaration.space == StateSpace::Reg;
        match ty.scalar {
            ScalarType::Texref | ScalarType::Samplerref | ScalarType::Surfref => {
                return self.fail(
                    Diagnostic::error(&codes::UNSUPPORTED, format!("`.{name}` is not supported"))
                        .at(span, "textures and surfaces are not supported")
                        .help("pass a pointer to `.global` memory in its place"),
                );
            }
            ScalarType::Bf16 | ScalarType::Bf16x2 | ScalarType::F32x2 => {
                let instead = match ty.scalar {
                    ScalarType::Bf16 => ".b16",
                    ScalarType::Bf16x2 => ".b32",
                    _ => ".b64",
                };
                return self.fail(
                    Diagnostic::error(&codes::TYPE, format!("`.{name}` is no type of variables"))
                        .at(span, "for instructions only")
                        .help(format!("declare it `{instead}`")),
                );
            }
            ScalarType::Pred if !register => {
                return self.fail(
                    Diagnostic::error(&codes::TYPE, "a predicate in memory")
                        .at(span, "predicates exist in registers only")
                        .help("keep it as a byte: `selp.u32` makes a number of a predicate"),
                );
            }
            ScalarType::Pred if ty.vector > 1 => {
                return self.fail(
                    Diagnostic::error(&codes::TYPE, "a vector of predicates")
                        .at(span, "predicates are scalar")
                        .help("declare a predicate for each element"),
                );
            }
            ScalarType::F16x2 if declaration.space == StateSpace::Param => {
                return self.fail(
                    Diagnostic::error(&codes::TYPE, "`.f16x2` in `.param`")
                        .at(span, "not a type of parameters")
                        .help("declare it `.b32`"),
                );
            }
            _ => {}
        }
        if ty.vector > 1 {
            if declaration.space == StateSpace::Param {
                return self.fail(
                    Diagnostic::error(&codes::TYPE, "a vector in `.param`")
                        .at(span, "parameters are scalars and arrays")
                        .help("declare an array of bytes with an alignment"),
                );
            }
            let bytes = ty.scalar.bytes().map_or(0, |b| b * u32::from(ty.vector));
            if bytes > 16 {
                return self.fail(
                    Diagnostic::error(&codes::TYPE, "a vector of more than 128 bits")
                        .at(span, format!("{} bits", bytes * 8))
                        .help("declare several vectors, or an array"),
                );
            }
        }
        if ty.scalar == ScalarType::B128 && register {
            return self.fail(
                Diagnostic::error(&codes::UNSUPPORTED, "`.b128` in registers is not supported")
                    .at(span, "registers have up to 64 bits")
                    .help("use two `.b64` registers: they are loaded and stored as `.v2.b64`"),
            );
        }
        if declaration.managed {
            self.feature("`.attribute(.managed)`", declaration.span, (4, 0), 30);
        }
        Ok(())
    }

    /// Something that came with a version of PTX and a target.
    pub(super) fn feature(&mut self, what: &str, span: Span, version: (u32, u32), sm: u32) {
        let have = (self.resolved.version.major, self.resolved.version.minor);
        if have < version {
            self.error(
                Diagnostic::error(
                    &codes::FEATURE,
                    format!("{what} in a file of version {}.{}", have.0, have.1),
                )
                .at(span, format!("came with version {}.{}", version.0, version.1))
                .help(format!("write `.version {}.{}` or a later one", version.0, version.1)),
            );
        } else if self.resolved.target.sm < sm {
            let target = self.resolved.target.sm;
            self.error(
                Diagnostic::error(&codes::FEATURE, format!("{what} for sm_{target}"))
                    .at(span, format!("came with sm_{sm}"))
                    .help(format!("write `.target sm_{sm}` or a later one")),
            );
        }
    }

    /// Size and contents of a variable in memory; `Err` once an error is reported.
    pub(super) fn variable(
        &mut self,
        declaration: &Declaration,
        declarator: &Declarator,
        place: Place,
        function: Option<FunctionId>,
    ) -> Result<Variable, Failed> {
        let ty = &declaration.ty;
        let natural = ty.scalar.bytes().unwrap_or(1) * u32::from(ty.vector);
        let align = declaration.align.map_or(natural, |(align, _)| align as u32);
        let linkage = declaration.linkage.0;
        let mut variable = Variable {
            name: declarator.name.symbol,
            span: declarator.name.span,
            space: declaration.space,
            linkage,
            scalar: ty.scalar,
            vector: ty.vector,
            array: !declarator.dimensions.is_empty(),
            bytes: None,
            align,
            initial: None,
            function,
            managed: declaration.managed,
            pointer: declaration.pointer,
        };
        if let Some(initializer) = &declarator.initializer {
            self.initializer_allowed(declaration, declarator, place, initializer.span)?;
        }
        let mut dimensions = Vec::with_capacity(declarator.dimensions.len());
        for &(size, span) in &declarator.dimensions {
            dimensions.push((size.filter(|&s| s > 0), span));
        }
        if declaration.space == StateSpace::Reg
            && let Some(&(_, span)) = dimensions.first()
        {
            return self.fail(
                Diagnostic::error(&codes::ARRAY, "an array of registers")
                    .at(span, "registers have no addresses")
                    .help("`.reg .b32 %r<8>;` declares %r0 to %r7"),
            );
        }
        if let Some(&(_, span)) = dimensions.iter().skip(1).find(|d| d.0.is_none()) {
            return self.fail(
                Diagnostic::error(&codes::ARRAY, "an array with a dimension of zero")
                    .at(span, "has to be at least 1")
                    .help("write the number of elements between the brackets"),
            );
        }
        // Bytes of what stands behind the first dimension.
        let row = dimensions
            .iter()
            .skip(1)
            .try_fold(u64::from(natural), |bytes, d| bytes.checked_mul(d.0.unwrap_or(1)));
        let mut first = dimensions.first().map_or(Some(1), |d| d.0);
        let row = match row.filter(|&r| r <= MAX_BYTES) {
            Some(row)
                if first.is_none_or(|f| f.checked_mul(row).is_some_and(|b| b <= MAX_BYTES)) =>
            {
                row
            }
            _ => {
                return self.fail(
                    Diagnostic::error(&codes::ARRAY, "a variable of more than 2^40 bytes")
                        .at(declarator.span, "too large")
                        .help("make it smaller: it has to fit the memory of the machine"),
                );
            }
        };
        if let Some(initializer) = &declarator.initializer {
            let sizes: Vec<Option<u64>> = dimensions.iter().map(|d| d.0).collect();
            let (initial, rows) = self.initial(&variable, &sizes, initializer)?;
            if first.is_none() {
                first = Some(rows);
            }
            variable.initial = Some(initial);
        }
        variable.bytes = first.map(|f| f * row);
        if first.is_none() {
            let span = dimensions.first().map_or(declarator.span, |d| d.1);
            self.unsized_allowed(declaration, place, span)?;
        }
        Ok(variable)
    }

    fn unsized_allowed(
        &mut self,
        declaration: &Declaration,
        place: Place,
        span: Span,
    ) -> Result<(), Failed> {
        let error = |message: &str| {
            Diagnostic::error(&codes::ARRAY, message.to_owned()).at(span, "has no size")
        };
        match place {
            Place::Module if declaration.linkage.0 == Linkage::Extern => Ok(()),
            Place::FunctionParameter { last: true } => Ok(()),
            Place::FunctionParameter { last: false } => self.fail(
                error("an array without a size before other parameters")
                    .help("only the last parameter may be without"),
            ),
            Place::EntryParameter => self.fail(
                error("a parameter of a kernel without a size")
                    .help("write the number of elements between the brackets"),
            ),
            Place::Return { .. } => self.fail(
                error("a result without a size")
                    .help("write the number of elements between the brackets"),
            ),
            Place::Module if declaration.space == StateSpace::Shared => self.fail(
                error("an array without a size").help("dynamic shared memory is `.extern .shared`"),
            ),
            Place::Module | Place::Body => self.fail(
                error("an array without a size")
                    .help("write the number of elements between the brackets, or initial values"),
            ),
        }
    }

    fn initializer_allowed(
        &mut self,
        declaration: &Declaration,
        declarator: &Declarator,
        place: Place,
        span: Span,
    ) -> Result<(), Failed> {
        let error = |message: String, label: &str| {
            Diagnostic::error(&codes::INITIALIZER, message).at(span, label.to_owned())
        };
        let memory = matches!(declaration.space, StateSpace::Global | StateSpace::Const);
        if !memory || !matches!(place, Place::Module | Place::Body) {
            return self.fail(
                error(
                    format!("an initial value in `.{}`", declaration.space.name()),
                    "only `.global` and `.const` have one",
                )
                .help("leave it out, and store the value when the program runs"),
            );
        }
        if declaration.linkage.0 == Linkage::Extern {
            let name = self.text(declarator.name.symbol);
            return self.fail(
                error(
                    format!("an initial value of the external `{name}`"),
                    "the value stands where it is defined",
                )
                .help("leave `.extern` out, or the value"),
            );
        }
        if declaration.ty.scalar == ScalarType::F16 {
            return self.fail(
                error("an initial value of type `.f16`".to_owned(), "not possible for this type")
                    .help("declare it `.b16` and write the bits"),
            );
        }
        Ok(())
    }
}
