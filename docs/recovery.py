#!/usr/bin/env python3
"""Draws docs/recovery.svg: how often a planted tensor is recovered, against the number of observations.

    docs/recovery.py target/release/quadfill [SEEDS]
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SIZE, RANK = 100, 5
TIMES = [2.0, 2.5, 3.0, 3.2, 3.4, 3.6, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 7.5, 8.0, 9.0, 10.0]
FREEDOM = 3 * SIZE * RANK - RANK * (RANK - 1) // 2
METHODS = [("path", "the path (default)", "#0b7285"), ("als", "plain ALS, random start", "#e8590c")]


def success(program, folder, times, solver, seeds):
    good = 0
    for seed in range(1, seeds + 1):
        common = [program, "--quiet", "--seed", str(seed)]
        train, test = str(folder / "train.tns"), str(folder / "test.tns")
        dims = ",".join([str(SIZE)] * 3)
        subprocess.run(common + ["synth", "--dims", dims, "--rank", str(RANK), "--observations",
                       str(round(times * SIZE * RANK)), "-o", train, "--test", test],
                       check=True, stdout=subprocess.DEVNULL)
        fit = subprocess.run(common + ["--json", "fit", train, "-o", str(folder / "model"), "--rank",
                             str(RANK), "--solver", solver, "--test", test],
                             check=True, stdout=subprocess.PIPE)
        good += json.loads(fit.stdout)["test"]["relative_error"] < 1e-2
    return good / seeds


def draw(curves):
    left, top, width, height = 64, 56, 560, 250
    x = lambda times: left + width * (times - 2) / 8
    y = lambda share: top + height * (1 - share)
    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 380" font-family="system-ui, sans-serif" font-size="13">',
        '<rect width="680" height="380" fill="#ffffff"/>',
        f'<text x="{left}" y="26" font-size="16" font-weight="600" fill="#212529">Recovered from little more than its free parameters</text>',
        f'<text x="{left}" y="44" fill="#495057">{SIZE} x {SIZE} x {SIZE} pairwise tensor of rank {RANK}: share of draws with a test error below 1 %</text>',
    ]
    for share in (0, 0.25, 0.5, 0.75, 1):
        out.append(f'<line x1="{left}" x2="{left + width}" y1="{y(share)}" y2="{y(share)}" stroke="#e9ecef"/>')
        out.append(f'<text x="{left - 10}" y="{y(share) + 4}" text-anchor="end" fill="#495057">{share:.0%}</text>')
    for times in range(2, 11):
        out.append(f'<text x="{x(times)}" y="{top + height + 20}" text-anchor="middle" fill="#495057">{times * SIZE * RANK:,}</text>')
    out.append(f'<text x="{left + width / 2}" y="{top + height + 42}" text-anchor="middle" fill="#495057">observed cells, of {SIZE ** 3:,}</text>')
    free = FREEDOM / (SIZE * RANK)
    out.append(f'<line x1="{x(free)}" x2="{x(free)}" y1="{top}" y2="{top + height}" stroke="#868e96" stroke-dasharray="5 4"/>')
    out.append(f'<text x="{x(free) - 6}" y="{top + 14}" text-anchor="end" fill="#868e96">{FREEDOM:,} free</text>')
    out.append(f'<text x="{x(free) - 6}" y="{top + 30}" text-anchor="end" fill="#868e96">parameters</text>')
    for (_, name, colour), curve in zip(METHODS, curves):
        points = " ".join(f"{x(t):.1f},{y(s):.1f}" for t, s in curve)
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5" stroke-linejoin="round"/>')
        out += [f'<circle cx="{x(t):.1f}" cy="{y(s):.1f}" r="3.5" fill="{colour}"/>' for t, s in curve]
    for row, (_, name, colour) in enumerate(METHODS):
        at = top + height + 58 + 0 * row
        start = left + 40 + 240 * row
        out.append(f'<line x1="{start}" x2="{start + 28}" y1="{at}" y2="{at}" stroke="{colour}" stroke-width="2.5"/>')
        out.append(f'<text x="{start + 36}" y="{at + 4}" fill="#212529">{name}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


program = str(Path(sys.argv[1]).resolve())
seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
with tempfile.TemporaryDirectory() as folder:
    curves = [[(t, success(program, Path(folder), t, solver, seeds)) for t in TIMES] for solver, _, _ in METHODS]
Path(__file__).with_name("recovery.svg").write_text(draw(curves))
for (solver, _, _), curve in zip(METHODS, curves):
    print(solver, " ".join(f"{t:g}:{s:.0%}" for t, s in curve))
