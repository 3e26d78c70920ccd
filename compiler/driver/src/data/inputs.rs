//! Input images: those named on the command line, those that lie beside the program, and the
//! picture that stands in for one that is nowhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nbcc_base::{CodeInfo, Diagnostic};
use nbcc_stages::{Image, Pipeline};

use super::npy::NpyError;
use super::picture::{Picture, PictureError, Remark};
use super::{EXTENSIONS, Form, by, names, npy, picture, raw, split_extents};
use crate::kinds::images::InputSpec;
use crate::session::{Session, Stop};
use crate::{codes, files, limits, streams};

/// The inputs of a pipeline.
pub fn of_pipeline(pipeline: &Pipeline) -> Vec<InputSpec> {
    pipeline
        .inputs
        .values()
        .map(|input| InputSpec {
            name: input.name.clone(),
            ty: input.ty,
            dims: input.dims,
            extent: None,
        })
        .collect()
}

/// An input and where it came from, for the table that a run prints.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The elements.
    pub image: Image,
    /// Where it came from.
    pub from: Origin,
}

/// Where an input came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file that was named or lies beside the program.
    File(String),
    /// Nowhere: a picture of ours stands in.
    Bundled,
}

impl Loaded {
    /// A line for people, of the input of that name.
    pub fn line(&self, name: &str) -> String {
        let (extent, ty) = (by(&self.image.extent), self.image.ty);
        match &self.from {
            Origin::File(file) => format!("{name}: {extent} {ty} from {file}\n"),
            Origin::Bundled => format!(
                "{name}: {extent} {ty}, a picture that comes with nbcc, since none was given \
                 (--input {name}=FILE)\n"
            ),
        }
    }
}

/// The inputs that the command line names, by name.
pub fn given(
    session: &mut Session,
    specs: &[InputSpec],
    args: &[(String, String)],
) -> Result<BTreeMap<String, Loaded>, Stop> {
    let mut loaded = BTreeMap::new();
    names::check(session, "input", specs.iter().map(|spec| spec.name.as_str()), args)?;
    for (name, file) in args {
        let Some(spec) = specs.iter().find(|spec| spec.name == *name) else { continue };
        let image = read(session, spec, file)?;
        loaded.insert(
            name.clone(),
            Loaded { image, from: Origin::File(split_extents(file).0.display().to_string()) },
        );
    }
    Ok(loaded)
}

/// Adds the inputs that lie beside the program, as `<stem>.<input>.*`.
pub fn add_beside(
    session: &mut Session,
    specs: &[InputSpec],
    loaded: &mut BTreeMap<String, Loaded>,
    program: &Path,
) -> Result<(), Stop> {
    for spec in specs {
        if loaded.contains_key(&spec.name) {
            continue;
        }
        if let Some(path) = beside(program, &spec.name) {
            let file = path.display().to_string();
            let image = read(session, spec, &file)?;
            loaded.insert(spec.name.clone(), Loaded { image, from: Origin::File(file) });
        }
    }
    Ok(())
}

/// Lets a picture of ours stand in for every input that is still missing, with the extents that
/// its spec gives, else its own.
pub fn add_bundled(
    session: &mut Session,
    specs: &[InputSpec],
    loaded: &mut BTreeMap<String, Loaded>,
    program: &Path,
) -> Result<(), Stop> {
    for spec in specs {
        if !loaded.contains_key(&spec.name) {
            let input = bundled(session, spec, program)?;
            loaded.insert(spec.name.clone(), input);
        }
    }
    Ok(())
}

/// `<stem>.<input>.*` beside a program.
fn beside(program: &Path, input: &str) -> Option<PathBuf> {
    let stem = files::stem(program).into_string().ok()?;
    EXTENSIONS
        .iter()
        .map(|extension| program.with_file_name(format!("{stem}.{input}.{extension}")))
        .find(|path| path.is_file())
}

/// Reads the file of an input.
fn read(session: &mut Session, spec: &InputSpec, file: &str) -> Result<Image, Stop> {
    let (path, extents) = split_extents(file);
    let form = match streams::is_standard(&path) && extents.is_none() {
        true => Form::of_bytes(&files::head(session, &path)),
        // Raw elements have no beginning of their own.
        false if streams::is_standard(&path) => Some(Form::Raw),
        false => Form::of(&path),
    };
    let Some(form) = form else {
        let message = format!("`{}` is no kind of image that is known", path.display());
        return Err(session.fail(
            Diagnostic::error(&codes::UNKNOWN_KIND, message)
                .in_file(path.display().to_string())
                .help(
                    "give .npy, .png, .pgm, .ppm, or raw elements as FILE.bin:WxHxC (of stdin, -:WxHxC)",
                ),
        ));
    };
    if (form == Form::Raw) != extents.is_some() {
        let message = match form {
            Form::Raw => format!("`{file}` does not say the extents of its elements"),
            _ => format!("`{file}` gives extents for a file that has its own"),
        };
        return Err(session.usage(
            Diagnostic::error(&codes::COMMAND_LINE, message)
                .help(format!("write --input {}=FILE.bin:WxH for raw elements", spec.name)),
        ));
    }
    let refuse = |session: &mut Session, code: &'static CodeInfo, message: String| {
        let file = path.display().to_string();
        let error = Diagnostic::error(code, format!("`{file}`: {message}")).in_file(file);
        session.fail(error.help(if *code == codes::BROKEN_DATA {
            "write the file again: it is cut short, or was changed behind its header"
        } else if *code == codes::TOO_LARGE {
            "give an image of up to 2^27 elements"
        } else if *code == codes::NO_MEMORY {
            limits::LESS_MEMORY
        } else {
            "say the extents that the file has, as in FILE.bin:WxH, x first"
        }))
    };
    if let Some(extents) = &extents {
        check_dims(session, spec, extents, &path)?;
        if super::count(extents).is_none() {
            let message = format!("{} elements are more than an image may have", by(extents));
            return Err(refuse(session, &codes::TOO_LARGE, message));
        }
        if super::room_for(extents).is_none() {
            let message = format!("there is no memory for its {} elements", by(extents));
            return Err(refuse(session, &codes::NO_MEMORY, message));
        }
    }
    let bytes = files::read(session, &path, files::MAX_DATA)?;
    let image = match form {
        Form::Raw => raw::read(&bytes, spec.ty, &extents.unwrap_or_default())
            .map_err(|what| refuse(session, &codes::WRONG_SHAPE, what))?,
        Form::Npy => npy::read(&bytes, spec.ty).map_err(|error| match error {
            NpyError::Broken(what) => refuse(session, &codes::BROKEN_DATA, what),
            NpyError::Memory(shape) => {
                let message = format!("there is no memory for its shape {shape}");
                refuse(session, &codes::NO_MEMORY, message)
            }
            NpyError::Large(shape) => {
                let message = format!("shape {shape} is more than an image may have");
                refuse(session, &codes::TOO_LARGE, message)
            }
            NpyError::Type(ty) => {
                let message =
                    format!("its elements are {ty}, input `{}` has {}", spec.name, spec.ty);
                let file = path.display().to_string();
                session.fail(
                    Diagnostic::error(&codes::WRONG_TYPE, format!("`{file}`: {message}"))
                        .in_file(file)
                        .help(format!("convert it: array.astype(numpy.{})", spec.ty)),
                )
            }
        })?,
        Form::Png | Form::Pnm { .. } => {
            let picture = picture::read(&bytes).map_err(|error| match error {
                PictureError::Broken(what) => refuse(session, &codes::BROKEN_DATA, what),
                PictureError::Memory(extents) => {
                    let message = format!("there is no memory for its {extents} pixels");
                    refuse(session, &codes::NO_MEMORY, message)
                }
                PictureError::Large(extents) => {
                    let message = format!("{extents} pixels are more than an image may have");
                    refuse(session, &codes::TOO_LARGE, message)
                }
            })?;
            from_picture(session, spec, &picture, &path)?
        }
    };
    check_dims(session, spec, &image.extent, &path)?;
    if image.data.is_empty() {
        let file = path.display().to_string();
        let error = Diagnostic::error(&codes::WRONG_SHAPE, format!("`{file}`: it has no elements"));
        let help = "give an image with at least one element along each dimension";
        return Err(session.fail(error.in_file(file).help(help)));
    }
    Ok(image)
}

/// A picture as the input wants it, with notes on what was done to it.
fn from_picture(
    session: &mut Session,
    spec: &InputSpec,
    picture: &Picture,
    path: &Path,
) -> Result<Image, Stop> {
    let file = path.display().to_string();
    if spec.dims != 2 && spec.dims != 3 {
        let message =
            format!("a picture cannot be input `{}`, which has {}", spec.name, dims(spec.dims));
        return Err(session.fail(
            Diagnostic::error(&codes::WRONG_SHAPE, message)
                .in_file(file)
                .help("give an .npy file or raw elements"),
        ));
    }
    let (image, remarks) = picture.to_image(spec.ty, spec.dims).map_err(|has| {
        let message = format!("`{file}` has {has}, input `{}` has elements {}", spec.name, spec.ty);
        let help = format!(
            "give an .npy file of {0} elements, made with array.astype(numpy.{0})",
            spec.ty
        );
        session.fail(Diagnostic::error(&codes::WRONG_TYPE, message).in_file(&file).help(help))
    })?;
    for remark in remarks {
        session.diagnostics.push(match remark {
            Remark::Luma => Diagnostic::note(
                &codes::READ_AS_LUMA,
                format!("`{file}` is a colour picture; input `{}` gets its luma", spec.name),
            ),
            Remark::Widened => Diagnostic::note(
                &codes::WIDENED,
                format!("the samples of `{file}` are taken as {} without scaling", spec.ty),
            ),
        });
    }
    Ok(image)
}

/// Says "two dimensions".
fn dims(n: u32) -> String {
    match n {
        0 => "no dimensions".into(),
        1 => "one dimension".into(),
        2 => "two dimensions".into(),
        3 => "three dimensions".into(),
        n => format!("{n} dimensions"),
    }
}

/// Refuses an image of another shape than the input's.
fn check_dims(
    session: &mut Session,
    spec: &InputSpec,
    extent: &[u32],
    path: &Path,
) -> Result<(), Stop> {
    let file = path.display().to_string();
    let (message, help) = if extent.len() != spec.dims as usize {
        let message = format!(
            "`{file}` has {}, input `{}` has {}",
            dims(extent.len() as u32),
            spec.name,
            dims(spec.dims)
        );
        let shape = ["", "[W]", "[H, W]", "[C, H, W]"].get(spec.dims as usize);
        let shape = shape.map_or(String::new(), |shape| format!(", an array of shape {shape}"));
        (message, format!("give an image of {}{shape}", dims(spec.dims)))
    } else if let Some(compiled) = spec.extent.as_ref().filter(|e| e[..] != *extent) {
        let message =
            format!("`{file}` is {}, the program was compiled for {}", by(extent), by(compiled));
        let help = format!("give an image of {}, or compile for this one", by(compiled));
        (message, help)
    } else {
        return Ok(());
    };
    Err(session.fail(Diagnostic::error(&codes::WRONG_SHAPE, message).in_file(file).help(help)))
}

/// A picture for whoever has none: that of the example, which a crate cannot reach.
static PICTURE: &[u8] = include_bytes!("../../data/picture.png");

/// The bundled picture as an input.
fn bundled(session: &mut Session, spec: &InputSpec, program: &Path) -> Result<Loaded, Stop> {
    let stem = files::stem(program);
    let stem = stem.to_string_lossy();
    let extension = if matches!(spec.dims, 2 | 3) { "png" } else { "npy" };
    let help = format!(
        "give --input {0}=FILE, or put {stem}.{0}.{extension} beside the program",
        spec.name
    );
    let mut picture = picture::read(PICTURE).map_err(|_| {
        // Nothing else can be wrong with a picture of ours.
        let message = format!("there is no memory for a picture for input `{}`", spec.name);
        session.fail(limits::no_memory(message))
    })?;
    let fixed = spec.extent.as_deref();
    if let Some(extent) = fixed
        && super::count(extent).is_none()
    {
        let message =
            format!("input `{}` of {} is more than an image may have", spec.name, by(extent));
        let help = "ask for less: --size, `bound`, or smaller estimates";
        return Err(session.fail(Diagnostic::error(&codes::TOO_LARGE, message).help(help)));
    }
    if let Some(extent) = fixed
        && super::room_for(extent).is_none()
    {
        let message = format!("there is no memory for input `{}` of {}", spec.name, by(extent));
        return Err(session.fail(limits::no_memory(message)));
    }
    if let Some([width, height, ..]) = fixed {
        picture = picture.repeated(*width, *height);
    }
    if spec.dims == 3 && fixed.is_none_or(|e| e[2] == 3) {
        picture = picture.colored();
    }
    let fits = fixed.is_none_or(|e| e.len() < 3 || e[2] == picture.channels);
    let image = match picture.to_image(spec.ty, spec.dims) {
        Ok((image, _)) if matches!(spec.dims, 2 | 3) && fits => image,
        _ => {
            let message =
                format!("no data for input `{}` ({}, {})", spec.name, spec.ty, dims(spec.dims));
            return Err(session.fail(Diagnostic::error(&codes::NO_INPUT_DATA, message).help(help)));
        }
    };
    let message = format!(
        "input `{}` is not given: a bundled picture of {} stands in",
        spec.name,
        by(&image.extent)
    );
    session.diagnostics.push(Diagnostic::note(&codes::BUNDLED_PICTURE, message).help(help));
    Ok(Loaded { image, from: Origin::Bundled })
}
