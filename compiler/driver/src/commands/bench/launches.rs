//! The launches of a program of a suite as a launch file would state them.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::{Spanned, Value};

use super::elements;
use super::suite::{self, Numbers, Program};
use crate::data::arrays::ArrayForm;
use crate::kinds::grids::{Contents, Repeat};
use crate::launch::file::{Arg, ArgValue, Buffer, Launch, MAX_BUFFERS, Plan, SymbolData};
use crate::session::Stop;

/// Launches of a program at most, repetitions not counted.
const MAX_LAUNCHES: usize = 100_000;

/// Repetitions of a launch at most.
const MAX_REPEATS: u32 = 1_000_000;

/// What the runtime and the interpreter take.
pub fn plan(numbers: &mut Numbers<'_>, program: &Program) -> Result<Plan, Stop> {
    let mut plan = Plan::default();
    let mut places = BTreeMap::new();
    let mut all = 0u64;
    for (name, buffer) in &program.buffers {
        let elements = elements::of(numbers, name, buffer)?;
        all = all.saturating_add(elements.size());
        if all > MAX_BUFFERS {
            let message = format!("the buffers of `{}` are too large", program.name);
            let help = format!("they have {MAX_BUFFERS} bytes at most");
            return Err(numbers.fault(buffer.ty.span(), message, &help));
        }
        let contents = match elements.values {
            Some(_) => Contents::Bytes(elements.bytes()),
            None => Contents::Zeros(elements.size()),
        };
        places.insert(name.as_str(), (plan.buffers.len(), elements.size()));
        plan.buffers.push(Buffer { name: name.clone(), contents, form: ArrayForm::Raw });
    }
    for (name, symbol) in &program.symbols {
        let bytes = elements::of(numbers, name, symbol)?.bytes();
        plan.symbols.push(SymbolData { name: name.clone(), bytes, at: None });
    }
    for launch in &program.launches {
        let each: Vec<(&String, &Spanned<Value>)> = launch.each.iter().collect();
        add(numbers, &places, launch, &each, &mut plan)?;
    }
    if plan.launches.is_empty() {
        let message = format!("program `{}` launches nothing", program.name);
        return Err(numbers.fault(0..0, message, "add a [[program.launch]]"));
    }
    Ok(plan)
}

/// Adds a launch, for each value of the names that are left.
fn add(
    numbers: &mut Numbers<'_>,
    places: &BTreeMap<&str, (usize, u64)>,
    launch: &suite::Launch,
    each: &[(&String, &Spanned<Value>)],
    plan: &mut Plan,
) -> Result<(), Stop> {
    let Some(((name, count), rest)) = each.split_first() else {
        let one = one(numbers, places, launch)?;
        if plan.launches.len() == MAX_LAUNCHES {
            let message = format!("there are more than {MAX_LAUNCHES} launches");
            return Err(numbers.fault(one.at, message, "use `repeat` for launches that are equal"));
        }
        plan.launches.push(one);
        return Ok(());
    };
    let before = numbers.names.get(*name).copied();
    let count = numbers.integer(count, "a count", (0, MAX_LAUNCHES as u32))?;
    for value in 0..count {
        numbers.names.insert((*name).clone(), value.into());
        add(numbers, places, launch, rest, plan)?;
    }
    match before {
        Some(value) => numbers.names.insert((*name).clone(), value),
        None => numbers.names.remove(*name),
    };
    Ok(())
}

fn one(
    numbers: &mut Numbers<'_>,
    places: &BTreeMap<&str, (usize, u64)>,
    launch: &suite::Launch,
) -> Result<Launch, Stop> {
    let at = launch.grid.first().map_or(0..0, Spanned::span);
    let mut args = Vec::new();
    for arg in &launch.args {
        args.push(Arg { at: arg.span(), value: argument(numbers, places, arg)? });
    }
    let whole = |numbers: &mut Numbers<'_>, value: &Option<Spanned<Value>>, what, range, none| {
        value.as_ref().map_or(Ok(none), |value| numbers.integer(value, what, range))
    };
    let times = whole(numbers, &launch.repeat, "`repeat`", (1, MAX_REPEATS), 1)?;
    let shared = &launch.dynamic_shared_bytes;
    let until = match &launch.until {
        None => None,
        Some(name) => {
            let place = buffer(numbers, places, name.get_ref(), name.span())?;
            if place.1 < 4 {
                let message = format!("`{}` has no word of four bytes", name.get_ref());
                return Err(numbers.fault(name.span(), message, "make it larger"));
            }
            Some((place.0, 0))
        }
    };
    Ok(Launch {
        kernel: launch.kernel.clone(),
        at: at.clone(),
        grid: extents(numbers, &launch.grid, at.clone())?,
        block: extents(numbers, &launch.block, at)?,
        dynamic_shared_bytes: whole(numbers, shared, "shared memory", (0, 1 << 30), 0)?,
        args,
        repeat: Repeat {
            times: if until.is_some() && launch.repeat.is_none() { MAX_REPEATS } else { times },
            until,
        },
        until_at: launch.until.as_ref().map_or(0..0, Spanned::span),
    })
}

/// One to three extents, others being 1.
fn extents(
    numbers: &mut Numbers<'_>,
    values: &[Spanned<Value>],
    at: Range<usize>,
) -> Result<[u32; 3], Stop> {
    if values.is_empty() || values.len() > 3 {
        let message = "a grid or block has one to three extents".to_string();
        return Err(numbers.fault(at, message, "write them as in [64, 8]"));
    }
    let mut extents = [1; 3];
    for (extent, value) in extents.iter_mut().zip(values) {
        *extent = numbers.integer(value, "an extent", (1, i32::MAX as u32))?;
    }
    Ok(extents)
}

/// The number and size of a buffer.
fn buffer(
    numbers: &mut Numbers<'_>,
    places: &BTreeMap<&str, (usize, u64)>,
    name: &str,
    at: Range<usize>,
) -> Result<(usize, u64), Stop> {
    places.get(name).copied().ok_or_else(|| {
        let message = format!("there is no buffer `{name}`");
        let names: Vec<&str> = places.keys().copied().collect();
        let help = match nbcc_base::nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are: {}", names.join(", ")),
        };
        numbers.fault(at, message, &help)
    })
}

/// An argument: `TYPE FORMULA`, `buffer NAME` or `buffer NAME + FORMULA`.
fn argument(
    numbers: &mut Numbers<'_>,
    places: &BTreeMap<&str, (usize, u64)>,
    arg: &Spanned<String>,
) -> Result<ArgValue, Stop> {
    let (text, at) = (arg.get_ref(), arg.span());
    let Some((word, rest)) = text.split_once(' ') else {
        let message = format!("`{text}` is no argument");
        let help = "write it as in `i32 n`, `f32 2.5`, `buffer x` or `buffer x + 4 * n`";
        return Err(numbers.fault(at, message, help));
    };
    if word == "buffer" {
        let (name, offset) = match rest.split_once('+') {
            Some((name, offset)) => (name.trim(), Some(offset)),
            None => (rest.trim(), None),
        };
        let (number, size) = buffer(numbers, places, name, at.clone())?;
        let offset = match offset {
            Some(offset) => value(numbers, offset, at.clone(), text.len() - offset.len())?,
            None => 0.0,
        };
        if offset.fract() != 0.0 || !(0.0..=size as f64).contains(&offset) {
            let message = format!("byte {offset} is not in buffer `{name}`");
            return Err(numbers.fault(at, message, &format!("it has {size} bytes")));
        }
        return Ok(ArgValue::Buffer(number, offset as u64));
    }
    let ty = numbers.scalar(word, at.clone())?;
    let value = value(numbers, rest, at.clone(), text.len() - rest.len())?;
    if let Some((low, high)) = ty.range()
        && (value.fract() != 0.0 || !(low..=high).contains(&(value as i128)))
    {
        let message = format!("{value} is no {word}");
        let help = format!("give an integer from {low} to {high}: floor() and ceil() round");
        return Err(numbers.fault(at, message, &help));
    }
    let bytes = elements::bits(ty, value).to_le_bytes()[..ty.bytes() as usize].to_vec();
    Ok(ArgValue::Scalar(ty.name(), bytes))
}

/// The value of a formula that stands in a text, `skip` bytes from its begin.
fn value(
    numbers: &mut Numbers<'_>,
    text: &str,
    at: Range<usize>,
    skip: usize,
) -> Result<f64, Stop> {
    let formula = numbers.parse(text, at.clone(), skip)?;
    numbers.real(&formula, at)
}
