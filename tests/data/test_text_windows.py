"""Windows over text: what they show, what they cost, and how they are split in time."""

import string
import tracemalloc
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from superfed.core.errors import SettingError, UserError
from superfed.data.dataset import Dataset
from superfed.data.dealt import DealtDataset, SyntheticFederation
from superfed.data.partitions import IID, Natural
from superfed.data.pool import Pool
from superfed.data.split import Sizes, Split
from superfed.data.synthetic import Synthetic
from superfed.data.text import TextWindows

ALPHABET = " abcdefghijklmnopqrstuvwxyz"
TEXTS = {"hamlet": "to be or not to be", "ghost": "swear", "yorick": "", "ophelia": "my lord"}


def windows(texts: dict[str, str] = TEXTS, length: int = 4, alphabet: str = ALPHABET) -> TextWindows:
    return TextWindows.from_texts("plays", texts.items(), alphabet, length)


def shown(pool: TextWindows, rows: Any) -> list[str]:
    return ["".join(pool.alphabet[token] for token in window) for window in pool.inputs(np.asarray(rows)).tolist()]


def test_each_sample_is_a_window_and_its_label_the_next_character() -> None:
    pool = windows()
    assert len(pool) == 14 + 1 + 3
    assert shown(pool, range(18))[:3] == ["to b", "o be", " be "]
    assert shown(pool, [13, 14, 15, 17]) == ["to b", "swea", "my l", " lor"]
    assert [ALPHABET[label] for label in pool.labels] == list("e or not to be" + "r" + "ord")
    assert pool.input_shape == (4,)
    assert pool.num_classes == 27
    assert pool.class_names == list(ALPHABET)
    assert pool.overlap == 3
    assert list(pool.owners.names) == ["hamlet", "ghost", "ophelia"]
    assert pool.owners.of.tolist() == [0] * 14 + [1] + [2] * 3


def test_rows_come_in_any_order_as_fresh_whole_numbers() -> None:
    pool = windows()
    x = pool.inputs(np.array([17, 0, 17]))
    assert (x.dtype, x.shape, x.is_contiguous()) == (torch.int64, (3, 4), True)
    assert torch.equal(x[0], x[2])
    x.zero_()
    assert shown(pool, [0]) == ["to b"]
    assert pool.inputs(np.array([], dtype=np.int64)).shape == (0, 4)


@pytest.mark.parametrize("row", [-1, 18])
def test_rows_that_are_not_there_are_refused(row: int) -> None:
    with pytest.raises(IndexError, match="plays: rows are 0 to 17"):
        windows().inputs(np.array([0, row]))


@given(texts=st.lists(st.text(ALPHABET, max_size=30), min_size=1, max_size=8), length=st.integers(2, 12))
def test_every_sample_of_every_role_is_what_a_plain_loop_finds(texts: list[str], length: int) -> None:
    expected = [
        (f"role {i}", text[j : j + length], text[j + length])
        for i, text in enumerate(texts)
        for j in range(len(text) - length)
    ]
    named = {f"role {i}": text for i, text in enumerate(texts)}
    if not expected:
        with pytest.raises(UserError, match="set a smaller length"):
            windows(named, length)
        return
    pool = windows(named, length)
    assert len(pool) == len(expected)
    roles = [pool.owners.names[i] for i in pool.owners.of]
    labels = [ALPHABET[label] for label in pool.labels]
    assert list(zip(roles, shown(pool, range(len(pool))), labels, strict=True)) == expected


def test_the_note_counts_samples_roles_and_who_was_left_out() -> None:
    assert windows().note == (
        "18 samples of 3 roles; roles of at most 4 characters, too short for a window and left out: 1"
    )
    assert windows({"a": "abcdef"}).note == "2 samples of 1 roles"


def test_unknown_characters_are_spaces_and_counted() -> None:
    pool = windows({"a": "café naïve\ncafé", "b": "über"}, length=2)
    assert shown(pool, [2, 9, 13]) == ["f ", "e ", " b"]
    assert pool.note == "15 samples of 2 roles; unknown characters, read as spaces: 5 (é ×2, U+000A ×1, ï ×1, ü ×1)"
    strange = windows({"a": "abc" + "αβγδεζη" * 2}).note
    assert strange is not None
    assert strange.endswith("; unknown characters, read as spaces: 14 (α ×2, β ×2, γ ×2, δ ×2, ε ×2, 2 others)")


def test_no_window_at_all_is_a_sentence() -> None:
    with pytest.raises(UserError) as caught:
        windows(length=18)
    assert str(caught.value) == (
        "plays: none of 4 roles has more than 18 characters, so there is no window and next character; "
        "set a smaller length"
    )


@pytest.mark.parametrize("alphabet", ["abc", " aa", " " + "".join(map(chr, range(300, 560)))])
def test_an_alphabet_that_cannot_be_one_is_a_sentence(alphabet: str) -> None:
    with pytest.raises(UserError) as caught:
        windows(alphabet=alphabet)
    assert str(caught.value) == (
        "an alphabet is at most 256 characters, all different, and a space must be one of them"
    )


GOOD: dict[str, Any] = {
    "name": "t",
    "tokens": np.array([0, 1, 2, 0, 1, 2], dtype=np.uint8),
    "starts": np.array([0, 3, 6]),
    "roles": ["a", "b"],
    "alphabet": "xyz",
    "length": 2,
}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"length": 1}, "t: windows need at least 2 characters, got 1"),
        ({"tokens": np.zeros(6, dtype=np.int64)}, "t: the text must be a flat uint8 array"),
        ({"starts": np.array([0, 6])}, "t: 2 roles need 3 starts in a flat int64 array"),
        ({"starts": np.array([0.0, 3, 6])}, "t: 2 roles need 3 starts in a flat int64 array"),
        ({"starts": np.array([0, 3, 7])}, "t: the starts must begin at 0 and end at the length of the text"),
        ({"starts": np.array([1, 3, 6])}, "t: the starts must begin at 0 and end at the length of the text"),
        ({"starts": np.array([0, 2, 6])}, "t: every role must have more than 2 characters"),
        ({"alphabet": "xy"}, "t: the text holds the character 2, but an alphabet of 2 is 0 to 1"),
    ],
)
def test_arrays_that_do_not_fit_are_a_sentence(change: dict[str, Any], sentence: str) -> None:
    assert len(TextWindows(**GOOD)) == 2
    with pytest.raises(UserError) as caught:
        TextWindows(**{**GOOD, **change})
    assert str(caught.value) == sentence


def test_packed_and_unpacked_it_is_the_same() -> None:
    pool = windows({"a": "über alles", "b": ""})
    again = TextWindows.unpack(pool.pack())
    assert isinstance(again, Pool)
    assert again.digest() == pool.digest()
    assert (again.note, again.name, again.class_names) == (pool.note, pool.name, pool.class_names)
    assert torch.equal(again.inputs(np.arange(6)), pool.inputs(np.arange(6)))
    assert again.tokens is pool.tokens
    assert TextWindows.unpack(pool.pack(), "known").digest() == "known"


def test_the_digest_sees_text_cuts_names_alphabet_and_length_and_not_the_name() -> None:
    pools = [
        windows(),
        windows(TEXTS | {"ghost": "swoar"}),
        windows(TEXTS | {"ghost": "swearm", "ophelia": "y lord"}),
        windows({("laertes" if role == "ophelia" else role): text for role, text in TEXTS.items()}),
        windows(alphabet=ALPHABET + "!"),
        windows(length=3),
    ]
    assert np.array_equal(pools[0].tokens, pools[2].tokens)
    assert len({pool.digest() for pool in pools}) == len(pools)
    other = TextWindows.from_texts("other", TEXTS.items(), ALPHABET, 4)
    assert other.digest() == pools[0].digest()


def test_only_natural_clients_can_hold_windows() -> None:
    with pytest.raises(SettingError, match="the samples of plays overlap, so only natural clients can hold them"):
        DealtDataset.deal(windows(), IID(), 2)


def test_a_role_is_split_in_time() -> None:
    pool = windows({"a": string.ascii_lowercase * 2, "b": "abcdefgh"}, length=4)
    data = DealtDataset.deal(pool, split=Split(0.25, 0.25))
    assert data.client_names == ["a", "b"]
    # 48 samples: 12 are late, 9 of the 36 others validate, and 3 are left out at either cut.
    assert [len(part) for part in (data.train(0), data.validation(0), data.test(0))] == [24, 9, 9]
    assert [int(part.x[0, 0]) - 1 for part in (data.train(0), data.validation(0), data.test(0))] == [0, 1, 13]
    # 4 samples: too few for any gap.
    assert [len(part) for part in (data.train(1), data.validation(1), data.test(1))] == [3, 0, 0]
    assert data.train_size(0) == 24


def test_windows_can_be_split_as_others_are() -> None:
    pool = windows({"a": string.ascii_lowercase * 2, "b": "abcdefgh"}, length=4)
    apart, mixed = (DealtDataset.deal(pool, split=Split(0.25, 0.25, mixed=mixed)) for mixed in (False, True))
    # 48 samples: nothing is left out, and each part has what it would have of samples that do not overlap.
    assert mixed.sizes(0) == Split(0.25, 0.25).sizes(48) == Sizes(27, 9, 12)
    firsts = [part(0).x[:, 0].tolist() for part in (mixed.train, mixed.validation, mixed.test)]
    assert [len(part) for part in firsts] == [27, 9, 12]
    assert min(firsts[2]) < max(firsts[0])
    assert apart.fingerprint != mixed.fingerprint


def test_what_does_not_overlap_is_not_mixed() -> None:
    own = Dataset("own", torch.zeros(8, 2), torch.arange(8) % 2, num_classes=2)
    with pytest.raises(SettingError, match="overlapping: is about samples that overlap; those of own do not"):
        DealtDataset.deal(own, IID(), 2, split=Split(mixed=True))
    with pytest.raises(SettingError, match="those of the synthetic dataset do not"):
        SyntheticFederation(Synthetic(), 2, split=Split(mixed=True))


FRACTIONS = st.floats(0, 1, exclude_min=True, exclude_max=True)


@pytest.mark.parametrize(
    ("num_samples", "test", "validation", "expected"),
    [
        # LEAF: the first 800 train, and testing begins at 800 + 80 - 1.
        (1000, 0.2, 0, Sizes(800, 0, 121)),
        (1000, 0.2, 0.1, Sizes(641, 80, 121)),
        # Too few for a gap and a part: first there is no test, then no validation either, and all train.
        (400, 0.2, 0.1, Sizes(209, 32, 1)),
        (395, 0.2, 0.1, Sizes(205, 32, 0)),
        (100, 0.2, 0.1, Sizes(80, 0, 0)),
        (109, 0.2, 0.1, Sizes(87, 0, 0)),
        (110, 0.2, 0.1, Sizes(88, 0, 0)),
        (112, 0.2, 0.1, Sizes(90, 0, 0)),
        # The gap before validation is paid for by training, which keeps at least half of what is early.
        (246, 0.2, 0.1, Sizes(197, 0, 0)),
        (247, 0.2, 0.1, Sizes(99, 20, 0)),
        (2, 0.2, 0.1, Sizes(2, 0, 0)),
        (1, 0.2, 0.1, Sizes(1, 0, 0)),
        # However greedy testing is, something trains.
        (1, 0.9, 0.1, Sizes(1, 0, 0)),
        (10, 0.99, 0.9, Sizes(1, 0, 0)),
        (200, 0.999, 0.5, Sizes(1, 0, 120)),
    ],
)
def test_sizes_in_time(num_samples: int, test: float, validation: float, expected: Sizes) -> None:
    assert Split(test, validation).sizes_in_time(num_samples, 79) == expected


@settings(max_examples=300)
@given(
    num_samples=st.integers(1, 600),
    length=st.one_of(st.integers(2, 90), st.just(80)),
    test=FRACTIONS,
    validation=st.one_of(st.just(0.0), FRACTIONS),
)
def test_what_is_shared_between_parts_in_time(num_samples: int, length: int, test: float, validation: float) -> None:
    """A later part's windows share no character with an earlier part's windows, and its labels share none with either
    the windows or the labels before. Only the last label of the part before may be seen, as the first character of the
    first window: that is the one position which LEAF's gap of 79 leaves in common."""
    split, gap = Split(test, validation), length - 1
    rows = split.rows_in_time(num_samples, gap)
    assert tuple(map(len, rows)) == split.sizes_in_time(num_samples, gap)
    assert len(rows.train) >= 1
    assert all(0 <= row < num_samples for part in rows for row in part.tolist())
    parts = [part for part in rows if len(part)]
    for part in parts:
        assert part.tolist() == list(range(part[0], part[-1] + 1))
    for i, earlier in enumerate(parts):
        seen = set(range(earlier[0], earlier[-1] + length))
        labels = set(range(earlier[0] + length, earlier[-1] + length + 1))
        for later in parts[i + 1 :]:
            assert later[0] >= earlier[-1] + 1 + gap
            windows = set(range(later[0], later[-1] + length))
            later_labels = set(range(later[0] + length, later[-1] + length + 1))
            assert not windows & seen
            assert not later_labels & (seen | labels)
            assert windows & labels <= {int(earlier[-1]) + length} & {int(later[0])}


@given(num_samples=st.integers(1, 5000), test=st.sampled_from([0.1, 0.2, 0.25, 0.5]))
def test_without_validation_the_cut_is_leafs(num_samples: int, test: float) -> None:
    rows = Split(test, 0).rows_in_time(num_samples, 79)
    assert rows.train.tolist() == list(range(len(rows.train)))
    assert abs(len(rows.train) - (1 - test) * num_samples) <= 1
    assert rows.test.tolist() == list(range(len(rows.train) + 80 - 1, num_samples))


@given(
    num_samples=st.integers(1, 3000),
    test=st.sampled_from([0.1, 0.2, 0.5]),
    fractions=st.tuples(st.just(0.0), st.sampled_from([0.05, 0.1, 0.5])),
)
def test_the_test_samples_do_not_depend_on_the_validation_fraction(
    num_samples: int, test: float, fractions: tuple[float, float]
) -> None:
    one, other = (Split(test, fraction).rows_in_time(num_samples, 79).test for fraction in fractions)
    assert one.tolist() == other.tolist()


def test_millions_of_samples_cost_megabytes() -> None:
    """4 million windows of 80 characters would be 2.6 GB as int64, or 320 MB as bytes."""
    rng = np.random.default_rng(0)
    sizes = rng.multinomial(4_000_000 - 600 * 1000, np.full(600, 1 / 600)) + 1000
    line = "".join(rng.choice(list(string.printable), 20_000))
    texts = {f"role {i}": line[:size] for i, size in enumerate(sizes)}
    tracemalloc.start()
    try:
        pool = TextWindows.from_texts("big", texts.items(), string.printable, 80)
        built, build_peak = tracemalloc.get_traced_memory()
        data = DealtDataset.deal(pool, Natural(min_samples=800))
        first = data.train(0)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(pool) == 4_000_000 - 600 * 80
    assert data.num_clients == 600
    assert first.x.shape == (data.train_size(0), 80)
    assert max(built, build_peak) < 60e6
    assert kept < 100e6
    assert peak < 300e6
