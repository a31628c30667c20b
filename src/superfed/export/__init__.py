"""Models taken along: written to files with all it takes to use them, and used from there."""
