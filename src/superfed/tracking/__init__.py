"""Runs in the trackers people already look at. Each library works in a process of its own and never stops a run."""
