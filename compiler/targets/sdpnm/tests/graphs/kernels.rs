//! Loop bodies of signal processing as graphs, written down as a compiler would see them: addresses
//! are the memory ports' business, coefficients are immediates.

use nbcc_isa_sdpnm::{Edge, Graph, Node};

/// A graph that grows by operations on operands.
#[derive(Default)]
struct Body {
    graph: Graph,
}

impl Body {
    fn op(&mut self, op: &str, operands: &[usize]) -> usize {
        let to = self.graph.nodes.len();
        self.graph.nodes.push(Node { id: format!("{op}{to}"), op: op.into() });
        for &from in operands {
            self.edge(from, to, 0);
        }
        to
    }

    fn edge(&mut self, from: usize, to: usize, distance: u32) {
        self.graph.edges.push(Edge { from, to, distance });
    }

    fn load(&mut self) -> usize {
        self.op("load", &[])
    }

    fn constant(&mut self) -> usize {
        self.op("const", &[])
    }

    fn store(&mut self, value: usize) {
        self.op("store", &[value]);
    }

    /// A constant times a value.
    fn scale(&mut self, value: usize) -> usize {
        let coefficient = self.constant();
        self.op("mul", &[value, coefficient])
    }

    /// The sum in a balanced tree.
    fn sum(&mut self, mut terms: Vec<usize>) -> usize {
        while terms.len() > 1 {
            terms = terms
                .chunks(2)
                .map(|pair| if pair.len() == 2 { self.op("add", pair) } else { pair[0] })
                .collect();
        }
        terms[0]
    }

    /// A value that is added to itself in each iteration.
    fn accumulate(&mut self, value: usize) -> usize {
        let sum = self.op("add", &[value]);
        self.edge(sum, sum, 1);
        sum
    }

    fn complex_product(&mut self, a: [usize; 2], b: [usize; 2]) -> [usize; 2] {
        let (rr, ii) = (self.op("mul", &[a[0], b[0]]), self.op("mul", &[a[1], b[1]]));
        let (ri, ir) = (self.op("mul", &[a[0], b[1]]), self.op("mul", &[a[1], b[0]]));
        [self.op("sub", &[rr, ii]), self.op("add", &[ri, ir])]
    }

    fn butterfly(&mut self, a: usize, b: usize) -> (usize, usize) {
        (self.op("add", &[a, b]), self.op("sub", &[a, b]))
    }

    fn named(mut self, name: String) -> Graph {
        self.graph.name = name;
        self.graph
    }
}

/// Taps on a delay line; the sum as a chain, a tree, or the transposed form.
fn fir(taps: usize, form: &str) -> Graph {
    let mut body = Body::default();
    let x = body.load();
    let mut products = Vec::new();
    for tap in 0..taps {
        let coefficient = body.constant();
        let product = body.op("mul", &[coefficient]);
        body.edge(x, product, if form == "transposed" { 0 } else { tap as u32 });
        products.push(product);
    }
    let y = match form {
        "tree" => body.sum(products),
        "chain" => products.into_iter().reduce(|y, p| body.op("add", &[y, p])).expect("a tap"),
        _ => {
            let mut y = products.pop().expect("a tap");
            while let Some(product) = products.pop() {
                let sum = body.op("add", &[product]);
                body.edge(y, sum, 1);
                y = sum;
            }
            y
        }
    };
    body.store(y);
    body.named(format!("fir{taps}_{form}"))
}

fn fft2() -> Graph {
    let mut body = Body::default();
    let [a, b, w] = [(); 3].map(|()| [body.load(), body.load()]);
    let b = body.complex_product(b, w);
    for part in [0, 1] {
        let (sum, difference) = body.butterfly(a[part], b[part]);
        body.store(sum);
        body.store(difference);
    }
    body.named("fft2".into())
}

fn fft4() -> Graph {
    let mut body = Body::default();
    let x: Vec<[usize; 2]> = (0..4).map(|_| [body.load(), body.load()]).collect();
    let mut y = vec![x[0]];
    for &value in &x[1..] {
        let twiddle = [body.op("input", &[]), body.op("input", &[])];
        y.push(body.complex_product(value, twiddle));
    }
    for part in [0, 1] {
        let (a, b) = body.butterfly(y[0][part], y[2][part]);
        let (c, d) = body.butterfly(y[1][part], y[3][part]);
        for (sum, difference) in [body.butterfly(a, c), body.butterfly(b, d)] {
            body.store(sum);
            body.store(difference);
        }
    }
    body.named("fft4".into())
}

/// Integrators, then combs of delay `delay`.
fn cic(stages: usize, delay: u32) -> Graph {
    let mut body = Body::default();
    let mut value = body.load();
    for _ in 0..stages {
        value = body.accumulate(value);
    }
    for _ in 0..stages {
        let comb = body.op("sub", &[value]);
        body.edge(value, comb, delay);
        value = comb;
    }
    body.store(value);
    body.named(format!("cic{stages}_{delay}"))
}

/// The one-dimensional DCT of 8 points by four stages of butterflies and rotations.
fn dct8() -> Graph {
    let mut body = Body::default();
    let x: Vec<usize> = (0..8).map(|_| body.load()).collect();
    let (s, d): (Vec<_>, Vec<_>) = (0..4).map(|i| body.butterfly(x[i], x[7 - i])).unzip();
    let ((a, b), (c, e)) = (body.butterfly(s[0], s[3]), body.butterfly(s[1], s[2]));
    let (y0, y4) = body.butterfly(a, c);
    let mut out = vec![y0, y4];
    let rotate = |body: &mut Body, p: usize, q: usize| {
        let [pc, ps, qc, qs] = [p, p, q, q].map(|v| body.scale(v));
        [body.op("add", &[pc, qs]), body.op("sub", &[ps, qc])]
    };
    out.extend(rotate(&mut body, b, e));
    let [r0, r1] = rotate(&mut body, d[0], d[3]);
    let [r2, r3] = rotate(&mut body, d[1], d[2]);
    let ((o0, o1), (o2, o3)) = (body.butterfly(r0, r2), body.butterfly(r1, r3));
    out.extend([o0, o2]);
    let (p, q) = body.butterfly(o1, o3);
    out.extend([body.scale(p), body.scale(q)]);
    for value in out {
        body.store(value);
    }
    body.named("dct8".into())
}

/// `unroll` products of an inner product a time.
fn matmul(unroll: usize) -> Graph {
    let mut body = Body::default();
    let products = (0..unroll)
        .map(|_| {
            let pair = [body.load(), body.load()];
            body.op("mul", &pair)
        })
        .collect();
    let sum = body.sum(products);
    let total = body.accumulate(sum);
    body.store(total);
    body.named(format!("matmul{unroll}"))
}

/// Second order sections in a row.
fn biquad(sections: usize, direct: bool) -> Graph {
    let mut body = Body::default();
    let mut x = body.load();
    for _ in 0..sections {
        if direct {
            let products: Vec<usize> = (0..5)
                .map(|_| {
                    let c = body.constant();
                    body.op("mul", &[c])
                })
                .collect();
            for (tap, &product) in products[..3].iter().enumerate() {
                body.edge(x, product, tap as u32);
            }
            let feed = body.sum(products[..3].to_vec());
            let old = body.op("sub", &[feed, products[4]]);
            let y = body.op("sub", &[old, products[3]]);
            body.edge(y, products[3], 1);
            body.edge(y, products[4], 2);
            x = y;
        } else {
            let [b0, b1, b2] = [(); 3].map(|()| body.scale(x));
            let y = body.op("add", &[b0]);
            let [a1, a2] = [(); 2].map(|()| body.scale(y));
            let (t1, t2) = (body.op("sub", &[b1, a1]), body.op("sub", &[b2, a2]));
            let s1 = body.op("add", &[t1]);
            body.edge(t2, s1, 1);
            body.edge(s1, y, 1);
            x = y;
        }
    }
    body.store(x);
    body.named(format!("biquad{sections}_{}", if direct { "direct" } else { "transposed" }))
}

/// Bits of a CRC by shift and conditional xor.
fn crc(bits: usize) -> Graph {
    let mut body = Body::default();
    let data = body.load();
    let state = body.op("xor", &[data]);
    let mut value = state;
    for _ in 0..bits {
        let (low, shifted) = (body.op("and", &[value]), body.op("shr", &[value]));
        let mask = body.op("sub", &[low]);
        let polynomial = body.op("and", &[mask]);
        value = body.op("xor", &[shifted, polynomial]);
    }
    body.edge(value, state, 1);
    body.store(value);
    body.named(format!("crc{bits}"))
}

/// Sums of absolute differences of `width` pixels.
fn sad(width: usize) -> Graph {
    let mut body = Body::default();
    let terms = (0..width)
        .map(|_| {
            let pair = [body.load(), body.load()];
            let (a, b) = (body.op("max", &pair), body.op("min", &pair));
            body.op("sub", &[a, b])
        })
        .collect();
    let sum = body.sum(terms);
    let total = body.accumulate(sum);
    body.store(total);
    body.named(format!("sad{width}"))
}

/// A stencil of rows x columns whose rows are loaded once and kept.
fn conv(rows: usize, columns: usize) -> Graph {
    let mut body = Body::default();
    let mut products = Vec::new();
    for _ in 0..rows {
        let pixel = body.load();
        for column in 0..columns {
            let c = body.constant();
            let product = body.op("mul", &[c]);
            body.edge(pixel, product, column as u32);
            products.push(product);
        }
    }
    let sum = body.sum(products);
    let scaled = body.op("shr", &[sum]);
    body.store(scaled);
    body.named(format!("conv{rows}x{columns}"))
}

/// Chroma down by two in both directions.
fn h2v2() -> Graph {
    let mut body = Body::default();
    for _ in 0..2 {
        let pixels = (0..4).map(|_| body.load()).collect();
        let sum = body.sum(pixels);
        let rounded = body.op("add", &[sum]);
        let mean = body.op("shr", &[rounded]);
        body.store(mean);
    }
    body.named("h2v2".into())
}

/// A polynomial by Horner's rule.
fn horner(degree: usize) -> Graph {
    let mut body = Body::default();
    let x = body.load();
    let mut y = body.scale(x);
    for _ in 1..degree {
        let sum = body.op("add", &[y]);
        y = body.op("mul", &[sum, x]);
    }
    let y = body.op("add", &[y]);
    body.store(y);
    body.named(format!("horner{degree}"))
}

/// The median of nine by a network of minima and maxima.
fn median9() -> Graph {
    let mut body = Body::default();
    let mut p: Vec<usize> = (0..9).map(|_| body.load()).collect();
    let network = [
        (1, 2),
        (4, 5),
        (7, 8),
        (0, 1),
        (3, 4),
        (6, 7),
        (1, 2),
        (4, 5),
        (7, 8),
        (0, 3),
        (5, 8),
        (4, 7),
        (3, 6),
        (1, 4),
        (2, 5),
        (4, 7),
        (4, 2),
        (6, 4),
        (4, 2),
    ];
    for (a, b) in network {
        let pair = [p[a], p[b]];
        (p[a], p[b]) = (body.op("min", &pair), body.op("max", &pair));
    }
    body.store(p[4]);
    body.named("median9".into())
}

/// An oscillator and a complex mixer.
fn nco() -> Graph {
    let mut body = Body::default();
    let step = body.op("input", &[]);
    let phase = body.accumulate(step);
    let (sine, cosine) = (body.op("sin", &[phase]), body.op("cos", &[phase]));
    let x = [body.load(), body.load()];
    for value in body.complex_product(x, [cosine, sine]) {
        let scaled = body.op("shr", &[value]);
        body.store(scaled);
    }
    body.named("nco".into())
}

/// An adaptive filter: the error of this sample changes the taps for the next.
fn lms(taps: usize) -> Graph {
    let mut body = Body::default();
    let (x, wanted) = (body.load(), body.load());
    let mut weights = Vec::new();
    let mut products = Vec::new();
    for tap in 0..taps {
        let weight = body.op("add", &[]);
        let product = body.op("mul", &[]);
        body.edge(weight, weight, 1);
        body.edge(weight, product, 1);
        body.edge(x, product, tap as u32);
        weights.push(weight);
        products.push(product);
    }
    let y = body.sum(products);
    let error = body.op("sub", &[wanted, y]);
    let step = body.scale(error);
    for (tap, weight) in weights.into_iter().enumerate() {
        let change = body.op("mul", &[step]);
        body.edge(x, change, tap as u32);
        body.edge(change, weight, 0);
    }
    body.store(error);
    body.named(format!("lms{taps}"))
}

/// All of them.
pub fn kernels() -> Vec<Graph> {
    let mut all = vec![fft2(), fft4(), dct8(), h2v2(), median9(), nco()];
    for taps in [4, 8, 16] {
        all.extend(["chain", "tree", "transposed"].map(|form| fir(taps, form)));
    }
    all.extend([(2, 1), (3, 1), (4, 1), (4, 2)].map(|(stages, delay)| cic(stages, delay)));
    all.extend([1, 2, 4, 8].map(matmul));
    all.extend(
        [(1, true), (2, true), (4, true), (1, false), (3, false)].map(|(n, d)| biquad(n, d)),
    );
    all.extend([1, 2, 4, 8].map(crc));
    all.extend([4, 8].map(sad));
    all.extend([(3, 3), (1, 5), (5, 5)].map(|(r, c)| conv(r, c)));
    all.extend([4, 8].map(horner));
    all.extend([2, 4, 8].map(lms));
    all
}
