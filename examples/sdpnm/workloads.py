#!/usr/bin/env python3
"""The workloads of SDPNM: what they are called on, and what numpy computes of it.

workloads.py [DIR]  writes inputs and expected outputs into DIR (default: `data` here), and
                    manifest.jsonl beside this file with a line a case: source, entry, params, inputs,
                    outputs (files), result (of functions that have one)

The references are written in whole arrays of 64-bit integers, cut to the width of a variable where the
C source stores one, so that they share no loop with it. Needs numpy.
"""
import json
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
CASES = []


def i16(values):
    return np.asarray(values).astype(np.int64).astype(np.int16)


def i32(values):
    return np.asarray(values).astype(np.int64).astype(np.int32)


def pairs(re, im):
    """Complex numbers as int16 of one more dimension."""
    return np.stack([i16(re), i16(im)], axis=-1)


def case(name, source=None):
    def register(make):
        CASES.append((name, source or name, make))
        return make
    return register


def sine():
    return i16(np.rint(32767 * np.sin(2 * np.pi * np.arange(1024) / 1024)))


def turns(count, step, phase=0):
    return ((phase + np.arange(count, dtype=np.uint64) * step) % 2**32 >> np.uint64(22)).astype(int)


@case("nco")
def nco(random):
    n, step, phase, table = 300, 0x01234567, 0x40000000, sine()
    turn = turns(n, step, phase)
    carrier = pairs(table[(turn + 256) % 1024], table[turn])
    return {"n": n, "step": step, "phase": phase}, {"sine": table}, {"carrier": carrier}


def cic_of(x, rate):
    """Four stages by the transfer function: a box of `rate` samples four times, then every rate-th."""
    box = np.ones(rate, dtype=np.int64)
    for _ in range(4):
        x = np.convolve(x.astype(np.int64), box)
    return x[rate - 1::rate]


@case("cic")
def cic(random):
    n = 60
    x = i16(random.integers(-32768, 32768, 8 * n))
    return {"n": n}, {"x": x}, {"y": i16(i32(cic_of(x, 8)[:n]) >> 12)}


def low_pass(taps, cut):
    at = np.arange(taps) - (taps - 1) / 2
    h = np.sinc(2 * cut * at) * np.hamming(taps)
    return i16(np.rint(32767 * h / np.abs(h).sum()))


def fir_of(x, h):
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.int64), len(h))
    return i16((windows @ h.astype(np.int64) + (1 << 14)) >> 15)


@case("fir")
def fir(random):
    n, h = 256, low_pass(32, 0.1)
    x = i16(random.integers(-32768, 32768, n + 31))
    return {"n": n}, {"x": x, "h": h}, {"y": fir_of(x, h)}


@case("fft")
def fft(random):
    points = 1024
    angle = 2 * np.pi * np.arange(points) / points
    twiddle = pairs(np.rint(32767 * np.cos(angle)), np.rint(-32767 * np.sin(angle)))
    x = i16(random.integers(-32768, 32768, (points, 2)))
    re, im = x[:, 0].astype(np.int64), x[:, 1].astype(np.int64)
    w_re, w_im = twiddle[:, 0].astype(np.int64), twiddle[:, 1].astype(np.int64)
    quarter = points // 4
    while quarter >= 1:
        r, i = re.reshape(-1, 4, quarter), im.reshape(-1, 4, quarter)
        k = np.arange(quarter) * (points // (4 * quarter))
        out_re, out_im = np.empty_like(r), np.empty_like(i)
        for m in range(4):
            # Powers of -i: 1, -i, -1, i.
            power = [(1, 0), (0, -1), (-1, 0), (0, 1)]
            s_re = sum(power[m * q % 4][0] * r[:, q] - power[m * q % 4][1] * i[:, q] for q in range(4)) >> 2
            s_im = sum(power[m * q % 4][0] * i[:, q] + power[m * q % 4][1] * r[:, q] for q in range(4)) >> 2
            if m:
                a, b = w_re[m * k], w_im[m * k]
                s_re, s_im = ((s_re * a - s_im * b + (1 << 14)) >> 15, (s_re * b + s_im * a + (1 << 14)) >> 15)
            out_re[:, m], out_im[:, m] = i16(s_re), i16(s_im)
        re, im = out_re.reshape(-1), out_im.reshape(-1)
        quarter //= 4
    place = np.arange(points)
    reversed_digits = sum(((place >> 2 * d) & 3) << (8 - 2 * d) for d in range(5))
    y = np.empty((points, 2), np.int16)
    y[reversed_digits] = pairs(re, im)
    exact = np.fft.fft(x[:, 0] + 1j * x[:, 1]) / points
    assert np.abs(y[:, 0] + 1j * y[:, 1] - exact).max() < 8
    return {}, {"x": x, "twiddle": twiddle}, {"y": y}


@case("gemm")
def gemm(random):
    n = 16
    a, b = (i16(random.integers(-8192, 8192, (n, n, 2))) for _ in range(2))
    a_re, a_im, b_re, b_im = (m.astype(np.int64) for m in (a[..., 0], a[..., 1], b[..., 0], b[..., 1]))
    re, im = a_re @ b_re - a_im @ b_im + (1 << 14), a_re @ b_im + a_im @ b_re + (1 << 14)
    return {"n": n}, {"a": a, "b": b}, {"c": pairs(re >> 15, im >> 15)}


def layer(channels, features, size, kernel, stride, shift):
    def make(random):
        places, border = -(-size // stride), kernel // 2
        x = np.zeros((channels, size + 2 * border, size + 2 * border), np.int8)
        x[:, border:border + size, border:border + size] = random.integers(-128, 128, (channels, size, size))
        w = random.integers(-128, 128, (features, channels, kernel, kernel)).astype(np.int8)
        bias = i32(random.integers(-4000, 4000, features))
        sums = np.zeros((features, places, places), np.int64) + bias[:, None, None]
        for dy in range(kernel):
            for dx in range(kernel):
                part = x[:, dy:dy + stride * places:stride, dx:dx + stride * places:stride].astype(np.int64)
                sums += np.tensordot(w[:, :, dy, dx].astype(np.int64), part, 1)
        out = np.clip(np.where(sums < 0, sums >> 3, sums) >> shift, -128, 127).astype(np.int8)
        params = dict(channels=channels, features=features, size=size, kernel=kernel, stride=stride, shift=shift)
        return params, {"in": x, "weights": w, "bias": bias}, {"out": out}
    return make


case("yolo_3x3", "yolo")(layer(4, 6, 13, 3, 1, 9))
case("yolo_1x1", "yolo")(layer(8, 5, 13, 1, 1, 8))
case("yolo_stride", "yolo")(layer(4, 6, 13, 3, 2, 9))


@case("ddc")
def ddc(random):
    step, table, samples = 0x0b3d5a17, sine(), 4096
    channel, half = low_pass(32, 0.15), low_pass(11, 0.25)
    tone = 9000 * np.cos(2 * np.pi * (step / 2**32 + 0.003) * np.arange(samples))
    adc = i16(np.rint(tone + random.normal(0, 1500, samples)))
    turn = turns(samples, step)
    mixed = [(adc.astype(np.int64) * table[(turn + 256) % 1024]) >> 15, -(adc.astype(np.int64) * table[turn]) >> 15]
    parts = []
    for part in mixed:
        slow = i16(i32(cic_of(i16(part), 8)[:samples // 8]) >> 12)
        shaped = fir_of(np.concatenate([np.zeros(31, np.int16), slow]), channel)
        parts.append(fir_of(np.concatenate([np.zeros(10, np.int16), shaped]), half)[::2])
    inputs = {"adc": adc, "sine": table, "channel": channel, "half": half}
    return {"step": step}, inputs, {"out": pairs(*parts)}


@case("cap")
def cap(random):
    n, low, high = 200, -1000, 1500
    x = i16(random.integers(-3000, 3000, n))
    outside = int(((x < low) | (x > high)).sum())
    return {"n": n, "low": low, "high": high}, {"x": x}, {"y": np.clip(x, low, high)}, outside


@case("conv")
def conv(random):
    width, height = 24, 18
    x, w = i16(random.integers(-2000, 2000, (height, width))), i16(random.integers(-256, 257, (3, 3)))
    sums = np.full((height - 2, width - 2), 1 << 7, np.int64)
    for dy in range(3):
        for dx in range(3):
            sums += x[dy:dy + height - 2, dx:dx + width - 2].astype(np.int64) * int(w[dy, dx])
    return {"width": width, "height": height}, {"in": x, "weights": w}, {"out": i16(i32(sums) >> 8)}


@case("matmul")
def matmul(random):
    rows, inner, columns = 9, 12, 7
    a, b = (i32(random.integers(-2**31, 2**31, s)) for s in ((rows, inner), (inner, columns)))
    with np.errstate(over="ignore"):
        c = i32(a.astype(np.int64) @ b.astype(np.int64))
    return {"rows": rows, "inner": inner, "columns": columns}, {"a": a, "b": b}, {"c": c}


@case("h2v2")
def h2v2(random):
    width, height = 21, 10
    x = random.integers(0, 256, (2 * height, 2 * width)).astype(np.uint8)
    sums = x.astype(np.int64).reshape(height, 2, width, 2).sum(axis=(1, 3))
    bias = np.where(np.arange(width) % 2 == 0, 1, 2)
    return {"width": width, "height": height}, {"in": x}, {"out": ((sums + bias) >> 2).astype(np.uint8)}


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "data"
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, (name, source, make) in enumerate(CASES):
        params, inputs, outputs, *result = make(np.random.default_rng(number))
        line = {"case": name, "source": f"{source}.c", "entry": source, "params": params}
        for what, arrays in (("inputs", inputs), ("outputs", outputs)):
            line[what] = {array: f"data/{name}.{array}.npy" for array in arrays}
            for array, values in arrays.items():
                np.save(folder / f"{name}.{array}.npy", np.ascontiguousarray(values))
        if result:
            line["result"] = result[0]
        lines.append(json.dumps(line))
    if folder == HERE / "data":
        (HERE / "manifest.jsonl").write_text("\n".join(lines) + "\n")


main()
