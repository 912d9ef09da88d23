"""The four special tokens that every vocabulary of the book begins with."""

PAD, BOS, EOS, UNK = "<pad>", "<s>", "</s>", "<unk>"
PAD_ID, BOS_ID, EOS_ID, UNK_ID = range(4)
SPECIALS = (PAD, BOS, EOS, UNK)
