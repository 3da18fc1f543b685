"""Chinese text to words: `{"words": "我爱北京天安门"}` to `{"word_seg": "我|爱|北京|天安门"}`."""

import numpy as np

from paddlecloud.serving.processing.words import characters, ids, joined, read_vocabulary


class Processor:
    def __init__(self, folder):
        self.vocabulary = read_vocabulary(folder / "word.dic")

    def before(self, feed):
        texts = [ids(letters, self.vocabulary) for letters in self.letters(feed)]
        longest = max(map(len, texts))
        return {"words": np.array([text + [0] * (longest - len(text)) for text in texts], "int64")}

    def after(self, arrays, feed):
        tags = [["I" if inside else "B" for inside in row] for row in arrays["inside"]]
        return [{"word_seg": joined(*pair)} for pair in zip(self.letters(feed), tags, strict=True)]

    def letters(self, feed):
        return [characters(entry["words"], f'"feed"[{number}].words') for number, entry in enumerate(feed)]
