"""Answers are made from numbers: made-up runs of which the answer is known, and the opposite ones."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from some_records import MADE, record

from superfed.reproduce.asked import BATCHED, DEALT, NUS, STEEPER, TUNED, WHOLE
from superfed.reproduce.drawn import NOT_RUN, Section
from superfed.reproduce.methods import METHODS
from superfed.reproduce.questions.answer import NOT_YET
from superfed.reproduce.questions.column import columns
from superfed.reproduce.questions.draw import questions
from superfed.reproduce.questions.printed import nearer
from superfed.reproduce.record import Record
from superfed.reproduce.tallies import ARRIVING, Tallies, Tally
from superfed.reproduce.words import METHODS as NAMES

SAMPLES = (100,) * 60
NOISE = np.random.default_rng(0).integers(-5, 6, size=60)
"""Every client's own ease, the same in all runs."""


def run(id: str, validated: int, oracle: int | None = None, seed: int = 0, **more: Any) -> Record:
    """A run in which every client has about so many of 100 right."""
    best = validated if oracle is None else oracle
    hits = {"validated": _about(validated), "oracle": _about(best), "validated_shared": _about(validated)}
    counted = Tallies(Tally(SAMPLES, hits), never_sampled=())
    readings = {
        reading: {"top1": {"mean": value / 100, "std": 0.03}}
        for reading, value in {
            "validated": validated,
            "oracle": best,
            "validated_shared": validated,
            "fixed": 50,
        }.items()
    }
    whole = Record(f"questions/mnist/{id}", seed, 60, readings, MADE, tallies=counted)
    return replace(whole, tallies=replace(counted, **more)) if more else whole


def _about(value: int) -> tuple[int, ...]:
    return tuple(np.clip(value + NOISE, 0, 100).tolist())


def _spoilt(run: Record, places: Sequence[int], hits: int, **more: Any) -> Record:
    """The run with so few hits of some clients."""
    assert run.tallies is not None
    own = {
        reading: tuple(hits if place in places else value for place, value in enumerate(values))
        for reading, values in run.tallies.members.hits.items()
    }
    return replace(run, tallies=replace(run.tallies, members=Tally(SAMPLES, own), **more))


def asked(number: int, *runs: Record) -> Section:
    cells: dict[str, list[Record]] = {}
    for one in runs:
        cells.setdefault(one.cell, []).append(one)
    (found,) = (one for one in questions(cells).sections if one.heading.startswith(f"{number}. "))
    return found


def said(section: Section) -> str:
    return " ".join(section.remarks)


def words(section: Section, first: str) -> tuple[str, ...]:
    (row,) = (row.words for row in section.rows if row.words[0] == first)
    return row[1:]


def nus(**validated: int) -> list[Record]:
    """Of SuPerFed-MM, whose published ν is 1."""
    return [run(f"{'k500' if nu == 'nu1' else f'k500_{nu}'}/superfed_mm", value) for nu, value in validated.items()]


def test_nu_matters() -> None:
    found = asked(1, *nus(nu0=90, nu1=90, nu2=91, nu5=85))
    assert said(found) == (
        "For SuPerFed-MM it does between the clients of single runs; ν = 5 is furthest from ν = 0: "
        "-5.00 points (p < 0.001 over clients) at the validated λ, -5.00 (p < 0.001 over clients) at the oracle's. "
        "The rest is not run yet."
    )
    assert words(found, "SuPerFed-MM, ν = 2")[:2] == ("91.00 ±3.00", "+1.00°")
    assert words(found, "SuPerFed-LM, ν = 2")[0] == "not run yet"
    assert len(found.rows) == 2 * len(NUS)


def test_a_nu_that_matters_is_not_hidden_by_one_further_off() -> None:
    rough = [run("k500_nu5/superfed_mm", value, seed=seed) for seed, value in enumerate((70, 85, 99))]
    found = asked(1, *nus(nu0=90, nu2=92), *rough)
    assert "it does between the clients of single runs; ν = 2 is furthest from ν = 0: +2.00" in said(found)


def test_nu_matters_between_seeds() -> None:
    every = [run("k500_nu0/superfed_mm", 90 + seed, seed=seed) for seed in range(3)]
    every += [run("k500_nu5/superfed_mm", 80 + seed, seed=seed) for seed in range(3)]
    known = "For SuPerFed-MM it does; ν = 5 is furthest from ν = 0: -10.00 points (p <"
    assert said(asked(1, *every)).startswith(known)


def test_nu_does_not_matter() -> None:
    found = asked(1, *nus(nu0=90, nu1=90, nu2=90, nu5=90))
    assert "For SuPerFed-MM no difference is seen" in said(found)


def test_without_its_zero_there_is_nothing_to_compare_nu_with() -> None:
    assert asked(1, *nus(nu1=90, nu2=80)).remarks == NOT_YET


def test_some_of_the_gain_is_the_oracles() -> None:
    baselines = [run("k500/fedavg", 90), run("k500/fedper", 93), run("k500/ditto", 80)]
    found = asked(2, *baselines, run("k500/superfed_mm", 91, oracle=94), run("k500/superfed_lm", 88, oracle=92))
    assert "75 % of SuPerFed-MM's gain over FedAvg is the oracle's choice: +4.00 points" in said(found)
    assert ", +1.00 (p < 0.001 over clients) at each client's validated λ" in said(found)
    assert "; compared with the best baseline, FedPer: -2.00 (p < 0.001 over clients)" in said(found)
    assert "More than all of SuPerFed-LM's gain over FedAvg is the oracle's choice" in said(found)
    assert found.remarks[-1] == "The rest is not run yet."  # APFL
    assert words(found, "SuPerFed-MM")[:4] == ("94.00 ±3.00", "+4.00°", "91.00 ±3.00", "+1.00°")
    assert [row.words[0] for row in found.rows][-1] == "SuPerFed-LM"
    assert len(found.rows) == len(METHODS)


def test_the_best_baseline_is_found_and_not_named() -> None:
    runs = [run("k500/fedavg", 90), run("k500/fedper", 80), run("k500/ditto", 95), run("k500/superfed_mm", 91)]
    assert "compared with the best baseline, Ditto: -4.00 (p < 0.001 over clients)" in said(asked(2, *runs))


def test_random_shards_are_harder_or_easier() -> None:
    runs = []
    for method, cyclic, random in zip(DEALT, (90, 90, 90, 91, 92), (85, 95, 90, 88, 92), strict=True):
        runs += [run(f"k500/{method}", cyclic), run(f"k500_random/{method}", random)]
    found = asked(3, *runs)
    assert said(found).startswith(
        "At the validated λ random shards are harder for FedAvg (-5.00, p < 0.001 over clients), SuPerFed-MM ("
    )
    assert "easier for FedPer (+5.00, p < 0.001 over clients)" in said(found)
    none = "(+0.00, p = 1 over clients)"
    assert f"neither harder nor easier, as far as is seen, for APFL {none}, SuPerFed-LM {none}" in said(found)
    sure = "(p < 0.001 over clients)"
    gain = f"SuPerFed-MM's gain over FedAvg is +1.00 points {sure} with cyclic shards, +3.00 {sure} with random ones"
    assert gain in said(found)


def test_a_steeper_decay_is_better_or_worse() -> None:
    runs = []
    for method, slight, steep in zip(STEEPER, (90, 90, 90, 91, 92), (85, 90, 90, 95, 92), strict=True):
        runs += [run(f"k500/{method}", slight - 1, slight), run(f"k500_steep/{method}", steep - 1, steep)]
    found = asked(6, *runs)
    assert said(found).startswith(
        "With 1 %, FedAvg is worse: -5.00 points (p < 0.001 over clients) at the oracle's λ; -11."
    )
    assert "FedPer is not seen to differ: +0.00 points (p = 1 over clients)" in said(found)
    far = [f"{value + NOISE.mean() - 99.24:+.2f}" for value in (95, 91)]
    better = f"+4.00 points (p < 0.001 over clients) at the oracle's λ; {far[0]} from the published number, otherwise {far[1]}"
    assert f"SuPerFed-MM is better: {better}" in said(found)
    assert words(found, "SuPerFed-MM")[-1] == "99.24 ±2.12"
    alone = asked(6, run("k500_steep/superfed_mm", 90), run("k500/superfed_mm", 91))
    assert alone.remarks[-1] == "The rest is not run yet."


def of_shakespeare(id: str, validated: int) -> Record:
    return replace(run(id, validated), cell=f"questions/shakespeare/{id}")


def test_without_proximity_roles_are_better_or_worse() -> None:
    runs = [of_shakespeare("natural/superfed_mm", 25), of_shakespeare("natural_mu0/superfed_mm", 50)]
    found = asked(9, *runs)
    far = [f"{value + NOISE.mean() - 54.52:+.2f}" for value in (50, 25)]
    assert said(found) == (
        f"Without it, SuPerFed-MM is better: +25.00 points (p < 0.001 over clients) at the oracle's λ; {far[0]} from the "
        f"published number, otherwise {far[1]}. The rest is not run yet."
    )
    assert found.heading.endswith("(Shakespeare, natural)")
    worse = asked(9, of_shakespeare("natural/superfed_lm", 50), of_shakespeare("natural_mu0/superfed_lm", 25))
    assert "SuPerFed-LM is worse: -25.00" in said(worse)


def test_windows_split_at_random_add_to_what_is_right() -> None:
    runs = [of_shakespeare(id, value) for id, value in (("natural/apfl", 48), ("natural_mixed/apfl", 54))]
    found = asked(11, *runs, of_shakespeare("natural/fedavg", 49))
    assert said(found).startswith(
        "Split at random, APFL is better: +6.00 points (p < 0.001 over clients) at the oracle's λ; "
    )
    assert said(found).endswith("The rest is not run yet.")
    assert words(found, "APFL")[:3] == ("48.00 ±3.00", "54.00 ±3.00", "+6.00°")
    assert words(found, "FedAvg")[1] == "not run yet"


def test_runs_that_blew_up_are_marked_and_told_of() -> None:
    blown = replace(of_shakespeare("natural/superfed_mm", 25), diverged=18)
    found = asked(9, blown, of_shakespeare("natural_mu0/superfed_mm", 50))
    assert words(found, "SuPerFed-MM")[:2] == ("25.00 ±3.00!", "50.00 ±3.00")
    assert found.remarks[0].endswith("; but with μ = 0.01 18 client updates were not finite and were left out.")


def test_questions_are_put_to_their_own_tables_columns() -> None:
    cells = {one.cell: [one] for one in (of_shakespeare("natural/superfed_mm", 25), run("k500/fedavg", 90))}
    numbers = [(one.heading.split(".")[0], "Shakespeare" in one.heading) for one in questions(cells).sections]
    assert numbers == [(str(number), False) for number in range(1, 9)] + [("9", True), ("10", False), ("11", True)]


def test_even_batches_are_better_or_worse() -> None:
    runs = []
    for method, small, even in zip(BATCHED, (50, 90, 90, 88, 92), (52, 90, 88, 91, 92), strict=True):
        runs += [run(f"k500/{method}", small - 1, small), run(f"k500_even/{method}", even - 1, even)]
    found = asked(8, *runs)
    assert said(found).startswith(
        "With batches of about one size, FedAvg is better: +2.00 points (p < 0.001 over clients) at the oracle's λ; "
    )
    assert "FedPer is not seen to differ: +0.00 points (p = 1 over clients)" in said(found)
    assert "APFL is worse: -2.00 points (p < 0.001 over clients) at the oracle's λ; " in said(found)
    assert "SuPerFed-MM is better: +3.00 points (p < 0.001 over clients)" in said(found)
    assert found.headings[1:3] == ("small last, validated", "even")


def test_a_small_last_batch_is_better_or_worse_where_it_is_not_usual() -> None:
    both = run("k500/superfed_mm", 90), run("k500_small/superfed_mm", 87)
    found = asked(8, *(replace(one, cell=one.cell.replace("mnist", "cifar10")) for one in both))
    worse = "With a small last batch, SuPerFed-MM is worse: -3.00 points (p < 0.001 over clients) at the oracle's λ"
    assert worse in said(found)
    assert found.headings[1:3] == ("even, validated", "small last")
    (row,) = (row for row in found.rows if row.words[0] == "SuPerFed-MM")
    assert row.cell == "questions/cifar10/k500_small/superfed_mm"


def test_nothing_is_nearer_to_a_number_that_is_no_target() -> None:
    both = {one.cell: [one] for one in (run("k500/pfedme", 80), run("k500_whole/pfedme", 90))}
    (column,) = columns(both)
    assert nearer(column, "pfedme", "whole") == ""
    good = {cell.replace("pfedme", "apfl"): records for cell, records in both.items()}
    (column,) = columns(good)
    assert " from the published number, otherwise " in nearer(column, "apfl", "whole")


def test_samples_that_are_kept_cost_something_or_nothing() -> None:
    runs = []
    for method, some, every in zip(WHOLE, (80, 90, 90, 91, 92), (85, 90, 88, 95, 92), strict=True):
        runs += [run(f"k500/{method}", some - 9, some), run(f"k500_whole/{method}", 50, every)]
    found = asked(7, *runs)
    assert said(found).startswith("Trained on all of them, FedAvg is better: +5.00 points (p < 0.001 over clients); ")
    assert "APFL is worse: -2.00 points (p < 0.001 over clients); " in said(found)
    far = [f"{value + NOISE.mean() - 99.24:+.2f}" for value in (95, 91)]
    assert f"+4.00 points (p < 0.001 over clients); {far[0]} from the published number, otherwise {far[1]}" in said(
        found
    )
    assert "SuPerFed-LM is not seen to differ: +0.00 points (p = 1 over clients)" in said(found)
    assert words(found, "SuPerFed-MM")[2:] == ("+4.00°", "99.24 ±2.12")
    more = asked(7, *runs, run("k500/superfed_mm", 40, 50, seed=1))  # a seed that only one side has
    assert more.remarks == found.remarks
    unasked = asked(7, run("k500/superfed_mm", 90))
    assert (unasked.remarks, unasked.rows) == (NOT_YET, ())


def newcomers(method: str, members: int, arriving: int | None, then: int) -> Record:
    hits = {"validated": _about(then)} | ({} if arriving is None else {ARRIVING: _about(arriving)})
    return run(f"k500_newcomers/{method}", members, newcomers=Tally(SAMPLES, hits), epochs=10)


def test_newcomers_beside_members() -> None:
    found = asked(
        4,
        newcomers("fedavg", 90, 90, 94),
        newcomers("fedper", 95, None, 93),
        newcomers("superfed_mm", 94, 88, 93),
        newcomers("superfed_lm", 93, 80, 93),
    )
    assert said(found) == (
        "After 10 epochs SuPerFed-MM's newcomers are not seen to differ from its members: -1.00 points (p = 0.11 over "
        "clients); compared with FedAvg's -1.00 (p < 0.001 over clients), and as they arrive -2.00 (p < 0.001 over clients). "
        "After 10 epochs SuPerFed-LM's newcomers are not seen to differ from its members: +0.00 points (p = 1 over clients); "
        "compared with FedAvg's -1.00 (p < 0.001 over clients), and as they arrive -10.00 (p < 0.001 over clients)."
    )
    assert found.headings[3] == "after 10 epochs, validated"
    assert words(found, "FedPer")[1] == "–"
    assert words(found, "APFL")[0] == "not run yet"


def test_those_that_fail_were_never_sampled() -> None:
    never, late = (0, 1, 2, 3), (4, 5)
    mm = _spoilt(run("k500/superfed_mm", 90), (), 0, never_sampled=never, only_before=late)
    lm = _spoilt(run("k500/superfed_lm", 90), (*never, 9), 10, never_sampled=never)
    ditto = _spoilt(run("k500/ditto", 90), (*never, 7), 0, never_sampled=never)
    found = asked(5, mm, lm, ditto, run("k500/fedavg", 90, never_sampled=never))
    assert "With SuPerFed-MM no client fails; compared with the others, those never sampled are at" in said(found)
    assert ", those sampled only before L are at" in said(found)
    never_less = "compared with the others, those never sampled are at -78.50 points"
    assert f"With SuPerFed-LM 5 of 60 clients fail, 4 of them never sampled; {never_less}" in said(found)
    assert said(found).endswith(
        " Of the baselines' clients that fail, never sampled were 4 of 5 with Ditto (of 60 clients)."
    )
    assert words(found, "Ditto, never sampled") == ("4", "0.00 ±0.00", "4", "0.00 ±0.00", "4")
    assert words(found, "Ditto, others")[0] == "56"
    assert words(found, "SuPerFed-MM, only before L")[0] == "2"
    assert words(found, "pFedMe")[0] == "not run yet"


def test_half_right_is_failing_and_more_is_not() -> None:
    found = asked(5, _spoilt(_spoilt(run("k500/ditto", 90), (0,), 50), (1,), 51))
    assert "1 with Ditto" in said(found)


def test_several_seeds_are_told_together() -> None:
    runs = [
        run(f"{column}/superfed_mm", value + seed, seed=seed) for seed in range(3) for column, value in BOTH.items()
    ]
    found = asked(1, *runs)
    assert words(found, "SuPerFed-MM, ν = 5")[0] == "86.00 ±3.00 (1.00)"
    assert ": -5.00 points (p < 0.001) at the validated λ" in said(found)


BOTH = {"k500_nu0": 90, "k500_nu5": 85}


def test_nothing_run() -> None:
    assert questions({}) == NOT_RUN


def test_every_column_of_which_something_was_run_has_its_sections() -> None:
    cells = ("questions/mnist/k500/fedavg", "questions/cifar10/k500/fedavg")
    found = questions({cell: [record(cell)] for cell in cells}).sections
    assert [one.heading.rsplit(" (", 1)[1] for one in found] == ["MNIST, K = 500)", "CIFAR-10, K = 500)"] * 9
    numbers = [int(one.heading.split(".")[0]) for one in found]
    assert numbers == [number for number in (*range(1, 9), 10) for _ in range(2)]  # 9 and 11 are of Shakespeare


def test_a_tuned_global_model_beside_personal_ones() -> None:
    tuned = run("k500_tuned/fedavg", 88)
    found = asked(10, tuned, run("k500/fedavg", 60), run("k500/superfed_mm", 85, oracle=91))
    sure = "(p < 0.001 over clients)"
    assert found.remarks == (
        f"SuPerFed-MM beside tuned FedAvg: worse at each client's validated λ, -3.00 points {sure}; worse at one λ that "
        f"all validate, -3.00 {sure}; better at the oracle's, +3.00 {sure}.",
        "The rest is not run yet.",
    )
    assert found.rows[0].words[:3] == ("FedAvg, tuned", "88.00 ±3.00", "–")
    assert words(found, "FedAvg")[:2] == ("60.00 ±3.00", "-28.00°")
    assert words(found, "SuPerFed-MM")[4:] == ("91.00 ±3.00", "+3.00°")
    assert words(found, "SuPerFed-MM, tuned")[0] == "not run yet"
    assert asked(10, run("k500/superfed_mm", 85)).remarks == NOT_YET


def test_personal_models_that_are_tuned_too() -> None:
    tuned = (run("k500_tuned/fedavg", 88), run("k500_tuned/superfed_mm", 90, oracle=94))
    found = asked(10, *tuned, run("k500/superfed_mm", 85, oracle=91))
    sure = "(p < 0.001 over clients)"
    assert found.remarks[1] == (
        f"Tuned SuPerFed-MM beside tuned FedAvg: better at each client's validated λ, +2.00 points {sure}; better at one λ "
        f"that all validate, +2.00 {sure}; better at the oracle's, +6.00 {sure}; "
        f"tuning it makes +5.00 {sure} at each client's λ and +5.00 {sure} at one for all."
    )
    assert words(found, "SuPerFed-MM, tuned")[:2] == ("90.00 ±3.00", "+2.00°")
    titles = [f"{NAMES[name]}, tuned" for name in TUNED] + [NAMES[name] for name in METHODS]
    assert [row.words[0] for row in found.rows] == titles
