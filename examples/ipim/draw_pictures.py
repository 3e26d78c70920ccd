#!/usr/bin/env python3
"""Draws the pictures that the examples of this folder read by default.

    pip install numpy
    python3 draw_pictures.py

Everything is computed from formulas (a landscape with smooth areas, sharp
edges, fine texture, high contrast, a zone plate and a grey wedge), so the
pictures carry no licence but this repository's. The script writes

    <stem>.in.png               512 x 384, the scene, for the single-stage examples,
                                local_laplacian and stencil_chain
    bilateral_grid.in.png       the scene with noise, which the filter removes
    interpolate.in.png          the scene where it is known, 0 elsewhere
    interpolate.alpha.png       255 where the scene is known, 0 elsewhere
    small.png                   250 x 131, a ragged size for tests
"""

import pathlib
import struct
import zlib

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent
SAME_SCENE = [
    "blur", "brighten", "downsample", "upsample", "shift", "histogram",
    "local_laplacian", "stencil_chain",
]


def hash_noise(ix, iy, seed):
    """Uniform values in [0, 1) from integer coordinates (a multiply-xor hash)."""
    h = (ix.astype(np.uint32) * np.uint32(0x9E3779B1)
         ^ iy.astype(np.uint32) * np.uint32(0x85EBCA77)
         ^ np.uint32(seed * 0xC2B2AE3D & 0xFFFFFFFF))
    h = (h ^ (h >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
    h = (h ^ (h >> np.uint32(12))) * np.uint32(0x297A2D39)
    h = h ^ (h >> np.uint32(15))
    return (h >> np.uint32(8)).astype(np.float64) / 2.0**24


def value_noise(u, v, seed):
    """Smoothly interpolated lattice noise in [0, 1)."""
    iu, iv = np.floor(u), np.floor(v)
    fu, fv = u - iu, v - iv
    fu, fv = fu * fu * (3 - 2 * fu), fv * fv * (3 - 2 * fv)
    iu, iv = iu.astype(np.int64), iv.astype(np.int64)
    top = hash_noise(iu, iv, seed) * (1 - fu) + hash_noise(iu + 1, iv, seed) * fu
    low = hash_noise(iu, iv + 1, seed) * (1 - fu) + hash_noise(iu + 1, iv + 1, seed) * fu
    return top * (1 - fv) + low * fv


def fractal(u, v, seed, octaves):
    """Sum of octaves of value noise, in [0, 1)."""
    total, weight = np.zeros_like(u), 0.0
    for k in range(octaves):
        total += value_noise(u * 2**k, v * 2**k, seed + k) * 0.5**k
        weight += 0.5**k
    return total / weight


def scene(u, v):
    """Brightness in [0, 1] at u in [0, 4/3), v in [0, 1), v downwards."""
    horizon = 0.58
    # Sky, sun and its glow.
    g = 0.30 + 0.42 * np.clip(v / horizon, 0, 1)
    sun = np.hypot(u - 0.98, v - 0.20)
    g = g + 0.35 * np.exp(-(sun / 0.16) ** 2)
    cloud = fractal(u * 3.0, v * 9.0, 11, 3)
    g = g + 0.22 * np.clip((cloud - 0.55) * 4.0, 0, 1) * np.clip(1 - v / horizon, 0, 1)
    g = np.where(sun < 0.055, 1.0, g)
    # Two mountain ranges, the nearer one darker and rougher, with snow.
    for seed, base, height, scale, shade in [(31, 0.40, 0.20, 2.2, 0.42), (57, 0.50, 0.24, 3.4, 0.20)]:
        ridge = base + height * (0.5 - fractal(u * scale, np.zeros_like(u), seed, 6))
        rock = shade + 0.16 * (fractal(u * 14 + v * 9, v * 22, seed + 9, 2) - 0.5)
        snow = (v - ridge) < 0.025 + 0.02 * np.sin(u * 60)
        rock = np.where(snow & (seed == 31), 0.85, rock)
        g = np.where((v > ridge) & (v < horizon), rock, g)
    # A chequered plain in perspective.
    depth = 0.16 / np.maximum(v - horizon + 0.015, 1e-3)
    cell = np.floor((u - 0.62) * depth * 14) + np.floor(depth * 9)
    contrast = 0.34 * np.clip(1.4 - depth * 0.28, 0.05, 1)
    plain = 0.48 + np.where(np.mod(cell, 2) < 1, contrast, -contrast)
    g = np.where(v >= horizon, plain, g)
    # A tower with lit windows, and its shadow.
    shadow = (v > 0.80) & (v < 0.86) & (u > 0.10) & (u < 0.34)
    g = np.where(shadow, g * 0.35, g)
    body = (u > 0.28) & (u < 0.40) & (v > 0.16) & (v < 0.84)
    wall = 0.10 + 0.12 * (u - 0.28) / 0.12
    window = (np.mod(u - 0.2875, 0.03) < 0.014) & (np.mod(v - 0.19, 0.05) < 0.026) & (v < 0.78)
    lit = hash_noise(np.floor((u - 0.2875) / 0.03).astype(np.int64),
                     np.floor((v - 0.19) / 0.05).astype(np.int64), 5) > 0.45
    wall = np.where(window, np.where(lit, 0.95, 0.03), wall)
    roof = (np.abs(u - 0.34) < (v - 0.06) * 0.6) & (v > 0.06) & (v <= 0.16)
    g = np.where(body, wall, np.where(roof, 0.07, g))
    # A zone plate: all frequencies up to the limit of a 512-pixel picture.
    du, dv = u - 1.04, v - 0.74
    radius = np.hypot(du, dv)
    plate = 0.5 + 0.5 * np.cos(3200 * radius**2)
    g = np.where(radius < 0.16, plate, np.where(radius < 0.168, 0.0, g))
    # A grey wedge of sixteen steps.
    wedge = np.floor(u / (4.0 / 3.0) * 16) / 15
    return np.clip(np.where(v > 0.95, wedge, g), 0, 1)


def render(width, height, samples=3):
    """The scene as u8[height, width], each pixel the mean of samples^2 points."""
    total = np.zeros((height, width))
    for sy in range(samples):
        for sx in range(samples):
            px = (np.arange(width) + (sx + 0.5) / samples) / width * (4.0 / 3.0)
            py = (np.arange(height) + (sy + 0.5) / samples) / height
            u, v = np.meshgrid(px, py)
            total += scene(u, v)
    return np.round(total / samples**2 * 255).astype(np.uint8)


def write_png(path, pixels):
    """Writes u8[height, width] as an 8-bit grey PNG, the best filter per row."""
    height, width = pixels.shape
    rows, previous = bytearray(), np.zeros(width, np.int64)
    for row in pixels.astype(np.int64):
        left = np.concatenate([[0], row[:-1]])
        corner = np.concatenate([[0], previous[:-1]])
        estimate = left + previous - corner
        pa, pb, pc = abs(estimate - left), abs(estimate - previous), abs(estimate - corner)
        paeth = np.where((pa <= pb) & (pa <= pc), left, np.where(pb <= pc, previous, corner))
        coded = [(row - p) & 255 for p in (0 * row, left, previous, (left + previous) // 2, paeth)]
        costs = [np.minimum(c, 256 - c).sum() for c in coded]
        best = int(np.argmin(costs))
        rows += bytes([best]) + coded[best].astype(np.uint8).tobytes()
        previous = row

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(bytes(rows), 9))
        + chunk(b"IEND", b""))


def main():
    picture = render(512, 384)
    for stem in SAME_SCENE:
        write_png(FOLDER / f"{stem}.in.png", picture)
    iy, ix = np.mgrid[0:384, 0:512]
    # Three uniform values make a bell of standard deviation about 0.04 of the range.
    noise = sum(hash_noise(ix, iy, 100 + k) for k in range(3)) - 1.5
    noisy = np.clip(np.round(picture + noise * 20.0), 0, 255).astype(np.uint8)
    write_png(FOLDER / "bilateral_grid.in.png", noisy)
    # Known: a tenth of the pixels, and nothing inside a torn stripe.
    known = hash_noise(ix, iy, 200) < 0.10
    known &= np.abs(ix - iy - 100 + 12 * np.sin(iy / 9.0)) > 14
    write_png(FOLDER / "interpolate.in.png", np.where(known, picture, 0).astype(np.uint8))
    write_png(FOLDER / "interpolate.alpha.png", np.where(known, 255, 0).astype(np.uint8))
    write_png(FOLDER / "small.png", render(250, 131))


if __name__ == "__main__":
    main()
