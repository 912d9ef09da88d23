"""Figures that can be moved, in Jupyter, in Colab, and without a kernel on the book's pages."""

from transformer.widgets.attention_heads import AttentionHeads
from transformer.widgets.attention_stepper import AttentionStepper
from transformer.widgets.beam_explorer import BeamExplorer
from transformer.widgets.complexity_explorer import ComplexityExplorer
from transformer.widgets.decoder_at_work import DecoderAtWork
from transformer.widgets.label_smoothing_explorer import LabelSmoothingExplorer
from transformer.widgets.mask_explorer import MaskExplorer
from transformer.widgets.merge_explorer import MergeExplorer
from transformer.widgets.position_explorer import PositionExplorer
from transformer.widgets.schedule_explorer import ScheduleExplorer
from transformer.widgets.self_check import SelfCheck
from transformer.widgets.shapes_explorer import ShapesExplorer
from transformer.widgets.softmax_temperature import SoftmaxTemperature

__all__ = [
    "AttentionHeads",
    "AttentionStepper",
    "BeamExplorer",
    "ComplexityExplorer",
    "DecoderAtWork",
    "LabelSmoothingExplorer",
    "MaskExplorer",
    "MergeExplorer",
    "PositionExplorer",
    "ScheduleExplorer",
    "SelfCheck",
    "ShapesExplorer",
    "SoftmaxTemperature",
]
