"""What runs store for reliability diagrams and class mixes agrees with what they store besides, and with the data."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from superfed.engine.evaluate import NO_LAMBDA, ClientScores
from superfed.experiments.assemble import Assembler
from superfed.experiments.load import resolve
from superfed.experiments.results import Results
from superfed.experiments.runner import reevaluate
from superfed.metrics.scores import score
from superfed.store.files import read_json, write_json
from superfed.store.layout import ExperimentFolder, RunFolder, find_runs
from superfed.store.tables import read_table


def of_test(run: RunFolder) -> dict[tuple[int, float | None], dict[str, float]]:
    table = read_table(run.clients)
    names = ("samples", "top1", "ece", "mce")
    return {
        (table["client"][i], table["lam"][i]): {name: table[name][i] for name in names}
        for i, split in enumerate(table["split"])
        if split == "test"
    }


def test_each_clients_bins_hold_its_samples_and_make_its_calibration_errors(experiment: Path) -> None:
    for run in find_runs(experiment):
        bins, clients, readings = read_table(run.bins), of_test(run), read_table(run.readings)
        chosen = {
            client: lam
            for client, lam, reading in zip(readings["client"], readings["lam"], readings["reading"], strict=True)
            if reading == "validated"
        }
        for client, lam in chosen.items():
            rows = [i for i, who in enumerate(bins["client"]) if who == client]
            assert {bins["lam"][i] for i in rows} == {lam}
            samples, sure, right = (
                np.array([bins[name][i] for i in rows]) for name in ("samples", "confidence", "top1")
            )
            stored = clients[client, lam]
            assert samples.sum() == stored["samples"]
            assert (samples * right).sum() / samples.sum() == pytest.approx(stored["top1"])
            assert (samples * abs(sure - right)).sum() / samples.sum() == pytest.approx(stored["ece"])
            assert abs(sure - right).max() == pytest.approx(stored["mce"])
            edges = np.array([bins["bin"][i] for i in rows])
            assert ((edges / 15 < sure) & (sure <= (edges + 1) / 15 + 1e-12)).all()


def test_everybodys_bins_at_every_lambda(experiment: Path) -> None:
    for run in find_runs(experiment):
        bins, clients = read_table(run.bins), of_test(run)
        for lam in dict.fromkeys(lam for _, lam in clients):
            rows = [i for i, who in enumerate(bins["client"]) if who is None and bins["lam"][i] == lam]
            here = [stored for (_, at), stored in clients.items() if at == lam]
            assert sum(bins["samples"][i] for i in rows) == sum(stored["samples"] for stored in here)
            hits = sum(stored["samples"] * stored["top1"] for stored in here)
            assert sum(bins["samples"][i] * bins["top1"][i] for i in rows) == pytest.approx(hits)


def test_networks_that_answer_nothing_are_counted(experiment: Path) -> None:
    assert all(read_json(run.summary_file)["silent_clients"] == 0 for run in find_runs(experiment))
    random, labels = np.random.default_rng(0), np.arange(20) % 4
    answers = random.normal(size=(1, 20, 4)), np.zeros((1, 20, 4))
    speaking, dead = (score(logits, labels, batch_size=8) for logits in answers)
    without_samples = score(np.zeros((1, 0, 4)), labels[:0], batch_size=8)
    scores = [
        ClientScores(NO_LAMBDA, 20, len(labels), of_client, of_client)
        for of_client in (speaking, dead, without_samples)
    ]
    assert Results(range(3), scores).summary([])["silent_clients"] == 1


def test_holdings_are_those_of_the_data(experiment: Path) -> None:
    folder = ExperimentFolder(experiment)
    for run, config in zip(folder.runs(), resolve(folder.info()["config"]), strict=True):
        table, data = read_table(run.holdings), Assembler(None).data(config)
        assert table["client"] == list(range(10))
        for client in range(10):
            parts = [part(client) for part in (data.train, data.validation, data.test)]
            assert [table[name][client] for name in ("train", "validation", "test")] == [len(part) for part in parts]
            labels, counts = np.unique(np.concatenate([part.y.numpy() for part in parts]), return_counts=True)
            assert table["classes"][client] == labels.tolist()
            assert table["samples"][client] == counts.tolist()
        assert run.info()["holdings"]["samples"] == sum(sum(samples) for samples in table["samples"])


def test_a_run_of_an_older_program_gets_them_when_it_is_evaluated_anew(experiment: Path, tmp_path: Path) -> None:
    shutil.copytree(experiment, tmp_path / "old")
    run = find_runs(tmp_path / "old")[0]
    before = run.bins.read_bytes(), run.holdings.read_bytes(), run.info()
    run.bins.unlink()
    run.holdings.unlink()
    info = read_json(run.path / "run.json")
    del info["holdings"]
    write_json(run.path / "run.json", info)
    reevaluate(run.path)
    assert (run.bins.read_bytes(), run.holdings.read_bytes(), run.info()) == before
