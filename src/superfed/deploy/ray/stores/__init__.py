"""Where runs' folders lie, so that a run begun on one machine can be gone on with on another."""
