"""The two Flower apps: each unpacks, calls what is written elsewhere, and packs."""
