//! Checks a launch file against the kernels of a program: which kernel, how many arguments, of
//! which sizes.

use nbcc_base::nearest;
use nbcc_base::{Diagnostic, SourceId, Span};
use nbcc_isa::ScalarType;

use super::file::{Arg, ArgValue, Launch, Plan};
use super::names;
use crate::codes;
use crate::kinds::grids::{Argument, GridLaunch, KernelParam, KernelSpec};
use crate::session::{Session, Stop};

/// Threads of a block at most, in every language of grids.
const MAX_THREADS: u64 = 1024;

/// Blocks in the second and third dimension of a grid at most. The first may have any number that a launch
/// file can say.
const MAX_ROWS: u32 = 65_535;

/// The launches as the simulator and the interpreter take them.
pub fn resolve(
    session: &mut Session,
    source: SourceId,
    plan: &Plan,
    kernels: &[KernelSpec],
) -> Result<Vec<GridLaunch>, Stop> {
    plan.launches.iter().map(|launch| one(session, source, launch, kernels)).collect()
}

fn one(
    session: &mut Session,
    source: SourceId,
    launch: &Launch,
    kernels: &[KernelSpec],
) -> Result<GridLaunch, Stop> {
    let span = Span::new(source, launch.at.start, launch.at.end);
    let mut fail = |message: String, label: &str, help: String| {
        let error = Diagnostic::error(&codes::WRONG_LAUNCH, message).at(span, label);
        session.fail(error.help(help))
    };
    let spelled: Vec<String> = kernels.iter().map(|k| names::demangled(&k.name)).collect();
    let all = || spelled.join(", ");
    let kernel = match &launch.kernel {
        Some(name) => match names::find(kernels, name)[..] {
            [kernel] => kernel,
            [] => {
                let known = kernels.iter().map(|kernel| kernel.name.as_str());
                let help = match nearest(name, known.chain(spelled.iter().map(String::as_str))) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if kernels.is_empty() => {
                        "the program has no kernels: in PTX, each is an `.entry`".to_string()
                    }
                    None => format!("there are: {}", all()),
                };
                return Err(fail(format!("there is no kernel `{name}`"), "not known", help));
            }
            ref several => {
                let meant = |kernel: &&KernelSpec| {
                    format!("{} ({})", names::demangled(&kernel.name), kernel.name)
                };
                let list: Vec<String> = several.iter().map(meant).collect();
                let help = format!("write one in full: {}", list.join(", "));
                let message = format!("`{name}` may mean {} kernels", list.len());
                return Err(fail(message, "not unique", help));
            }
        },
        None => match kernels {
            [kernel] => kernel,
            [] => {
                return Err(fail(
                    "the program has no kernels".into(),
                    "nothing to launch",
                    "launch a program with a kernel: in PTX, an `.entry`".into(),
                ));
            }
            _ => {
                let help = format!("add `kernel = \"...\"`; there are: {}", all());
                return Err(fail("which kernel?".into(), "names none", help));
            }
        },
    };
    let threads = launch.block.iter().fold(1u64, |all, &n| all.saturating_mul(n.into()));
    if threads > MAX_THREADS {
        let [x, y, z] = launch.block;
        let message = format!("a block of {x} x {y} x {z} threads is too large");
        return Err(fail(
            message,
            "launched here",
            format!("a block has up to {MAX_THREADS} threads"),
        ));
    }
    let [x, y, z] = launch.grid;
    if y.max(z) > MAX_ROWS {
        let message = format!("a grid of {x} x {y} x {z} blocks is too large");
        let help = format!("y and z have up to {MAX_ROWS} blocks, x up to {}", i32::MAX);
        return Err(fail(message, "launched here", help));
    }
    let (has, wants) = (launch.args.len(), kernel.params.len());
    if has != wants {
        let params: Vec<String> =
            kernel.params.iter().map(|p| format!("{} ({})", p.name, p.type_name)).collect();
        let message = format!("kernel `{}` takes {wants} arguments, not {has}", kernel.name);
        let help = match wants {
            0 => "leave the arguments out".to_string(),
            _ => format!("they are: {}", params.join(", ")),
        };
        return Err(fail(message, "launched here", help));
    }
    let mut args = Vec::new();
    for (arg, param) in launch.args.iter().zip(&kernel.params) {
        if let Some(what) = misfit(arg, param) {
            let message = format!(
                "parameter `{}` of kernel `{}` has {} bytes ({})",
                param.name, kernel.name, param.bytes, param.type_name
            );
            let span = Span::new(source, arg.at.start, arg.at.end);
            let error = Diagnostic::error(&codes::WRONG_LAUNCH, message).at(span, what);
            return Err(session.fail(error.help(instead(param))));
        }
        args.push(match &arg.value {
            ArgValue::Scalar(_, bytes) | ArgValue::Bytes(bytes) => Argument::Bytes(bytes.clone()),
            ArgValue::Buffer(number, offset) => Argument::Buffer(*number, *offset),
        });
    }
    Ok(GridLaunch {
        kernel: kernel.name.clone(),
        grid: launch.grid,
        block: launch.block,
        dynamic_shared_bytes: launch.dynamic_shared_bytes,
        args,
        repeat: launch.repeat,
        at: Some(span),
        until_at: Some(Span::new(source, launch.until_at.start, launch.until_at.end)),
    })
}

/// Why an argument does not fit a parameter, if it does not. Integers fit whatever their sign;
/// untyped parameters (`b32`, arrays of bytes) take anything of their size.
fn misfit(arg: &Arg, param: &KernelParam) -> Option<String> {
    let is_float = |name: &str| name.starts_with('f');
    let is_integer = |name: &str| name.starts_with(['u', 's', 'i']);
    let bytes = match &arg.value {
        ArgValue::Scalar(_, bytes) | ArgValue::Bytes(bytes) => bytes.len(),
        // Addresses have 64 bits.
        ArgValue::Buffer(..) => 8,
    };
    let (other, wanted) = (bytes != param.bytes as usize, &*param.type_name);
    match arg.value {
        ArgValue::Scalar(name, _) if other => Some(format!("{name} has {bytes} bytes")),
        ArgValue::Bytes(_) if other => Some(format!("these are {bytes} bytes")),
        ArgValue::Buffer(..) if other => Some(format!("an address has {bytes} bytes")),
        ArgValue::Scalar(name, _) if is_float(name) && is_integer(wanted) => {
            Some("this is a float".to_string())
        }
        ArgValue::Scalar(name, _) if is_integer(name) && is_float(wanted) => {
            Some("this is an integer".to_string())
        }
        ArgValue::Buffer(..) if is_float(wanted) => Some("this is an address".to_string()),
        _ => None,
    }
}

/// An argument that fits a parameter.
fn instead(param: &KernelParam) -> String {
    let signed = param.type_name.strip_prefix('s').map(|bits| format!("i{bits}"));
    let untyped = param.type_name.strip_prefix('b').map(|bits| format!("u{bits}"));
    let name = signed.or(untyped).unwrap_or_else(|| param.type_name.clone());
    if ScalarType::from_name(&name).is_none() {
        return format!("write `hex = \"...\"` with {} bytes, two digits each", param.bytes);
    }
    let one = if name.starts_with('f') { "1.0" } else { "1" };
    match name == "u64" {
        true => "write `u64 = 1`, or for an address `buffer = \"x\"`".to_string(),
        false => format!("write it as in `{name} = {one}`"),
    }
}
