"""Figures that can be moved, in Jupyter, in Colab, and without a kernel on the book's pages."""

from transformer.widgets.schedule_explorer import ScheduleExplorer

__all__ = ["ScheduleExplorer"]
