"""Keeps of what `record.py` wrote into a folder what tests compare with: of forms `h100.txt` and `h100.bin`,
of vectors `h100_vectors.txt`, of cases `h100_cases.txt`.

    python3 keep.py OUT"""

import fnmatch
import hashlib
import json
import sys
from pathlib import Path

import forms

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

#: Records of which values are kept, of forms that are approximations.
KEPT = 64


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def one_nan(form, data):
    """The results with all bits set for each NaN."""
    data = bytearray(data)
    stride = form.stride(form.results)
    at = 0
    for ty in form.results:
        size = forms.width(ty) // 8
        at = -(-at // size) * size
        part = "f32" if ty == "tf32" else ty.removesuffix("x2")
        if part in forms.FORMATS:
            mantissa, exponent = forms.FORMATS[part]
            width = (mantissa + exponent + 1) // 8
            infinity = ((1 << exponent) - 1) << mantissa
            for record in range(at, len(data), stride):
                for place in range(record, record + size, width):
                    value = int.from_bytes(data[place : place + width], "little")
                    if value & ~(1 << 8 * width - 1) > infinity:
                        data[place : place + width] = b"\xff" * width
        at += size
    return bytes(data)


def read(out, part):
    """Lines of the index of a part that have data, and the data."""
    index = [json.loads(line) for line in (out / f"{part}.jsonl").read_text().splitlines()]
    return [line for line in index if "at" in line or "parts" in line], (out / f"{part}.bin").read_bytes()


def keep_forms(out, title):
    index, data = read(out, "forms")
    places = {line["form"]: (line["at"], line["size"]) for line in index}
    close = [line.split(" | ")[0].strip().replace("[..]", "*") for line in (HERE / "close.txt").read_text().splitlines()]
    lines = [f"# {title}: a line for each of forms.txt."]
    values = bytearray()
    for line in (HERE / "forms.txt").read_text().splitlines():
        form = forms.Form(line)
        if line not in places:
            lines.append("-")
            continue
        at, size = places[line]
        results = data[at : at + size]
        if any(fnmatch.fnmatchcase(form.code, pattern) for pattern in close if not pattern.startswith("#")):
            values += results[: KEPT * form.stride(form.results)]
            lines.append("=")
            continue
        digests = [digest(results), digest(one_nan(form, results))]
        lines.append(" ".join(dict.fromkeys(digests)))
    (HERE / "h100.txt").write_text("\n".join(lines) + "\n")
    (HERE / "h100.bin").write_bytes(values)


def keep_vectors(out, title):
    """A line for each family: its name, a digest of the results that are those of the records, and the kernels
    that have others."""
    index, data = read(out, "vectors")
    found = {}
    for line in index:
        found.setdefault((line["ptx"], line["kernel"]), []).append(data[line["at"] : line["at"] + line["size"]])
    families = {}
    for line in (ROOT / "tests/conformance/manifest.jsonl").read_text().splitlines():
        vector = json.loads(line)
        families.setdefault(vector["ptx"], []).append(vector)
    lines = [f"# {title}: a family, a digest of the results that agree, and kernels whose results do not."]
    for ptx, vectors in families.items():
        records = (ROOT / "tests/conformance" / ptx.replace(".ptx", ".bin")).read_bytes()
        agreed, others = hashlib.sha256(), []
        for vector in vectors:
            at, size = vector["out"]["offset"], vector["out"]["bytes"]
            results = found.get((ptx, vector["kernel"]), [b""])
            if set(results) == {records[at : at + size]}:
                agreed.update(results[0])
            else:
                others.append(vector["kernel"])
        lines.append(" ".join([ptx, agreed.hexdigest()[:16], *others]))
    (HERE / "h100_vectors.txt").write_text("\n".join(lines) + "\n")


def keep_cases(out, title):
    """A line for each buffer: folder, PTX file, name, and a digest of as much as is compared."""
    index, data = read(out, "cases")
    expected = {}
    for folder in {line["folder"] for line in index}:
        for line in (ROOT / folder / "manifest.jsonl").read_text().splitlines():
            case = json.loads(line)
            for output in case["outputs"]:
                file = (ROOT / folder / output["expected"]).read_bytes()
                size = len(file) - 10 - int.from_bytes(file[8:10], "little")
                expected[folder, case["name"], output["buffer"]] = size
    lines = [f"# {title}: folder, PTX, buffer, digest."]
    for line in index:
        for name, at, size in line["parts"]:
            size = expected.get((line["folder"], line["case"], name))
            if size is not None:
                lines.append(f"{line['folder']} {line['ptx']} {name} {digest(data[at : at + size])}")
    (HERE / "h100_cases.txt").write_text("\n".join(lines) + "\n")


def main():
    out = Path(sys.argv[1])
    gpu = json.loads((out / "gpu.json").read_text())
    title = f"{gpu['gpu']} ({gpu['sm']}), driver {gpu['driver']}, CUDA {gpu['cuda']}"
    for part, keep in (("forms", keep_forms), ("vectors", keep_vectors), ("cases", keep_cases)):
        if (out / f"{part}.jsonl").exists():
            keep(out, title)


if __name__ == "__main__":
    main()
