//! The modifiers of instructions that are not types, as small numbers, and sets of them.

macro_rules! modifiers {
    ($($name:ident = $word:literal,)*) => {
        /// A modifier.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)]
        pub enum Modifier { $($name,)* }

        impl Modifier {
            /// Every modifier.
            pub const ALL: &'static [Modifier] = &[$(Modifier::$name,)*];

            /// Its word, without the dot.
            pub fn word(self) -> &'static str {
                match self { $(Modifier::$name => $word,)* }
            }
        }
    };
}

modifiers! {
    A = "a", Abs = "abs", Acquire = "acquire", AcqRel = "acq_rel", Add = "add", Alias = "alias",
    Aligned = "aligned", All = "all", And = "and", Any = "any", Approx = "approx",
    Arrive = "arrive", Async = "async", B = "b", B1 = "b1", B4e = "b4e", Ballot = "ballot", Bfly = "bfly",
    Bulk = "bulk", C = "c", Ca = "ca", Cas = "cas", Cc = "cc", Cg = "cg", Clamp = "clamp",
    Cluster = "cluster", Col = "col", CommitGroup = "commit_group", Const = "const", Cs = "cs", Cta = "cta", Cv = "cv", D = "d", Dec = "dec",
    Down = "down", E2m1x2 = "e2m1x2", E2m1x4 = "e2m1x4", E2m3x2 = "e2m3x2", E3m2x2 = "e3m2x2",
    E4m3x2 = "e4m3x2", E4m3x4 = "e4m3x4", E5m2x2 = "e5m2x2", E5m2x4 = "e5m2x4", Ecl = "ecl",
    Ecr = "ecr", Eq = "eq", Equ = "equ", Exch = "exch", F4e = "f4e", Finite = "finite",
    Ftz = "ftz", Full = "full", Ge = "ge", Generic = "generic", Geu = "geu", Gl = "gl",
    Global = "global", Gpu = "gpu", Gt = "gt", Gtu = "gtu", Hi = "hi", Hs = "hs", Idx = "idx",
    Inc = "inc", Infinite = "infinite", L = "l", L1 = "L1", L1EvictFirst = "L1::evict_first",
    L1EvictLast = "L1::evict_last", L1EvictNormal = "L1::evict_normal",
    L1EvictUnchanged = "L1::evict_unchanged", L1NoAllocate = "L1::no_allocate", L2 = "L2",
    L2B64 = "L2::64B", L2B128 = "L2::128B", L2B256 = "L2::256B",
    L2CacheHint = "L2::cache_hint", L2EvictFirst = "L2::evict_first",
    L2EvictLast = "L2::evict_last", L2EvictNormal = "L2::evict_normal",
    LaunchDependents = "launch_dependents", Le = "le", Leu = "leu", Lo = "lo", Load = "load", Local = "local",
    Ls = "ls", Lt = "lt", Ltu = "ltu", Lu = "lu", Mask = "mask", Max = "max",
    MbarrierInit = "mbarrier_init", Min = "min", Mmio = "mmio", Mma = "mma",
    M8n16 = "m8n16", M8n32k16 = "m8n32k16", M8n8 = "m8n8", M8n8k128 = "m8n8k128", M8n8k16 = "m8n8k16",
    M8n8k32 = "m8n8k32", M8n8k4 = "m8n8k4", M16n16 = "m16n16", M16n16k16 = "m16n16k16",
    M16n16k8 = "m16n16k8", M16n8 = "m16n8", M16n8k128 = "m16n8k128", M16n8k16 = "m16n8k16",
    M16n8k256 = "m16n8k256", M16n8k32 = "m16n8k32", M16n8k4 = "m16n8k4", M16n8k64 = "m16n8k64",
    M16n8k8 = "m16n8k8", M32n8k16 = "m32n8k16", NaN = "NaN", Nan = "nan",
    Nc = "nc", Ne = "ne", Neu = "neu", Noftz = "noftz", Normal = "normal",
    NotANumber = "notanumber", Num = "num", Number = "number", Oob = "oob", Or = "or",
    Pack = "pack", Param = "param", ParamEntry = "param::entry", ParamFunc = "param::func",
    Po = "po", Popc = "popc", Proxy = "proxy", R = "r", Rc16 = "rc16", Rc8 = "rc8",
    Red = "red", Reduce = "reduce", Relaxed = "relaxed", Release = "release", Relu = "relu", Rm = "rm",
    Rmi = "rmi", Rn = "rn", Rna = "rna", Rni = "rni", Row = "row", Rp = "rp", Rpi = "rpi", Rs = "rs",
    Rz = "rz", Rzi = "rzi", S16x2 = "s16x2", S2 = "s2", S4 = "s4", Sat = "sat",
    Satfinite = "satfinite", Sc = "sc", Scaled = "scaled::n2::ue8m0", Shared = "shared",
    SharedCluster = "shared::cluster", SharedCta = "shared::cta", Shiftamt = "shiftamt",
    Shr15 = "shr15", Shr7 = "shr7", Store = "store", Subnormal = "subnormal", Sync = "sync", Sys = "sys",
    Tensormap = "tensormap", Tf32 = "tf32", To = "to", Trans = "trans", U16x2 = "u16x2", U2 = "u2", U4 = "u4",
    Ue8m0x2 = "ue8m0x2", Uni = "uni", Up = "up", V2 = "v2", V4 = "v4", V8 = "v8",
    Volatile = "volatile", Wait = "wait", WaitAll = "wait_all",
    WaitGroup = "wait_group", Warp = "warp", Wb = "wb", Weak = "weak", Wide = "wide",
    Wrap = "wrap", Wt = "wt", X1 = "x1", X2 = "x2", X4 = "x4", Xor = "xor", Xorsign = "xorsign",
}

/// A set of modifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModifierSet([u64; 4]);

impl ModifierSet {
    /// Adds one.
    pub fn insert(&mut self, modifier: Modifier) {
        self.0[modifier as usize / 64] |= 1 << (modifier as usize % 64);
    }

    /// Whether it is in the set.
    pub fn has(&self, modifier: Modifier) -> bool {
        self.0[modifier as usize / 64] & (1 << (modifier as usize % 64)) != 0
    }

    /// What stands beside the first modifier of `map` that is in the set.
    pub fn pick<T: Copy>(&self, map: &[(Modifier, T)]) -> Option<T> {
        map.iter().find(|(modifier, _)| self.has(*modifier)).map(|&(_, value)| value)
    }
}
