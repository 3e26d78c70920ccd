//! The names of special registers (PTX manual, "Special Registers").

/// What kind of special register a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpecialKind {
    Scalar,
    /// Four elements, `.x` to `.w`.
    Vector,
}

const VECTORS: [&str; 8] = [
    "%tid",
    "%ntid",
    "%ctaid",
    "%nctaid",
    "%clusterid",
    "%nclusterid",
    "%cluster_ctaid",
    "%cluster_nctaid",
];

const SCALARS: [&str; 37] = [
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%smid",
    "%nsmid",
    "%gridid",
    "%lanemask_eq",
    "%lanemask_le",
    "%lanemask_lt",
    "%lanemask_ge",
    "%lanemask_gt",
    "%clock",
    "%clock_hi",
    "%clock64",
    "%globaltimer",
    "%globaltimer_lo",
    "%globaltimer_hi",
    "%is_explicit_cluster",
    "%cluster_ctarank",
    "%cluster_nctarank",
    "%reserved_smem_offset_begin",
    "%reserved_smem_offset_end",
    "%reserved_smem_offset_cap",
    "%total_smem_size",
    "%aggr_smem_size",
    "%dynamic_smem_size",
    "%current_graph_exec",
    "%pm0_64",
    "%pm1_64",
    "%pm2_64",
    "%pm3_64",
    "%pm4_64",
    "%pm5_64",
    "%pm6_64",
    "%pm7_64",
    "%reserved_smem_offset_0",
    "%reserved_smem_offset_1",
];

/// Numbered ones: `%envreg0` to `%envreg31`, `%pm0` to `%pm7`.
const NUMBERED: [(&str, u32); 2] = [("%envreg", 32), ("%pm", 8)];

/// The kind of a special register; `None` if the name is none.
pub(crate) fn special(name: &str) -> Option<SpecialKind> {
    if VECTORS.contains(&name) {
        return Some(SpecialKind::Vector);
    }
    let numbered = NUMBERED.iter().any(|&(stem, count)| {
        name.strip_prefix(stem).is_some_and(|n| n.parse().is_ok_and(|n: u32| n < count))
    });
    (SCALARS.contains(&name) || numbered).then_some(SpecialKind::Scalar)
}
