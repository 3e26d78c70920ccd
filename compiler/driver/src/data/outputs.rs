//! Output images: where each goes, checked before a program runs, and written after.

use std::path::{Path, PathBuf};

use nbcc_base::Diagnostic;
use nbcc_stages::{Image, Pipeline};

use super::picture::{Picture, may_be_picture};
use super::{Form, names, npy, raw, split_extents};
use crate::kinds::images::OutputSpec;
use crate::session::{Session, Stop};
use crate::{codes, files};

/// The outputs of a pipeline: a Func of several values is one output a value, `name.0` and so on.
pub fn of_pipeline(pipeline: &Pipeline) -> Vec<OutputSpec> {
    let mut specs = Vec::new();
    for &func in &pipeline.outputs {
        let func = &pipeline.funcs[func];
        for (index, &ty) in func.types.iter().enumerate() {
            let name = match func.types.len() {
                1 => func.name.clone(),
                _ => format!("{}.{index}", func.name),
            };
            specs.push(OutputSpec { name, ty, dims: func.vars.len() });
        }
    }
    specs
}

/// Where an output goes.
#[derive(Clone, Debug)]
pub struct Place {
    /// The output's name.
    pub name: String,
    path: PathBuf,
    form: Option<Form>,
}

/// Decides where outputs go: as the command line says, else beside nothing but in the current
/// folder, named after the program.
pub fn plan(
    session: &mut Session,
    specs: &[OutputSpec],
    args: &[(String, String)],
    program: &Path,
) -> Result<Vec<Place>, Stop> {
    names::check(session, "output", specs.iter().map(|spec| spec.name.as_str()), args)?;
    let stem = files::stem(program);
    let stem = stem.to_string_lossy();
    let mut places = Vec::new();
    for spec in specs {
        let given = args.iter().find(|(name, _)| *name == spec.name);
        let place = match given {
            Some((name, file)) => {
                let (path, _) = split_extents(file);
                let Some(form) = Form::of_output(&path) else {
                    let message = format!("`{file}` is no kind of image that is known");
                    return Err(session.fail(
                        Diagnostic::error(&codes::UNKNOWN_KIND, message)
                            .in_file(file.clone())
                            .help("give it the extension .npy, .png, .pgm, .ppm or .bin, or write `-` for .npy on stdout"),
                    ));
                };
                files::check_output(session, &path)?;
                if matches!(form, Form::Png | Form::Pnm { .. }) {
                    may_be_picture(spec.ty, spec.dims)
                        .map_err(|why| no_picture(session, name, &path, &why))?;
                }
                Place { name: name.clone(), path, form: Some(form) }
            }
            None => {
                let path = match specs.len() {
                    1 => stem.to_string(),
                    _ => format!("{stem}.{}", spec.name),
                };
                // With how many channels decides in the end; then it is looked at again.
                let likely = match may_be_picture(spec.ty, spec.dims) {
                    Ok(()) => ".png",
                    Err(_) => ".npy",
                };
                files::check_output(session, Path::new(&format!("{path}{likely}")))?;
                Place { name: spec.name.clone(), path: path.into(), form: None }
            }
        };
        places.push(place);
    }
    Ok(places)
}

fn no_picture(session: &mut Session, name: &str, path: &Path, why: &str) -> Stop {
    let message = format!("output `{name}` cannot be written as a picture: {why}");
    session.fail(
        Diagnostic::error(&codes::NO_PICTURE, message)
            .in_file(path.display().to_string())
            .help(format!("write it with --output {name}=FILE.npy")),
    )
}

/// Writes an output, and says under which name.
pub fn write(session: &mut Session, place: &Place, image: &Image) -> Result<String, Stop> {
    let mut path = place.path.clone();
    let form = place.form.unwrap_or_else(|| {
        let (form, extension) = match Picture::from_image(image) {
            Ok(_) => (Form::Png, ".png"),
            Err(_) => (Form::Npy, ".npy"),
        };
        path.as_mut_os_string().push(extension);
        form
    });
    let picture = |session: &mut Session| {
        Picture::from_image(image).map_err(|why| no_picture(session, &place.name, &path, &why))
    };
    let bytes = match form {
        Form::Npy => Ok(npy::write(image)),
        Form::Raw => Ok(raw::write(image)),
        Form::Png => picture(session)?.to_png(),
        Form::Pnm { colour } => picture(session)?.to_pnm(colour),
    };
    let bytes = bytes.map_err(|why| no_picture(session, &place.name, &path, &why))?;
    files::write(session, &path, &bytes)?;
    Ok(path.display().to_string())
}
