//! Contexts as bits: one table of fields, which encoder and decoder follow. The first field lies in the
//! lowest bits; those behind the last are zero.

use nbcc_isa::EncodeError;

use super::context::{Bit, Context, Control, Memory, Source, Width};
use super::opcode::{Opcode, Options, Part};
use super::package::Placed;

/// Bytes of a context with its place.
pub const BYTES: usize = 40;

/// The fields: name and bits.
pub const FIELDS: [(&str, u32); 28] = [
    ("pe", 8),
    ("slot", 10),
    ("op", 6),
    ("scale", 5),
    ("high1", 1),
    ("high2", 1),
    ("unsigned1", 1),
    ("unsigned2", 1),
    ("larger", 1),
    ("halves", 1),
    ("begin", 1),
    ("part", 2),
    ("coefficient", 32),
    ("in1 kind", 3),
    ("in1", 32),
    ("in2 kind", 3),
    ("in2", 32),
    ("in3 kind", 2),
    ("in3", 16),
    ("width", 3),
    ("offset", 32),
    ("stride", 32),
    ("stage", 16),
    ("ahead", 16),
    // Number plus one, 0 for none.
    ("initial", 9),
    ("keep", 9),
    ("export", 9),
    // Kind in the low two bits.
    ("condition", 18),
];

const PARTS: [Part; 3] = [Part::Packed, Part::Real, Part::Imaginary];

/// Two signed numbers of 8 bits.
fn pair(first: u8, second: u8) -> u64 {
    u64::from(first) | u64::from(second) << 8
}

fn source(source: Source) -> [u64; 2] {
    match source {
        Source::None => [0, 0],
        Source::Output(r, c) => [1, pair(r as u8, c as u8)],
        Source::Register { ring, ago } => [2, pair(ring, ago)],
        Source::Global(number) => [3, number.into()],
        Source::Immediate(value) => [4, u64::from(value as u32)],
    }
}

fn bit(bit: Bit) -> [u64; 2] {
    match bit {
        Bit::None => [0, 0],
        Bit::Output(r, c) => [1, pair(r as u8, c as u8)],
        Bit::Register { ring, ago } => [2, pair(ring, ago)],
    }
}

fn source_of(kind: u64, value: u64) -> Option<Source> {
    let [first, second, third, fourth] = (value as u32).to_le_bytes();
    let small = third == 0 && fourth == 0;
    match kind {
        0 if value == 0 => Some(Source::None),
        1 if small => Some(Source::Output(first as i8, second as i8)),
        2 if small => Some(Source::Register { ring: first, ago: second }),
        3 if small && second == 0 => Some(Source::Global(first)),
        4 => Some(Source::Immediate(value as u32 as i32)),
        _ => None,
    }
}

fn bit_of(kind: u64, value: u64) -> Option<Bit> {
    let [first, second] = (value as u16).to_le_bytes();
    match kind {
        0 if value == 0 => Some(Bit::None),
        1 => Some(Bit::Output(first as i8, second as i8)),
        2 => Some(Bit::Register { ring: first, ago: second }),
        _ => None,
    }
}

fn optional(number: Option<u8>) -> u64 {
    number.map_or(0, |number| u64::from(number) + 1)
}

fn optional_of(value: u64) -> Option<Option<u8>> {
    match value {
        0 => Some(None),
        _ => u8::try_from(value - 1).ok().map(Some),
    }
}

fn flag(flag: bool) -> u64 {
    flag.into()
}

/// The bytes of a context with its place.
///
/// # Errors
/// A value that has too many bits.
pub fn encode(placed: &Placed) -> Result<[u8; BYTES], EncodeError> {
    let Context { op, options, in1, in2, in3, memory, control } = placed.context;
    let place = |list: &[Part]| list.iter().position(|part| *part == options.part).unwrap_or(0);
    let width = Width::ALL.iter().position(|(_, width)| *width == memory.width).unwrap_or(0);
    let [[kind1, value1], [kind2, value2]] = [in1, in2].map(source);
    let [[kind3, value3], [condition, value]] = [in3, control.condition].map(bit);
    let values: [u64; FIELDS.len()] = [
        placed.pe.into(),
        placed.slot.into(),
        op as u64,
        options.scale.into(),
        flag(options.high1),
        flag(options.high2),
        flag(options.unsigned1),
        flag(options.unsigned2),
        flag(options.larger),
        flag(options.halves),
        flag(options.begin),
        place(&PARTS) as u64,
        options.coefficient.into(),
        kind1,
        value1,
        kind2,
        value2,
        kind3,
        value3,
        width as u64,
        u64::from(memory.offset as u32),
        u64::from(memory.stride as u32),
        control.stage.into(),
        control.ahead.into(),
        optional(control.initial),
        optional(control.keep),
        optional(control.export),
        condition | value << 2,
    ];
    let mut bytes = [0_u8; BYTES];
    let mut at = 0;
    for ((name, bits), value) in FIELDS.into_iter().zip(values) {
        if value >> bits != 0 {
            return Err(EncodeError::DoesNotFit {
                mnemonic: op.mnemonic(),
                field: name,
                bits,
                value,
            });
        }
        for (index, byte) in (value << (at % 8)).to_le_bytes().into_iter().enumerate() {
            if byte != 0 {
                bytes[at as usize / 8 + index] |= byte;
            }
        }
        at += bits;
    }
    Ok(bytes)
}

/// The context of bytes, without a line.
///
/// # Errors
/// The field whose value means nothing.
pub fn decode(bytes: &[u8; BYTES]) -> Result<Placed, &'static str> {
    let mut values = [0_u64; FIELDS.len()];
    let mut at = 0;
    let bit_at = |at: u32| bytes[at as usize / 8] >> (at % 8) & 1;
    for ((_, bits), value) in FIELDS.into_iter().zip(&mut values) {
        *value = (0..bits).map(|index| u64::from(bit_at(at + index)) << index).sum();
        at += bits;
    }
    if (at..8 * BYTES as u32).any(|at| bit_at(at) != 0) {
        return Err("the bits behind the last field");
    }
    let number = |index: usize| values[index] as u32;
    let flag = |index: usize| values[index] == 1;
    let context = Context {
        op: *Opcode::ALL.get(values[2] as usize).ok_or("op")?,
        options: Options {
            scale: number(3) as u8,
            high1: flag(4),
            high2: flag(5),
            unsigned1: flag(6),
            unsigned2: flag(7),
            larger: flag(8),
            halves: flag(9),
            begin: flag(10),
            part: *PARTS.get(values[11] as usize).ok_or("part")?,
            coefficient: number(12),
        },
        in1: source_of(values[13], values[14]).ok_or("in1")?,
        in2: source_of(values[15], values[16]).ok_or("in2")?,
        in3: bit_of(values[17], values[18]).ok_or("in3")?,
        memory: Memory {
            width: Width::ALL.get(values[19] as usize).ok_or("width")?.1,
            offset: number(20) as i32,
            stride: number(21) as i32,
        },
        control: Control {
            stage: number(22) as u16,
            ahead: number(23) as u16,
            initial: optional_of(values[24]).ok_or("initial")?,
            keep: optional_of(values[25]).ok_or("keep")?,
            export: optional_of(values[26]).ok_or("export")?,
            condition: bit_of(values[27] & 3, values[27] >> 2).ok_or("condition")?,
        },
    };
    Ok(Placed { pe: number(0) as u16, slot: number(1) as u16, context, line: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_fill_the_bytes() {
        let bits: u32 = FIELDS.iter().map(|(_, bits)| bits).sum();
        assert!((8 * (BYTES as u32 - 4)..=8 * BYTES as u32).contains(&bits), "{bits}");
        assert!(Opcode::ALL.len() <= 64);
        for (number, op) in Opcode::ALL.iter().enumerate() {
            assert_eq!(*op as usize, number);
        }
    }

    /// Bits counted by hand: an `add` of the output to the west and 5, in PE 10, slot 3, stage 2, kept in
    /// ring 1.
    #[test]
    fn a_context_by_hand() {
        let control = Control { stage: 2, keep: Some(1), ..Control::default() };
        let context = Context {
            op: Opcode::Add,
            options: Options::default(),
            in1: Source::Output(0, -1),
            in2: Source::Immediate(5),
            in3: Bit::None,
            memory: Memory::default(),
            control,
        };
        let placed = Placed { pe: 10, slot: 3, context, line: None };
        let bytes = encode(&placed).unwrap();
        let mut want = [0_u8; BYTES];
        want[0] = 10;
        // Slot 3 in bits 8 to 17, op 3 in bits 18 to 23.
        (want[1], want[2]) = (3, 3 << 2);
        // in1's kind in bits 70 to 72, its value from bit 73 on: 0, 0xff.
        want[8] = 1 << 6;
        (want[10], want[11]) = (0xff << 1, 0xff >> 7);
        // in2's kind in bits 105 to 107, its value from bit 108 on.
        want[13] = 4 << 1 | 5 << 4;
        // stage from bit 225 on; keep, plus one, from bit 266 on.
        want[28] = 2 << 1;
        want[33] = 2 << 2;
        assert_eq!(bytes, want);
        assert_eq!(decode(&bytes), Ok(placed));
    }
}
