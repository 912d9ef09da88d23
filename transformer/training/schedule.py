"""The learning rate over the course of training (section 5.3)."""


def noam_rate(step: int, d_model: int, warmup: int, factor: float = 1.0) -> float:
    """Equation 3: factor * d_model^-0.5 * min(step^-0.5, step * warmup^-1.5).

    The rate climbs linearly for `warmup` steps and then falls with the inverse square root of
    the step. The paper has no factor (1.0).

    Args:
        step: the number of the update, counted from 1; there is no update 0, and the formula
            would divide by zero.

    Raises:
        ValueError: step, d_model or warmup is below 1.
    """
    for name, value in (("step", step), ("d_model", d_model), ("warmup", warmup)):
        if value < 1:
            raise ValueError(f"{name} ({value}) must be at least 1; the first update is step 1")
    return factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def linear_cooldown(step: int, steps: int, share: float) -> float:
    """What multiplies the rate at the end: 1, and over the last `share` of the steps down to 0.

    Not in the paper, whose rate never reaches 0; it averages checkpoints instead (section 6.1).
    """
    return min(1.0, (steps - step + 1) / (share * steps)) if share else 1.0
