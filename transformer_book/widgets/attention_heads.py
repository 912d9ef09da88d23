"""All heads of a trained model at once, for chosen sentences, and one of them enlarged."""

import dataclasses
import operator
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from transformer.text import BOS, EOS, SPACE

from transformer_book.widgets.attentions import KINDS, text_of
from transformer_book.widgets.base import Widget

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ONE = 1000  # a weight of 1 as the page gets it
TOLERANCE = 1e-2
MOST_TOKENS_OF_ALL_HEADS = 40  # longer sentences have only the enlarged head as their twin

BYTE = re.compile(r"<0x([0-9A-F]{2})>")  # as `BPETokenizer` spells what it has no piece for
BYTES = re.compile(rf"(?:{BYTE.pattern})+")
# What asks for a language at the head of a source is none of the sentence's words.
DIRECTION = re.compile(rf"{SPACE}?\u2192[a-z]+")

_NAME = re.compile(r"encoder\.(\d+)\.self|decoder\.(\d+)\.self|decoder\.(\d+)\.cross")

Layers = dict[str, list[np.ndarray]]


class AttentionHeads(Widget):
    """Every layer and head as a small picture; the chosen one large, as a matrix or as lines.

    The page gets the weights as thousandths; what it shows and what the methods return is made
    of these, so both agree to the last digit.

    Args:
        examples: one example or several of the same model, each with "source" and "target" (the
            tokens), "weights" (name as in `record_attention` -> (heads, query, key), any array)
            and, if known, "alignment": (target row, source column) pairs. What
            `Translator.attention` returns is an example too.
        on_sentence: translates a reader's own sentence into a further example, where a kernel
            runs. What it raises is shown to the reader.
        written: show cross-attention only, each row under the token that is about to be written
            (it has read the one before), without the signs that stand for spaces.
        settings: the traits example, kind, layer, head (all counted from 0) and view; and live,
            what `page_model` says of the model, by which a page translates a reader's own
            sentence without a kernel.

    Raises:
        ValueError: tokens and weights do not fit, or a row of weights does not sum to 1.
        traitlets.TraitError: the view is unknown.
    """

    description = traitlets.Unicode(
        "The attention weights of every layer and head as small pictures, and of one head "
        "enlarged: which token looks at which, and how much."
    ).tag(sync=True)
    example = traitlets.Int(0).tag(sync=True)
    kind = traitlets.Unicode().tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    view = traitlets.Enum(["matrix", "lines"], "matrix").tag(sync=True)
    contents = traitlets.Dict().tag(sync=True)
    packed = traitlets.Bytes().tag(sync=True)
    can_translate = traitlets.Bool(False).tag(sync=True)
    written = traitlets.Bool(False, read_only=True).tag(sync=True)
    sentence = traitlets.Unicode().tag(sync=True)
    message = traitlets.Unicode().tag(sync=True)
    live = traitlets.Dict().tag(sync=True)
    on_sentence = traitlets.Callable(None, allow_none=True)

    def __init__(
        self,
        examples: Any,
        *,
        on_sentence: Callable[[str], Any] | None = None,
        written: bool = False,
        **settings: Any,
    ) -> None:
        self.set_trait("written", written)
        one = isinstance(examples, Mapping) or dataclasses.is_dataclass(examples)
        self._labels: list[dict[str, Any]] = []
        self._layers: list[Layers] = []
        if not one and not isinstance(examples, Iterable):
            raise ValueError(f"examples is {examples!r}; give one example or a list of them")
        for example in [examples] if one else examples:
            self._append(example)
        if not self._layers:
            raise ValueError("there are no examples; give at least one with tokens and weights")
        settings.setdefault("kind", next(iter(self._layers[0])))
        super().__init__(**self._state(), on_sentence=on_sentence, **settings)

    def weights(self, kind: str, layer: int, head: int) -> np.ndarray:
        """The (query, key) weights of a head for the current example, in thousandths of 1."""
        return self._thousandths(kind, layer, head) / ONE

    def statistics(self) -> list[dict[str, Any]]:
        """What each head of the current example does, on the whole.

        Each has its kind, layer and head, "entropy" in bits (0: all on one token), "previous"
        (mean weight on the token before; None for cross-attention), "diagonal" (mean weight on
        the token at the same position), and "aligned" (mean weight on the true links; None
        without).
        """
        return [
            {"kind": kind, "layer": layer, "head": head, **self._summary(kind, cells)}
            for kind, layers in self._layers[self.example].items()
            for layer, heads in enumerate(layers)
            for head, cells in enumerate(heads)
        ]

    def add(self, example: Any) -> None:
        """Puts a further example of the same model beside the others, and shows it."""
        self._append(example)
        with self.hold_sync():
            for name, value in self._state().items():
                setattr(self, name, value)
            self.example = len(self._layers) - 1

    def twin(self) -> "Figure":
        """All heads of the current kind on paper; of long sentences, the enlarged head."""
        from transformer_book.figures.heatmaps import attention_heads, attention_heatmap

        labels = self._labels[self.example]
        rows, columns = (labels[side] for side in KINDS[self.kind])
        layers = self._layers[self.example][self.kind]
        links = labels["alignment"] if self.kind == "cross" else []
        frames = [(row, column) for row, column in links]
        if max(len(rows), len(columns)) <= MOST_TOKENS_OF_ALL_HEADS:
            n_heads = max(len(heads) for heads in layers)
            cell = min(0.34, 20 / (n_heads * len(columns)), 20 / (len(layers) * len(rows)))
            named = {f"layer {i + 1}": heads / ONE for i, heads in enumerate(layers)}
            return attention_heads(named, rows, columns, alignment=frames, cell=cell)

        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=(8, 8))
        attention_heatmap(
            self.weights(self.kind, self.layer, self.head),
            [""] * len(rows),
            [""] * len(columns),
            ax=ax,
            alignment=frames,
            title=f"{self.kind}, layer {self.layer + 1}, head {self.head + 1}",
            annotate=False,
            gap=0,
        )
        return figure

    def _append(self, example: Any) -> None:
        labels, layers = _checked(example, f"example {len(self._layers)}")
        labels["said"] = _said(labels)
        if self.written:
            if "cross" not in layers:
                raise ValueError(f"example {len(self._layers)} has no cross-attention to show")
            labels, layers = _as_written(labels), {"cross": layers["cross"]}
        if self._layers and _heads(layers) != _heads(self._layers[0]):
            raise ValueError(
                f"example {len(self._layers)} has other layers or heads than example 0; "
                "give each model a widget of its own"
            )
        self._labels.append(labels)
        self._layers.append(layers)

    def _state(self) -> dict[str, Any]:
        """What the front end needs: names and shapes, and all the weights in one pack."""
        cells = np.concatenate(
            [heads.ravel() for layers in self._layers for kind in layers.values() for heads in kind]
        )
        # Small numbers have empty high bytes, so these stand together.
        planes = cells.astype("<u2").view(np.uint8).reshape(-1, 2).T
        return {
            "contents": {"heads": _heads(self._layers[0]), "examples": list(self._labels)},
            "packed": zlib.compress(planes.tobytes(), 9),
        }

    def _thousandths(self, kind: str, layer: int, head: int) -> np.ndarray:
        layers = self._layers[self._inside(self.example)]
        if kind not in layers:
            raise ValueError(f"there is no attention of kind {kind!r}; choose of {list(layers)}")
        for name, index, count in (
            ("layer", layer, len(layers[kind])),
            ("head", head, len(layers[kind][min(max(layer, 0), len(layers[kind]) - 1)])),
        ):
            if not 0 <= index < count:
                raise ValueError(f"{name} {index} is not there; choose from 0 to {count - 1}")
        return layers[kind][layer][head]

    def _summary(self, kind: str, cells: np.ndarray) -> dict[str, float | None]:
        sums = cells.sum(axis=1, dtype=float)
        share = cells[sums > 0] / sums[sums > 0][:, None]
        entropy = -(share * np.log2(np.where(share > 0, share, 1))).sum(axis=1)
        rows: dict[int, float] = {}
        for row, column in self._labels[self.example]["alignment"] if kind == "cross" else []:
            rows[row] = rows.get(row, 0) + cells[row, column] / ONE
        return {
            "entropy": _mean(entropy),
            "previous": None if kind == "cross" else _mean(np.diagonal(cells, -1) / ONE),
            "diagonal": _mean(np.diagonal(cells) / ONE),
            "aligned": _mean(np.array(list(rows.values()))),
        }

    @traitlets.validate("example")
    def _is_there(self, proposal: dict[str, Any]) -> int:
        return self._inside(proposal["value"])

    def _inside(self, index: int) -> int:
        if not 0 <= index < len(self._layers):
            raise ValueError(
                f"example {index} is not there; choose from 0 to {len(self._layers) - 1}"
            )
        return index

    @traitlets.validate("kind", "layer", "head")
    def _exists(self, proposal: dict[str, Any]) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        # A new kind may have fewer layers; _stay_inside sees to it.
        shown = (value, 0, 0) if name == "kind" else (self.kind, self.layer, 0)
        shown = (self.kind, value, 0) if name == "layer" else shown
        self._thousandths(*((self.kind, self.layer, value) if name == "head" else shown))
        return value

    @traitlets.observe("kind", "layer")
    def _stay_inside(self, change: Any) -> None:
        layers = self._layers[self.example][self.kind]
        self.layer = min(self.layer, len(layers) - 1)
        self.head = min(self.head, len(layers[self.layer]) - 1)

    @traitlets.observe("on_sentence")
    def _offer(self, change: Any) -> None:
        self.can_translate = self.on_sentence is not None

    @traitlets.observe("sentence")
    def _translate(self, change: Any) -> None:
        if self.on_sentence is None or not self.sentence.strip():
            return
        self.message = ""
        try:
            self.add(self.on_sentence(self.sentence))
        except Exception as error:  # whatever the callback raises is the reader's to see
            self.message = str(error) or type(error).__name__


def _heads(layers: Layers) -> dict[str, list[int]]:
    return {kind: [len(heads) for heads in arrays] for kind, arrays in layers.items()}


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if values.size else None


def _checked(example: Any, name: str) -> tuple[dict[str, Any], Layers]:
    """The labels of an example and its weights in thousandths, by kind and layer."""
    if dataclasses.is_dataclass(example):
        example = vars(example)
    if not isinstance(example, Mapping) or not isinstance(example.get("weights"), Mapping):
        raise ValueError(f'{name} has no weights; give a dict with "source", "target", "weights"')
    found: dict[str, dict[int, Any]] = {kind: {} for kind in KINDS}
    for key, weights in example["weights"].items():
        match = _NAME.fullmatch(str(key))
        if match is None or match.lastindex is None:
            raise ValueError(
                f'{name} has weights of unknown kind {key!r}; name them as "encoder.0.self", '
                '"decoder.0.self" or "decoder.0.cross"'
            )
        kind = list(KINDS)[match.lastindex - 1]
        found[kind][int(match[match.lastindex])] = (key, weights)
    labels: dict[str, Any] = {
        side: _tokens(example.get(side, ()), f"{side} of {name}") for side in ("source", "target")
    }
    layers: Layers = {}
    for kind, by_number in found.items():
        if sorted(by_number) != list(range(len(by_number))):
            raise ValueError(
                f"{name} lacks a layer of {kind}: it has {sorted(by_number)}; count from 0"
            )
        for i in range(len(by_number)):
            key, weights = by_number[i]
            rows, columns = (labels[side] for side in KINDS[kind])
            for side in KINDS[kind]:
                if not labels[side]:
                    raise ValueError(f"the {side} of {name} is empty, but {key} needs its tokens")
            cells = _thousandths(weights, len(rows), len(columns), f"{key} of {name}")
            layers.setdefault(kind, []).append(cells)
    if not layers:
        raise ValueError(f"the weights of {name} are empty; record the attention first")
    labels["alignment"] = []
    for link in example.get("alignment") or ():
        try:
            row, column = (operator.index(index) for index in link)
        except (TypeError, ValueError):
            raise ValueError(
                f"the alignment of {name} has {link!r}; give (target row, source column) pairs"
            ) from None
        if not (0 <= row < len(labels["target"]) and 0 <= column < len(labels["source"])):
            raise ValueError(
                f"the alignment of {name} has {(row, column)}, outside its "
                f"{len(labels['target'])} target and {len(labels['source'])} source tokens"
            )
        if [row, column] not in labels["alignment"]:  # a link named twice counts once
            labels["alignment"].append([row, column])
    return labels, layers


def _as_written(labels: dict[str, Any]) -> dict[str, Any]:
    """Each row under the token that is about to be written, and all without signs for spaces."""
    plain = {
        side: [token.replace(SPACE, "") or token for token in tokens]
        for side, tokens in (
            ("source", labels["source"]),
            ("target", [*labels["target"][1:], EOS]),
        )
    }
    return labels | plain


def _said(labels: dict[str, Any]) -> str:
    """The sentence and, if there is one, its translation, as text."""
    source, target = labels["source"], labels["target"]
    asks = bool(source) and DIRECTION.fullmatch(source[0]) is not None
    texts = filter(None, (source[asks:], target))
    return " \u2192 ".join(_spelled([t for t in text if t not in (BOS, EOS)]) for text in texts)


def _spelled(tokens: list[str]) -> str:
    """Tokens as text, the bytes among them as the characters that they spell."""
    return BYTES.sub(_characters, text_of(tokens, any(SPACE in token for token in tokens)))


def _characters(run: re.Match[str]) -> str:
    """What the bytes of characters that are no pieces spell."""
    return bytes.fromhex("".join(BYTE.findall(run[0]))).decode(errors="replace")


def _tokens(tokens: Any, name: str) -> list[str]:
    if isinstance(tokens, str) or not isinstance(tokens, Iterable):
        raise ValueError(f"the {name} is {tokens!r}; give a list of its tokens")
    return [str(token) for token in tokens]


def _thousandths(weights: Any, rows: int, columns: int, name: str) -> np.ndarray:
    if hasattr(weights, "detach"):  # a tensor, perhaps in bfloat16 or on a GPU
        weights = weights.detach().cpu().float().numpy()
    try:
        array = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is no array of numbers; give (heads, query, key)") from None
    if array.ndim != 3 or not len(array) or array.shape[1:] != (rows, columns):
        raise ValueError(
            f"{name} has the shape {array.shape}, but its tokens need (heads, {rows}, {columns})"
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds NaN or infinite numbers; give weights from 0 to 1")
    if array.min() < 0:
        raise ValueError(f"{name} holds {array.min():.3g}; give weights from 0 to 1, not scores")
    sums = array.sum(axis=2)
    wrong = (np.abs(sums - 1) > TOLERANCE) & (sums != 0)
    if wrong.any():
        head, row = np.argwhere(wrong)[0]
        raise ValueError(
            f"row {row} of head {head} in {name} sums to {sums[head, row]:.3f}, not to 1; "
            "in training, dropout takes weights out and enlarges the rest: call model.eval() "
            "first, or give what record_attention has kept, which is from before dropout. If these "
            "are scores, give the weights after the softmax"
        )
    return np.minimum(np.rint(array * ONE), ONE).astype(np.uint16)
