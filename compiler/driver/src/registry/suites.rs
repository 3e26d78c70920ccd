//! The suites of benchmarks: data, with the sources of their programs. A source is a link to the example
//! that it is.

use super::BundledSuite;

/// The sources of a suite, by the names that it has for them.
macro_rules! sources {
    ($suite:literal: $($name:literal)+) => {
        &[$( ($name, include_str!(concat!("../../data/bench/", $suite, "/", $name))) ),+]
    };
}

/// Every suite.
pub const ALL: &[BundledSuite] = &[
    BundledSuite {
        name: "ipim",
        text: include_str!("../../data/bench/ipim.toml"),
        sources: sources!("ipim": "brighten.halide" "blur.halide" "downsample.halide" "upsample.halide"
            "shift.halide" "histogram.halide" "bilateral_grid.halide" "interpolate.halide"
            "local_laplacian.halide" "stencil_chain.halide"),
    },
    BundledSuite {
        name: "mpu",
        text: include_str!("../../data/bench/mpu.toml"),
        sources: sources!("mpu": "axpy.ptx" "blur.ptx" "conv.ptx" "gemv.ptx" "hist.ptx" "kmeans.ptx" "knn.ptx"
            "maxp.ptx" "nw.ptx" "pr.ptx" "ttrans.ptx" "upsamp.ptx"),
    },
    BundledSuite {
        name: "sdpnm",
        text: include_str!("../../data/bench/sdpnm.toml"),
        sources: sources!("sdpnm": "nco.c" "cic.c" "fir.c" "fft.c" "gemm.c" "yolo.c" "ddc.c" "cap.c" "conv.c"
            "matmul.c" "h2v2.c"),
    },
    BundledSuite {
        name: "tom",
        text: include_str!("../../data/bench/tom.toml"),
        sources: sources!("tom": "bp.ptx" "bfs.ptx" "km.ptx" "cfd.ptx" "hw.ptx" "lib.ptx" "ray.ptx" "fwt.ptx"
            "sp.ptx" "rd.ptx"),
    },
];
