"""Top-k, calibration, per-client summaries and the readings of λ."""
