"""Where the talks come from: addresses, and the checksums that others have published for them."""

from pathlib import Path

from transformer.data.download import cache_folder, fetch

WIT3 = "https://wit3.fbk.eu/archive"
WIT3_ON_GITHUB = "https://raw.githubusercontent.com/hlt-mt/WIT3/master/archive"
# German and English. A file has the checksum that is published for it at its address; packed twice,
# the same texts have two.
IWSLT: dict[str, tuple[tuple[str, str], ...]] = {
    # fairseq's copy; the MD5 stands in several scripts that prepare it.
    "iwslt14": (
        (
            "https://dl.fbaipublicfiles.com/fairseq/data/iwslt14/de-en.tgz",
            "10936dfdf616504ddbd844e91b94ef4a",
        ),
        (f"{WIT3}/2014-01/texts/de/en/de-en.tgz", "10936dfdf616504ddbd844e91b94ef4a"),
    ),
    # torchtext's copy holds all languages, archives within an archive, and torchtext its MD5; the
    # original's SHA-256 is CorpusLoaders.jl's.
    "iwslt16": (
        (
            "https://drive.google.com/uc?id=1l5y6Giag9aRPwGtuZHswh3w5v3qEz8D8&confirm=t",
            "c393ed3fc2a1b0f004b3331043f615ae",
        ),
        (
            f"{WIT3}/2016-01/texts/de/en/de-en.tgz",
            "7e21dd345e9192180f36d7816f84a77eafd6b85e45432d90d0970f06e8c772ea",
        ),
    ),
    # The SHA-256 is that of Hugging Face's datasets library, the MD5 that of sacreBLEU.
    "iwslt17": (
        (
            "https://huggingface.co/datasets/iwslt2017/resolve/"
            "ebd7c60d9800c2a1be010a227e5f0a2363730f7a/data/2017-01-trnted/texts/de/en/de-en.tgz",
            "ebcd53c53c8df742437e3a0fb964772e78764c3f6d4e38df0b6a2f71abc3a8b4",
        ),
        (
            f"{WIT3_ON_GITHUB}/2017-01-trnted/texts/de/en/de-en.tgz",
            "ca2b94d694150d4d6c5dc64c200fa589",
        ),
    ),
}


def fetch_talks(campaign: str, folder: Path | str | None = None) -> Path:
    """Download a campaign's archive of German and English where it is not there yet; return it.

    Args:
        campaign: "iwslt14", "iwslt16" or "iwslt17".
        folder: where to keep it; the user's cache when None.

    Raises:
        DataError: no address gave the file that was expected.
    """
    folder = Path(folder) if folder is not None else cache_folder() / campaign
    sources = IWSLT[campaign]
    return fetch(f"{campaign}.tgz", sources[0][1], sources, folder)
