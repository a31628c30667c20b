"""A federation on Flower. Everything here but `apps` and what starts programs works without it."""
