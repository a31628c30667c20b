"""Numbers that were right once and must not move: a change here changes every result users have."""

import pytest

from support.toys import METHODS, toy_task, train, weights

GOLDEN = {
    "local": (0, -8.048148063464915),
    "fedavg": (-1.0309927988056442, 0),
    "fedavg_ft": (-1.0309927988056442, 0),
    "fedprox": (-1.1397797489979045, 0),
    "scaffold": (-1.4008034583187532, -1.077992808148282),
    "scaffold-option-I": (-1.136474850887047, -1.257574665814738),
    "lg_fedavg": (-1.0119182090448677, -2.1587739373483035),
    "fedper": (-0.661536795266406, -6.435926165969561),
    "fedrep": (0.2270028703121495, -6.43592616596956),
    "apfl": (-1.0309927988056442, -2.9709292493171446),
    "apfl-adaptive": (-1.0309927988056442, -3.47300634198424),
    "pfedme": (-1.2052279538800836, -7.747744300002214),
    "ditto": (-0.7822198167764324, -6.385518816525883),
    "l2gd": (-1.24655716392788, -7.8420358401247405),
    "mapper": (-0.7588481680963547, -3.4780376295855486),
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
