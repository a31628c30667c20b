"""A site: its data, its personal state on its own disk, and its answers."""
