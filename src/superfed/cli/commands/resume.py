"""superfed resume"""

from superfed.cli.elsewhere import GpusPerTask, RayAddress, Spreading, StoreUrl
from superfed.cli.options import DataRoot, RunPath


def command(
    run: RunPath,
    ray: RayAddress = None,
    gpus_per_task: GpusPerTask = None,
    store: StoreUrl = None,
    spread: Spreading = False,
    data_root: DataRoot = None,
) -> None:
    """Go on with an interrupted run, or with all of an experiment's, from the last checkpoints.

    It ends in the same weights and metrics as if it had never stopped.

    [bold]superfed resume runs/demo-20260101-120000[/bold]
    """
    from rich.console import Console

    from superfed.cli.elsewhere import place_for
    from superfed.cli.finish import failures_kept, show_results
    from superfed.cli.interrupt import Heeding, stoppable
    from superfed.cli.progress import watching
    from superfed.experiments.runner import resume
    from superfed.store.layout import find_experiment

    console = Console()
    experiment, _ = find_experiment(run)
    with (
        place_for(ray, gpus_per_task, store, spread) as place,
        stoppable(experiment.path, options=place.options) as stop,
        failures_kept() as failures,
        watching(console) as observer,
    ):
        resume(run, data_root, Heeding(observer, stop), place)
    show_results(experiment.path, console, failures)
