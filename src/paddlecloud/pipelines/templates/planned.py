"""Tasks of the suites that have no template yet, so that whoever looks for one learns it here."""

from __future__ import annotations

from typing import NamedTuple


class Planned(NamedTuple):
    name: str
    domain: str
    suite: str
    about: str


PLANNED = (
    Planned("layout-analysis", "OCR", "paddleocr", "Tells headings, text, tables and pictures apart."),
    Planned("table-recognition", "OCR", "paddleocr", "Reads the cells of a table on a picture."),
    Planned("image-recognition", "vision", "paddleclas", "Finds the most similar pictures of a gallery."),
    Planned("reading-comprehension", "language", "paddlenlp", "Answers questions about a text."),
    Planned("translation", "language", "paddlenlp", "Translates sentences."),
    Planned("dialogue", "language", "paddlenlp", "Answers in a conversation."),
    Planned("content-understanding", "recommendation", "paddlerec", "Sorts items into subjects."),
    Planned("matching", "recommendation", "paddlerec", "Tells how well a question and an item fit."),
    Planned("recall", "recommendation", "paddlerec", "Picks candidates out of very many items."),
)
