"""Small files that become large: archives, compressed text, weights and settings by strangers.

Each function writes one into a folder and returns what is given to `--data` or to a command.
"""

import bz2
import functools
import gzip
import io
import json
import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.helpers.releases import mteval, release

MEGABYTE = 2**20
LARGE = 300  # megabytes of zeros, where a bomb goes off
WANTED = "train.tags.de-en.de"
SET = "IWSLT14.TED.tst2010.de-en.{}.xml"


# Zeros, packed -------------------------------------------------------------------------------


@functools.cache
def deflated(head: bytes = b"", megabytes: int = LARGE) -> bytes:
    """The head and so many zeros as a deflate stream, without having them in memory."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    begin = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH)
    return begin + megabytes * block + packer.flush()


@functools.cache
def checksum(megabytes: int = LARGE) -> int:
    """The CRC-32 of so many zeros."""
    found = 0
    for _ in range(megabytes):
        found = zlib.crc32(bytes(MEGABYTE), found)
    return found


def gzipped(head: bytes = b"", megabytes: int = LARGE) -> bytes:
    """The same as a .gz; its end is wrong where there is a head, and nobody gets there."""
    size = len(head) + megabytes * MEGABYTE
    end = struct.pack("<II", checksum(megabytes), size % 2**32)
    return b"\x1f\x8b\x08" + bytes(6) + b"\xff" + deflated(head, megabytes) + end


def header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    """The header of a file in a .tar."""
    member = tarfile.TarInfo(name)
    member.size, member.type = size, kind
    return member.tobuf(tarfile.GNU_FORMAT)


# Zip -----------------------------------------------------------------------------------------


def zip_entry(
    name: str, packed: bytes, size: int, crc: int, way: int = zipfile.ZIP_DEFLATED
) -> tuple[bytes, bytes]:
    """What stands of a file in a .zip: before it, and in the list at the end."""
    encoded = name.encode()
    common = (20, 0, way, 0, 33, crc, len(packed), size, len(encoded), 0)
    local = struct.pack("<4sHHHHHIIIHH", b"PK\3\4", *common) + encoded
    listed = struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", 20, *common, 0, 0, 0, 0, 0)
    return local, listed + encoded


def zip_end(n: int, size: int, offset: int) -> bytes:
    n = min(n, 2**16 - 1)
    return struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, n, n, size, offset, 0)


def zip_that_states(folder: Path, size: int, name: str = WANTED) -> Path:
    """A .zip with a file of zeros that says that it has another size."""
    packed = deflated()
    local, listed = zip_entry(name, packed, size, checksum())
    content = local + packed
    path = folder / "de-en.zip"
    path.write_bytes(content + listed + zip_end(1, len(listed), len(content)))
    return path


def zip_with_a_small_size(folder: Path) -> Path:
    return zip_that_states(folder, 1000)


def zip_with_its_size(folder: Path) -> Path:
    return zip_that_states(folder, LARGE * MEGABYTE)


def zip64_with_an_absurd_size(folder: Path) -> Path:
    extra = struct.pack("<HHQ", 1, 8, 2**62)
    packed = deflated()
    local, listed = zip_entry(WANTED, packed, 2**32 - 1, checksum())
    listed = listed[:30] + struct.pack("<H", len(extra)) + listed[32:] + extra
    content = local + packed
    path = folder / "de-en.zip"
    path.write_bytes(content + listed + zip_end(1, len(listed), len(content)))
    return path


def zip_whose_files_overlap(folder: Path) -> Path:
    """Hundreds of files, all in the same place: each has ten megabytes, as it says."""
    packed, size = deflated(b"", 10), 10 * MEGABYTE
    local, _ = zip_entry("0", packed, size, checksum(10))
    names = [f"IWSLT14.TED.t{i}.de-en.de.xml" for i in range(300)]
    listed = b"".join(zip_entry(name, packed, size, checksum(10))[1] for name in names)
    content = local + packed
    path = folder / "de-en.zip"
    path.write_bytes(content + listed + zip_end(len(names), len(listed), len(content)))
    return path


def zip_of_many(folder: Path, n: int = 60_000) -> Path:
    """Files without names, of no bytes: a list of megabytes, packed in a .zip of its own."""
    local, listed = zip_entry("", b"", 0, 0)
    inner = local + n * listed + zip_end(n, n * len(listed), len(local))
    path = folder / "outer.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("de-en.zip", inner)
    return path


def zip_packed_by(folder: Path, way: int, packed: bytes) -> Path:
    """A file that says it has a thousand bytes; Python asks its unpacker for all that there is."""
    local, listed = zip_entry(WANTED, packed, 1000, checksum(), way=way)
    content = local + packed
    path = folder / "de-en.zip"
    path.write_bytes(content + listed + zip_end(1, len(listed), len(content)))
    return path


def zip_packed_by_bzip2(folder: Path) -> Path:
    return zip_packed_by(folder, zipfile.ZIP_BZIP2, bz2.compress(bytes(128 * MEGABYTE)))


def zip_packed_by_lzma(folder: Path) -> Path:
    return zip_packed_by(folder, zipfile.ZIP_LZMA, lzma.compress(bytes(MEGABYTE), preset=0))


def zip_in_a_zip(folder: Path) -> Path:
    """The inner one is honest, and small beside what comes out of it."""
    inner = zip_with_its_size(folder)
    path = folder / "outer.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(inner, "de-en.zip")
    return path


def zips_in_a_zip(folder: Path) -> Path:
    """Each inner one keeps within the limits; together they do not."""
    path = folder / "outer.zip"
    packed, size = deflated(b"", 7), 7 * MEGABYTE
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(60):
            name = f"IWSLT14.TED.t{i}.de-en.de.xml"
            local, listed = zip_entry(name, packed, size, checksum(7))
            inner = local + packed + listed + zip_end(1, len(listed), len(local) + len(packed))
            archive.writestr(f"{i}/{'de-en' if i % 2 else 'en-de'}.zip", inner)
    return path


# Tar -----------------------------------------------------------------------------------------


def tgz_of_zeros(folder: Path, name: str = WANTED) -> Path:
    path = folder / "de-en.tgz"
    path.write_bytes(gzipped(header(name, LARGE * MEGABYTE)))
    return path


def tgz_of_zeros_that_nobody_wants(folder: Path) -> Path:
    return tgz_of_zeros(folder, "README")


def tgz_with_a_large_pax_header(folder: Path) -> Path:
    path = folder / "de-en.tgz"
    path.write_bytes(gzipped(header("pax", LARGE * MEGABYTE, tarfile.XHDTYPE)))
    return path


def tgz_with_a_large_name(folder: Path) -> Path:
    path = folder / "de-en.tgz"
    path.write_bytes(gzipped(header("././@LongLink", LARGE * MEGABYTE, tarfile.GNUTYPE_LONGNAME)))
    return path


def tgz_in_a_tgz(folder: Path) -> Path:
    path, inner = folder / "outer.tgz", tgz_of_zeros(folder).read_bytes()
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("texts/de/en/de-en.tgz")
        member.size = len(inner)
        archive.addfile(member, io.BytesIO(inner))
    return path


def tar_xz(folder: Path) -> Path:
    """Of several streams, one behind the other, as `xz` itself appends them."""
    path = folder / "de-en.tar.xz"
    block = lzma.compress(bytes(16 * MEGABYTE), preset=0)
    path.write_bytes(lzma.compress(header(WANTED, LARGE * MEGABYTE)) + LARGE // 16 * block)
    return path


def tar_bz2(folder: Path) -> Path:
    path = folder / "de-en.tar.bz2"
    block = bz2.compress(bytes(16 * MEGABYTE))
    path.write_bytes(bz2.compress(header(WANTED, LARGE * MEGABYTE)) + LARGE // 16 * block)
    return path


def tgz_of_many(folder: Path) -> Path:
    path = folder / "de-en.tgz"
    path.write_bytes(gzip.compress(60_000 * header("a", 0), 9))
    return path


def tgz_with_many_notes(folder: Path) -> Path:
    """Notes about all files, which Python copies to each file that has one of its own."""
    notes = "".join(f"10 k{i:04}=\n" for i in range(6_000)).encode()
    about_all = header("all", len(notes), tarfile.XGLTYPE) + notes + bytes(-len(notes) % 512)
    own = header("one", 8, tarfile.XHDTYPE) + b"8 m=one\n" + bytes(504)
    path = folder / "de-en.tgz"
    path.write_bytes(gzip.compress(about_all + 4_000 * (own + header("a", 0)), 9))
    return path


def tar_with_holes(folder: Path) -> Path:
    """GNU's sparse format: a file of hundreds of megabytes of which one block is there."""
    member = bytearray(header(WANTED, 512, tarfile.GNUTYPE_SPARSE))
    member[386:410] = b"%011o\0%011o\0" % (LARGE * MEGABYTE - 512, 512)
    member[483:495] = b"%011o\0" % (LARGE * MEGABYTE)
    member[148:156] = b"        "
    member[148:156] = b"%06o\0 " % sum(member)
    path = folder / "de-en.tar"
    path.write_bytes(bytes(member) + bytes(512) + bytes(1024))
    return path


def tar_with_a_negative_size(folder: Path) -> Path:
    member = bytearray(header(WANTED, 0))
    member[124:136] = b"\xff" * 12
    member[148:156] = b"        "
    member[148:156] = b"%06o\0 " % sum(member)
    path = folder / "de-en.tar"
    path.write_bytes(bytes(member) + bytes(1024))
    return path


def tgz_with_notes_of_digits(folder: Path) -> Path:
    """Python before 3.11.10 takes the square of their number to see that they are no length."""
    return tgz_with_notes(folder, 60_000 * b"1")


def tgz_with_notes_of_long_numbers(folder: Path) -> Path:
    return tgz_with_notes(folder, b"60012 comment=" + 59_997 * b"1" + b"\n")


def tgz_with_notes(folder: Path, notes: bytes) -> Path:
    padded = notes + bytes(-len(notes) % 512)
    own = header("pax", len(notes), tarfile.XHDTYPE) + padded
    path = folder / "de-en.tgz"
    path.write_bytes(gzip.compress(120 * (own + header("a", 0)), 9))
    return path


def tgz_with_notes_in_sum(folder: Path) -> Path:
    """Each has but one, as long as a note can be."""
    return tgz_with_notes(folder, b"60012 comment=" + 59_997 * b"x" + b"\n")


def tar_xz_with_a_large_dictionary(folder: Path) -> Path:
    """It states that unpacking takes four gigabytes: one byte of its header, and its checksum."""
    packed = bytearray(lzma.compress(tarfile.TarInfo(WANTED).tobuf() + bytes(1024)))
    size = 4 * (packed[12] + 1)  # of the header of the first block
    packed[16] = 40
    struct.pack_into("<I", packed, 12 + size - 4, zlib.crc32(packed[12 : 12 + size - 4]))
    path = folder / "de-en.tar.xz"
    path.write_bytes(bytes(packed))
    return path


def segment_of_references(folder: Path) -> Path:
    return mteval_set(folder, mteval([4_000_000 * "&a"]))


def segment_without_end(folder: Path) -> Path:
    return mteval_set(folder, mteval([100_000 * "a"]))


def endless_name(folder: Path) -> Path:
    return folder / (5_000 * "x")


# Text ----------------------------------------------------------------------------------------


def text(folder: Path, content: bytes) -> Path:
    for side in ("de", "en"):
        (folder / f"train.{side}.gz").write_bytes(content)
    return folder


def gz_of_zeros(folder: Path) -> Path:
    return text(folder, gzipped())


def gz_of_line_ends(folder: Path) -> Path:
    return text(folder, gzip.compress(7 * MEGABYTE * b"\n"))


def gz_of_many_parts(folder: Path) -> Path:
    return text(folder, 20_000 * gzip.compress(b"", mtime=0) + gzipped())


def file_with_holes(folder: Path) -> Path:
    for side in ("de", "en"):
        with (folder / f"train.{side}").open("wb") as file:
            file.truncate(LARGE * MEGABYTE)
    return folder


def table_of_next_to_nothing(folder: Path) -> Path:
    path = folder / "train.tsv.gz"
    path.write_bytes(gzip.compress(2_000_000 * b"a\t \n"))
    return path


def short_lines_against_one(folder: Path) -> Path:
    (folder / "train.de.gz").write_bytes(gzip.compress(2_000_000 * b"ab\r\n"))
    (folder / "train.en").write_text("one\n")
    return folder


def table_of_tabs(folder: Path) -> Path:
    path = folder / "train.tsv.gz"
    path.write_bytes(gzip.compress(7 * MEGABYTE * b"\t" + b"\n\n"))
    return path


def link_out_of_the_folder(folder: Path) -> Path:
    (folder / "secret").write_text("hidden\n")
    inner = folder / "given"
    inner.mkdir()
    for side in ("de", "en"):
        (inner / f"train.{side}").symlink_to(folder / "secret")
    return inner


def pipe_that_nobody_fills(folder: Path) -> Path:
    (folder / "train.en").write_text("one\n")
    for name in ("train.de", "train.tsv"):
        os.mkfifo(folder / name)
    return folder


def links_of_one_name(folder: Path) -> Path:
    return link_out_of_the_folder(folder) / "train"


def pipe_as_a_table(folder: Path) -> Path:
    os.mkfifo(folder / "corpus.tsv")
    return folder / "corpus.tsv"


def mteval_set(folder: Path, content: str) -> Path:
    for side in ("de", "en"):
        (folder / SET.format(side)).write_text(content)
    return folder


def documents_without_end(folder: Path) -> Path:
    return mteval_set(folder, 60_000 * '<doc docid="x">')


def segments_without_end(folder: Path) -> Path:
    return mteval_set(folder, '<doc docid="x">' + 80_000 * '<seg id="1">' + "</doc>")


def tags_without_end(folder: Path) -> Path:
    return mteval_set(folder, 200_000 * "<doc ")


def attributes_without_end(folder: Path) -> Path:
    return mteval_set(folder, "<doc " + 100_000 * " docid=" + 100_000 * 'docid="')


def character_of_many_digits(folder: Path) -> Path:
    return mteval_set(folder, mteval([f"&#{'9' * 60_000};"]))


def names_in_other_encodings(folder: Path) -> Path:
    """A name in latin-1 that clears the screen, and turns the direction of writing around."""
    name = "testü\x1b[2J\u202e".encode("latin-1", "replace") + "\u202e\x9b".encode() + b".de"
    Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("eins\n")
    return folder


def named_badly(folder: Path) -> Path:
    """Text whose parts have names that clear the screen."""
    folder.mkdir()
    for side in ("de", "en"):
        (folder / f"test\x1b[2J.{side}").write_text("1 2\n3 4\n")
    return folder


# A run's folder ------------------------------------------------------------------------------

MODEL = {"src_vocab_size": 14, "tgt_vocab_size": 14, "d_model": 2, "d_ff": 1, "n_heads": 1}
TINY = {**MODEL, "n_layers": 1, "dropout": 0.0}


def run_folder(folder: Path, words: Iterable[str] | None = None, task: str = "copy") -> Path:
    """The folder of a run, as small as one can be, that translates into all its words."""
    import torch

    from transformer import Transformer, TransformerConfig
    from transformer.text import WordTokenizer
    from transformer.translation import Translator

    folder.mkdir()
    tokenizer = WordTokenizer(words or map(str, range(10)))
    torch.manual_seed(0)
    sizes = {"d_model": 8, "d_ff": 8, "n_heads": 1, "n_layers": 1, "max_len": 16}
    model = Transformer(TransformerConfig.tiny(src_vocab_size=tokenizer.vocab_size, **sizes))
    Translator(model, tokenizer).save(folder)
    data = {"source": "de", "target": "en"}
    config = {"task": task, "training": {"seed": 0}, "data": data}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def weights(
    path: Path, config: dict[str, object], tensors: dict[str, list[int]] | None = None
) -> None:
    """A safetensors file with a configuration, and no number in any tensor."""
    entries: dict[str, object] = {"__metadata__": {"config": json.dumps(config)}}
    end = 0
    for name, shape in (tensors or {}).items():
        start, end = end, end + 4 * functools.reduce(int.__mul__, shape, 1)
        entries[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, end]}
    head = json.dumps(entries).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(head)) + head)
        file.truncate(8 + len(head) + end)  # zeros that take nothing of the disk


def pipe_in_place_of(name: str) -> Callable[[Path], None]:
    def pipe(run: Path) -> None:
        (run / name).unlink(missing_ok=True)
        os.mkfifo(run / name)

    pipe.__name__ = f"pipe_in_place_of_{name}"
    return pipe


def weights_with_endless_positions(run: Path) -> None:
    weights(run / "model.safetensors", {**TINY, "max_len": 30_000_000})


def weights_that_fit_but_for_their_positions(run: Path) -> None:
    """All tensors of a tiny model are there: nothing but its positions is absurd."""
    from transformer import TransformerConfig
    from transformer.weights import parameter_shapes

    config = TransformerConfig(**{**TINY, "max_len": 30_000_000})
    shapes = {name: list(shape) for name, shape in parameter_shapes(config).items()}
    weights(run / "model.safetensors", config.to_dict(), shapes)


def weights_of_a_million_layers(run: Path) -> None:
    weights(run / "model.safetensors", {**TINY, "n_layers": 10**6}, {"output.weight": [14, 2]})


def weights_of_an_absurd_width(run: Path) -> None:
    weights(run / "model.safetensors", {**TINY, "d_model": 2**40, "d_ff": 2**40})


def weights_of_an_impossible_width(run: Path) -> None:
    weights(run / "model.safetensors", {**TINY, "d_model": 10**30})


def weights_that_were_never_written(run: Path) -> None:
    """As large as they say, and all of it a hole."""
    from transformer import TransformerConfig
    from transformer.weights import parameter_shapes

    config = TransformerConfig(**{**TINY, "d_model": 8192, "d_ff": 8192})
    shapes = {name: list(shape) for name, shape in parameter_shapes(config).items()}
    weights(run / "model.safetensors", config.to_dict(), shapes)


def weights_with_an_absurd_header(run: Path) -> None:
    (run / "model.safetensors").write_bytes(struct.pack("<Q", 2**60) + b'{"a": 1}')


def weights_with_a_long_header(run: Path) -> None:
    head = json.dumps({"__metadata__": {"config": "[" + 3_000_000 * "[]," + "1]"}}).encode()
    (run / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head)


def weights_nested_deeply(run: Path) -> None:
    head = json.dumps({"__metadata__": {"config": 100_000 * "[" + 100_000 * "]"}}).encode()
    (run / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head)


def tokenizer_nested_deeply(run: Path) -> None:
    (run / "tokenizer.json").write_text(1_000_000 * "[" + 1_000_000 * "]")


def tokenizer_of_empty_lists(run: Path) -> None:
    (run / "tokenizer.json").write_text("[" + 5_000_000 * "[]," + "1]")


def changed_tokenizer(run: Path, **parts: object) -> None:
    from transformer.text import BPETokenizer

    made = json.loads(BPETokenizer.train(["a b c"] * 3, 270).to_json())
    (run / "tokenizer.json").write_text(json.dumps({**made, **parts}))


def tokenizer_that_fills_up(run: Path) -> None:
    padding = {"strategy": {"Fixed": 10**9}, "direction": "Right", "pad_to_multiple_of": None}
    mark = {"pad_id": 0, "pad_type_id": 0, "pad_token": "<pad>"}
    changed_tokenizer(run, padding={**padding, **mark})


def tokenizer_without_what_is_unknown(run: Path) -> None:
    """It looks for a token that it does not have, and says so by the token's name."""
    from transformer.text import BPETokenizer

    made = json.loads(BPETokenizer.train(["a b c"] * 3, 270).to_json())
    changed_tokenizer(run, model={**made["model"], "unk_token": "\x1b[2J", "byte_fallback": False})


def tokenizer_that_replaces(run: Path) -> None:
    replace = {"type": "Replace", "pattern": {"String": "1"}, "content": MEGABYTE * "1"}
    changed_tokenizer(run, normalizer=replace)


def tokenizer_with_a_pattern(run: Path) -> None:
    split = {"type": "Split", "pattern": {"Regex": "(x+x+)+y"}, "behavior": "Isolated"}
    inner = {"type": "Sequence", "pretokenizers": [{**split, "invert": False}]}
    changed_tokenizer(run, pre_tokenizer={"type": "Sequence", "pretokenizers": [inner]})


def tokenizer_with_an_endless_word(run: Path) -> None:
    words = [*map(str, range(9)), 3 * MEGABYTE * "a"]
    (run / "tokenizer.json").write_text(json.dumps({"kind": "words", "words": words}))


def run_config_of_megabytes(run: Path) -> None:
    (run / "config.json").write_text(json.dumps({"task": "copy", "data": "x" * 50 * MEGABYTE}))


def run_config_nested_deeply(run: Path) -> None:
    (run / "config.json").write_text('{"task": "copy", "data": ' + 30_000 * "[")


def run_config_without_its_data(run: Path) -> None:
    (run / "config.json").write_text(json.dumps({"task": "iwslt16"}))


# Settings ------------------------------------------------------------------------------------


def settings_of_a_million_layers(folder: Path) -> Path:
    path = folder / "settings.json"
    path.write_text(
        json.dumps({"task": "copy", "config": {"n_layers": 10**6, "d_model": 2, "n_heads": 1}})
    )
    return path


def settings_of_an_absurd_width(folder: Path) -> Path:
    path = folder / "settings.json"
    path.write_text(json.dumps({"task": "copy", "config": {"d_model": 2**40, "n_heads": 1}}))
    return path


def settings_of_endless_positions(folder: Path) -> Path:
    path = folder / "settings.json"
    path.write_text(json.dumps({"task": "copy", "config": {"max_len": 2**40}}))
    return path


def settings_that_laugh(folder: Path) -> Path:
    """YAML whose lists name each other: nothing in memory, billions of words when written out."""
    path = folder / "settings.yaml"
    lists = ["&a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]"]
    lists += [f"&a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    path.write_text(f"task: copy\ntraining:\n  steps: [{', '.join(lists)}]\n")
    return path


def settings_named_by_a_laugh(folder: Path) -> Path:
    """The same in the place of a name, which is written out."""
    path = folder / "settings.yaml"
    lists = ["&a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]"]
    lists += [f"&a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 8)]
    path.write_text("".join(f"x{i}: {each}\n" for i, each in enumerate(lists)) + "task: *a7\n")
    return path


def settings_that_merge(folder: Path) -> Path:
    """Each mapping takes over the one before, ten times."""
    path = folder / "settings.yaml"
    lines = ["a0: &a0 {d_model: 8}"]
    lines += [f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 10)}]}}" for i in range(1, 8)]
    path.write_text("\n".join([*lines, "task: copy", "config: *a7", ""]))
    return path


def settings_with_a_list_for_a_task(folder: Path) -> Path:
    path = folder / "settings.yaml"
    path.write_text("task: [copy]\n")
    return path


def settings_with(folder: Path, value: str) -> Path:
    path = folder / "settings.yaml"
    path.write_text(f"task: copy\ntraining: {{steps: {value}}}\n")
    return path


def settings_with_an_empty_number(folder: Path) -> Path:
    return settings_with(folder, "!!int ''")


def settings_with_a_truth_value_that_is_none(folder: Path) -> Path:
    return settings_with(folder, "!!bool maybe")


def settings_with_a_time_that_is_none(folder: Path) -> Path:
    return settings_with(folder, "!!timestamp x")


def settings_of_megabytes(folder: Path) -> Path:
    path = folder / "settings.yaml"
    path.write_text("task: copy\n" + 3 * MEGABYTE * "# ")
    return path


BOMB = "is refused: it unpacks to more than 20 times its size"
NO_SET = "holds no <seg> within a <doc>"
OTHERS = "the weights belong to another model: .* is not in both"
NOT_OURS = "is no tokenizer file .{} is not of this program"
TOO_LARGE = "is larger than a file of its kind can be"
PIPE = "is a pipe or a device; put a file in its place"
IMPOSSIBLE = "no tensor can be as large as the model's settings say"

# Each with what is said of it.
ARCHIVES: dict[Callable[[Path], Path], str] = {
    zip_with_a_small_size: "Bad CRC-32",
    zip_with_its_size: BOMB,
    zip64_with_an_absurd_size: "would take more than 1,024 MB",
    zip_whose_files_overlap: BOMB,
    zip_of_many: "is refused: it holds more files than any corpus holds",
    zip_packed_by_bzip2: "is packed in a way that is rare in a .zip",
    zip_packed_by_lzma: "is packed in a way that is rare in a .zip",
    zip_in_a_zip: BOMB,
    zips_in_a_zip: BOMB,
    tgz_of_zeros: BOMB,
    tgz_of_zeros_that_nobody_wants: BOMB,
    tgz_with_a_large_pax_header: "is refused: a name in it takes more than 64 kB",
    tgz_with_a_large_name: "is refused: a name in it takes more than 64 kB",
    tgz_in_a_tgz: BOMB,
    tar_xz: BOMB,
    tar_bz2: BOMB,
    tgz_of_many: "is refused: it holds more files than any corpus holds",
    tgz_with_many_notes: "is refused: it says more of itself than any archive does",
    tar_with_holes: "has holes, which no text has",
    tar_with_a_negative_size: "is refused: its file .* would take more than",
    tgz_with_notes_of_digits: "a note on a file in it is damaged",
    tgz_with_notes_of_long_numbers: "says numbers of itself that no archive has",
    tgz_with_notes_in_sum: "is refused: it says more of itself than any archive does",
    tar_xz_with_a_large_dictionary: "Memory usage limit exceeded",
    segment_of_references: "holds more than 100,000 &",
    segment_without_end: "segment 1 of .* has more than 65,536 letters",
    endless_name: "could not read or write '/.*': File name too long",
    documents_without_end: NO_SET,
    segments_without_end: NO_SET,
    tags_without_end: NO_SET,
    attributes_without_end: NO_SET,
    character_of_many_digits: "segment 1 of .* has no such character",
}
TEXTS: dict[Callable[[Path], Path], str] = {
    gz_of_zeros: BOMB,
    gz_of_line_ends: r"has 7,340,032 lines in 7,340,032 bytes, which is no text",
    table_of_next_to_nothing: "has 2,000,000 lines in 8,000,000 bytes, which is no text",
    short_lines_against_one: "has 2,000,000 lines in 8,000,000 bytes, which is no text",
    gz_of_many_parts: BOMB,
    file_with_holes: "is next to nothing but zeros that nobody has written",
    table_of_tabs: "line 2 of .* holds no tab",
    link_out_of_the_folder: "is a link that leads out of the folder",
    pipe_that_nobody_fills: "holds neither train.de and train.en nor train.tsv",
    links_of_one_name: "is a link that leads out of the folder",
    pipe_as_a_table: "corpus.tsv' is a pipe or a device; put a file in its place",
    names_in_other_encodings: r"holds test.udcfc.x1b.2J.*, but no test",
}
RUNS: dict[Callable[[Path], None], str] = {
    weights_with_endless_positions: OTHERS,
    weights_that_fit_but_for_their_positions: "would take 229 MB for positions alone",
    weights_of_a_million_layers: OTHERS,
    weights_of_an_absurd_width: IMPOSSIBLE,
    weights_of_an_impossible_width: IMPOSSIBLE,
    weights_that_were_never_written: "hardly anything of it has ever been written",
    weights_with_an_absurd_header: "its header would have 1,152,921,504,606,846,976 bytes",
    weights_with_a_long_header: "its header would have 9,0.* bytes",
    weights_nested_deeply: "maximum recursion depth exceeded",
    tokenizer_nested_deeply: "maximum recursion depth exceeded",
    tokenizer_of_empty_lists: TOO_LARGE,
    tokenizer_that_fills_up: NOT_OURS.format("padding"),
    tokenizer_without_what_is_unknown: "unk_token or byte_fallback is not of this program",
    tokenizer_that_replaces: NOT_OURS.format("normalizer"),
    tokenizer_with_a_pattern: NOT_OURS.format("pre_tokenizer"),
    tokenizer_with_an_endless_word: "one of its words has more than 16,384 letters",
    run_config_of_megabytes: TOO_LARGE,
    run_config_nested_deeply: "config.json cannot be read: mend it",
    pipe_in_place_of("config.json"): PIPE,
    pipe_in_place_of("tokenizer.json"): PIPE,
    pipe_in_place_of("model.safetensors"): "it is a pipe or a device",
    pipe_in_place_of("scores.json"): PIPE,
    run_config_without_its_data: "does not say what it was trained on",
}
SETTINGS: dict[Callable[[Path], Path], str] = {
    settings_of_a_million_layers: "parameters would take .* GB to train",
    settings_of_an_absurd_width: IMPOSSIBLE,
    settings_of_endless_positions: "parameters would take .* GB to train",
    settings_that_laugh: "is an alias; write out what it stands for",
    settings_named_by_a_laugh: "is an alias; write out what it stands for",
    settings_that_merge: "is an alias; write out what it stands for",
    settings_with_a_list_for_a_task: "task must be a name, one of copy",
    settings_with_an_empty_number: "is no YAML file of settings",
    settings_with_a_truth_value_that_is_none: "is no YAML file of settings",
    settings_with_a_time_that_is_none: "is no YAML file of settings",
    settings_of_megabytes: TOO_LARGE,
}


def honest(folder: Path) -> Path:
    """A release as it should be, for comparison."""
    for name, content in release("14", 60, {"TED.tst2010": 3}).items():
        (folder / name).write_text(content)
    return folder
