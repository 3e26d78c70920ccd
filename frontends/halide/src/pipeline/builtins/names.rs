//! The names of the functions: those that there are, and those of Halide that there are not.

use nbcc_stages::ElementType;

/// Every name, for suggestions.
pub(crate) const NAMES: [&str; 67] = [
    "Bool",
    "Float",
    "Int",
    "UInt",
    "abs",
    "absd",
    "acos",
    "argmax",
    "argmin",
    "asin",
    "atan",
    "atan2",
    "cast",
    "ceil",
    "clamp",
    "constant_exterior",
    "cos",
    "cosh",
    "div_round_to_zero",
    "exp",
    "fast_cos",
    "fast_exp",
    "fast_inverse",
    "fast_inverse_sqrt",
    "fast_log",
    "fast_pow",
    "fast_sin",
    "floor",
    "fract",
    "hypot",
    "is_finite",
    "is_inf",
    "is_nan",
    "lerp",
    "likely",
    "likely_if_innermost",
    "log",
    "max",
    "maximum",
    "min",
    "minimum",
    "mirror_image",
    "mirror_interior",
    "mod_round_to_zero",
    "mux",
    "pow",
    "print",
    "product",
    "reinterpret",
    "repeat_edge",
    "repeat_image",
    "round",
    "saturating_cast",
    "select",
    "sin",
    "sinh",
    "sqrt",
    "strict_float",
    "sum",
    "tan",
    "tanh",
    "trunc",
    "undef",
    "fabs",
    "sqrtf",
    "expf",
    "powf",
];

/// Functions of Halide that this language has under one name only, or that ask for a type or a
/// number of the generator's surroundings.
const OF_GENERATORS: [&str; 15] = [
    "_halide_user_assert",
    "add_requirement",
    "assert",
    "get_host_target",
    "get_jit_target_from_environment",
    "get_target",
    "lambda",
    "internal_assert",
    "natural_vector_size",
    "static_assert",
    "trace_pipeline",
    "type_of",
    "undef",
    "user_assert",
    "using_autoscheduler",
];

/// Functions of Halide that this language does not have, and what is written instead.
pub(crate) const HALIDE_ONLY: [(&str, &str); 44] = [
    ("acosh", "write `log(x + sqrt(x * x - 1.0f))`"),
    ("asinh", "write `log(x + sqrt(x * x + 1.0f))`"),
    ("atanh", "write `0.5f * log((1.0f + x) / (1.0f - x))`"),
    ("combine_strings", PRINT),
    ("concat_bits", "widen the parts, shift them and join them with `|`"),
    ("count_leading_zeros", BITS),
    ("count_trailing_zeros", BITS),
    ("erf", "write an approximation of it with `exp` and a polynomial"),
    ("extern_call", "write a function of the file instead"),
    ("extract_bits", "shift and cast: `cast<uint8_t>(x >> 8)`"),
    ("gather", "write an update over an RDom"),
    ("halving_add", "widen, add and shift: `cast<uint8_t>((cast<uint16_t>(a) + b) >> 1)`"),
    ("halving_sub", "widen, subtract and shift: `cast<int8_t>((cast<int16_t>(a) - b) >> 1)`"),
    ("memoize_tag", "leave it out: its value is its argument"),
    ("mul_shift_right", "widen, multiply and shift: `cast<int16_t>((cast<int32_t>(a) * b) >> 8)`"),
    ("popcount", BITS),
    ("print", PRINT),
    ("print_when", PRINT),
    ("random_float", RANDOM),
    ("random_int", RANDOM),
    ("random_uint", RANDOM),
    ("require", "leave it out, or choose with `select`"),
    (
        "rounding_halving_add",
        "widen, add and shift: `cast<uint8_t>((cast<uint16_t>(a) + b + 1) >> 1)`",
    ),
    ("rounding_mul_shift_right", "widen, multiply, add half and shift"),
    ("rounding_shift_left", "add half of the last place lost, then shift"),
    ("rounding_shift_right", "add half of the last place lost, then shift: `(x + 2) >> 2`"),
    ("saturating_add", "widen and convert: `saturating_cast<uint8_t>(cast<uint16_t>(a) + b)`"),
    ("saturating_sub", "widen and convert: `saturating_cast<uint8_t>(cast<int16_t>(a) - b)`"),
    ("scatter", "write an update over an RDom"),
    ("target_has_feature", "write `get_target().has_feature(...)`, which is false"),
    ("tuple_select", "write `select`, which takes Tuples too"),
    ("widening_add", "widen one side: `cast<uint16_t>(a) + b`"),
    ("widening_mul", "widen one side: `cast<uint16_t>(a) * b`"),
    ("widening_sub", "widen one side: `cast<int16_t>(a) - b`"),
    ("LoopLevel", "name Func and loop: `f.compute_at(out, y)`"),
    ("apply_autoscheduler", SCHEDULE),
    ("auto_schedule", SCHEDULE),
    ("fast_atan", "write `atan(x)`"),
    ("fast_atan2", "write `atan2(y, x)`"),
    ("fast_tanh", "write `tanh(x)`"),
    ("inline_reduction", "write an update over an RDom"),
    ("slice", "choose the coordinates of a call"),
    ("unsafe_promise_clamped", "write `clamp(e, low, high)`"),
    ("dynamic_cast", "write `cast<float>(...)`, or leave it out"),
];

const PRINT: &str = "leave it out: make an output of the value to look at it";
const SCHEDULE: &str = "leave it out: a pipeline without a schedule gets one by itself";
const BITS: &str = "count in a loop: `for (int i = 0; i < 8; i++) n += (x >> i) & 1;`";
const RANDOM: &str = "read random numbers from an input, or hash the coordinates";

/// Functions of C beside those that have the name of one of Halide's.
const C_FUNCTIONS: [&str; 21] = [
    "atan2f",
    "ceilf",
    "cosf",
    "exp2",
    "expf",
    "fabs",
    "fabsf",
    "floorf",
    "fmax",
    "fmaxf",
    "fmin",
    "fminf",
    "log2",
    "logf",
    "powf",
    "roundf",
    "sinf",
    "sqrtf",
    "tanf",
    "tanhf",
    "to_string",
];

/// The type of one of Halide's `ConciseCasts`, as `u8` and `i16_sat`, and whether it saturates.
pub(crate) fn concise_cast(name: &str) -> Option<(ElementType, bool)> {
    let plain = name.strip_suffix("_sat");
    let ty = match plain.unwrap_or(name) {
        "u8" => ElementType::U8,
        "u16" => ElementType::U16,
        "u32" => ElementType::U32,
        "i8" => ElementType::I8,
        "i16" => ElementType::I16,
        "i32" => ElementType::I32,
        "f32" if plain.is_none() => ElementType::F32,
        _ => return None,
    };
    Some((ty, plain.is_some()))
}

/// Halide's `ConciseCasts` of types that the pipeline does not have.
pub(crate) const WIDE_CASTS: [&str; 5] = ["f16", "f64", "i64", "u64", "bf16"];

/// Whether the language has, or refuses by name, a function of this name.
pub(crate) fn provides(name: &str) -> bool {
    NAMES.contains(&name)
        || C_FUNCTIONS.contains(&name)
        || OF_GENERATORS.contains(&name)
        || HALIDE_ONLY.iter().any(|(known, _)| *known == name)
        || WIDE_CASTS.contains(&name)
        || concise_cast(name).is_some()
}
