"""The vector view of a model, batches, keyed randomness, the shape of a method, SGD. Imports torch and numpy only."""
