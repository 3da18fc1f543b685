"""Ask a served model through the gateway, in Paddle Serving's form; needs nothing but Python itself.

python examples/sdk/ask.py GATEWAY SERVICE IMAGE.png
"""

import json
import sys
import urllib.request
import zlib
from pathlib import Path


def pixels(path: str) -> list[list[int]]:
    """The rows of an 8-bit gray PNG whose lines are not filtered, as the generated ones are."""
    content = Path(path).read_bytes()
    width, height = (int.from_bytes(content[i : i + 4], "big") for i in (16, 20))
    start = content.index(b"IDAT") + 4
    size = int.from_bytes(content[start - 8 : start - 4], "big")
    rows = zlib.decompress(content[start : start + size])
    return [list(rows[y * (width + 1) + 1 : (y + 1) * (width + 1)]) for y in range(height)]


gateway, service, image = sys.argv[1:]
request = urllib.request.Request(
    f"{gateway}/{service}/prediction",
    data=json.dumps({"feed": [{"image": [pixels(image)]}], "fetch": []}).encode(),
    headers={"Host": f"{service}.default.example.com", "Content-Type": "application/json"},
)
[scores] = next(iter(json.load(urllib.request.urlopen(request))["result"].values()))
print("class", scores.index(max(scores)), "probability", round(max(scores), 4))
