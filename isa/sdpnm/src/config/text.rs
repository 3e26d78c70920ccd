//! Contexts as assembly text, one line a PE and slot:
//!
//! ```text
//! load pe 4, slot 0, stage 1, ahead 1, in1 g0, i16, offset 4, stride 2, keep r0
//! mults pe 12, slot 1, stage 1, in1 out[-1,0], in2 r0[1], high1, scale 15, if out[0,1], export g3
//! ```
//!
//! `out[ROW,COLUMN]` is the output of the PE at that offset in the cycle before, `rN` a ring of own
//! registers, `rN[AGO]` its value of an earlier iteration, `gN` a global register. What is not said is
//! absent, or 0.

use std::fmt::{self, Write};

use nbcc_isa::asm::{BoxedInstruction, TextInstruction, TextType};
use nbcc_isa::text::Cursor;
use nbcc_isa::{EncodeError, Imm, LabelNames, SyntaxError};

use super::context::{Bit, Context, Control, Memory, Source, Width};
use super::encode::{BYTES, decode, encode};
use super::opcode::{Opcode, Options, Part};
use super::package::Placed;

/// The name of the section that holds contexts.
pub const SECTION: &str = ".text.arrays";

/// The type of its instructions.
pub fn text_type() -> TextType {
    TextType {
        section: SECTION,
        instruction_bytes: BYTES as u32,
        decode: |bytes| {
            let bytes = bytes.try_into().map_err(|_| "not the bytes of a context".to_string())?;
            match decode(bytes) {
                Ok(placed) => Ok(Box::new(placed)),
                Err(field) => Err(format!("{field} of the context means nothing")),
            }
        },
        parse: |cursor| Ok(parse(cursor).map(Box::new)? as BoxedInstruction),
    }
}

impl TextInstruction for Placed {
    fn write_text(&self, f: &mut dyn Write, _: &dyn LabelNames) -> fmt::Result {
        write(self, f)
    }

    fn for_each_symbolic_mut(&mut self, _: &mut dyn FnMut(&mut Imm)) {}

    fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        Ok(encode(self)?.to_vec())
    }
}

impl fmt::Display for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(self, f)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Source::None => write!(f, "none"),
            Source::Output(r, c) => write!(f, "out[{r},{c}]"),
            Source::Register { ring, ago: 0 } => write!(f, "r{ring}"),
            Source::Register { ring, ago } => write!(f, "r{ring}[{ago}]"),
            Source::Global(number) => write!(f, "g{number}"),
            Source::Immediate(value) => write!(f, "{value}"),
        }
    }
}

/// A bit is written as the word that it comes with.
fn as_source(bit: Bit) -> Source {
    match bit {
        Bit::None => Source::None,
        Bit::Output(r, c) => Source::Output(r, c),
        Bit::Register { ring, ago } => Source::Register { ring, ago },
    }
}

impl fmt::Display for Bit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        as_source(*self).fmt(f)
    }
}

/// A flag among options.
type Flag = fn(&mut Options) -> &mut bool;

/// The flags of options, by their names.
const FLAGS: [(&str, Flag); 7] = [
    ("high1", |options| &mut options.high1),
    ("high2", |options| &mut options.high2),
    ("unsigned1", |options| &mut options.unsigned1),
    ("unsigned2", |options| &mut options.unsigned2),
    ("larger", |options| &mut options.larger),
    ("halves", |options| &mut options.halves),
    ("begin", |options| &mut options.begin),
];

const PARTS: [(&str, Part); 3] =
    [("packed", Part::Packed), ("real", Part::Real), ("imaginary", Part::Imaginary)];

fn write(placed: &Placed, f: &mut dyn Write) -> fmt::Result {
    let Context { op, mut options, in1, in2, in3, memory, control } = placed.context;
    write!(f, "{} pe {}, slot {}, stage {}", op.mnemonic(), placed.pe, placed.slot, control.stage)?;
    if control.ahead > 0 {
        write!(f, ", ahead {}", control.ahead)?;
    }
    for (name, source) in [("in1", in1), ("in2", in2), ("in3", as_source(in3))] {
        if source != Source::None {
            write!(f, ", {name} {source}")?;
        }
    }
    for (name, flag) in FLAGS {
        if *flag(&mut options) {
            write!(f, ", {name}")?;
        }
    }
    if options.scale > 0 {
        write!(f, ", scale {}", options.scale)?;
    }
    if let Some((name, _)) = PARTS[1..].iter().find(|(_, part)| *part == options.part) {
        write!(f, ", part {name}")?;
    }
    if options.coefficient != 0 {
        write!(f, ", coefficient {:#x}", options.coefficient)?;
    }
    if let Some((name, _)) = Width::ALL[1..].iter().find(|(_, width)| *width == memory.width) {
        write!(f, ", {name}")?;
    }
    if memory.offset != 0 {
        write!(f, ", offset {}", memory.offset)?;
    }
    if memory.stride != 0 {
        write!(f, ", stride {}", memory.stride)?;
    }
    if control.condition != Bit::None {
        write!(f, ", if {}", control.condition)?;
    }
    if let Some(number) = control.initial {
        write!(f, ", initial g{number}")?;
    }
    if let Some(ring) = control.keep {
        write!(f, ", keep r{ring}")?;
    }
    if let Some(number) = control.export {
        write!(f, ", export g{number}")?;
    }
    Ok(())
}

/// Takes a name that begins with a letter and goes on with a number of 8 bits.
fn numbered(cursor: &mut Cursor<'_>, prefix: &str, what: &str) -> Result<u8, SyntaxError> {
    let start = cursor.position();
    let number = cursor.register(prefix, what)?;
    let end = cursor.position();
    u8::try_from(number)
        .map_err(|_| SyntaxError::new(format!("there is no {what} {number}"), start..end))
}

fn byte(cursor: &mut Cursor<'_>, what: &str) -> Result<i8, SyntaxError> {
    Ok(cursor.number_in(what, i8::MIN.into(), i8::MAX.into())? as i8)
}

fn source(cursor: &mut Cursor<'_>) -> Result<Source, SyntaxError> {
    if cursor.eat("out[") {
        let row = byte(cursor, "the row")?;
        cursor.expect(",")?;
        let column = byte(cursor, "the column")?;
        cursor.expect("]")?;
        return Ok(Source::Output(row, column));
    }
    let start = cursor.position();
    let letter = cursor.name().and_then(|name| name.chars().next());
    cursor.rewind(start);
    match letter {
        Some('r') => {
            let ring = numbered(cursor, "r", "ring")?;
            let mut ago = 0;
            if cursor.eat("[") {
                ago = cursor.number_in("the number of iterations", 0, 255)? as u8;
                cursor.expect("]")?;
            }
            Ok(Source::Register { ring, ago })
        }
        Some('g') => Ok(Source::Global(numbered(cursor, "g", "global register")?)),
        Some(_) => Err(cursor
            .error_here("expected an operand")
            .with_help("write `out[ROW,COLUMN]`, `rN`, `rN[AGO]`, `gN` or a number")),
        None => {
            let value = cursor.number_in("the value", i32::MIN.into(), u32::MAX.into())?;
            Ok(Source::Immediate(value as i32))
        }
    }
}

fn bit(cursor: &mut Cursor<'_>) -> Result<Bit, SyntaxError> {
    let start = cursor.position();
    match source(cursor)? {
        Source::Output(r, c) => Ok(Bit::Output(r, c)),
        Source::Register { ring, ago } => Ok(Bit::Register { ring, ago }),
        _ => {
            let end = cursor.position();
            Err(SyntaxError::new("a bit comes from an output or an own register", start..end))
        }
    }
}

/// Reads a line.
fn parse(cursor: &mut Cursor<'_>) -> Result<Placed, SyntaxError> {
    let start = cursor.position();
    let mnemonic = cursor.expect_name("an operation")?;
    let Some(&op) = Opcode::ALL.iter().find(|op| op.mnemonic() == mnemonic) else {
        let names = Opcode::ALL.iter().map(|op| op.mnemonic());
        let near = nbcc_base::nearest(mnemonic, names);
        let span = start..start + mnemonic.len();
        let error = SyntaxError::new(format!("unknown operation `{mnemonic}`"), span);
        return Err(match near {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error,
        });
    };
    let (mut options, mut memory, mut control) =
        (Options::default(), Memory::default(), Control::default());
    let (mut in1, mut in2, mut in3) = (Source::None, Source::None, Bit::None);
    let (mut pe, mut slot) = (0_u16, 0_u16);
    let mut seen: Vec<&str> = Vec::new();
    loop {
        let start = cursor.position();
        let name = cursor.expect_name("what the context says")?;
        if seen.contains(&name) {
            let span = start..start + name.len();
            return Err(SyntaxError::new(format!("`{name}` is said twice"), span));
        }
        seen.push(name);
        let small = |cursor: &mut Cursor<'_>, most: i64| cursor.number_in(name, 0, most);
        let wide = |cursor: &mut Cursor<'_>| {
            cursor.number_in(name, i32::MIN.into(), i32::MAX.into()).map(|value| value as i32)
        };
        match name {
            "pe" => pe = small(cursor, 255)? as u16,
            "slot" => slot = small(cursor, 1023)? as u16,
            "stage" => control.stage = small(cursor, u16::MAX.into())? as u16,
            "ahead" => control.ahead = small(cursor, u16::MAX.into())? as u16,
            "in1" => in1 = source(cursor)?,
            "in2" => in2 = source(cursor)?,
            "in3" => in3 = bit(cursor)?,
            "scale" => options.scale = small(cursor, 31)? as u8,
            "coefficient" => options.coefficient = small(cursor, u32::MAX.into())? as u32,
            "offset" => memory.offset = wide(cursor)?,
            "stride" => memory.stride = wide(cursor)?,
            "if" => control.condition = bit(cursor)?,
            "initial" => control.initial = Some(numbered(cursor, "g", "global register")?),
            "keep" => control.keep = Some(numbered(cursor, "r", "ring")?),
            "export" => control.export = Some(numbered(cursor, "g", "global register")?),
            "part" => {
                let start = cursor.position();
                let part = cursor.expect_name("a part")?;
                let known = PARTS.iter().find(|(name, _)| *name == part);
                let span = start..start + part.len();
                options.part = known.map(|(_, part)| *part).ok_or_else(|| {
                    SyntaxError::new(format!("unknown part `{part}`"), span)
                        .with_help("known are packed, real, imaginary")
                })?;
            }
            _ => {
                let flag = FLAGS.iter().find(|(known, _)| *known == name);
                let width = Width::ALL.iter().find(|(known, _)| *known == name);
                match (flag, width) {
                    (Some((_, flag)), _) => *flag(&mut options) = true,
                    (None, Some((_, width))) => memory.width = *width,
                    (None, None) => {
                        let span = start..start + name.len();
                        return Err(SyntaxError::new(format!("unknown word `{name}`"), span));
                    }
                }
            }
        }
        if !cursor.eat(",") {
            break;
        }
    }
    for needed in ["pe", "slot"] {
        if !seen.contains(&needed) {
            return Err(cursor.error_here(format!("the context does not say its `{needed}`")));
        }
    }
    let context = Context { op, options, in1, in2, in3, memory, control };
    Ok(Placed { pe, slot, context, line: None })
}
