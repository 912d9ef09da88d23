"""Multi30k (Elliott et al. 2016): 29,000 captions of photographs, German and English."""

from dataclasses import dataclass
from pathlib import Path

from transformer.data.cleaning import LONGEST_WORD, longest_word
from transformer.data.download import cache_folder, fetch
from transformer.data.limits import Budget, inside
from transformer.data.parallel import DataError, ParallelText, read_parallel

COMMIT = "a3d2e0d26b56f3846f66a952536ffed4e401d05a"
ADDRESSES = (
    "https://raw.githubusercontent.com/multi30k/dataset/{commit}/data/task1/raw/{name}",
    "https://cdn.jsdelivr.net/gh/multi30k/dataset@{commit}/data/task1/raw/{name}",
)
TEST_SPLITS = ("test_2016_flickr", "test_2017_flickr", "test_2017_mscoco", "test_2018_flickr")
SPLITS = ("train", "val", *TEST_SPLITS)
SHA256 = {
    "train.de.gz": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "val.de.gz": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "test_2016_flickr.de.gz": "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    "test_2016_flickr.en.gz": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    "test_2017_flickr.de.gz": "a2c89666db00c495cd8513b9d708d5a3acc205d7de312ef2bf5fb7ebc1540aee",
    "test_2017_flickr.en.gz": "76a444ee25172e72695cddb13ae4a3bda59430617be88e0bb46b60504f054074",
    "test_2017_mscoco.de.gz": "799e4854c25d601cb6cb6be29eabe5667734c61ace2f495e03e429031a0bc338",
    "test_2017_mscoco.en.gz": "aab300bfb4427697987e02cd0aacd44bfe8aa50456231b6474c08038bbed2b58",
    "test_2018_flickr.de.gz": "ddd0130c7d97482dc5197a02141dae8dd79f20f03586c480d675c09a32daf608",
    "test_2018_flickr.en.gz": "ef4f4844037d4c5dea75c9a8ed5fd78905967a26f67c255e230cc9780032654d",
}


def fetch_multi30k(folder: Path | str | None = None) -> Path:
    """Download what is missing of the files (1.4 MB) into a folder, by default in the cache.

    Raises:
        DataError: a file cannot be downloaded.
    """
    folder = Path(folder) if folder is not None else cache_folder() / "multi30k"
    for name, checksum in SHA256.items():
        urls = [address.format(commit=COMMIT, name=name) for address in ADDRESSES]
        fetch(name, checksum, urls, folder)
    return folder


@dataclass(frozen=True)
class Multi30k:
    """The splits: 29,000 pairs to train, 1,014 to validate, and the test sets by name."""

    train: ParallelText
    valid: ParallelText
    tests: dict[str, ParallelText]

    @property
    def splits(self) -> dict[str, ParallelText]:
        """The texts to judge by, by name."""
        return {"valid": self.valid, **self.tests}


def load_multi30k(
    data_path: Path | str | None = None, *, source: str = "de", target: str = "en"
) -> Multi30k:
    """Read Multi30k from a folder of .gz files, or download it (1.4 MB) where there is none.

    Args:
        data_path: folder of `train.de.gz` and the others; None downloads them into the cache.
        source, target: "de" and "en" in either order.

    Raises:
        DataError: a file is missing, damaged or too large, or a link to one elsewhere, or it
            cannot be downloaded.
    """
    if {source, target} != {"de", "en"}:
        raise ValueError(f"Multi30k here is German and English, not {source!r} and {target!r}")
    if data_path is None:
        data_path = fetch_multi30k()
    elif not Path(data_path).is_dir():
        raise DataError(f"there is no folder {data_path}; name the one that holds train.de.gz")
    folder, budget = Path(data_path), Budget(str(data_path))
    splits = {}
    for split in SPLITS:
        sides = [inside(folder, folder / f"{split}.{side}.gz") for side in (source, target)]
        splits[split] = read_parallel(sides[0], sides[1], budget)
        for side, lines in zip(sides, (splits[split].source, splits[split].target), strict=True):
            if max(map(longest_word, lines), default=0) > LONGEST_WORD:
                raise DataError(
                    f"{side} holds a word of more than {LONGEST_WORD:,} letters, which no caption "
                    "has; fetch it again"
                )
    tests = {split: splits[split] for split in TEST_SPLITS}
    return Multi30k(splits["train"], splits["val"], tests)
