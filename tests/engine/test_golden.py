"""Numbers that were right once and must not move: a change here changes every result users have."""

import pytest

from support.toys import METHODS, toy_task, train, weights

GOLDEN = {
    "local": (0, -7.612191058166996),
    "fedavg": (-1.0309927988056442, 0),
    "fedavg_ft": (-1.0309927988056442, 0),
    "fedprox": (-1.1397797489979045, 0),
    "scaffold": (-1.4008034583187532, -1.077992808148282),
    "scaffold-option-I": (-1.136474850887047, -1.257574665814738),
    "lg_fedavg": (-1.0119182090448684, -2.1922919577505446),
    "fedper": (-0.7838166427968594, -0.8203327923789969),
    "fedrep": (0.8086052008553848, -0.8203327923789965),
    "apfl": (-1.0309927988056442, -5.1802418144135745),
    "apfl-adaptive": (-1.0309927988056442, -5.61247150089425),
    "pfedme": (-1.2052279538800836, -7.747744300002214),
    "ditto": (-0.7822198167764324, -8.345645231433819),
    "l2gd": (-0.8518474105212019, -4.108278179322523),
    "mapper": (-0.6991724211018475, -3.7151697567947912),
    "superfed": (-2.2052280807248996, -5.985717654853157),
    "superfed-layer": (-2.0627972718179493, -6.579551393155918),
}
"""After four rounds: the sum over the server's state, and over everything clients keep."""

COHORTS = [[2, 3, 4], [1, 2, 3], [0, 3, 5], [1, 2, 4]]


@pytest.mark.parametrize("name", METHODS)
def test_a_small_run_ends_where_it_always_did(name: str) -> None:
    (run,) = train([toy_task(METHODS[name])])
    learnt = weights(run).items()
    server = sum(float(t.sum()) for place, t in learnt if place.startswith("server"))
    kept = sum(float(t.sum()) for place, t in learnt if not place.startswith("server"))
    assert (server, kept) == pytest.approx(GOLDEN[name], rel=1e-9, abs=1e-9)


def test_the_same_clients_are_always_drawn() -> None:
    assert [toy_task(METHODS["fedavg"]).cohort(r) for r in range(4)] == COHORTS
