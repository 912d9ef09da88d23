"""Real text, divided for training and judging: IWSLT's talks, and text that you bring."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from transformer.data.cleaning import clean
from transformer.data.iwslt import load_iwslt
from transformer.data.parallel import DataError, ParallelText
from transformer.data.plain import load_plain
from transformer.data.sources import fetch_talks
from transformer.text.normalization import normalize

# What the literature calls the test set of IWSLT14 de-en: five sets in this order.
IWSLT14_TEST = ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012")
# The year's own test set, for folders that hold no training text.
NEWEST_SET = {"iwslt14": "TED.tst2012", "iwslt16": "TED.tst2014", "iwslt17": "TED.tst2015"}
# Every so manieth pair of the training text validates: the literature's 23 for the whole of
# IWSLT14; where pairs are few, fewer of them are given away.
VALID_EVERY, VALID_EVERY_OF_FEW = 23, 50
FEW_PAIRS = 50_000


@dataclass(frozen=True)
class Corpus:
    """Real text, divided: what to train on, what to judge by, and how it came about.

    Attributes:
        train: the training pairs, cleaned.
        splits: the texts to be judged by; the first is looked at during training.
        metadata: languages, numbers of pairs, what was dropped and why; ready for JSON.
    """

    train: ParallelText
    splits: dict[str, ParallelText]
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def is_small(self) -> bool:
        """Whether there is too little to learn from for a large model."""
        return len(self.train) < FEW_PAIRS


def iwslt_corpus(
    campaign: str,
    data_path: Path | str | None,
    *,
    source: str = "de",
    target: str = "en",
    test_sets: Sequence[str] = (),
) -> Corpus:
    """The talks of a campaign, divided.

    With a training file: it trains; iwslt14 validates on every 23rd pair of it and tests on five
    sets put together, as the literature does, the others validate on TED.dev2010 and test on each
    other set. Without one (folders of development and test sets only): all sets but `test_sets`
    train, every 50th pair of them validates.

    Args:
        campaign: "iwslt14", "iwslt16" or "iwslt17".
        data_path: folder or archive; None downloads the one of German and English.
        source, target: the languages.
        test_sets: names such as "TED.tst2014"; by default the campaign's.

    Raises:
        DataError: the data are missing or damaged, or lack such files or sets, or the download
            failed.
    """
    data_path = _or_fetched(campaign, data_path, source, target)
    talks = load_iwslt(data_path, source=source, target=target)
    tests = dict.fromkeys(test_sets) or _usual_tests(campaign, talks.sets, talks.train is not None)
    judged = _tests(data_path, talks.sets, list(tests))
    metadata: dict[str, Any] = {"source": source, "target": target, "test_sets": list(tests)}
    if talks.train is not None:
        text, metadata["training_text"] = talks.train, "the training file"
    else:
        others = [name for name in talks.sets if name not in tests]
        text = ParallelText.joined(talks.sets[name] for name in others)
        metadata["training_text"] = " + ".join(others)
    every = VALID_EVERY
    # The literature's limits for German and English; other scripts count words otherwise.
    strict = campaign == "iwslt14" and talks.train is not None and {source, target} == {"de", "en"}
    kept, dropped = clean(text, max_words=175, max_ratio=1.5) if strict else clean(text)
    metadata |= {"pairs": len(text), "metadata_lines": talks.metadata_lines, **dropped.to_dict()}
    if len(kept) < FEW_PAIRS:
        every = VALID_EVERY_OF_FEW
    splits = {}
    if campaign != "iwslt14" and talks.train is not None and "TED.dev2010" in talks.sets:
        splits["TED.dev2010"] = talks.sets["TED.dev2010"]
    else:
        kept, splits["valid"] = hold_out(kept, every)
    metadata["train_pairs"] = len(kept)
    return Corpus(kept, splits | judged, metadata)


def iwslt_splits(
    campaign: str, data_path: Path | str | None, metadata: Mapping[str, Any]
) -> dict[str, ParallelText]:
    """The test sets of a run from its metadata; the training text need not be there.

    Raises:
        DataError: the data are missing or damaged, or lack such a set.
    """
    languages = {"source": metadata["source"], "target": metadata["target"]}
    data_path = _or_fetched(campaign, data_path, **languages)
    sets = load_iwslt(data_path, **languages).sets
    return _tests(data_path, sets, metadata["test_sets"])


def _or_fetched(
    campaign: str, data_path: Path | str | None, source: str, target: str
) -> Path | str:
    """The path itself, or that of the campaign's archive from the network."""
    if data_path is not None:
        return data_path
    if {source, target} != {"de", "en"}:
        raise DataError(
            f"what can be fetched of {campaign} is German and English; for {source} and {target} "
            "name a folder or archive with --data"
        )
    return fetch_talks(campaign)


def _usual_tests(campaign: str, sets: Mapping[str, ParallelText], trains: bool) -> list[str]:
    if not trains:
        newest = NEWEST_SET[campaign]
        return [newest] if newest in sets else sorted(sets)[-1:]
    if campaign == "iwslt14":
        return [name for name in IWSLT14_TEST if name in sets]
    return [name for name in sets if name != "TED.dev2010"]


def _tests(
    data_path: Path | str, sets: Mapping[str, ParallelText], names: Sequence[str]
) -> dict[str, ParallelText]:
    if missing := [name for name in names if name not in sets]:
        raise DataError(
            f"{data_path} holds no set {', '.join(missing)}; there are {', '.join(sets)}"
        )
    if tuple(names) == IWSLT14_TEST:
        return {"test": ParallelText.joined(sets[name] for name in names)}
    return {name: sets[name] for name in names}


def hold_out(text: ParallelText, every: int) -> tuple[ParallelText, ParallelText]:
    """Two texts that share no sentence: all pairs but every `every`-th, and those.

    With a pair go all that share a sentence with it (as `normalize` writes them), and all that
    share one with these. Where that would hold out more than one pair in `every` so far, it trains,
    and a later pair with fewer relatives comes in its place.

    Raises:
        DataError: there are too few pairs, or all hang together.
    """
    groups = connected(list(text.normal_pairs()))
    group_of = {i: group for group in groups for i in group}
    held_out: set[int] = set()
    for n, i in enumerate(range(every - 1, len(text), every), 1):
        if i not in held_out and len(held_out) + len(group_of[i]) <= n:
            held_out.update(group_of[i])
    if not held_out and len(text) >= every:  # all groups are large
        held_out.update(sorted(groups, key=len)[0])
    if len(held_out) in (0, len(text)):
        raise DataError(
            f"{len(text)} sentence pairs are too few: of every {every}, one is kept to validate, "
            "with all that share a sentence with it; give a text of its own to validate with"
        )
    return text.only(i for i in range(len(text)) if i not in held_out), text.only(sorted(held_out))


def connected(pairs: Sequence[tuple[str, str]]) -> list[list[int]]:
    """The connected components of the graph whose nodes are sentences and whose edges are pairs.

    Returns:
        The pairs' indices, a list for each component, in the order of their first pairs.
    """
    parent: dict[tuple[int, str], tuple[int, str]] = {}

    def root(node: tuple[int, str]) -> tuple[int, str]:
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = node = parent[parent[node]]  # the way is halved as it is gone
        return node

    for source, target in pairs:
        parent[root((0, source))] = root((1, target))
    members: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    for i, (source, _) in enumerate(pairs):
        members[root((0, source))].append(i)
    return list(members.values())


def overlaps(train: ParallelText, splits: Mapping[str, ParallelText]) -> dict[str, int]:
    """How many sources of each split stand in the training text, as `normalize` writes both."""
    known = set(map(normalize, train.source))
    return {
        name: sum(normalize(line) in known for line in text.source) for name, text in splits.items()
    }


def text_corpus(data_path: Path | str | None, *, source: str = "de", target: str = "en") -> Corpus:
    """Your own text: see `load_plain` for the files; without one to validate, part is held out.

    Raises:
        DataError: the files are missing, damaged or not translations line by line.
    """
    if data_path is None:
        raise DataError("name the text with --data: a folder, a .tsv file, or what two files share")
    texts = load_plain(data_path, source=source, target=target)
    if "train" not in texts:
        raise DataError(f"{data_path} holds no training text, only {', '.join(texts)}")
    whole = texts.pop("train")
    kept, dropped = clean(whole)
    splits = _judged(texts)
    empty = {name: len(text) - len(splits[name]) for name, text in texts.items()}
    if wrong := [name for name, text in splits.items() if not len(text)]:
        raise DataError(f"{wrong[0]} of {data_path}: in every pair a side is empty")
    if "valid" not in splits:
        kept, valid = hold_out(kept, max(20, len(kept) // 1000))
        splits = {"valid": valid, **splits}
    metadata = {"source": source, "target": target, "pairs": len(whole), **dropped.to_dict()}
    metadata |= {"empty": empty} if any(empty.values()) else {}
    return Corpus(kept, splits, {**metadata, "train_pairs": len(kept)})


def with_more(corpus: Corpus, data_path: Path | str) -> Corpus:
    """A corpus that trains on other text too, and is judged by its own as before.

    Args:
        corpus: whose languages the other text must have.
        data_path: see `load_plain`; of a folder, what is there to train on.

    Raises:
        DataError: the other text is missing, damaged or not translations line by line.
    """
    languages = {side: corpus.metadata[side] for side in ("source", "target")}
    texts = load_plain(data_path, **languages)
    if "train" not in texts:
        raise DataError(f"{data_path} holds no training text, only {', '.join(texts)}")
    text, name = texts["train"], Path(data_path).name
    if Path(data_path).is_dir():  # else train.de is that of the corpus itself
        text = replace(text, origins=[(f"{name}/{file}", line) for file, line in text.origins])
    more, dropped = clean(text)
    also = {"name": name, "pairs": len(more), **dropped.to_dict()}
    train = ParallelText.joined([corpus.train, more])
    return replace(corpus, train=train, metadata={**corpus.metadata, "also": also})


def text_splits(
    data_path: Path | str | None, metadata: Mapping[str, Any]
) -> dict[str, ParallelText]:
    """The texts beside the training text, which need not be there.

    Raises:
        DataError: there are none, or they are damaged.
    """
    languages = {"source": metadata["source"], "target": metadata["target"]}
    if data_path is None:
        raise DataError("name the folder or file of the texts with --data")
    texts = load_plain(data_path, **languages)
    splits = _judged({name: text for name, text in texts.items() if name != "train"})
    return splits or text_corpus(data_path, **languages).splits


def _judged(texts: Mapping[str, ParallelText]) -> dict[str, ParallelText]:
    """Without the pairs that have an empty side: those can be neither translated nor compared."""
    return {
        name: text.only(i for i, pair in enumerate(text.normal_pairs()) if all(pair))
        for name, text in texts.items()
    }
