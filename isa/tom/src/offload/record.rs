//! The section `.nbcc.offload`: a JSON list with an entry a line. Registers are bit vectors in
//! hexadecimal (R0 and P0 in the lowest bit), places are byte addresses in `.text`.

use nbcc_isa::LoadError;
use nbcc_isa::metadata::{list, to_json};
use nbcc_isa_simt::operands::IntTest;
use nbcc_isa_simt::{INSTRUCTION_BYTES, PhysReg, Program, RegClass};
use serde::{Deserialize, Serialize};

use super::{Condition, Constant, Entry, Held, OffloadTable, RegisterSet, Tag, Term};

/// The name of the section.
pub const SECTION: &str = ".nbcc.offload";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    kernel: String,
    begin: String,
    end: String,
    live_in: RegistersRecord,
    live_out: RegistersRecord,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    constants: Vec<ConstantRecord>,
    inputs: u32,
    tag: TagRecord,
    trips: u64,
    condition: Option<ConditionRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RegistersRecord {
    registers: String,
    predicates: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TagRecord {
    tx: bool,
    rx: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum ConstantRecord {
    Bits { register: String, bits: String },
    Address { register: String, object: u32, offset: i32, upper: bool },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConditionRecord {
    initial: String,
    step: TermRecord,
    subtracts: bool,
    stepped: bool,
    relation: String,
    bound: TermRecord,
    threshold: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum TermRecord {
    Register(String),
    Number(i32),
}

/// The section of a table. `kernels` are the names that entries go by.
pub fn section(table: &OffloadTable, kernels: &[&str]) -> (String, Vec<u8>) {
    let records: Vec<Record> =
        table.entries.iter().map(|entry| to_record(entry, kernels)).collect();
    (SECTION.to_string(), to_json(&records))
}

/// The table in a program.
pub fn read(program: &Program) -> Result<OffloadTable, LoadError> {
    let Some((_, bytes)) = program.sections.iter().find(|(name, _)| name == SECTION) else {
        return Ok(OffloadTable::default());
    };
    let records: Vec<Record> = list(SECTION, bytes)?;
    let entry = |(number, record): (usize, &Record)| {
        from_record(record, program).map_err(|reason| {
            LoadError::new(SECTION, line(bytes, number), format!("entry {number}: {reason}"))
        })
    };
    let entries = records.iter().enumerate().map(entry).collect::<Result<_, _>>()?;
    Ok(OffloadTable { entries })
}

/// Where an entry stands in the section, if it is written as [`section`] does.
pub fn line(bytes: &[u8], number: usize) -> u64 {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').take(number + 1);
    lines.map(|line| line.len() as u64).sum()
}

fn hexadecimal(value: u64) -> String {
    format!("{value:#x}")
}

fn to_record(entry: &Entry, kernels: &[&str]) -> Record {
    let address = |place: u32| hexadecimal(u64::from(place) * u64::from(INSTRUCTION_BYTES));
    let term = |term| match term {
        Term::Register(reg) => TermRecord::Register(reg.to_string()),
        Term::Number(number) => TermRecord::Number(number as i32),
    };
    Record {
        kernel: kernels[entry.kernel as usize].to_string(),
        begin: address(entry.begin),
        end: address(entry.end),
        live_in: registers_record(&entry.live_in),
        live_out: registers_record(&entry.live_out),
        constants: entry
            .constants
            .iter()
            .map(|constant| {
                let register = constant.reg.to_string();
                match constant.held {
                    Held::Bits(bits) => {
                        ConstantRecord::Bits { register, bits: hexadecimal(bits.into()) }
                    }
                    Held::Address { object, offset, upper } => {
                        ConstantRecord::Address { register, object, offset, upper }
                    }
                }
            })
            .collect(),
        inputs: entry.inputs,
        tag: TagRecord { tx: entry.tag.tx, rx: entry.tag.rx },
        trips: entry.trips,
        condition: entry.condition.map(|condition| ConditionRecord {
            initial: condition.initial.to_string(),
            step: term(condition.step),
            subtracts: condition.subtracts,
            stepped: condition.stepped,
            relation: condition.relation.name().to_string(),
            bound: term(condition.bound),
            threshold: condition.threshold,
        }),
    }
}

fn registers_record(set: &RegisterSet) -> RegistersRecord {
    // 64 digits, less the zeros in front.
    let digits: String = set.words().iter().rev().map(|word| format!("{word:016x}")).collect();
    let digits = digits.trim_start_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    RegistersRecord { registers: format!("0x{digits}"), predicates: hexadecimal(set.predicates()) }
}

type Read<T> = Result<T, String>;

fn from_record(record: &Record, program: &Program) -> Read<Entry> {
    let kernel = program.kernels.iter().position(|kernel| kernel.name == record.kernel);
    let kernel = kernel.ok_or_else(|| {
        format!(
            "there is no kernel `{}`",
            record.kernel.escape_debug().take(80).collect::<String>()
        )
    })?;
    let condition = record.condition.as_ref().map(condition).transpose()?;
    Ok(Entry {
        kernel: kernel as u32,
        begin: place(&record.begin)?,
        end: place(&record.end)?,
        live_in: registers(&record.live_in)?,
        live_out: registers(&record.live_out)?,
        constants: record.constants.iter().map(constant).collect::<Read<_>>()?,
        inputs: record.inputs,
        tag: Tag { tx: record.tag.tx, rx: record.tag.rx },
        trips: record.trips,
        condition,
    })
}

fn shown(text: &str) -> String {
    text.escape_debug().take(80).collect()
}

fn number(text: &str) -> Read<u64> {
    let digits = text.strip_prefix("0x").filter(|digits| !digits.starts_with('+'));
    let value = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    value.ok_or_else(|| format!("`{}` is no hexadecimal number of 64 bits", shown(text)))
}

fn place(text: &str) -> Read<u32> {
    let address = number(text)?;
    let bytes = u64::from(INSTRUCTION_BYTES);
    let place = address.is_multiple_of(bytes).then(|| u32::try_from(address / bytes).ok());
    place.flatten().ok_or_else(|| format!("`{}` is no address of an instruction", shown(text)))
}

fn registers(record: &RegistersRecord) -> Read<RegisterSet> {
    let text = &record.registers;
    let digits = text.strip_prefix("0x").filter(|digits| {
        (1..=64).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    let fault = || format!("`{}` is no vector of 256 bits in hexadecimal", shown(text));
    let digits = format!("{:0>64}", digits.ok_or_else(fault)?);
    let word = |at: usize| u64::from_str_radix(&digits[48 - 16 * at..64 - 16 * at], 16);
    let words = [word(0), word(1), word(2), word(3)].map(|word| word.unwrap_or(0));
    Ok(RegisterSet::from_bits(words, number(&record.predicates)?))
}

fn register(text: &str) -> Read<PhysReg> {
    let fault = || format!("`{}` is no register", shown(text));
    let class = match text.as_bytes().first() {
        Some(b'R') => RegClass::Word,
        Some(b'D') => RegClass::Wide,
        Some(b'P') => RegClass::Pred,
        _ => return Err(fault()),
    };
    let digits = text[1..].bytes().all(|byte| byte.is_ascii_digit());
    let index = text[1..].parse().ok().filter(|&index: &u16| digits && index < 256);
    Ok(PhysReg::new(class, index.ok_or_else(fault)?))
}

fn constant(record: &ConstantRecord) -> Read<Constant> {
    Ok(match record {
        ConstantRecord::Bits { register: name, bits } => {
            let fault = || format!("`{}` has more than 32 bits", shown(bits));
            let bits = u32::try_from(number(bits)?).map_err(|_| fault())?;
            Constant { reg: register(name)?, held: Held::Bits(bits) }
        }
        ConstantRecord::Address { register: name, object, offset, upper } => Constant {
            reg: register(name)?,
            held: Held::Address { object: *object, offset: *offset, upper: *upper },
        },
    })
}

fn condition(record: &ConditionRecord) -> Read<Condition> {
    let term = |term: &TermRecord| -> Read<Term> {
        Ok(match term {
            TermRecord::Register(name) => Term::Register(register(name)?),
            TermRecord::Number(number) => Term::Number(*number as u32),
        })
    };
    let relation = IntTest::from_name(&record.relation);
    Ok(Condition {
        initial: register(&record.initial)?,
        step: term(&record.step)?,
        subtracts: record.subtracts,
        stepped: record.stepped,
        bound: term(&record.bound)?,
        relation: relation
            .ok_or_else(|| format!("`{}` is no comparison", shown(&record.relation)))?,
        threshold: record.threshold,
    })
}
