"""Records which heads of the shipped caption model look along links that rules find in captions.

Use: python -m tools.caption_heads --data FOLDER --out book/results/caption_heads.json

The folder is that of Multi30k. Its validation and test captions are read, which the model has not
been trained on. For each kind of link the head is chosen on every second caption that has one, and
measured on the others; an untrained model of the same shape chooses its best head the same way.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from transformer.data.caption_links import (
    Link,
    adjective_links,
    article_links,
    caption_words,
    nouns_before,
    owner_links,
    prefix_links,
)
from transformer.data.parallel import DataError
from transformer.files import FileError
from transformer.head_measures import merge_words, word_groups
from transformer.head_search import (
    LinkedSentence,
    best_distance,
    encoder_weights,
    find_head,
)
from transformer.model import Transformer
from transformer.results import write_result
from transformer.runtime import provenance, require_commit, without_folders
from transformer.shipped import shipped_model
from transformer.tasks import multi30k_splits
from transformer.text import EOS, EOS_ID, Tokenizer

RULES: dict[str, Callable[[list[str]], set[Link]]] = {
    "prefix": prefix_links,
    "owner": owner_links,
    "article": article_links,
    "adjective": adjective_links,
}


def linked(
    model: Transformer, tokenizer: Tokenizer, captions: Sequence[str], rule: str
) -> list[tuple[list[str], LinkedSentence]]:
    """The captions that a rule finds a link in: their words, and their weights between words."""
    chosen = []
    for caption in captions:
        words = caption_words(caption)
        ids = [*tokenizer.encode(caption), EOS_ID]
        links = RULES[rule](words)
        try:
            groups = word_groups(tokenizer.pieces(ids), [*words, EOS])
        except ValueError:  # the tokenizer spells an unusual sign in another way
            continue
        if links:
            chosen.append((words, ids, groups, links))
    weights = encoder_weights(model, [ids for _, ids, _, _ in chosen])
    return [
        (words, LinkedSentence(merge_words(found, groups, groups), links))
        for (words, _, groups, links), found in zip(chosen, weights, strict=True)
    ]


def owner_guesses(found: Sequence[tuple[list[str], LinkedSentence]]) -> dict[str, float]:
    """How often the first noun of a caption is the owner, and how often the nearest one."""
    hits = []
    for words, sentence in found:
        ((pronoun, owner),) = sentence.links
        nouns = nouns_before(words, pronoun)
        hits.append((nouns[0] == owner, nouns[-1] == owner))
    first, nearest = (sum(column) / len(found) for column in zip(*hits, strict=True))
    return {"first noun": first, "nearest noun": nearest}


def record(captions: Sequence[str]) -> dict[str, Any]:
    """What there is to say about each rule, for the trained and an untrained model."""
    translator = shipped_model()
    config = translator.model.config
    torch.manual_seed(0)
    models = {"trained": translator.model, "untrained": Transformer(config).eval()}
    rules: dict[str, Any] = {}
    for rule in RULES:
        entry: dict[str, Any] = {}
        for name, model in models.items():
            found = linked(model, translator.tokenizer, captions, rule)
            half, other = found[::2], found[1::2]
            chosen_on, measured_on = ([s for _, s in part] for part in (half, other))
            head = find_head(chosen_on, measured_on)
            entry[name] = asdict(head) | {"name": head.name(config.n_heads)}
            entry["captions"] = len(found)
            entry["distance"] = best_distance(chosen_on, measured_on)
            if rule == "owner":
                entry["guesses"] = owner_guesses(other)
        rules[rule] = entry
    return rules


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads the captions, searches, writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of Multi30k")
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    given = parser.parse_args(arguments)
    origin = provenance(torch.device("cpu"))
    try:
        require_commit(origin["commit"], "the record", "then record")
        splits = multi30k_splits(given.data)
    except (ValueError, DataError, FileError) as error:
        print(error, file=sys.stderr)
        return 1
    captions = [caption for text in splits.values() for caption in text.source]
    result = {
        **origin,
        "command": " ".join(["python -m tools.caption_heads", *map(without_folders, sys.argv[1:])]),
        "data": {"name": "multi30k", "splits": list(splits), "n_captions": len(captions)},
        "rules": record(captions),
    }
    write_result(given.out, result)
    print(f"Recorded in {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
