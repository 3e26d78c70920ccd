#!/usr/bin/env python3
"""The ten applications of the TOM paper (section 5.2): their PTX, launch files, inputs and expected outputs.

workloads.py ptx [NAME ...]          makes NAME.ptx with NVRTC and has ptxas accept it; needs what
                                     ../../tests/cuda/make_ptx.py names
workloads.py data [--scale N] [DIR] [NAME ...]
                                     writes launch files, inputs and what numpy computes of them into DIR
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
from corpus import case, f32, i32

NAMES = ["bp", "bfs", "km", "cfd", "hw", "lib", "ray", "fwt", "sp", "rd"]
SCALE = 1
F = np.float32


@case("bp")
def bp(c):
    hidden, blocks = 16, 16 * SCALE
    inputs = 16 * blocks
    columns = hidden + 1
    x = c.floats(inputs + 1, 0, 1)
    weights, moves = c.floats((inputs + 1, columns), -0.5, 0.5), c.floats((inputs + 1, columns), -0.1, 0.1)
    delta = c.floats(columns, -0.2, 0.2)
    # The first kernel leaves sums in the weights, which the host brings again for the second.
    c.launch("layerforward", (1, blocks), (16, 16), c.input("inputs", x), c.input("forward", weights),
             c.zeros("sums", hidden * blocks, F), i32(hidden))
    c.launch("adjust_weights", (1, blocks), (16, 16), c.input("delta", delta), i32(hidden), c.buffer("inputs"),
             c.input("weights", weights), c.input("moves", moves))
    forward = weights.copy()
    product = (weights[1:, 1:] * x[1:, None]).reshape(blocks, 16, hidden)
    for step in (2, 4, 8, 16):
        product[:, ::step] += product[:, step // 2::step]
    forward[1:, 1:] = product.reshape(inputs, hidden)
    c.expect("forward", forward)
    c.expect("sums", product[:, 0])
    new = moves.copy()
    new[1:, 1:] = F(0.3) * delta[1:] * x[1:, None] + F(0.3) * moves[1:, 1:]
    changed = weights.copy()
    changed[:, 1:] += F(0.3) * delta[1:] + F(0.3) * moves[:, 1:]
    changed[1:, 1:] = weights[1:, 1:] + new[1:, 1:]
    new[0, 1:] = F(0.3) * delta[1:] + F(0.3) * moves[0, 1:]
    c.expect("weights", changed)
    c.expect("moves", new)


@case("bfs")
def bfs(c):
    n = 3000 * SCALE
    degree = c.ints(n, 1, 9)
    first = np.concatenate([[0], np.cumsum(degree)[:-1]]).astype(np.int32)
    edges = c.ints(int(degree.sum()), 0, n)
    cost = np.full(n, -1, np.int32)
    frontier, visited = np.zeros(n, np.uint8), np.zeros(n, np.uint8)
    frontier[0] = visited[0] = 1
    cost[0] = 0
    arguments = [c.input("nodes", np.stack([first, degree], axis=1)), c.input("edges", edges),
                 c.input("frontier", frontier.copy()), c.zeros("next", n, np.uint8), c.input("visited", visited.copy()),
                 c.input("cost", cost.copy())]
    nodes, edge, front, following, seen, _ = arguments
    more = c.zeros("more", 1)
    reached = np.array([0])
    while len(reached):
        blocks = -(-n // 256)
        c.launch("visit", blocks, 256, *arguments, i32(n))
        c.launch("advance", blocks, 256, front, following, seen, more, i32(n))
        level = cost[reached[0]] + 1
        to = np.unique(np.concatenate([edges[first[k]:first[k] + degree[k]] for k in reached]))
        reached = to[visited[to] == 0]
        cost[reached] = level
        visited[reached] = 1
    c.expect("cost", cost)


@case("km")
def km(c):
    n, features, clusters, rounds = 800 * SCALE, 8, 5, 2
    points = c.floats((n, features), 0, 8)
    turned = np.ascontiguousarray(points.T)
    centres = points[:clusters].copy()
    blocks = -(-n // 256)
    c.launch("invert", blocks, 256, c.input("points", points), c.zeros("turned", points.size, F), i32(n), i32(features))
    for number in range(rounds):
        # Centres of each round are the host's work.
        c.launch("nearest", blocks, 256, c.buffer("turned"), i32(features), i32(n), i32(clusters),
                 c.input(f"centres{number}", centres.copy()), c.zeros("membership", n))
        distance = np.zeros((clusters, n), F)
        for f in range(features):
            d = turned[f][None, :] - centres[:, f][:, None]
            distance += d * d
        membership = distance.argmin(axis=0).astype(np.int32)
        for k in range(clusters):
            if (membership == k).any():
                centres[k] = points[membership == k].mean(axis=0, dtype=F)
    c.expect("membership", membership)


def halves(sums):
    """The sum along the last axis, the upper half added to the lower one again and again."""
    while sums.shape[-1] > 1:
        half = sums.shape[-1] // 2
        sums = sums[..., :half] + sums[..., half:]
    return sums[..., 0]


GAMMA = F(1.4)


def gas(v):
    """Velocity, its square, pressure and speed of sound of variables."""
    velocity = v[1:4] / v[0]
    square = velocity[0] * velocity[0] + velocity[1] * velocity[1] + velocity[2] * velocity[2]
    pressure = (GAMMA - F(1)) * (v[4] - F(0.5) * v[0] * square)
    return velocity, square, pressure, np.sqrt(GAMMA * pressure / v[0])


def contributions(v, velocity, pressure):
    """What flows along x, y, z (the last axis but cells) of the three momenta and of energy."""
    m = v[1:4]
    x = [velocity[0] * m[0] + pressure, velocity[0] * m[1], velocity[0] * m[2]]
    y = [x[1], velocity[1] * m[1] + pressure, velocity[1] * m[2]]
    z = [x[2], y[2], velocity[2] * m[2] + pressure]
    return np.array([x, y, z, [velocity[k] * (v[4] + pressure) for k in range(3)]])


@case("cfd")
def cfd(c):
    side = 32
    n, steps = side * side * SCALE, 1
    rows = n // side
    place = np.arange(n, dtype=np.int64)
    row, column = place // side, place % side
    neighbours = np.stack([np.where(column > 0, place - 1, -1), np.where(column < side - 1, place + 1, -1),
                           np.where(row > 0, place - side, -2), np.where(row < rows - 1, place + side, -2)]).astype(np.int32)
    # Cells are numbered bin by bin, as Rodinia's authors do, and anyhow within a bin.
    order = np.concatenate([bin + c.rng.permutation(side) for bin in range(0, n, side)])
    number = np.empty(n, np.int64)
    number[order] = place
    neighbours = np.where(neighbours >= 0, number[np.maximum(neighbours, 0)], neighbours)[:, order].astype(np.int32)
    normals = c.floats((3, 4, n), -1, 1) * F(0.1)
    areas = c.floats(n, 1, 2)
    v = np.stack([c.floats(n, 1, 1.5), c.floats(n, -0.2, 0.2), c.floats(n, -0.2, 0.2), c.floats(n, -0.2, 0.2),
                  c.floats(n, 2, 3)])
    far_v = np.array([1.4, 0.3, 0.1, 0.05, 2.5], F)
    fv, _, fp, _ = gas(far_v)
    far = np.concatenate([far_v, contributions(far_v, fv, fp).reshape(12)]).astype(F)
    blocks = -(-n // 128)
    variables, nn = c.input("variables", v.copy()), i32(n)
    old, factors, fluxes = c.zeros("old", v.size, F), c.zeros("factors", n, F), c.zeros("fluxes", v.size, F)
    for _ in range(steps):
        c.launch("keep", blocks, 128, variables, old, nn)
        c.launch("step_factor", blocks, 128, variables, c.input("areas", areas), factors, nn)
        start = v.copy()
        _, square, _, sound = gas(v)
        factor = F(0.5) / (np.sqrt(areas) * (np.sqrt(square) + sound))
        for divisor in (3, 2, 1):
            c.launch("flux", blocks, 128, c.input("neighbours", neighbours), c.input("normals", normals), variables,
                     c.input("far", far), fluxes, nn)
            c.launch("time_step", blocks, 128, i32(divisor), old, variables, factors, fluxes, nn)
            v = start + factor / F(divisor) * cfd_flux(v, neighbours, normals, far)
    c.expect("variables", v)


def cfd_flux(v, neighbours, normals, far):
    n = v.shape[1]
    velocity, square, pressure, sound = gas(v)
    speed = np.sqrt(square)
    own = contributions(v, velocity, pressure)
    out = np.zeros_like(v)
    for j in range(4):
        nb, normal = neighbours[j], normals[:, j]
        wall, inside, open_ = nb == -1, nb >= 0, nb == -2
        add = out.copy()
        for k in range(3):
            add[1 + k] = np.where(wall, add[1 + k] + normal[k] * pressure, add[1 + k])
        o = v[:, np.maximum(nb, 0)]
        o_velocity, o_square, o_pressure, o_sound = gas(o)
        other = contributions(o, o_velocity, o_pressure)
        length = np.sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2])
        factor = -length * F(0.2) * F(0.5) * (speed + np.sqrt(o_square) + sound + o_sound)
        near = out.copy()
        for k in (0, 4, 1, 2, 3):
            near[k] = near[k] + factor * (v[k] - o[k])
        away = out.copy()
        for axis in range(3):
            half = F(0.5) * normal[axis]
            near[0] += half * (o[1 + axis] + v[1 + axis])
            near[4] += half * (other[3, axis] + own[3, axis])
            away[0] += half * (far[1 + axis] + v[1 + axis])
            away[4] += half * (far[14 + axis] + own[3, axis])
            for k in range(3):
                near[1 + k] += half * (other[k, axis] + own[k, axis])
                away[1 + k] += half * (far[5 + 3 * k + axis] + own[k, axis])
        out = np.where(inside, near, np.where(open_, away, add))
    return out


@case("hw")
def hw(c):
    side, reach, points, frames, width, height = 7, 4, 6 * SCALE, 2, 96, 64 * SCALE
    size = side + 2 * reach
    base = c.floats((width + 32, height + 32), 0, 1)
    # Smooth enough for neighbours to correlate.
    for axis in (0, 1, 0, 1):
        base = F(0.5) * (base + np.roll(base, 1, axis))
    # By columns.
    film = np.stack([base[2 * k:2 * k + width, 3 * k:3 * k + height] for k in range(frames + 1)]).astype(F)
    places = np.stack([c.ints(points, reach, width - side - reach), c.ints(points, reach, height - side - reach)], axis=1)
    templates = np.stack([film[0, x:x + side, y:y + side] for x, y in places])
    count, room = size + side - 1, size + 2 * side
    work = 2 * size * size + room * room + 2 * count * room + 3 * count * count + side * side
    c.input("places", places.copy())
    c.input("templates", templates.copy())
    c.zeros("work", points * work, F)
    c.zeros("found", points, F)
    found = np.zeros(points, F)
    for frame in range(1, frames + 1):
        c.launch("track", points, 256, c.input(f"frame{frame}", film[frame]), i32(width), i32(height), i32(side), i32(reach),
                 c.buffer("places"), c.buffer("templates"), c.buffer("work"), c.buffer("found"))
        for p in range(points):
            left, top = places[p] - reach
            value = correlation(film[frame, left:left + size, top:top + size], templates[p])
            value = value[side - 1:size, side - 1:size]
            x, y = np.unravel_index(np.argmax(value), value.shape)
            found[p] = value[x, y]
            x = min(max(left + x, reach), width - side - reach)
            y = min(max(top + y, reach), height - side - reach)
            places[p] = x, y
            templates[p] = F(0.87) * templates[p] + F(0.13) * film[frame, x:x + side, y:y + side]
    c.expect("places", places)
    c.expect("found", found)
    c.expect("templates", templates)


def part_sums(window, side):
    """Sums of all parts of `side` x `side` with zeros around."""
    columns = np.cumsum(np.pad(window, side), axis=1, dtype=F)
    between = columns[:, side:-1] - columns[:, :-side - 1]
    rows = np.cumsum(between, axis=0, dtype=F)
    return rows[side:-1] - rows[:-side - 1]


def correlation(window, template):
    """Normalised correlation of a template with a window, wherever they have a pixel in common."""
    size, side = len(window), len(template)
    area, turned = F(side * side), template[::-1, ::-1]
    product = np.zeros((size + side - 1, size + side - 1), F)
    for column in range(side):
        for row in range(side):
            product[column:column + size, row:row + size] += turned[column, row] * window
    sums, squares = part_sums(window, side), part_sums(window * window, side)
    squares = np.sqrt(np.maximum(squares - sums * sums / area, F(0)))
    total = np.cumsum(np.cumsum(template, axis=1, dtype=F)[:, -1], dtype=F)[-1]
    total2 = np.cumsum(np.cumsum(template * template, axis=1, dtype=F)[:, -1], dtype=F)[-1]
    mean = total / area
    squares = squares * (np.sqrt(area - F(1)) * np.sqrt(np.maximum(total2 / area - mean * mean, F(0))))
    product = product - sums * total / area
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(squares > 0, product / squares, F(-1))


@case("lib")
def lib(c):
    rates, maturities, options = 80, 40, 15
    paths, threads = 64 * SCALE, min(64 * SCALE, 4096)
    lam, delta, initial = np.full(rates, 0.2, F), F(0.25), F(0.05)
    expiry = np.array([4, 4, 4, 8, 8, 8, 20, 20, 20, 28, 28, 28, 40, 40, 40], np.int32)
    swaprates = np.tile(np.array([0.045, 0.05, 0.055], F), 5)
    z = c.rng.standard_normal((maturities, paths)).astype(F)
    counts = [(name, np.array([count], np.int32))
              for name, count in [("rates", rates), ("maturities", maturities), ("options", options)]]
    for name, array in [("lambda", lam), ("expiry", expiry), ("swaprates", swaprates), ("delta", np.array([delta]))] + counts:
        c.symbol(name, array)
    block = min(threads, 64)
    c.launch("values_alone", threads // block, block, c.input("normals", z), c.zeros("alone", paths, F), f32(initial),
             i32(paths))
    c.launch("with_derivatives", threads // block, block, c.buffer("normals"), c.zeros("values", paths, F),
             c.zeros("derivatives", paths, F), f32(initial), i32(paths))
    # In binary64: what the paths make of roundings stays below the tolerance.
    d, lam = float(delta), lam.astype(float)
    rate = np.full((rates, paths), float(initial))
    history = [rate.copy()]
    for n in range(maturities):
        shock, v = np.sqrt(d) * z[n].astype(float), np.zeros(paths)
        for i in range(n + 1, rates):
            con = d * lam[i - n - 1]
            v += con * rate[i] / (1 + d * rate[i])
            rate[i] *= np.exp(con * v + lam[i - n - 1] * (shock - 0.5 * con))
        history.append(rate.copy())
    tail = rates - maturities
    bonds, swaps = np.zeros((tail, paths)), np.zeros((tail, paths))
    b, s = np.ones(paths), np.zeros(paths)
    for n in range(tail):
        b = b / (1 + d * rate[maturities + n])
        s = s + d * b
        bonds[n], swaps[n] = b, s
    value, bonds_b, swaps_b = np.zeros(paths), np.zeros_like(bonds), np.zeros_like(swaps)
    for m in range(options):
        k = expiry[m] - 1
        swap = bonds[k] + float(swaprates[m]) * swaps[k] - 1
        value += np.where(swap < 0, -100 * swap, 0)
        swaps_b[k] += np.where(swap < 0, -100 * float(swaprates[m]), 0)
        bonds_b[k] += np.where(swap < 0, -100, 0)
    back = np.zeros((rates, paths))
    for n in reversed(range(tail)):
        bonds_b[n] += d * swaps_b[n]
        growth = 1 + d * rate[maturities + n]
        if n > 0:
            swaps_b[n - 1] += swaps_b[n]
            bonds_b[n - 1] += bonds_b[n] / growth
        back[maturities + n] = -d * bonds[n] / growth * bonds_b[n]
    discount = np.prod(1 / (1 + d * rate[:maturities]), axis=0)
    value = discount * value
    back[:maturities] = -value * d / (1 + d * rate[:maturities])
    back[maturities:] *= discount
    for n in reversed(range(maturities)):
        v_b = np.zeros(paths)
        for i in reversed(range(n + 1, rates)):
            old, now = history[n][i], history[n + 1][i]
            con = d * lam[i - n - 1]
            v_b += con * now * back[i]
            share = 1 / (1 + d * old)
            back[i] = back[i] * (now / old) + v_b * con * share * share
    limits = {"relative": 2e-3, "absolute": 2e-2}
    for name, array in [("values", value), ("alone", value), ("derivatives", back[-1])]:
        c.expect(name, array.astype(F), "tolerance", **limits)


OBJECTS = np.array([[0.0, 0.0, 0.0, 0.0, 0.6, 0.6, 0.6, 1.0], [-1.5, 1.0, 0.5, 1.0, 1.0, 0.2, 0.1, 0.0],
                    [1.0, 0.8, -0.6, 0.8, 0.2, 0.9, 0.3, 0.0], [0.2, 0.5, 1.6, 0.5, 0.3, 0.4, 1.0, 0.0],
                    [-0.6, 2.2, -0.4, 0.6, 0.9, 0.8, 0.2, 0.0]], F)
VIEW = np.array([[1.0, 0.0, 0.0, 0.2], [0.0, 1.0, 0.0, 1.4], [0.0, 0.0, -1.0, 6.0]], F)


@case("ray")
def ray(c):
    width, height, levels, shift, focus = 64, 40 * SCALE, 5, F(0.1), F(2.0)
    c.symbol("objects", OBJECTS)
    c.symbol("view", VIEW)
    c.launch("trace", (-(-width // 16), -(-height // 8)), (16, 8), c.zeros("image", width * height), i32(width), i32(height),
             i32(levels), f32(shift), f32(focus))
    c.expect("image", trace(width, height, levels, shift, focus))


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def normal(a):
    return a * (F(1) / np.sqrt(dot(a, a)))


def distance_to(thing, shift, start, to):
    """How far it is along rays to an object; 0 where they miss it."""
    x, y, z, radius, _, _, _, is_plane = thing
    if is_plane:
        t = -(start[1] - y) / to[1]
        return np.where((np.abs(to[1]) < F(0.0001)) | ~(t > 0), F(0), t)
    way = np.array([x + shift, y, z], F)[:, None] - start
    along, away, radius = dot(way, to), dot(way, way), radius * radius
    beside = away - along * along
    half = np.sqrt(radius - beside)
    t = np.where(away > radius, along - half, along + half)
    return np.where(((along < 0) & (away > radius)) | (beside > radius), F(0), t)


def is_lit(shift, start, to, light):
    way = light - start
    room = dot(way, way)
    start = start + to * F(0.0001)
    lit = np.ones(start.shape[1], bool)
    for thing in OBJECTS:
        t = distance_to(thing, shift, start, to)
        at = start + to * t
        lit &= ~((t > 0) & (dot(at, at) <= room))
    return lit


def power_50(x):
    x2 = x * x
    x4 = x2 * x2
    x8 = x4 * x4
    x16 = x8 * x8
    return x16 * x16 * x16 * x2


@np.errstate(invalid="ignore", divide="ignore", over="ignore")
def trace(width, height, levels, shift, focus):
    y, x = (v.reshape(-1) for v in np.mgrid[0:height, 0:width].astype(F))
    n, pixel = len(x), F(2) / F(min(width, height))
    start = np.repeat(VIEW[:, 3:], n, axis=1)
    right = VIEW[0, :3, None] * ((x - F(width) * F(0.5)) * pixel)
    up = VIEW[1, :3, None] * ((y - F(height) * F(0.5)) * pixel)
    to = normal(VIEW[2, :3, None] * focus + right + up)
    light = np.full((3, 1), 10, F)
    stack = np.zeros((levels, 4, n), F)
    stack[:, 3] = 1
    hits, alive = np.zeros(n, int), np.ones(n, bool)
    for level in range(levels):
        nearest, which = np.full(n, 10000, F), np.zeros(n, int)
        for k, thing in enumerate(OBJECTS):
            t = distance_to(thing, shift, start, to)
            closer = (t > 0) & (t < nearest)
            nearest, which = np.where(closer, t, nearest), np.where(closer, k, which)
        alive &= nearest < 10000
        hits += alive
        thing = OBJECTS[which].T
        at = start + to * nearest
        to_light, to_eye = normal(light - at), normal(start - at)
        centre = np.stack([thing[0] + shift, thing[1], thing[2]])
        upright = np.where(thing[7] != 0, np.array([[0], [1], [0]], F), normal(at - centre))
        facing = np.where(dot(to_eye, upright) < 0, upright * F(-1), upright)
        colour = np.concatenate([F(0.05) * thing[4:7], np.full((1, n), 0.05, F)])
        lit = dot(facing, to_light)
        share = F(0.3) * np.minimum(F(1), lit)
        shine = dot(facing, normal(to_light + to_eye))
        shine = F(0.8) * power_50(np.maximum(F(0), np.minimum(F(1), shine)))
        bright = colour.copy()
        bright[:3] = colour[:3] + (share * thing[4:7] + shine)
        colour = np.where((lit > 0) & is_lit(shift, at, to_light, light), bright, colour)
        stack[level] = np.where(alive, colour, stack[level])
        to = np.where(alive, normal(upright * (F(2) * dot(upright, to_eye)) - to_eye), to)
        start = np.where(alive, at + to * F(0.0001), start)
    for level in range(levels - 1, 0, -1):
        stack[level - 1] = np.where(level < hits, stack[level - 1] + F(0.8) * stack[level], stack[level - 1])
    bytes_ = (np.minimum(np.maximum(stack[0], F(0)), F(1)) * F(255)).astype(np.uint32)
    return (bytes_[3] << 24 | bytes_[2] << 16 | bytes_[1] << 8 | bytes_[0]).reshape(height, width)


def walsh(x):
    x, stride = x.copy(), len(x) // 2
    while stride:
        pairs = x.reshape(-1, 2, stride)
        x = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        stride //= 2
    return x


@case("fwt")
def fwt(c):
    log = 14 + (SCALE - 1).bit_length()
    n, inner = 1 << log, 10 + log % 2
    a, b = c.floats(n, -1, 1), c.floats(n, -1, 1)
    c.input("a", a)
    c.input("b", b)

    def transform(name):
        left = log
        while left > inner:
            c.launch("global_stage", n // 4 // 256, 256, c.buffer(name), i32(1 << (left - 2)))
            left -= 2
        c.launch("shared_stages", n >> left, 256, c.buffer(name), c.buffer(name), i32(left), shared=4 << left)

    transform("a")
    transform("b")
    c.launch("modulate", min(n // 256, 128), 256, c.buffer("a"), c.buffer("b"), i32(n))
    transform("a")
    c.expect("a", walsh(walsh(a) * walsh(b) * (F(1) / F(n))))


@case("sp")
def sp(c):
    vectors, elements = 6 * SCALE, 2500
    a, b = c.floats((vectors, elements)), c.floats((vectors, elements))
    c.launch("scalar_products", min(vectors, 128 * SCALE, 4 * SCALE), 256, c.zeros("out", vectors, F), c.input("a", a),
             c.input("b", b), i32(vectors), i32(elements))
    rows = -(-elements // 1024)
    products = np.zeros((vectors, rows * 1024), F)
    products[:, :elements] = a * b
    sums = np.zeros((vectors, 1024), F)
    for row in range(rows):
        sums += products[:, 1024 * row:1024 * row + 1024]
    c.expect("out", halves(sums))


@case("rd")
def rd(c):
    n = 20000 * SCALE
    x = c.ints(n, -1000, 1000)
    c.input("in", x)
    blocks = -(-n // 256)
    for kernel, step in [("interleaved", 256), ("sequential", 256), ("first_while_loading", 512), ("strided", 2048)]:
        blocks = -(-n // step)
        c.launch(kernel, blocks, 256, c.buffer("in"), c.zeros(kernel, blocks), i32(n))
        parts = np.zeros(blocks * step, np.int64)
        if kernel == "strided":
            rounds = -(-n // (512 * blocks))
            padded = np.zeros(rounds * 512 * blocks, np.int64)
            padded[:n] = x
            sums = padded.reshape(rounds, blocks, 512).sum(axis=(0, 2))
        else:
            parts[:n] = x
            sums = parts.reshape(blocks, step).sum(axis=1)
        c.expect(kernel, sums.astype(np.int32))
    left, source = blocks, "strided"
    c.launch("strided", 1, 256, c.buffer(source), c.zeros("total", 1), i32(left))
    c.expect("total", np.array([x.sum()], np.int32))


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
    for name in rest[1:] or NAMES:
        made = corpus.Case(name)
        corpus.CASES[name](made)
        lines.append(made.write([{"file": f"{name}.ptx", "compiler": "nvrtc 12.9", "arch": "compute_75"}]))
        if folder != HERE:
            shutil.copy(os.path.join(HERE, f"{name}.ptx"), folder)
    with open(os.path.join(folder, "manifest.jsonl"), "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
