//! What a sequential function is called on, from the command line and files, and where what it
//! leaves behind goes.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use nbcc_base::Diagnostic;
use nbcc_host::function::{Arguments, BindError, Bound, GivenArray, bind};
use nbcc_isa::{ScalarType, Signature, SignatureParam};

use super::arrays::{self, ArrayForm};
use super::{names, structures};
use crate::cli::DataArgs;
use crate::session::{Session, Stop};
use crate::style::BOLD;
use crate::{codes, files, limits, streams};

/// The name of the output that is the result.
const RESULT: &str = "return";

/// The arguments that the command line gives, bound to the parameters.
pub fn gather(
    session: &mut Session,
    signature: &Signature,
    args: &DataArgs,
) -> Result<Bound, Stop> {
    let known = signature.params.iter().filter(|param| param.array.is_some());
    let mut known: Vec<String> = known.map(structures::host_name).collect();
    known.dedup();
    names::check_file(session, "input", known.iter().map(String::as_str), &args.input)?;
    let mut arrays = BTreeMap::new();
    for (name, file) in &args.input {
        if let Some(group) = structures::groups(signature).iter().find(|group| group.name == *name)
        {
            arrays.extend(group.read(session, file)?);
            continue;
        }
        let mut array = array(session, file)?;
        // A truth value is a byte.
        let takes = signature.params.iter().find(|param| param.name == *name).map(|param| param.ty);
        if (takes, array.ty) == (Some(ScalarType::U8), ScalarType::Bool) {
            array.ty = ScalarType::U8;
        }
        arrays.insert(name.clone(), array);
    }
    bound(session, signature, &args.param, arrays)
}

/// Scalars as people write them, and arrays, bound to the parameters.
pub fn bound(
    session: &mut Session,
    signature: &Signature,
    params: &[(String, String)],
    arrays: BTreeMap<String, GivenArray>,
) -> Result<Bound, Stop> {
    let bits = scalars(session, signature, params)?;
    let given = scalar_params(signature).zip(&bits);
    let missing = given.filter(|(param, bits)| bits.is_none() && param.value.is_none());
    let missing = missing.map(|(param, _)| {
        report(session, BindError::Missing { name: param.name.clone(), ty: param.ty })
    });
    if let Some(stop) = missing.last() {
        return Err(stop);
    }
    let names = scalar_params(signature).map(|param| param.name.clone());
    let scalars = names.zip(bits).filter_map(|(name, bits)| Some((name, bits?))).collect();
    bind(signature, Arguments { scalars, arrays }).map_err(|error| report(session, error))
}

/// The bits of each scalar parameter, in order, as far as the command line gives them.
pub fn scalars(
    session: &mut Session,
    signature: &Signature,
    params: &[(String, String)],
) -> Result<Vec<Option<u64>>, Stop> {
    let known = scalar_params(signature).map(|param| param.name.as_str());
    names::check_file(session, "parameter", known, params)?;
    let mut bits = Vec::new();
    for param in scalar_params(signature) {
        let given = params.iter().find(|(name, _)| *name == param.name);
        let given = given.map(|(_, text)| scalar(session, param, text)).transpose()?;
        bits.push(given);
    }
    Ok(bits)
}

fn scalar_params(signature: &Signature) -> impl Iterator<Item = &SignatureParam> + Clone {
    signature.params.iter().filter(|param| param.array.is_none())
}

/// The bits that `--param` gives to a parameter.
fn scalar(session: &mut Session, param: &SignatureParam, text: &str) -> Result<u64, Stop> {
    literal(param.ty, text).ok_or_else(|| {
        let ty = param.ty.name();
        let name = &param.name;
        let message = format!("`{text}` is no value for parameter `{name}`, which is {ty}");
        let help = match param.ty.range() {
            Some((low, high)) => format!("write an integer from {low} to {high}"),
            None => "write a number, as in 1.5".to_string(),
        };
        session.usage(Diagnostic::error(&codes::COMMAND_LINE, message).help(help))
    })
}

/// The bits of a value as people write it.
fn literal(ty: ScalarType, text: &str) -> Option<u64> {
    let Some((low, high)) = ty.range() else {
        let bytes = arrays::float_bytes(ty, text.parse().ok()?)?;
        return Some(bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)));
    };
    names::integer(text, low..=high).map(|value| value as u64)
}

/// The array of a file.
fn array(session: &mut Session, file: &str) -> Result<GivenArray, Stop> {
    let path = PathBuf::from(file);
    match arrays::read(session, &path)? {
        (bytes, ArrayForm::Npy { scalar, shape }) => Ok(GivenArray { ty: scalar, shape, bytes }),
        (_, ArrayForm::Raw) => {
            let message = format!("`{file}` says neither type nor shape of its elements");
            let error = Diagnostic::error(&codes::UNKNOWN_KIND, message).in_file(file);
            Err(session.fail(error.help("arrays are .npy files: write it with numpy.save")))
        }
    }
}

fn report(session: &mut Session, error: BindError) -> Stop {
    let message = error.to_string();
    let (code, help) = match &error {
        BindError::Unknown { .. } => {
            (&codes::COMMAND_LINE, "name a parameter as the source does".to_string())
        }
        BindError::Missing { name, .. } => {
            (&codes::NO_PARAM, format!("set it with --param {name}=VALUE"))
        }
        BindError::NotGiven { name } => (
            &codes::NO_PARAM,
            format!("give it with --input {name}=FILE.npy, or state its extent in the source"),
        ),
        BindError::Fixed { .. } => (
            &codes::NO_PARAM,
            "leave it out, or compile the source again with another value".to_string(),
        ),
        BindError::Extent { name, .. } | BindError::NoExtent { name, .. } => (
            &codes::WRONG_SHAPE,
            format!("set the scalars so that `{name}` has 0 or more elements"),
        ),
        BindError::Shape { .. } => {
            (&codes::WRONG_SHAPE, "give an array of that shape, or other scalars".to_string())
        }
        BindError::Element { expected, .. } => {
            let dtype = arrays::descr(*expected);
            (&codes::BROKEN_DATA, format!("convert it: numpy.save(FILE, x.astype('{dtype}'))"))
        }
        BindError::Memory { .. } => (&codes::NO_MEMORY, limits::LESS_MEMORY.to_string()),
    };
    session.fail(Diagnostic::error(code, message).help(help))
}

/// Where an array, or the result, goes.
#[derive(Clone, Debug)]
pub struct Place {
    /// The name of the parameter, or `return`.
    name: String,
    path: PathBuf,
    content: Content,
}

/// What goes somewhere.
#[derive(Clone, Copy, Debug)]
enum Content {
    /// The result.
    Result(ScalarType),
    /// The array of that number among the array parameters.
    Array(usize, ScalarType),
    /// The array of structures of that number.
    Structures(usize),
}

/// Decides where what a function leaves behind goes: as the command line says, else
/// `<function>.<parameter>.npy` in the current folder.
pub fn plan(
    session: &mut Session,
    signature: &Signature,
    args: &[(String, String)],
) -> Result<Vec<Place>, Stop> {
    let arrays = signature.params.iter().filter_map(|param| Some((param, param.array.as_ref()?)));
    let outputs = arrays.enumerate().filter(|(_, (_, array))| !array.is_const);
    let plain = outputs.filter(|(_, (param, _))| param.members.is_empty());
    let mut all: Vec<(String, Content)> = plain
        .map(|(number, (param, _))| (param.name.clone(), Content::Array(number, param.ty)))
        .collect();
    let groups = structures::groups(signature);
    let written = groups.iter().enumerate().filter(|(_, group)| !group.is_const());
    all.extend(written.map(|(number, group)| (group.name.clone(), Content::Structures(number))));
    all.extend(signature.result.map(|ty| (RESULT.to_string(), Content::Result(ty))));
    names::check_file(session, "output", all.iter().map(|(name, ..)| name.as_str()), args)?;
    let mut places = Vec::new();
    for (name, content) in all {
        let named = args.iter().find(|(known, _)| *known == name);
        let path = match named {
            Some((_, file)) => PathBuf::from(file),
            // The result is printed; a file it gets where one is named.
            None if matches!(content, Content::Result(_)) => continue,
            None => PathBuf::from(format!("{}.{name}.npy", signature.name)),
        };
        let is_npy = path.extension().is_some_and(|extension| extension == "npy");
        if !is_npy && !streams::is_stream(&path) {
            let message = format!("`{}` is no kind of array that is known", path.display());
            let error = Diagnostic::error(&codes::UNKNOWN_KIND, message);
            return Err(session.fail(
                error.help(format!("write it as --output {name}=FILE.npy, or `-` for stdout")),
            ));
        }
        files::check_output(session, &path)?;
        places.push(Place { name, path, content });
    }
    Ok(places)
}

/// Writes what a call left behind; a line for each, and the result.
pub fn write(
    session: &mut Session,
    signature: &Signature,
    places: &[Place],
    arguments: &Bound,
    arrays: &[Vec<u8>],
    result: Option<u64>,
) -> Result<String, Stop> {
    let mut text = String::new();
    if let (Some(ty), Some(bits)) = (signature.result, result) {
        let _ = writeln!(text, "{} = {BOLD}{}{BOLD:#}", signature.name, show(ty, bits));
    }
    let groups = structures::groups(signature);
    let word = result.unwrap_or_default().to_le_bytes();
    for Place { name, path, content } in places {
        let (shape, what) = match *content {
            Content::Structures(number) => {
                let group = &groups[number];
                let of: Vec<usize> = group.params.iter().map(|(number, ..)| *number).collect();
                let shape = &arguments.arrays[of[0]].shape;
                let shape = shape[..shape.len() - 1].to_vec();
                let members: Vec<&[u8]> = of.iter().map(|&number| &arrays[number][..]).collect();
                group.write(session, path, &shape, &members)?;
                (shape, format!("structures of {} bytes", group.bytes))
            }
            Content::Array(number, scalar) => {
                let shape = arguments.arrays[number].shape.clone();
                let form = ArrayForm::Npy { scalar, shape: shape.clone() };
                arrays::write(session, path, &form, &arrays[number])?;
                (shape, scalar.name().to_string())
            }
            Content::Result(scalar) => {
                let form = ArrayForm::Npy { scalar, shape: vec![] };
                arrays::write(session, path, &form, &word[..scalar.bytes() as usize])?;
                (vec![], scalar.name().to_string())
            }
        };
        let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
        let (sizes, file) = (sizes.join(", "), path.display());
        let _ = writeln!(text, "{name}: [{sizes}] {what} -> {BOLD}{file}{BOLD:#}");
    }
    Ok(text)
}

/// The value of the low bits of a word.
pub fn show(ty: ScalarType, bits: u64) -> String {
    let unused = 64 - 8 * ty.bytes();
    match ty.range() {
        Some((low, _)) if low < 0 => (((bits << unused) as i64) >> unused).to_string(),
        Some(_) => ((bits << unused) >> unused).to_string(),
        None => match ty {
            ScalarType::F64 => format!("{:?}", f64::from_bits(bits)),
            ScalarType::F32 => format!("{:?}", f32::from_bits(bits as u32)),
            _ => format!("{:?}", nbcc_ir::f16_to_f64(bits as u16)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_of_their_type() {
        assert_eq!(literal(ScalarType::I8, "-128"), Some(-128_i64 as u64));
        assert_eq!(literal(ScalarType::I8, "128"), None);
        assert_eq!(literal(ScalarType::U64, "0xffffffffffffffff"), Some(u64::MAX));
        assert_eq!(literal(ScalarType::U8, "-1"), None);
        assert_eq!(literal(ScalarType::F32, "1.5"), Some(0x3fc0_0000));
        assert_eq!(literal(ScalarType::I32, "--1"), None);
        assert_eq!(show(ScalarType::I16, 0xffff), "-1");
        assert_eq!(show(ScalarType::U16, 0xffff), "65535");
        assert_eq!(show(ScalarType::F32, 0x3fc0_0000), "1.5");
    }
}
