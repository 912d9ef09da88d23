"""All exercises in the book's order: what is asked, the hints, and the mistakes that are known."""

from transformer.exercises.catalogue import (
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
from transformer.exercises.exercise import Exercise

EXERCISES: dict[str, Exercise] = {
    exercise.name: exercise
    for exercise in (
        attention.SOFTMAX,
        attention.ATTENTION,
        heads.SPLIT,
        heads.JOIN,
        heads.MULTI_HEAD,
        embedding.EMBEDDING,
        embedding.SINUSOIDS,
        layers.LAYER_NORM,
        layers.FEED_FORWARD,
        layers.RESIDUAL,
        encoder_decoder.ENCODER_LAYER,
        encoder_decoder.DECODER_LAYER,
        masks.CAUSAL,
        masks.PADDING,
        training.LABEL_SMOOTHING,
        training.NOAM,
        subwords.MERGE,
        decoding.GREEDY,
        decoding.BEAM,
        findings.FLOPS,
        findings.INTERVAL,
        parsing.BRACKETING,
        since_2017.RMS_NORM,
        since_2017.ROTATE,
        since_2017.GATED,
    )
}
