"""What a run takes of the hardware that it finds: how many bits, and whether to compile."""

from importlib.util import find_spec
from typing import Literal

import torch

from transformer.training.settings import TrainingConfig

Precision = Literal["float32", "bf16", "float16"]
DTYPES = {"float32": torch.float32, "bf16": torch.bfloat16, "float16": torch.float16}

# Estimated, not measured: torch.compile takes about a minute before the first step and saves some
# 3 ms of each, so that so many steps make up for it; a large model saves more.
WORTH_COMPILING = 20_000
TENSOR_CORES = (7, 0)  # the compute capability of the first GPUs that have them, for float16


def chosen_precision(config: TrainingConfig, device: torch.device) -> Precision:
    """What `config.precision` becomes on the device, which for CUDA must be the current one."""
    if config.precision != "auto":
        return config.precision
    if device.type != "cuda":
        return "float32"
    # Without that argument torch also answers yes for a GPU that only emulates bfloat16, a T4 for
    # one, on which float32 is faster.
    if torch.cuda.is_bf16_supported(including_emulation=False):
        return "bf16"
    has_tensor_cores = torch.cuda.get_device_capability(device) >= TENSOR_CORES
    return "float16" if has_tensor_cores else "float32"


def chosen_compile(config: TrainingConfig, device: torch.device) -> bool:
    """What `config.compile` becomes on the device."""
    if config.compile is not None:
        return config.compile
    if device.type != "cuda" or config.steps < WORTH_COMPILING or not find_spec("triton"):
        return False
    return torch.cuda.get_device_capability(device) >= TENSOR_CORES


# The instructions for products of bfloat16, as torch names them: of x86, of ARM.
BF16_UNITS = ("avx512_bf16", "amx_bf16", "avx_ne_convert", "bf16", "sve_bf16")
SLOW_BF16 = (
    "This CPU has no bfloat16 units: with precision bf16 a step can take 80 times as long as in "
    "float32. Leave the precision out, or choose float32."
)


def warning_of(precision: Precision, device: torch.device) -> str | None:
    """What to say before a run whose precision the device only emulates; None where all is well.

    None also where torch does not say what the CPU has, as its older versions do not.
    """
    if precision != "bf16" or device.type != "cpu":
        return None
    ask = getattr(torch.cpu, "get_capabilities", None)
    units = ask() if ask is not None else {}
    known = [units[name] for name in BF16_UNITS if name in units]
    return SLOW_BF16 if known and not any(known) else None
