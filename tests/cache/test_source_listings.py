"""Pages in which web servers list a folder: which of their links are files and folders of it."""

import pytest

from paddlecloud.cache.sources.listings import names

NGINX = """<html><head><title>Index of /my set/</title></head><body><h1>Index of /my set/</h1><hr><pre>
<a href="../">../</a>
<a href="sub/">sub/</a>                    18-Nov-2026 08:00       -
<a href="a%20b.txt">a b.txt</a>            18-Nov-2026 08:00       5
</pre><hr></body></html>"""
APACHE = """<table><tr><th><a href="?C=N;O=D">Name</a></th><th><a href="?C=S;O=A">Size</a></th></tr>
<tr><td><a href="/">Parent Directory</a></td></tr>
<tr><td><a href="x&amp;y.bin">x&amp;y.bin</a></td></tr><tr><td><a href="sub/">sub/</a></td></tr></table>"""
PYTHON = """<ul><li><a href="%C3%BC.txt">ü.txt</a></li><li><a href="100%25.bin">100%.bin</a></li></ul>"""
OTHERS = """<a href="/my%20set/whole.txt">the whole path</a> <a href="http://host/my%20set/address.txt">all</a>
<a href="http://elsewhere/my%20set/no.txt">x</a> <a href="/other/no.txt">x</a> <a href="sub/no.txt">x</a>
<a href="..%2Fno.txt">x</a> <a href="%2e%2e/">x</a> <a href="%2e%2e">x</a> <a href="./">x</a> <a href="">x</a>
<a name="no">x</a> <a href="#no">x</a> <a href="mailto:no@host">x</a> <a href="http://[broken/">x</a>"""


@pytest.mark.parametrize(
    "page, found",
    [
        (NGINX, {"sub/", "a b.txt"}),
        (APACHE, {"sub/", "x&y.bin"}),
        (PYTHON, {"ü.txt", "100%.bin"}),
        (OTHERS, {"whole.txt", "address.txt"}),
        ("no page at all \x00 <a <b", set()),
    ],
    ids=["nginx", "apache", "python", "whole addresses, and what leads elsewhere", "no page"],
)
def test_only_what_lies_in_the_folder_counts(page: str, found: set[str]) -> None:
    assert set(names(page, "http://host/my%20set/")) == found
