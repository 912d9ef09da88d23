"""All exercises in the book's order: what is asked, the hints, and the mistakes that are known."""

from transformer_book.exercises.catalogue import (
    attention,
    decoding,
    embedding,
    encoder_decoder,
    findings,
    heads,
    layers,
    masks,
    parsing,
    since_2017,
    subwords,
    training,
)
from transformer_book.exercises.exercise import Exercise

# By the order of the chapters, and in each part as they stand in its file.
PARTS = (
    *(attention, heads, embedding, layers, encoder_decoder, masks, training, subwords),
    *(decoding, findings, parsing, since_2017),
)
EXERCISES: dict[str, Exercise] = {
    exercise.name: exercise
    for part in PARTS
    for exercise in vars(part).values()
    if isinstance(exercise, Exercise)
}
