"""A run's directory: what it holds, how it is written and read. Reading needs no torch."""
