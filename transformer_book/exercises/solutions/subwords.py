"""One merge of byte-pair encoding (section 5.1; Sennrich et al. 2016)."""


def merge_pair(pieces: list[str], pair: tuple[str, str]) -> list[str]:
    """Join every occurrence of the pair, from left to right: in a a a only the first two."""
    merged: list[str] = []
    i = 0
    while i < len(pieces):
        if tuple(pieces[i : i + 2]) == pair:
            merged.append(pieces[i] + pieces[i + 1])
            i += 2
        else:
            merged.append(pieces[i])
            i += 1
    return merged
