"""Texts that the models read: their own samples, the King James Bible, and Debian's licences and documents.

No text is stored. `bible` is Debian's program (packages bible-kjv and bible-kjv-text); the other files belong to every Debian system.
"""

import glob
import gzip
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess

import numpy as np
import torch

from .readers import STORIES15M_BYTES, InputError

#: Documents in plain English prose, of packages that Debian installs or that synergraph's setup does.
DOCUMENTS = ("/usr/share/common-licenses/GPL-3", "/usr/share/common-licenses/GFDL-1.3", "/usr/share/common-licenses/Artistic",
             "/usr/share/common-licenses/MPL-2.0", "/usr/share/doc/coreutils/NEWS.gz", "/usr/share/doc/libc6/NEWS.gz")
SOURCES = ("own", "bible", "documents")


class SentencePiece:
    """llama2.c's tokenizer: the pair of neighbours with the best score is joined until no pair is a token."""

    def __init__(self, data, vocabulary):
        at, self.tokens, self.words, self.scores = 4, {}, {}, []
        for k in range(vocabulary):
            score, size = struct.unpack_from("<fi", data, at)
            self.tokens[bytes(data[at + 8 : at + 8 + size])] = k  # the last of equals: bytes come first, then letters
            self.words[k] = bytes(data[at + 8 : at + 8 + size])
            self.scores.append(score)
            at += 8 + size
        # If every space begins its token, words do not meet: each is encoded once. Tokens of spaces alone need two in a row.
        self._by_words = not any(b" " in word[1:] and word.strip(b" ") for word in self.words.values())
        self._known = {}

    def encode(self, text):
        if not self._by_words or "  " in " " + text:
            return self.joined(" " + text)
        pieces = []
        for word in re.findall(r" [^ ]*", " " + text):
            if word not in self._known:
                self._known[word] = self.joined(word)
            pieces += self._known[word]
        return pieces

    def joined(self, text):
        """The tokens of a text, or of a word with the space before it."""
        pieces = []
        for letter in text:
            one = letter.encode()
            pieces += [self.tokens[one]] if one in self.tokens else [byte + 3 for byte in one]
        words = self.words
        while True:
            best, place = -1e30, None
            for k, (a, b) in enumerate(zip(pieces, pieces[1:])):
                joined = self.tokens.get(words[a] + words[b])
                if joined is not None and self.scores[joined] > best:
                    best, place = self.scores[joined], (k, joined)
            if place is None:
                return pieces
            pieces[place[0] : place[0] + 2] = [place[1]]


class BytePairs:
    """A tokenizer.json with byte-level pairs. The pattern that splits words is GPT-2's for ASCII."""

    WORDS = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+")

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            model = json.load(file)["model"]
        self.vocabulary = model["vocab"]
        self.order = {tuple(pair.split() if isinstance(pair, str) else pair): k for k, pair in enumerate(model["merges"])}

    def encode(self, text):
        ids = []
        for word in self.WORDS.findall(text):
            # ASCII's printable characters stand for themselves; a space, and what is below it, for the character 256 above.
            pieces = [chr(256 + ord(c)) if ord(c) <= 32 else c for c in word]
            while len(pieces) > 1:
                place = min(range(len(pieces) - 1), key=lambda k: self.order.get((pieces[k], pieces[k + 1]), 1 << 30))
                if (pieces[place], pieces[place + 1]) not in self.order:
                    break
                pieces[place : place + 2] = [pieces[place] + pieces[place + 1]]
            ids += [self.vocabulary[piece] for piece in pieces]
        return ids


def tokenizer_for(path, vocabulary, given=None):
    """The tokenizer of a model: the given file, or the one that stands with the model."""
    if given is None and path.endswith(".data"):
        with open(path, "rb") as file:
            return SentencePiece(file.read()[STORIES15M_BYTES:], vocabulary)
    if given is None and (os.path.isdir(path) or path.endswith(".onnx")):
        given = os.path.join(path if os.path.isdir(path) else os.path.join(os.path.dirname(path), ".."), "tokenizer.json")
    if given is None:
        return None
    try:
        if given.endswith(".json"):
            return BytePairs(given)
        with open(given, "rb") as file:
            return SentencePiece(file.read(), vocabulary)
    except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
        raise InputError(f"{given}: not a tokenizer of llama2.c and not a tokenizer.json ({type(error).__name__}: {error})") from None


def bible(program):
    """The verses in order, without their numbers."""
    folder = [] if program is None or not os.path.isdir(program) else ["-p", os.path.join(program, "usr", "lib")]
    command = shutil.which("bible") if not folder else os.path.join(program, "usr", "bin", "bible")
    if command is None or not os.path.exists(command):
        raise InputError("bible: no such program; install Debian's bible-kjv, or name with --bible a folder into which its packages were unpacked")
    lines = subprocess.run([command, *folder, "-f", "-l", "100000", "ge1:1-rev22:21"], stdin=subprocess.DEVNULL, capture_output=True,
                           check=True).stdout.decode("ascii", "ignore").splitlines()
    return [" ".join(line.split(" ")[1:]) for line in lines if " " in line]


def paragraphs():
    """Paragraphs of the documents that exist here, of 200 ASCII characters and more."""
    found = []
    for path in DOCUMENTS:
        for name in glob.glob(path):
            with (gzip.open if name.endswith(".gz") else open)(name, "rb") as file:
                text = file.read().decode("ascii", "ignore")
            found += [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
    return [part for part in found if len(part) >= 200]


def pieces(parts, encode, count, tokens, begin, rng, rest=False):
    """`count` texts of `tokens` tokens that begin at random parts: disjoint ones. With `rest`, also the parts that no text has; None
    stands where a text was."""
    taken, texts = np.array([part is None for part in parts]), []
    for _ in range(100 * count):
        if len(texts) == count:
            break
        first = last = int(rng.integers(len(parts)))
        ids = [begin] if isinstance(begin, int) else list(begin)
        while len(ids) < tokens and last < len(parts) and not taken[last]:
            ids += encode(parts[last])
            last += 1
        if len(ids) >= tokens:
            taken[first:last] = True
            texts.append(ids[:tokens])
    if len(texts) < count:
        raise InputError(f"{len(parts)} parts of text give {len(texts)} disjoint texts of {tokens} tokens; {count} are needed")
    return (torch.tensor(texts), [None if gone else part for part, gone in zip(parts, taken)]) if rest else torch.tensor(texts)


def read_texts(tokenizer, begin, samples, tokens, seed, program=None):
    """Texts that others wrote, by source: (samples / 4, tokens) each."""
    count = -(-samples // 4)
    rng = np.random.default_rng(seed)
    return {"bible": pieces(bible(program), tokenizer.encode, count, tokens, begin, rng),
            "documents": pieces(paragraphs(), tokenizer.encode, count, tokens, begin, rng)}


def texts_of(model, read, samples, tokens, seed):
    """Texts (samples, tokens) and the source of each: half of them the model's own, a quarter of each other source, in turn.

    Texts 4 k and 4 k + 2 are own, 4 k + 1 Bible, 4 k + 3 documents. Texts 4 k and 4 k + 1 are one half of the study. Without texts to
    read, all are the model's own.
    """
    if read is None:
        return model.sample(samples, tokens, seed), ["own"] * samples
    if any(len(one) < samples // 4 or one.shape[1] < tokens for one in read.values()):
        raise InputError(f"there are fewer prepared texts than {samples // 4} of each source, or they have fewer than {tokens} tokens")
    own = model.sample(2 * -(-samples // 4), tokens, seed)
    order = ("own", "bible", "own", "documents")
    ids = torch.stack([own[2 * (k // 4) + (k % 4) // 2] if k % 4 in (0, 2) else torch.as_tensor(read[order[k % 4]][k // 4][:tokens])
                       for k in range(samples)])
    return ids, [order[k % 4] for k in range(samples)]


def recall(rng, samples, length, vocabulary):
    keys, pairs = vocabulary // 2, length // 4
    ids, targets = np.empty((samples, length), np.int64), np.full((samples, length), -1)
    for text, wanted in zip(ids, targets):
        key, value = rng.permutation(keys)[:pairs], rng.integers(keys, vocabulary, pairs)
        text[0 : 2 * pairs : 2], text[1 : 2 * pairs : 2] = key, value
        asked = rng.integers(pairs, size=length - 2 * pairs)
        text[2 * pairs :], wanted[2 * pairs :] = key[asked], value[asked]
    return ids, targets


def delayed_copy(rng, samples, length, vocabulary):
    half = length // 2
    first = rng.integers(vocabulary - 1, size=(samples, half))
    ids = np.concatenate([first, np.full((samples, 1), vocabulary - 1), first[:, :-1]], 1)
    return ids, np.concatenate([np.full((samples, half), -1), first], 1)


def maximum(rng, samples, length, vocabulary):
    ids = (rng.random((samples, length)) * (1 + rng.integers(vocabulary, size=(samples, 1)))).astype(np.int64)
    return ids, np.maximum.accumulate(ids, 1)


def second_maximum(rng, samples, length, vocabulary):
    ids, _ = maximum(rng, samples, length, vocabulary)
    return ids, np.array([[-1] + [sorted(text[: i + 1])[-2] for i in range(1, length)] for text in ids])


def parity(rng, samples, length, vocabulary):
    ids = rng.integers(2, size=(samples, length))
    return ids, ids.cumsum(1) % 2


def majority(rng, samples, length, vocabulary):
    ids = rng.integers(2, size=(samples, length))
    ahead = 2 * ids.cumsum(1) - np.arange(1, length + 1)
    return ids, np.where(ahead == 0, -1, ahead > 0)


def copy(rng, samples, length, vocabulary):
    ids = rng.integers(vocabulary, size=(samples, length))
    return ids, ids


def cycle(rng, samples, length, vocabulary):
    ids, _ = copy(rng, samples, length, vocabulary)
    return ids, np.roll(ids, 1, 1)


#: The tasks of docs/training.md: inputs and targets; -1 where the answer does not count.
TASKS = {"copy": copy, "cycle": cycle, "recall": recall, "delayed-copy": delayed_copy, "maximum": maximum, "second-maximum": second_maximum,
         "parity": parity, "majority": majority}


def task_sequences(model, task, samples, seed):
    """Random sequences of a task and their targets."""
    ids, targets = TASKS[task](np.random.default_rng(seed), samples, model.longest, model.vocabulary)
    return torch.from_numpy(ids), torch.from_numpy(targets)


def fingerprint(*arrays):
    """A short name of arrays' bytes, so that results of other texts are never mixed."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]
