"""Datasets, how they are dealt to clients, label noise, and anyone's own data."""
