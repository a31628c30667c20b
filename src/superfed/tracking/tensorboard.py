"""TensorBoard: a folder of event files for each run. Written with TensorBoard's own writer; torch's needs torch."""

import time
from collections.abc import Mapping
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event  # type: ignore[import-untyped]
from tensorboard.compat.proto.summary_pb2 import Summary  # type: ignore[import-untyped]
from tensorboard.plugins.histogram.summary_v2 import histogram_pb  # type: ignore[import-untyped]
from tensorboard.plugins.hparams.summary_v2 import hparams_pb  # type: ignore[import-untyped]
from tensorboard.plugins.text.summary_v2 import text_pb  # type: ignore[import-untyped]
from tensorboard.summary.writer.event_file_writer import EventFileWriter  # type: ignore[import-untyped]

from superfed.store.layout import as_yaml
from superfed.tracking.followed import Experiment, Followed
from superfed.tracking.settings import TensorBoard
from superfed.tracking.values import of_summary


class Writers:
    def __init__(self, settings: TensorBoard, experiment: Experiment) -> None:
        folder, place = settings.folder, experiment.place
        self._folder = place / "tensorboard" if folder is None else Path(folder) / experiment.folder.name
        self._writers: dict[str, EventFileWriter] = {}

    def begin(self, run: Followed, known: str | None) -> str:
        folder = self._folder / run.name
        self._writers[run.name] = EventFileWriter(str(folder), max_queue_size=1000)
        if known is None:
            plain = {key: str(v) if v is None or isinstance(v, list) else v for key, v in run.settings.items()}
            self._add(run, 0, hparams_pb(plain))
            told = {"config": as_yaml(run.config), "provenance": as_yaml(run.tags)}
            for tag, text in told.items():
                self._add(run, 0, text_pb(tag, f"```yaml\n{text}```"))
        return str(folder)

    def log(self, run: Followed, step: int, values: Mapping[str, float]) -> None:
        self._add(run, step, Summary(value=[Summary.Value(tag=tag, simple_value=v) for tag, v in values.items()]))
        self._writers[run.name].flush()

    def results(self, run: Followed, step: int) -> None:
        self.log(run, step, of_summary(run.summary()))
        for name, values in run.per_client().items():
            self._add(run, step, histogram_pb(name, values))

    def end(self, run: Followed, status: str) -> None:
        self._writers.pop(run.name).close()

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()

    def _add(self, run: Followed, step: int, summary: Summary) -> None:
        self._writers[run.name].add_event(Event(wall_time=time.time(), step=step, summary=summary))
