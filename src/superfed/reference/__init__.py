"""Pages that are made from the program itself: every setting of a config, and every public name."""
