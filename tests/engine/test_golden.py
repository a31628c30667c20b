"""Numbers that were right once and must not move: a change here changes every result users have."""

import pytest

from support.toys import METHODS, toy_task, train, weights

GOLDEN = {
    "fedavg": (2.9702079509396686, -1.0309927988056442, 0.0),
    "fedprox": (2.8575970902135395, -1.1397797489979045, 0.0),
    "superfed": (2.6400205830806196, -2.2052280807248996, -5.985717654853157),
    "superfed-layer": (2.530757322960652, -2.0627972718179493, -6.579551393155918),
}
"""After four rounds: the norm and the sum of the global model, and the sum over everything clients keep."""

COHORTS = [[2, 3, 4], [1, 2, 3], [0, 3, 5], [1, 2, 4]]


@pytest.mark.parametrize("name", METHODS)
def test_a_small_run_ends_where_it_always_did(name: str) -> None:
    (run,) = train([toy_task(METHODS[name])])
    kept = sum(float(t.sum()) for place, t in weights(run).items() if not place.startswith("server"))
    w = run.server["w"]
    assert (float(w.norm()), float(w.sum()), kept) == pytest.approx(GOLDEN[name], rel=1e-9, abs=1e-9)


def test_the_same_clients_are_always_drawn() -> None:
    assert [toy_task(METHODS["fedavg"]).cohort(r) for r in range(4)] == COHORTS
