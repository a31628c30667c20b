"""A folder of experiments, shown while they train: by a server that reads, answers and changes nothing."""
