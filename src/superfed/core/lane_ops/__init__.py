"""Layers that compute many lanes at once in a way of their own, seen by ``vmap`` and by compilers as one operation."""
