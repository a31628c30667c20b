"""Samples to predict, from whatever file they lie in."""
