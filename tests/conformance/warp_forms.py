"""Operations of whole warps: shuffles, votes, matches and reductions; barriers; special registers."""
import softfloat as sf
from forms import Family, int_edges, signed

M32 = 0xffffffff
FULL = "0xffffffff"


def by_warp(rows, model):
    """Results of a model that sees the records of one warp."""
    results = []
    for base in range(0, len(rows), 32):
        results += model(rows[base:base + 32])
    return results


def shuffle(mode, values, b, c):
    """Value and predicate of each lane; b and c by lane. Lanes out of range keep their own value."""
    out = []
    for lane in range(32):
        bval, cval, seg = b[lane] & 31, c[lane] & 31, c[lane] >> 8 & 31
        high, low = (lane & seg) | (cval & ~seg & 31), lane & seg
        if mode == "up":
            j = lane - bval
            inside = j >= high
        elif mode == "down":
            j = lane + bval
            inside = j <= high
        elif mode == "bfly":
            j = lane ^ bval
            inside = j <= high
        else:
            j = low | (bval & ~seg & 31)
            inside = j <= high
        out.append((values[j if inside else lane], int(inside)))
    return out


WHOLE = (32, 64)


def shuffles():
    new, old = Family("warp_shuffle", "sm_70", "7.0"), Family("warp_shuffle_legacy", "sm_60", "6.0")
    for f, sync, tail in ((new, ".sync", f", {FULL}"), (old, "", "")):
        rng = f.rng
        for mode in ("up", "down", "bfly", "idx"):
            # Clamp and segment mask of each width of CUDA, then any clamp and mask, the same in a warp.
            rows = []
            for warp in range(16):
                width = (32, 16, 8, 4, 2, 1)[warp % 6]
                c = (0 if mode == "up" else 31) | (32 - width) << 8
                if warp >= 6:
                    c = rng.getrandbits(13) | rng.getrandbits(19) << 13
                same = rng.randint(0, 40)
                for lane in range(32):
                    b = same if warp % 2 else rng.getrandbits(6)
                    rows.append((rng.getrandbits(32), b, c))
            results = by_warp(rows, lambda w: shuffle(mode, [r[0] for r in w], [r[1] for r in w], [r[2] for r in w]))
            f.kernel(f"shfl{sync}.{mode}.b32", ["b32", "u32", "u32"], ["b32", "pred"],
                     f"shfl{sync}.{mode}.b32 {{r0}}|{{r1}}, {{a0}}, {{a1}}, {{a2}}{tail};", rows, results, blocks=WHOLE)
            f.kernel(f"shfl{sync}.{mode}.b32 without predicate", ["b32", "u32", "u32"], ["b32"],
                     f"shfl{sync}.{mode}.b32 {{r0}}, {{a0}}, {{a1}}, {{a2}}{tail};", rows, [r[:1] for r in results], blocks=WHOLE)
            for b, c in ((1, 0x1f if mode != "up" else 0), (5, 0x181f if mode != "up" else 0x1800), (31, 0x0f)):
                rows = [(rng.getrandbits(32),) for _ in range(64)]
                results = by_warp(rows, lambda w: shuffle(mode, [r[0] for r in w], [b] * 32, [c] * 32))
                f.kernel(f"shfl{sync}.{mode}.b32 {b} {c:x}", ["f32"], ["f32", "pred"], f"shfl{sync}.{mode}.b32 {{r0}}|{{r1}}, {{a0}}, {b}, {c}{tail};",
                         rows, results, blocks=WHOLE)
    rows = [(new.rng.getrandbits(32),) for _ in range(64)]

    def halves(warp):
        odd = [warp[(lane - 2) if lane % 2 and lane >= 3 else lane][0] for lane in range(32)]
        return [(odd[lane] if lane % 2 else warp[lane ^ 4][0],) for lane in range(32)]
    new.kernel("shfl.sync by half warps", ["b32"], ["b32"],
               "mov.u32 %x, %laneid;\nand.b32 %x, %x, 1;\nsetp.ne.u32 %p, %x, 0;\n@%p bra ODD;\nshfl.sync.bfly.b32 {r0}, {a0}, 4, 31, 0x55555555;\nbra.uni DONE;\n"
               "ODD:\nshfl.sync.up.b32 {r0}, {a0}, 2, 0, 0xaaaaaaaa;\nDONE:", rows, by_warp(rows, halves), registers=".reg .pred %p", blocks=WHOLE)


def votes():
    new, old = Family("warp_vote", "sm_70", "7.0"), Family("warp_vote_legacy", "sm_60", "6.0")
    for f, sync, tail in ((new, ".sync", f", {FULL}"), (old, "", "")):
        rng = f.rng
        rows = []
        for warp in range(8):
            density = (0.5, 0.03, 0.97, 0, 1, 0.5, 0.1, 0.9)[warp]
            rows += [(int(rng.random() < density),) for _ in range(32)]
        for bang in ("", "!"):
            seen = [[bool(r[0]) != bool(bang) for r in rows[b:b + 32]] for b in range(0, 256, 32)]
            label = " negated" if bang else ""
            for mode, g in (("all", all), ("any", any), ("uni", lambda w: all(w) or not any(w))):
                f.kernel(f"vote{sync}.{mode}.pred{label}", ["pred"], ["pred"], f"vote{sync}.{mode}.pred {{r0}}, {bang}{{a0}}{tail};", rows,
                         [(int(g(w)),) for w in seen for _ in range(32)], blocks=WHOLE)
            f.kernel(f"vote{sync}.ballot.b32{label}", ["pred"], ["b32"], f"vote{sync}.ballot.b32 {{r0}}, {bang}{{a0}}{tail};", rows,
                     [(sum(1 << k for k, v in enumerate(w) if v),) for w in seen for _ in range(32)], blocks=WHOLE)
    f, rng = new, new.rng
    rows = [(rng.getrandbits(1),) for _ in range(64)]

    def odd_lanes(warp):
        mask = sum(1 << k for k in range(1, 32, 2) if warp[k][0])
        return [(mask if lane & 1 else 7,) for lane in range(32)]
    f.kernel("vote.sync.ballot.b32 of odd lanes", ["pred"], ["b32"],
             "mov.u32 {r0}, 7;\nmov.u32 %x, %laneid;\nand.b32 %x, %x, 1;\nsetp.ne.u32 %p, %x, 0;\n@!%p bra DONE;\nvote.sync.ballot.b32 {r0}, {a0}, 0xaaaaaaaa;\nDONE:",
             rows, by_warp(rows, odd_lanes), registers=".reg .pred %p", blocks=WHOLE)
    f.kernel("activemask.b32", ["u32"], ["b32"], "activemask.b32 {r0};", [(0,)] * 64, [(M32,)] * 64, blocks=WHOLE)
    f.kernel("activemask.b32 of one thread", ["u32"], ["b32"], "activemask.b32 {r0};", [(0,)] * 5, [(1,)] * 5, blocks=(1,))
    for size in (32, 64):
        rows = []
        for warp in range(6):
            pool = [rng.getrandbits(size) for _ in range((1, 2, 4, 30, 1, 8)[warp])]
            if size == 64:
                pool.append(pool[0] ^ 1 << 40)
                pool = pool[:max(1, len(pool) - (warp in (0, 4)))]
            rows += [(rng.choice(pool),) for _ in range(32)]

        def any_of(warp):
            return [(sum(1 << k for k, w in enumerate(warp) if w == v),) for v in warp]

        def all_of(warp):
            same = all(v == warp[0] for v in warp)
            return [(M32 if same else 0, int(same))] * 32
        f.kernel(f"match.any.sync.b{size}", [f"b{size}"], ["b32"], f"match.any.sync.b{size} {{r0}}, {{a0}}, {FULL};", rows, by_warp(rows, any_of), blocks=WHOLE)
        f.kernel(f"match.all.sync.b{size}", [f"b{size}"], ["b32", "pred"], f"match.all.sync.b{size} {{r0}}|{{r1}}, {{a0}}, {FULL};", rows, by_warp(rows, all_of), blocks=WHOLE)
        f.kernel(f"match.all.sync.b{size} without predicate", [f"b{size}"], ["b32"], f"match.all.sync.b{size} {{r0}}, {{a0}}, {FULL};", rows,
                 [r[:1] for r in by_warp(rows, all_of)], blocks=WHOLE)


def reductions():
    f = Family("warp_redux", "sm_80", "7.0")
    rng = f.rng
    rows = [(rng.choice(int_edges(32) + [rng.getrandbits(32)] * 30),) for _ in range(128)]
    fold = {"add": lambda v: sum(v), "min": min, "max": max}
    for t in ("u32", "s32"):
        for op, g in fold.items():
            def model(warp):
                return [(g([signed(r[0], 32) if t == "s32" else r[0] for r in warp]) & M32,)] * 32
            f.kernel(f"redux.sync.{op}.{t}", [t], [t], f"redux.sync.{op}.{t} {{r0}}, {{a0}}, {FULL};", rows, by_warp(rows, model), blocks=WHOLE)
    for op, start, g in (("and", M32, lambda a, b: a & b), ("or", 0, lambda a, b: a | b), ("xor", 0, lambda a, b: a ^ b)):
        def model(warp):
            total = start
            for r in warp:
                total = g(total, r[0])
            return [(total,)] * 32
        cases = [(v | 0xf00 if op == "and" else v,) for v, in rows]
        f.kernel(f"redux.sync.{op}.b32", ["b32"], ["b32"], f"redux.sync.{op}.b32 {{r0}}, {{a0}}, {FULL};", cases, by_warp(cases, model), blocks=WHOLE)

    def low_half(warp):
        total = sum(r[0] for r in warp[:10]) & M32
        return [(total if lane < 10 else 3,) for lane in range(32)]
    f.kernel("redux.sync.add.u32 of ten lanes", ["u32"], ["u32"],
             "mov.u32 {r0}, 3;\nmov.u32 %x, %laneid;\nsetp.lt.u32 %p, %x, 10;\n@!%p bra DONE;\nredux.sync.add.u32 {r0}, {a0}, 0x3ff;\nDONE:", rows,
             by_warp(rows, low_half), registers=".reg .pred %p", blocks=WHOLE)


def float_reductions():
    f = Family("warp_redux_float", "sm_100a", "8.6")
    rng = f.rng
    nans = [0x7fffffff, 0xffffffff, 0x7f800001, 0xffc00000]
    numbers = [0, 1 << 31, 1, 1 << 31 | 1, 0x7f800000, 0xff800000, 0x7f7fffff, 0xff7fffff, 0x3f800000, 0xbf800000]
    pools = [lambda: rng.choice(numbers), lambda: rng.getrandbits(32), lambda: rng.choice(nans), lambda: rng.choice(numbers + nans),
             lambda: 0x3f000000 + rng.getrandbits(20), lambda: 0xbf000000 + rng.getrandbits(20), lambda: rng.choice(numbers[:2]),
             lambda: rng.choice(nans + [0xff800000])]
    rows = [(pool(),) for pool in pools for _ in range(32)]
    for op in ("min", "max"):
        for absolute in (False, True):
            for nan in (False, True):
                def model(warp):
                    values = [r[0] & 0x7fffffff if absolute else r[0] for r in warp]
                    best = values[0]
                    for v in values:
                        best = sf.minmax(op, "f32", best, v, nan=nan)
                    return [(best,)] * 32
                form = f"redux.sync.{op}{'.abs' if absolute else ''}{'.NaN' if nan else ''}.f32"
                f.kernel(form, ["f32"], ["f32"], f"{form} {{r0}}, {{a0}}, {FULL};", rows, by_warp(rows, model), blocks=WHOLE)


def matrices():
    """8 by 8 elements of 16 bits: in memory lane 8 m + r gives row r of matrix m, in registers lane t holds two elements of row t / 4."""
    f = Family("warp_matrix", "sm_90", "7.8")
    rng = f.rng
    place = "mov.u32 %x, %laneid;\nmad.lo.u32 %x, %x, 5, 3;\nand.b32 %x, %x, 31;\nmov.u32 %y, area;\nmad.lo.u32 %x, %x, 16, %y;\n"
    head = ".shared .align 16 .b8 area[512];"

    def halves(words):
        return [w >> s & 0xffff for w in words for s in (0, 16)]

    def held(matrix, lane, trans):
        """What a lane holds of a matrix."""
        row, column = lane // 4, lane % 4 * 2
        a, b = (matrix[column][row], matrix[column + 1][row]) if trans else (matrix[row][column], matrix[row][column + 1])
        return a | b << 16
    for count in (1, 2, 4):
        registers = ", ".join(f"{{r{k}}}" for k in range(count))
        sources = ", ".join(f"{{a{k}}}" for k in range(count))
        for trans in (False, True):
            for space in (".shared", ""):
                form = f".sync.aligned.m8n8.x{count}{'.trans' if trans else ''}{space}.b16"
                pointer, convert = ("%x", "") if space else ("%p", "cvt.u64.u32 %p, %x;\ncvta.shared.u64 %p, %p;\n")
                rows = [tuple(rng.getrandbits(32) for _ in range(4)) for _ in range(64)]

                def loaded(warp):
                    table = [halves(r) for r in warp]
                    return [tuple(held(table[8 * m:8 * m + 8], t, trans) for m in range(count)) for t in range(32)]
                f.kernel("ldmatrix" + form, ["b32"] * 4, ["b32"] * count,
                         place + "st.shared.v4.b32 [%x], {{{a0}, {a1}, {a2}, {a3}}};\nbar.warp.sync -1;\n" + convert
                         + f"ldmatrix{form} {{{{{registers}}}}}, [{pointer}];", rows, by_warp(rows, loaded), blocks=(32,), head=head, registers=".reg .b64 %p")
                rows = [tuple(rng.getrandbits(32) for _ in range(count)) for _ in range(64)]

                def stored(warp):
                    table = [[0] * 8 for _ in range(32)]
                    for t, words in enumerate(warp):
                        for m, word in enumerate(words):
                            for k in range(2):
                                row, column = (t % 4 * 2 + k, t // 4) if trans else (t // 4, t % 4 * 2 + k)
                                table[8 * m + row][column] = word >> 16 * k & 0xffff
                    return [tuple(r[2 * k] | r[2 * k + 1] << 16 for k in range(4)) for r in table]
                f.kernel("stmatrix" + form, ["b32"] * count, ["b32"] * 4,
                         place + "st.shared.v4.b32 [%x], {{0, 0, 0, 0}};\nbar.warp.sync -1;\n" + convert
                         + f"stmatrix{form} [{pointer}], {{{{{sources}}}}};\nbar.warp.sync -1;\nld.shared.v4.b32 {{{{{{r0}}, {{r1}}, {{r2}}, {{r3}}}}}}, [%x];",
                         rows, by_warp(rows, stored), blocks=(32,), head=head, registers=".reg .b64 %p")
    rows = [(rng.getrandbits(32),) for _ in range(128)]

    def moved(warp):
        words = [r[0] for r in warp]
        matrix = [halves(words[4 * r:4 * r + 4]) for r in range(8)]
        return [(held(matrix, t, True),) for t in range(32)]
    f.kernel("movmatrix.sync.aligned.m8n8.trans.b16", ["b32"], ["b32"], "movmatrix.sync.aligned.m8n8.trans.b16 {r0}, {a0};", rows, by_warp(rows, moved), blocks=WHOLE)


def barriers():
    f = Family("barrier", "sm_70", "7.8")
    rng = f.rng
    block = 64
    rows = [(rng.getrandbits(32), int(rng.random() < (0.5, 0.02, 0.98, 0, 1)[k // 64])) for k in range(5 * 64)]
    blocks = [rows[b:b + block] for b in range(0, len(rows), block)]
    for bar in ("bar", "barrier", "bar.cta", "barrier.cta"):
        reverse = [(w[block - 1 - t][0],) for w in blocks for t in range(block)]
        for operands in ("0", "5", "1, 64"):
            name = f"{bar}.sync {operands}".replace(",", "")
            f.kernel(name, ["u32", "u32"], ["u32"],
                     f"mov.u32 %x, %tid.x;\nmov.u32 %y, area;\nmad.lo.u32 %z, %x, 4, %y;\nst.shared.u32 [%z], {{a0}};\n{bar}.sync {operands};\n"
                     "sub.u32 %x, 63, %x;\nmad.lo.u32 %z, %x, 4, %y;\nld.shared.u32 {r0}, [%z];",
                     rows, reverse, registers=".reg .b32 %z;", head=".shared .align 4 .b8 area[256];", blocks=(64,))
        for bang in ("", "!"):
            seen = [[bool(r[1]) != bool(bang) for r in w] for w in blocks]
            tag = " negated" if bang else ""
            f.kernel(f"{bar}.red.popc.u32{tag}", ["u32", "pred"], ["u32"], f"{bar}.red.popc.u32 {{r0}}, 0, {bang}{{a1}};", rows,
                     [(sum(w),) for w in seen for _ in w], blocks=(64,))
            for op, g in (("and", all), ("or", any)):
                f.kernel(f"{bar}.red.{op}.pred{tag}", ["u32", "pred"], ["pred"], f"{bar}.red.{op}.pred {{r0}}, 3, 64, {bang}{{a1}};", rows,
                         [(int(g(w)),) for w in seen for _ in w], blocks=(64,))
        f.kernel(f"{bar}.arrive", ["u32", "u32"], ["u32"],
                 f"mov.u32 %x, %tid.x;\nmov.u32 %y, area;\nmad.lo.u32 %z, %x, 4, %y;\nmov.u32 {{r0}}, {{a0}};\nsetp.ge.u32 %p, %x, 32;\n@%p bra TAKE;\n"
                 f"st.shared.u32 [%z], {{a0}};\n{bar}.arrive 7, 64;\nbra.uni DONE;\nTAKE:\n{bar}.sync 7, 64;\nld.shared.u32 {{r0}}, [%z+-128];\nDONE:",
                 rows, [(w[t - 32 if t >= 32 else t][0],) for w in blocks for t in range(block)], registers=".reg .b32 %z;.reg .pred %p",
                 head=".shared .align 4 .b8 area[256];", blocks=(64,))
    f.kernel("bar.warp.sync", ["u32", "u32"], ["u32"],
             "mov.u32 %x, %tid.x;\nmov.u32 %y, area;\nmad.lo.u32 %z, %x, 4, %y;\nst.shared.u32 [%z], {a0};\nbar.warp.sync 0xffffffff;\n"
             "xor.b32 %x, %x, 9;\nmad.lo.u32 %z, %x, 4, %y;\nld.shared.u32 {r0}, [%z];", rows, [(w[t ^ 9][0],) for w in blocks for t in range(block)],
             registers=".reg .b32 %z", head=".shared .align 4 .b8 area[256];", blocks=(64,))


def special_registers():
    f = Family("special_registers", "sm_70", "7.0")
    rows = [(k,) for k in range(128)]
    lanes = [k % 32 for k in range(128)]
    fixed = {"%tid.x": [k % 64 for k in range(128)], "%tid.y": [0] * 128, "%tid.z": [0] * 128, "%ntid.x": [64] * 128, "%ntid.y": [1] * 128, "%ntid.z": [1] * 128,
             "%ctaid.x": [k // 64 for k in range(128)], "%ctaid.y": [0] * 128, "%ctaid.z": [0] * 128, "%nctaid.x": [2] * 128, "%nctaid.y": [1] * 128,
             "%nctaid.z": [1] * 128, "%laneid": lanes, "%lanemask_eq": [1 << l for l in lanes], "%lanemask_lt": [(1 << l) - 1 for l in lanes],
             "%lanemask_le": [(2 << l) - 1 for l in lanes], "%lanemask_gt": [M32 & ~((2 << l) - 1) for l in lanes],
             "%lanemask_ge": [M32 & ~((1 << l) - 1) for l in lanes], "%dynamic_smem_size": [0] * 128}
    for name, values in fixed.items():
        f.kernel(f"mov.u32 {name[1:]}", ["u32"], ["u32"], f"mov.u32 {{r0}}, {name};", rows, [(v,) for v in values], blocks=(64,))
    f.kernel("mov.v4.u32 tid", ["u32"], ["u32"] * 3, "mov.v4.u32 {{{r0}, {r1}, {r2}, %x}}, %tid;", rows, [(k % 64, 0, 0) for k in range(128)], blocks=(64,))
    f.kernel("cvt.u64.u32 tid", ["u32"], ["u64"], "mov.u32 %x, %tid.x;\ncvt.u64.u32 {r0}, %x;", rows, [(k % 64,) for k in range(128)], blocks=(64,))
    f.kernel("mov.u16 ctaid", ["u32"], ["u16"], "cvt.u16.u32 {r0}, %ctaid.x;", rows, [(k // 64,) for k in range(128)], blocks=(64,))
    # Clocks only go forward; timers exist.
    f.kernel("mov clock", ["u32"], ["pred", "pred"],
             "mov.u64 %c, %clock64;\nadd.u32 %x, %x, 1;\nmov.u64 %d, %clock64;\nsetp.ge.u64 {r0}, %d, %c;\nmov.u64 %c, %globaltimer;\nmov.u64 %d, %globaltimer;\n"
             "setp.ge.u64 {r1}, %d, %c;", rows, [(1, 1)] * 128, registers=".reg .b64 %c, %d", blocks=(64,))
    f.kernel("nanosleep.u32", ["u32"], ["u32"], "nanosleep.u32 40;\nmov.u32 {r0}, {a0};", rows, rows, blocks=(1, 64))


def make():
    shuffles()
    votes()
    reductions()
    float_reductions()
    matrices()
    barriers()
    special_registers()
