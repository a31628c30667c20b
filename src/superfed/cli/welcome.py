"""What ``superfed`` alone says: where to start."""

WELCOME = """\
superfed: personalised federated learning

  superfed run demo         train four methods on handwritten digits: a quarter of a minute, no download
  superfed show demo        what that run was, with every setting: a start for a config of your own
  superfed list algorithms  which methods there are; also datasets, models, partitions, experiments
  superfed data list        which datasets are here, and how to get the others

superfed --help names all commands, superfed run --help explains one.
"""
