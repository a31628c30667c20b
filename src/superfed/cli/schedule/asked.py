"""What --gpus and --price may say."""

from superfed.core.errors import SettingError, require

MOST = 4096
"""GPUs that a schedule may have."""


def gpu_numbers(text: str) -> list[int]:
    """``1,8,64`` → [1, 8, 64]"""
    numbers = [int(word) for word in text.split(",") if word.strip().isdecimal()]
    if len(numbers) != len(text.split(",")) or not all(1 <= number <= MOST for number in numbers):
        raise SettingError("--gpus", f"must be numbers from 1 to {MOST} such as 1,8,64, not '{text}'")
    return list(dict.fromkeys(numbers))


def checked_price(price: float | None) -> float | None:
    require(price is None or 0 < price < float("inf"), "--price", f"must be more than 0, not {price}")
    return price
