"""Labels of rows: few words, and never the same for two rows."""

from superfed.report.settings import Settings, differences, labels, short_names


def told(rows: list[Settings], methods: list[str] | None = None) -> list[str]:
    methods = methods or ["M"] * len(rows)
    return labels(differences(rows, methods), methods)


def test_what_follows_from_the_dataset_goes_unsaid() -> None:
    rows = [
        {"algorithm.nu": 1, "data.dataset.name": "mnist", "model.name": "two_nn", "training.lr": 0.1},
        {"algorithm.nu": 2, "data.dataset.name": "cifar10", "model.name": "two_cnn", "training.lr": 0.2},
    ]
    assert told(rows) == ["dataset=mnist", "dataset=cifar10"]
    assert differences(rows, ["M", "M"]) == rows


def test_what_tells_apart_is_said() -> None:
    rows = [{"data.k": k, "algorithm.nu": nu} for k in (5, 10) for nu in (1, 2)]
    assert told(rows) == ["k=5, nu=1", "k=5, nu=2", "k=10, nu=1", "k=10, nu=2"]


def test_settings_of_different_methods_are_not_held_against_each_other() -> None:
    rows = [{"algorithm.mu": 1, "training.lr": 1}, {"algorithm.mu": 2, "training.lr": 1}]
    assert told(rows, ["A", "B"]) == ["", ""]
    assert told(rows, ["A", "A"]) == ["mu=1", "mu=2"]


def test_shared_settings_are_held_against_each_other_across_methods() -> None:
    assert told([{"training.lr": 1}, {"training.lr": 2}], ["A", "B"]) == ["lr=1", "lr=2"]


def test_what_only_one_has_tells_them_apart() -> None:
    assert told([{"data.label_noise.kind": "pair", "training.lr": 1}, {"training.lr": 1}]) == ["kind=pair", ""]


def test_short_names_stay_clear() -> None:
    keys = ["data.dataset.name", "algorithm.nu", "data.seed", "model.width", "algorithm.width"]
    assert list(short_names(keys).values()) == ["dataset", "nu", "data.seed", "model.width", "algorithm.width"]
