"""What a page is to those who play it, and that a page which does not work is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.scenarios.guidepages import Page, page_of, play
from tests.scenarios.pdc_home import PdcHome

PAGE = """\
# A page

```bash
cat greeting.txt
```

```
only to be read
```

```yaml
# greeting.txt
hello
```

* indented is part of a sentence:

  ```bash
  false
  ```

```bash
echo "it's over"
```
"""


def test_a_page_is_files_and_commands_in_their_order() -> None:
    commands = """cat greeting.txt\n\necho "it's over"\n"""
    assert page_of(PAGE) == Page({"greeting.txt": "# greeting.txt\nhello\n"}, commands)


@pytest.mark.parametrize(
    "block, why",
    [("```yaml\nkind: Pod\n```\n", "no file"), ("```python\n# a.py\n```\n" * 2, "two files of the name")],
)
def test_a_block_that_is_no_file_of_its_own_is_an_error(block: str, why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        page_of(block)


def test_a_page_is_played_with_pdc_and_python_of_the_tests(home: PdcHome, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE + '```bash\npdc --help\npython -c "import paddlecloud; print(6 * 7)"\n```\n')

    said = play(page, home, tmp_path)

    assert "hello" in said and "it's over" in said and "\n42\n" in said and "Usage: " in said


def test_the_first_command_that_fails_ends_the_page(home: PdcHome, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```bash\necho before\nfalse\necho after\n```\n")

    with pytest.raises(AssertionError, match=r"page\.md ended with 1") as wrong:
        play(page, home, tmp_path)

    assert "before" in str(wrong.value) and "echo after" not in str(wrong.value)
