"""The config schema and the shipped configs; puts the parts together."""
