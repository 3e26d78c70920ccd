#!/usr/bin/env python3
"""The twelve workloads of the MPU paper's Table I: their PTX, launch files, inputs and expected outputs.

workloads.py ptx                     makes NAME.ptx with NVRTC and has ptxas accept it; needs what
                                     ../../tests/cuda/make_ptx.py names
workloads.py data [--scale N] [DIR]  writes launch files, inputs and what numpy computes of them into DIR
                                     (default: this folder); N times as large in the dimension that
                                     grows (default 1: small enough to be committed)

Formats are those of ../../tests/cuda (README.md there).
"""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../tests/cuda"))

import numpy as np

import corpus
import make_ptx
from corpus import case, f32, fma32, i32

NAMES = ["axpy", "blur", "conv", "gemv", "hist", "kmeans", "knn", "maxp", "nw", "pr", "ttrans", "upsamp"]
SCALE = 1


@case("axpy")
def axpy(c):
    n = 5000 * SCALE
    x, y, a = c.floats(n), c.floats(n), np.float32(2.5)
    blocks = min(16 * SCALE, 2048)
    c.launch("axpy", blocks, 128, i32(n), f32(a), c.input("x", x), c.input("y", y))
    c.expect("y", fma32(a, x, y))


@case("blur")
def blur(c):
    width, height = 100, 60 * SCALE
    x = c.floats((height, width), 0, 1)
    c.launch("blur", (-(-width // 32), -(-height // 8)), (32, 8), c.input("in", x),
             c.zeros("out", x.size, np.float32), i32(width), i32(height))
    p, total = np.pad(x, 1, mode="edge"), np.zeros_like(x)
    for dy in range(3):
        for dx in range(3):
            total += p[dy:dy + height, dx:dx + width]
    c.expect("out", total * np.float32(1.0 / 9.0))


@case("conv")
def conv(c):
    channels, features, width, height = 3, 4, 40, 26 * SCALE
    x, w = c.floats((channels, height, width)), c.floats((features, channels, 3, 3))
    out = np.zeros((features, height - 2, width - 2), np.float32)
    for channel in range(channels):
        for dy in range(3):
            for dx in range(3):
                part = x[channel, dy:dy + height - 2, dx:dx + width - 2]
                out += w[:, channel, dy, dx, None, None] * part
    c.launch("conv", (-(-(width - 2) // 32), -(-(height - 2) // 8), features), (32, 8), c.input("in", x),
             c.input("weights", w), c.zeros("out", out.size, np.float32), i32(channels), i32(width), i32(height))
    c.expect("out", out)


@case("gemv")
def gemv(c):
    rows, columns = 300 * SCALE, 150
    a, x = c.floats((columns, rows)), c.floats(columns)
    c.launch("gemv", -(-rows // 128), 128, c.input("a", a), c.input("x", x), c.zeros("y", rows, np.float32),
             i32(rows), i32(columns))
    y = np.zeros(rows, np.float32)
    for k in range(columns):
        y += a[k] * x[k]
    c.expect("y", y)


@case("hist")
def hist(c):
    words = 3000 * SCALE
    values = np.minimum(c.rng.geometric(0.02, 4 * words) - 1, 255).astype(np.uint8)
    c.launch("hist", min(8 * SCALE, 1024), 128, c.input("in", values.view(np.uint32)), c.zeros("bins", 256), i32(words))
    c.expect("bins", np.bincount(values, minlength=256).astype(np.uint32))


@case("kmeans")
def kmeans(c):
    n, features, clusters, rounds = 700 * SCALE, 6, 5, 2
    points = c.floats((features, n), 0, 8)
    centres = np.ascontiguousarray(points[:, :clusters].T)
    arguments = [c.input("points", points), c.input("centres", centres.copy()), c.zeros("member", n),
                 c.zeros("sums", features * clusters), c.zeros("counts", clusters)]
    for _ in range(rounds):
        c.launch("assign", min(6 * SCALE, 1024), 128, *arguments, i32(n), i32(features), i32(clusters))
        c.launch("means", 1, 128, c.buffer("centres"), c.buffer("sums"), c.buffer("counts"), i32(features), i32(clusters))
        distance = np.zeros((clusters, n), np.float32)
        for f in range(features):
            d = points[f][None, :] - centres[:, f][:, None]
            distance += d * d
        member = distance.argmin(axis=0).astype(np.int32)
        whole = (points * np.float32(256)).astype(np.int32)
        for k in range(clusters):
            mine = member == k
            if mine.any():
                sums = whole[:, mine].sum(axis=1, dtype=np.int32)
                centres[k] = sums.astype(np.float32) * np.float32(1 / 256) / np.float32(mine.sum())
    c.expect("member", member)
    c.expect("centres", centres)


@case("knn")
def knn(c):
    n = 2500 * SCALE
    xs, ys, x, y = c.floats(n, -90, 90), c.floats(n, -90, 90), np.float32(12.5), np.float32(-30.25)
    c.launch("knn", -(-n // 128), 128, c.input("xs", xs), c.input("ys", ys), c.zeros("distances", n, np.float32), i32(n),
             f32(x), f32(y))
    dx, dy = x - xs, y - ys
    c.expect("distances", np.sqrt(dx * dx + dy * dy))


@case("maxp")
def maxp(c):
    channels, width, height = 2, 30, 20 * SCALE
    x = c.floats((channels, 2 * height, 2 * width))
    c.launch("maxp", (-(-width // 32), -(-height // 8), channels), (32, 8), c.input("in", x),
             c.zeros("out", channels * width * height, np.float32), i32(width), i32(height))
    c.expect("out", x.reshape(channels, height, 2, width, 2).max(axis=(2, 4)))


@case("nw")
def nw(c):
    tiles, penalty = 3 * SCALE, 10
    size = 32 * tiles
    columns = size + 1
    similarity = np.zeros((columns, columns), np.int32)
    similarity[1:, 1:] = c.ints((size, size), -4, 12)
    start = np.zeros_like(similarity)
    start[0, :] = start[:, 0] = -penalty * np.arange(columns)
    c.input("similarity", similarity)
    c.input("score", start)
    for diagonal in range(2 * tiles - 1):
        first = max(0, diagonal - tiles + 1)
        last = min(diagonal, tiles - 1)
        c.launch("nw", last - first + 1, 32, c.buffer("similarity"), c.buffer("score"), i32(columns), i32(diagonal),
                 i32(first), i32(penalty))
    score = start.copy()
    for d in range(2, 2 * size + 1):
        y = np.arange(max(1, d - size), min(d - 1, size) + 1)
        x = d - y
        best = np.maximum(score[y - 1, x] - penalty, score[y, x - 1] - penalty)
        score[y, x] = np.maximum(best, score[y - 1, x - 1] + similarity[y, x])
    c.expect("score", score)


@case("pr")
def pr(c):
    n, blocks = 6000 * SCALE, min(16 * SCALE, 1024)
    x = c.ints(n, -10**6, 10**6)
    c.launch("pr", blocks, 128, c.input("in", x), c.zeros("sums", blocks), i32(n))
    c.launch("pr", 1, 128, c.buffer("sums"), c.zeros("total", 1), i32(blocks))
    c.expect("total", np.array([x.sum(dtype=np.int64)]).astype(np.int32))


@case("ttrans")
def ttrans(c):
    depth, height, width = 2, 45 * SCALE, 50
    x = c.floats((depth, height, width))
    c.launch("ttrans", (-(-width // 32), -(-height // 32), depth), (32, 8), c.input("in", x),
             c.zeros("out", x.size, np.float32), i32(width), i32(height))
    c.expect("out", np.ascontiguousarray(x.transpose(0, 2, 1)))


@case("upsamp")
def upsamp(c):
    width, height = 45, 30 * SCALE
    x = c.floats((height, width), 0, 1)
    c.launch("upsamp", (-(-2 * width // 32), -(-2 * height // 8)), (32, 8), c.input("in", x),
             c.zeros("out", 4 * x.size, np.float32), i32(width), i32(height))
    def near(size):
        at = np.arange(2 * size)
        return at // 2, np.clip(at // 2 + np.where(at % 2, 1, -1), 0, size - 1)
    (cy, ny), (cx, nx) = near(height), near(width)
    a, b = np.float32(0.75), np.float32(0.25)
    row = a * x[cy][:, cx] + b * x[cy][:, nx]
    other = a * x[ny][:, cx] + b * x[ny][:, nx]
    c.expect("out", a * row + b * other)


def main():
    global SCALE
    what, *rest = sys.argv[1:] or ["data"]
    if what == "ptx":
        make_ptx.HERE = HERE
        sys.argv = [sys.argv[0]] + (rest or NAMES)
        return make_ptx.main()
    if rest[:1] == ["--scale"]:
        SCALE, rest = int(rest[1]), rest[2:]
    folder = os.path.abspath(rest[0]) if rest else HERE
    os.makedirs(os.path.join(folder, "data"), exist_ok=True)
    corpus.HERE = folder
    lines = []
    for name in NAMES:
        made = corpus.Case(name)
        corpus.CASES[name](made)
        lines.append(made.write([{"file": f"{name}.ptx", "compiler": "nvrtc 12.9", "arch": "compute_75"}]))
        if folder != HERE:
            shutil.copy(os.path.join(HERE, f"{name}.ptx"), folder)
    with open(os.path.join(folder, "manifest.jsonl"), "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
