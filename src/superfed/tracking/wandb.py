"""Weights & Biases: a run for each run, in a group for each experiment."""

import netrc
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import wandb

from superfed.tracking.followed import Experiment, Followed
from superfed.tracking.settings import WeightsAndBiases
from superfed.tracking.values import of_summary

EXIT_CODES = {"finished": 0, "stopped": 1, "failed": 1, "interrupted": 255}


class WandbRuns:
    def __init__(self, settings: WeightsAndBiases, experiment: Experiment) -> None:
        self._settings, self._group = settings, experiment.folder.name
        self._place = experiment.place if settings.folder is None else Path(settings.folder)
        self._place.mkdir(parents=True, exist_ok=True)
        self._runs: dict[str, Any] = {}
        self.remark: str | None = None
        mode = settings.mode or os.environ.get("WANDB_MODE")
        if mode is None and not _key_is_known():
            mode = "offline"
            self.remark = (
                "no API key is known here, so runs are kept offline; "
                f"upload them with: wandb sync {self._place / 'wandb'}/offline-run-*"
            )
        self._mode: Any = mode

    def begin(self, run: Followed, known: str | None) -> str:
        mine = wandb.init(
            project=self._settings.project,
            entity=self._settings.entity,
            group=self._group,
            name=run.name,
            id=known,
            resume=None if known is None else "allow",
            mode=self._mode,
            dir=str(self._place),
            config=run.config | {"provenance": run.tags},
            reinit="create_new",
            settings=_quiet(),
        )
        self._runs[run.name] = mine
        return str(mine.id)

    def log(self, run: Followed, step: int, values: Mapping[str, float]) -> None:
        self._runs[run.name].log(dict(values), step=step)

    def results(self, run: Followed, step: int) -> None:
        mine = self._runs[run.name]
        mine.log({name: wandb.Histogram(values) for name, values in run.per_client().items()}, step=step)
        mine.summary.update(of_summary(run.summary()))
        into = Path(mine.dir) / "superfed"  # in the folder itself W&B has a config.yaml of its own
        into.mkdir(exist_ok=True)
        for path in run.files():
            shutil.copy(path, into)
        run.page(into)
        mine.save(f"{into}/*", base_path=mine.dir, policy="now")

    def end(self, run: Followed, status: str) -> None:
        self._runs.pop(run.name).finish(exit_code=EXIT_CODES[status])

    def close(self) -> None:
        wandb.teardown()


def _quiet() -> wandb.Settings:
    """Numbers and files; nothing of the machine, the code or the terminal."""
    return wandb.Settings(
        silent=True,
        console="off",
        disable_code=True,
        disable_git=True,
        x_disable_meta=True,
        x_disable_stats=True,
        init_timeout=60,
    )


def _key_is_known() -> bool:
    """Whether W&B could log in without asking: by its variables, or where ``wandb login`` leaves keys."""
    if os.environ.get("WANDB_API_KEY") or os.environ.get("WANDB_IDENTITY_TOKEN_FILE"):
        return True
    host = urlsplit(os.environ.get("WANDB_BASE_URL", "https://api.wandb.ai")).hostname or ""
    try:
        return netrc.netrc(os.environ.get("NETRC")).authenticators(host) is not None
    except (OSError, netrc.NetrcParseError):
        return False
