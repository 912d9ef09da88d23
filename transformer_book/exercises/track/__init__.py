"""Build it yourself: exercises in a folder that is watched, and a Transformer of what comes out.

`folder` and `files` keep the reader's functions, `load` reads them and `watch` checks each as it is
saved; in a notebook `Parts` alone does that. `model` puts the functions into the places of ours,
`proof` holds them against ours, and `training` trains the model on copying and on toy German.
"""

from transformer_book.exercises.track.model import OwnTransformer
from transformer_book.exercises.track.parts import Parts
from transformer_book.exercises.track.proof import same_as_ours
from transformer_book.exercises.track.training import TRAINS, train

__all__ = ["TRAINS", "OwnTransformer", "Parts", "same_as_ours", "train"]
