"""The epochs over a slow link as a picture: one bar each, cold and warm, drawn by the Pillow of the suite."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict
from pathlib import Path

from tests.suites import environments

from benchmarks.dataepochs import Cold

PROGRAM = """
import json, sys
from PIL import Image, ImageDraw, ImageFont
times, path = json.loads(sys.argv[1]), sys.argv[2]
wide, high, left, low, scale = 900, 480, 70, 400, 2
image = Image.new("RGB", (wide * scale, high * scale), "white")
draw = ImageDraw.Draw(image)
def text(x, y, words, size=15, fill="#222222", anchor="mm"):
    font = ImageFont.load_default(size * scale)
    draw.text((x * scale, y * scale), words, fill=fill, font=font, anchor=anchor)
def line(x0, y0, x1, y1, fill="#dddddd"):
    draw.line([x0 * scale, y0 * scale, x1 * scale, y1 * scale], fill=fill, width=scale)
bars = [("cold, epoch %d" % (n + 1), t, "#b0413e") for n, t in enumerate(times["cold"])]
bars += [("juicefs, %d" % (n + 1), t, "#2a6f97") for n, t in enumerate(times["juicefs"])]
bars += [("local, %d" % (n + 1), t, "#468f62") for n, t in enumerate(times["local"])]
most = max(t for _, t, _ in bars)
step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500) if most / s <= 7)
top = (int(most / step) + 1) * step
def height(t):
    return low - (low - 70) * t / top
text(wide / 2, 28, "One epoch with 2 readers, samples behind a link of 50 Mbit/s", 20)
for n in range(int(top / step) + 1):
    line(left, height(n * step), wide - 20, height(n * step))
    text(left - 12, height(n * step), "%g" % (n * step), anchor="rm")
text(left - 12, 50, "seconds", anchor="mm")
each = (wide - 20 - left) / len(bars)
for n, (name, t, colour) in enumerate(bars):
    x = left + each * n
    box = [(x + each * .15) * scale, height(t) * scale, (x + each * .85) * scale, low * scale]
    draw.rectangle(box, fill=colour)
    text(x + each / 2, height(t) - 12, "%.1f" % t)
    text(x + each / 2, low + 18, name, 14)
line(left, low, wide - 20, low, "#222222")
text(wide / 2, high - 22, "warmed before: read from the node's own disk or cache", 14, "#666666")
image.save(path, optimize=True)
"""


def draw(times: Cold, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [environments.python("paddle"), "-c", PROGRAM, json.dumps(asdict(times)), str(file.resolve())],
        env=environments.variables("paddle"), check=True, timeout=120,
    )  # fmt: skip
