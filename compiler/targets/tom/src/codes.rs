//! The diagnostic codes of this target.

nbcc_base::codes! {
    /// The codes of this crate.
    ALL;

    POLICY = "E2301", "a policy that the machine cannot follow",
    "`-X offload=` says which instances of candidates run beside memory, and `tom-baseline` has no \
     multiprocessors there: it takes `none` only, which is its default. docs/target-tom.md says what \
     each policy does.",
    "// nbcc --target tom --machine tom-baseline -X offload=always fixtures/empty.ptx\n";
}
