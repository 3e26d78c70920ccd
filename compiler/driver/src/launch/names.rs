//! Kernels by the names that people gave them: compilers of C++, Rust and Python write types into
//! the names of functions.

use crate::kinds::grids::KernelSpec;

/// The kernels that a name may mean: the one that is called so, else those whose demangled name is
/// that, with or without the types of arguments, templates and namespaces.
pub fn find<'k>(kernels: &'k [KernelSpec], name: &str) -> Vec<&'k KernelSpec> {
    if let Some(exact) = kernels.iter().find(|kernel| kernel.name == name) {
        return vec![exact];
    }
    let wanted = squeezed(name);
    let fits = |kernel: &&KernelSpec| spellings(&kernel.name).contains(&wanted);
    kernels.iter().filter(fits).collect()
}

/// The name of a kernel as its source spells it; itself where it is not mangled.
pub fn demangled(symbol: &str) -> String {
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return format!("{name:#}");
    }
    let options = cpp_demangle::DemangleOptions::new().no_return_type();
    match cpp_demangle::Symbol::new(symbol).map(|name| name.demangle_with_options(&options)) {
        Ok(Ok(name)) => without_tags(&name),
        _ => symbol.to_string(),
    }
}

/// What people may call a kernel: without blanks, from the whole to the bare name.
fn spellings(symbol: &str) -> Vec<String> {
    let whole = squeezed(&demangled(symbol));
    let named = without_arguments(&whole).to_string();
    let last = |name: &str| name[last_part(name)..].to_string();
    let plain = |name: &str| name[..template(name)].to_string();
    let mut list = vec![last(&named), plain(&named), plain(&last(&named)), named, whole];
    list.sort();
    list.dedup();
    list
}

fn squeezed(name: &str) -> String {
    name.chars().filter(|c| !c.is_whitespace()).collect()
}

/// ABI tags, which Numba numbers its functions with, are no part of the name.
fn without_tags(name: &str) -> String {
    let mut parts = name.split("[abi:");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        out.push_str(part.split_once(']').map_or("", |(_, rest)| rest));
    }
    out
}

/// The name up to the list of the types of arguments, which ends it.
fn without_arguments(name: &str) -> &str {
    let mut depth = 0;
    for (at, c) in name.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let list = name.ends_with(')') && !name[at..].starts_with("(anonymous");
            return if list { &name[..at] } else { name };
        }
    }
    name
}

/// Where the last part of a path begins.
fn last_part(name: &str) -> usize {
    let (mut depth, mut begin) = (0, 0);
    for (at, c) in name.char_indices() {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            ':' if depth == 0 => begin = at + 1,
            _ => {}
        }
    }
    begin
}

/// Where the arguments of a template that end a name begin.
fn template(name: &str) -> usize {
    let mut depth = 0;
    for (at, c) in name.char_indices().rev() {
        match c {
            '>' => depth += 1,
            '<' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return if c == '<' { at } else { name.len() };
        }
    }
    name.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(symbols: &[&str], name: &str) -> Vec<String> {
        let spec = |name: &&str| KernelSpec { name: name.to_string(), params: Vec::new() };
        let kernels: Vec<KernelSpec> = symbols.iter().map(spec).collect();
        find(&kernels, name).into_iter().map(|kernel| kernel.name.clone()).collect()
    }

    #[test]
    fn names_of_cpp() {
        let symbols = ["_Z6euclidP7latLongPfiff", "_ZN2ns5scaleIfEEvPT_i", "_ZN2ns5scaleIiEEvPT_i"];
        assert_eq!(found(&symbols, "euclid"), [symbols[0]]);
        assert_eq!(found(&symbols, "euclid(latLong*, float*, int, float, float)"), [symbols[0]]);
        assert_eq!(found(&symbols, symbols[0]), [symbols[0]]);
        assert_eq!(found(&symbols, "scale<float>"), [symbols[1]]);
        assert_eq!(found(&symbols, "ns::scale<int>"), [symbols[2]]);
        assert_eq!(found(&symbols, "ns::scale"), symbols[1..]);
        assert_eq!(found(&symbols, "scale"), symbols[1..]);
        assert!(found(&symbols, "ns").is_empty() && found(&symbols, "float").is_empty());
    }

    #[test]
    fn names_without_namespace_of_their_own() {
        let symbols = ["_ZN12_GLOBAL__N_15innerEPf"];
        assert_eq!(found(&symbols, "inner"), symbols);
        assert_eq!(found(&symbols, "(anonymous namespace)::inner"), symbols);
    }

    #[test]
    fn names_of_numba_and_rust() {
        let numba = "_ZN8__main__3addB2v1B38c8tJTIeFIjxB2IKSgI4CrvQClQZ6FczSBAA_3dE\
                     5ArrayIfLi1E1C7mutable7alignedE";
        assert_eq!(found(&[numba], "add"), [numba]);
        assert_eq!(found(&[numba], "__main__::add"), [numba]);
        let rust = "_ZN7kernels5scale17h0123456789abcdefE";
        assert_eq!(found(&[rust], "kernels::scale"), [rust]);
        assert_eq!(found(&["_RNvC7kernels5scale"], "scale"), ["_RNvC7kernels5scale"]);
    }

    #[test]
    fn the_name_itself_comes_first() {
        assert_eq!(found(&["_Z1fi", "f", "_Z1ff"], "f"), ["f"]);
        assert_eq!(found(&["f", "plain<x"], "plain<x"), ["plain<x"]);
    }
}
