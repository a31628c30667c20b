"""Flower's own programs, started with safe defaults and ended with everything they started."""
