//! `nbcc map`: places a data-flow graph on an array of processing elements.

use std::path::Path;
use std::time::Duration;

use nbcc_base::Diagnostic;

use crate::cli::MapArgs;
use crate::registry::arrays::{self, Array, Effort, Links, NoMapping, Request};
use crate::session::{Session, Stop};
use crate::{codes, console, files, registry};

/// The longest time where nobody says.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Runs the command.
pub fn map(session: &mut Session, args: &MapArgs) -> Result<(), Stop> {
    if let Some(path) = &args.report {
        files::check_output(session, path)?;
    }
    refuse_programs(session, &args.graph)?;
    let source = files::read_source(session, &args.graph)?;
    let file = session.sources.get(source);
    let graph = arrays::read::read(source, file, &mut session.diagnostics)?;
    let array = array(args);
    let mapper = args.mapper.as_deref().and_then(arrays::mapper).unwrap_or(&arrays::MAPPERS[0]);
    let request = Request {
        array: &array,
        max_ii: args.max_ii.unwrap_or(array.contexts),
        time_limit: args.time_limit.unwrap_or(TIME_LIMIT),
        effort: if args.time_limit.is_some() { Effort::Patient } else { Effort::Usual },
        mapper,
    };
    let outcome = arrays::map(&graph, &request).map_err(|why| {
        let name = files::display_name(&args.graph);
        session.fail(no_mapping(&why, &request).in_file(name))
    })?;
    if let Err(faults) = arrays::check(&graph, &array, &outcome.mapping) {
        let first = &faults[0].0;
        panic!("the mapper `{}` broke a rule of the array: {first}", mapper.name);
    }
    if let Some(path) = &args.report {
        let report = arrays::report::json(&graph, &array, &outcome);
        let mut text = serde_json::to_string_pretty(&report).unwrap_or_default();
        text.push('\n');
        files::write(session, path, text.as_bytes())?;
    }
    console::print(&arrays::report::summary(&graph, &array, &outcome));
    console::print(&arrays::report::picture(&graph, &array, &outcome));
    Ok(())
}

/// A program that is there is no graph, whatever its first characters look like.
fn refuse_programs(session: &mut Session, path: &Path) -> Result<(), Stop> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let Some(language) = registry::get().language(&extension) else { return Ok(()) };
    if !path.is_file() {
        return Ok(());
    }
    let (name, title) = (files::display_name(path), language.frontend.name());
    let message = format!("`{name}` is a source file (language {title}), not a graph");
    let help =
        "map takes graphs, .json or .dot: `nbcc FILE --emit ddg` prints those of a program's loops";
    Err(session.fail(Diagnostic::error(&codes::UNKNOWN_KIND, message).in_file(name).help(help)))
}

/// The usual array with what the command line changes.
fn array(args: &MapArgs) -> Array {
    let mut array = arrays::usual();
    if let Some((rows, columns)) = args.array {
        (array.rows, array.columns) = (rows, columns);
    }
    let named = args.links.as_deref().and_then(|name| Links::ALL.iter().find(|l| l.0 == name));
    if let Some((_, links)) = named {
        array.links = *links;
    }
    array.registers = args.registers.unwrap_or(array.registers);
    array.memory_ports = args.mem_ports.unwrap_or(array.memory_ports);
    array
}

fn no_mapping(why: &NoMapping, request: &Request<'_>) -> Diagnostic {
    let (message, help) = match why {
        NoMapping::MiiTooLong(mii) => (
            format!(
                "no mapping: the least initiation interval is {mii}, of {} at most",
                request.max_ii
            ),
            "allow a longer one with --max-ii, or take a larger array or more memory ports",
        ),
        NoMapping::MaxIi | NoMapping::TooMuch => (
            format!("no mapping was found at an initiation interval of up to {}", request.max_ii),
            "allow a longer one with --max-ii, or take a larger array or more memory ports",
        ),
        NoMapping::TimeOver(ii) => (
            format!("no mapping was found in time: the initiation interval {ii} was being tried"),
            "give it more time with --time-limit SECONDS, or take a larger array",
        ),
    };
    Diagnostic::error(&arrays::codes::NO_MAPPING, message).help(help)
}
