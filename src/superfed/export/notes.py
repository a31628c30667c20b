"""What is said where a model is written and where it is used."""

BATCH_STATISTICS = (
    "this network normalises by each batch's own statistics, so its answer for a sample depends on the samples beside "
    "it; for one sample at a time train it with model.norm=group"
)
