//! What Halide's schedules say that changes no value and has no meaning on these machines: it is
//! accepted with a note, without a look at its arguments.

use nbcc_base::{Diagnostic, Span};

use crate::codes;
use crate::elab::{Elab, Result};
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::Ident;
use crate::value::Value;

/// Directives of a Func, and why they are not followed.
const OF_FUNCS: [(&str, &str); 44] = [
    ("add_trace_tag", TRACE),
    ("align_bounds", SHAPES),
    ("align_extent", SHAPES),
    ("align_storage", STORAGE),
    ("allow_race_conditions", ORDER),
    ("always_partition", EDGES),
    ("always_partition_all", EDGES),
    ("async", ORDER),
    ("atomic", ORDER),
    ("bound_extent", SHAPES),
    ("bound_storage", STORAGE),
    ("clone_in", COPIES),
    ("compute_with", "each Func has loops of its own"),
    ("copy_to_device", DEVICE),
    ("copy_to_host", DEVICE),
    ("debug_to_file", TRACE),
    ("eager_inline", "Funcs are inlined where they are called"),
    ("fold_storage", STORAGE),
    ("hexagon", DEVICE),
    ("hoist_storage", STORAGE),
    ("hoist_storage_root", STORAGE),
    ("in", COPIES),
    ("memoize", "nothing is kept from one run to the next"),
    ("never_partition", EDGES),
    ("never_partition_all", EDGES),
    ("no_profiling", TRACE),
    ("parametric_bounds", SHAPES),
    ("partition", EDGES),
    ("prefetch", "the compiler places loads itself"),
    ("print_loop_nest", "`nbcc explain` shows loop nests"),
    ("reorder_storage", STORAGE),
    ("ring_buffer", STORAGE),
    ("serial", "loops run in order where nothing else is asked for"),
    ("set_custom_trace", TRACE),
    ("set_host_alignment", STORAGE),
    ("set_host_dirty", DEVICE),
    ("specialize", CASES),
    ("specialize_fail", CASES),
    ("store_in", STORAGE),
    ("trace_loads", TRACE),
    ("trace_realizations", TRACE),
    ("trace_stores", TRACE),
    ("unscheduled", "a Func without directives is scheduled by the compiler"),
    ("with_code", TRACE),
];

const TRACE: &str = "`nbcc run --trace` records a run";
const SHAPES: &str = "extents are those that are asked for; edges are guarded";
const STORAGE: &str = "the compiler lays out storage itself";
const ORDER: &str = "updates keep their order";
const EDGES: &str = "the compiler treats edges apart itself";
const COPIES: &str = "a Func is computed once, without wrappers for its callers";
const DEVICE: &str = "the target is chosen with `--target`";
const CASES: &str = "there is one version of the code for every case";

/// Methods of a dimension of an input or output.
const OF_DIMENSIONS: [(&str, &str); 2] = [("set_stride", STORAGE), ("set_host_alignment", STORAGE)];

/// Those after which a schedule of its own begins.
const LEADS_AWAY: [&str; 3] = ["specialize", "in", "clone_in"];

/// Why a directive of a Func is not followed, where it is one of these.
pub(crate) fn reason(name: &str) -> Option<&'static str> {
    OF_FUNCS.iter().find(|(n, _)| *n == name).map(|(_, why)| *why)
}

impl Elab<'_> {
    /// `object.name(...)` where that changes nothing: what follows it applies to. The arguments are
    /// not looked at. `None` where it is to be followed.
    pub(crate) fn unfollowed(&mut self, object: &Spanned, name: Ident) -> Result<Option<Value>> {
        let text = self.names.text(name.name).to_owned();
        let why = match object.0 {
            Value::Unfollowed => return Ok(Some(Value::Unfollowed)),
            Value::Target => return self.of_target(&text, name.span).map(Some),
            Value::Func(_) | Value::Stage(..) | Value::Input(_) => reason(&text),
            Value::InputDim(..) | Value::FuncDim(..) => {
                OF_DIMENSIONS.iter().find(|(n, _)| *n == text).map(|(_, why)| *why)
            }
            _ => None,
        };
        let Some(why) = why else { return Ok(None) };
        self.not_followed(&text, why, name.span);
        Ok(Some(match object.0 {
            _ if LEADS_AWAY.contains(&text.as_str()) => Value::Unfollowed,
            ref object => object.clone(),
        }))
    }

    /// Notes that a request changes nothing.
    pub(crate) fn not_followed(&mut self, what: &str, why: &str, at: Span) {
        self.report(
            Diagnostic::note(&codes::NO_EFFECT, format!("`{what}` is not followed"))
                .at(at, why.to_owned()),
        );
    }

    /// What a generator asks of the machine: none of the features that Halide knows by name.
    fn of_target(&mut self, name: &str, at: Span) -> Result<Value> {
        match name {
            "natural_vector_size" => Ok(Value::Int(crate::pipeline::builtins::VECTOR_SIZE)),
            "has_feature"
            | "has_gpu_feature"
            | "features_any_of"
            | "features_all_of"
            | "has_large_buffers"
            | "has_unknowns"
            | "supports_device_api" => Ok(Value::Bool(false)),
            _ => self.fail(
                Diagnostic::error(
                    &codes::UNSUPPORTED,
                    format!("`{name}` of a target is not supported"),
                )
                .at(at, "not known of these machines")
                .help("ask with `has_feature(...)`, which is false for every feature of Halide's"),
            ),
        }
    }
}
