"""Where runs are followed: said in several ways, refused in one sentence, and never a reason for more runs."""

from typing import Any

import pytest

from superfed.core.errors import SettingError
from superfed.experiments.labels import run_names
from superfed.experiments.load import also_tracked, apply_overrides, load_config, resolve
from superfed.tracking.settings import MLflow, TensorBoard, WeightsAndBiases


def tracking(value: Any) -> tuple[object, ...]:
    runs = resolve(load_config("demo") | {"tracking": value})
    assert len(runs) == 12, "a list of trackers is no grid"
    return runs[0].tracking


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (None, ()),
        ([], ()),
        ("tensorboard", (TensorBoard(),)),
        (["tensorboard", "wandb"], (TensorBoard(), WeightsAndBiases())),
        (["tensorboard", {"name": "mlflow", "uri": "http://here"}], (TensorBoard(), MLflow(uri="http://here"))),
        ({"name": "wandb", "mode": "offline"}, (WeightsAndBiases(mode="offline"),)),
        (
            {"wandb": {"project": "x", "mode": "offline"}, "mlflow": None},
            (WeightsAndBiases(project="x", mode="offline"), MLflow()),
        ),
    ],
)
def test_it_may_be_said_in_several_ways(value: Any, meant: tuple[object, ...]) -> None:
    assert tracking(value) == meant
    resolved = resolve(load_config("demo") | {"tracking": value})[0].as_plain()
    assert resolve(resolved)[0].tracking == meant, "what is shown can be given again"


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("wandbb", "tracking.name: 'wandbb' is unknown; did you mean 'wandb'?"),
        (["tensorbord"], "tracking.name: 'tensorbord' is unknown; did you mean 'tensorboard'?"),
        ({"neptune": {}}, "tracking.neptune: unknown; here there are tensorboard, wandb, mlflow"),
        ({"wandb": {"projekt": "x"}}, "tracking.wandb.projekt: unknown; did you mean 'project'?"),
        ({"wandb": {"project": 3}}, "tracking.wandb.project: must be text, not 3"),
        ({"mlflow": "here"}, "tracking.mlflow: must be a mapping of settings, not 'here'"),
        (["wandb", "wandb"], "tracking: wandb is given twice"),
        (3, "tracking: must be a name or a mapping with 'name', not 3"),
    ],
)
def test_what_cannot_be_used_is_a_sentence(value: Any, sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        tracking(value)
    assert str(caught.value) == sentence


def test_it_names_no_run_and_is_no_part_of_one() -> None:
    plain, followed = (resolve(load_config("demo") | {"tracking": value}) for value in ([], ["wandb", "mlflow"]))
    assert run_names(plain) == run_names(followed)
    assert [one.of_the_run() for one in plain] == [one.of_the_run() for one in followed]


def test_settings_on_the_command_line() -> None:
    settings = apply_overrides(load_config("demo"), ["tracking.wandb.project=x", "tracking.mlflow.uri=y"])
    assert resolve(settings)[0].tracking == (WeightsAndBiases(project="x"), MLflow(uri="y"))


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (None, ["wandb", "mlflow"]),
        ("wandb", ["mlflow", "wandb"]),
        (["wandb"], ["mlflow", "mlflow"]),
        ({"name": "wandb"}, ["mlflow"]),
        ({"wandb": None}, ["wandb", "mlflow"]),
    ],
)
def test_more_trackers_join_those_of_the_config(given: Any, names: list[str]) -> None:
    settings = also_tracked(load_config("demo") | {"tracking": given}, names)
    assert resolve(settings)[0].tracking == (WeightsAndBiases(), MLflow())


def test_more_trackers_do_not_hide_a_mistake() -> None:
    settings = also_tracked(load_config("demo") | {"tracking": {"wandb": 3}}, ["mlflow"])
    with pytest.raises(SettingError, match=r"^tracking\.wandb: must be a mapping of settings, not 3$"):
        resolve(settings)
