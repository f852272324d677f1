"""Text for BERT: Python's own reference pages, cut into word pieces and masked for pre-training."""

import hashlib
import re
from collections import Counter
from functools import cache

import numpy as np

from ..models.bert import assemble

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(len(SPECIAL))
VOCABULARY = 8000
LONGEST = 12  # characters of a piece; longer ones are too rare to earn a place
SAMPLES = 4096


class Text:
    """Sentence pairs with masked words. `sha` is of the corpus; masking happens per sample."""

    def __init__(self, config, seed: int):
        self.pieces = vocabulary(min(VOCABULARY, config.vocab))
        documents = [encode(doc, self.pieces) for doc in corpus()]
        self.documents = [doc for doc in documents if len(doc) >= config.sequence]
        self.config, self.seed, self.count = config, seed, SAMPLES
        self.sha = hashlib.sha256("\0".join(corpus()).encode()).hexdigest()

    def sample(self, index: int):
        """Returns what the function `sample` does, with random choices that follow from seed and index alone."""
        return sample(self.documents, len(self.pieces), self.config, np.random.default_rng([self.seed, index]))

    @staticmethod
    def collate(rows) -> dict:
        """Returns a batch; see `assemble`."""
        return assemble(*(np.stack(column) for column in zip(*rows)))


@cache
def corpus() -> tuple[str, ...]:
    """Returns the documents: the language reference and help pages that every Python carries."""
    from pydoc_data.topics import topics

    return tuple(topics[name] for name in sorted(topics))


def words(document: str) -> list[str]:
    """Returns lower-case words, numbers and single punctuation marks."""
    return re.findall(r"[a-z]+|[0-9]+|[^\sa-z0-9]", document.lower())


@cache
def vocabulary(size: int) -> dict[str, int]:
    """Returns piece -> id. Pieces after a word's start carry "##", as in WordPiece.

    Besides the special tokens and all single characters, it takes the pieces that save most tokens on the corpus:
    occurrences times (length - 1). Ties fall in alphabetical order, so equal corpora give equal vocabularies.
    """
    saved, single = Counter(), set()
    for word, count in Counter(w for doc in corpus() for w in words(doc)).items():
        for start in range(len(word)):
            mark = "##" if start else ""
            single.add(mark + word[start])
            for stop in range(start + 2, min(len(word), start + LONGEST) + 1):
                saved[mark + word[start:stop]] += count * (stop - start - 1)
    longer = sorted(saved, key=lambda piece: (-saved[piece], piece))
    return {piece: i for i, piece in enumerate([*SPECIAL, *sorted(single), *longer][:size])}


def encode(document: str, pieces: dict[str, int]) -> np.ndarray:
    """Returns the ids of a document: each word is cut into the longest pieces, from left to right."""
    return np.array([i for word in words(document) for i in _encode_word(word, pieces)], np.int64)


def _encode_word(word: str, pieces: dict[str, int]) -> list[int]:
    ids, start = [], 0
    while start < len(word):
        mark = "##" if start else ""
        for stop in range(min(len(word), start + LONGEST), start, -1):
            if mark + word[start:stop] in pieces:
                ids.append(pieces[mark + word[start:stop]])
                break
        else:
            return [UNK]
        start = stop
    return ids


def sample(documents, vocab: int, config, rng: np.random.Generator):
    """Returns (ids, types, places, words, follows) of one pre-training example of full length, without padding.

    Half of the second sentences follow the first. Of the predicted words, 80% become [MASK], 10% a random word,
    10% stay. Source: Devlin et al. 2018, section 3.1.
    """
    first = (config.sequence - 3) // 2
    second = config.sequence - 3 - first
    doc = documents[rng.integers(len(documents))]
    at = rng.integers(len(doc) - first - second + 1)
    follows = int(rng.random() < 0.5)
    other = doc[at + first :] if follows else documents[rng.integers(len(documents))]
    start = 0 if follows else rng.integers(len(other) - second + 1)
    ids = np.concatenate([[CLS], doc[at : at + first], [SEP], other[start : start + second], [SEP]])
    types = (np.arange(config.sequence) >= first + 2).astype(np.int64)
    places = np.sort(rng.choice(np.flatnonzero(ids >= len(SPECIAL)), config.predictions, replace=False))
    predicted = ids[places]
    fate = rng.random(config.predictions)
    shown = np.where(fate < 0.8, MASK, np.where(fate < 0.9, rng.integers(len(SPECIAL), vocab, fate.size), predicted))
    ids[places] = shown
    return ids, types, places, predicted, np.int64(follows)
