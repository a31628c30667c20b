"""Lanes, local updates, rounds, evaluation, client state, checkpoints. A lane is a (run, client) pair."""
