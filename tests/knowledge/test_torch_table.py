"""The table of torch's behaviour agrees with the torch that is installed, and is quick to ask.

The first part measures a fixed third of the entries again, all of them with LOOPGRAD_NIGHTLY=1 in the
environment. The second holds facts that were found by hand, so that a fault in the measuring shows.
"""

from __future__ import annotations

import json
import os
import sys
import time
import zlib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "tools")]

from loopgrad.analysis.knowledge import torch_table  # noqa: E402

TABLE = ROOT / "server/loopgrad/analysis/knowledge/torch_table.json"


def chosen(name: str) -> bool:
    """A third of the names, spread evenly and the same on every machine; ``#forms`` go with their name."""
    return os.environ.get("LOOPGRAD_NIGHTLY") == "1" or zlib.crc32(name.encode()) % 3 == 0


def checked_in() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return found


def unpacked(table: dict[str, Any], kind: str) -> dict[str, Any]:
    """Entries with their profiles in place of the numbers."""
    profiles = table["profiles"]
    if kind != "modules":
        prefix = "." if kind == "methods" else ""
        return {
            name: profiles[number]
            for name, number in table[kind].items()
            if chosen(prefix + name.partition("#")[0])
        }
    return {
        name: {**entry, **{mode: profiles[entry[mode]] for mode in ("profile", "eval") if mode in entry}}
        for name, entry in table[kind].items()
        if chosen(name)
    }


def test_torch_still_agrees() -> None:
    """One test, so that parallel workers measure once."""
    torch = pytest.importorskip("torch")
    import generate_torch_table

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        measured = generate_torch_table.packed(generate_torch_table.table(chosen))
    finally:
        torch.set_num_threads(threads)
    table, wrong = checked_in(), []
    for kind in ("functions", "methods", "modules"):
        now, then = unpacked(measured, kind), unpacked(table, kind)
        assert now, kind
        wrong += [
            f"{kind} {name}: table {then.get(name)}, torch {now.get(name)}"
            for name in sorted(now.keys() | then.keys())
            if now.get(name) != then.get(name)
        ]
    if measured["inplace"] != table["inplace"]:
        wrong.append(f"inplace: {sorted(set(measured['inplace']) ^ set(table['inplace']))}")
    assert not wrong, f"torch {measured['torch']} differs from {table['torch']}:\n" + "\n".join(wrong)


def test_version_and_inplace_names() -> None:
    assert torch_table.version().startswith("2.")
    assert {"add_", "zero_", "__iadd__"} <= torch_table.inplace()


NEVER = (
    "add sub neg rsub sum view reshape transpose permute flatten squeeze split chunk unbind expand repeat"
    " clone to cumsum roll flip tril diag sign round contiguous float"
    " add#scalar lerp#scalar getitem#int getitem#slice"
)
ALWAYS = (
    "mul div pow mul#scalar div#scalar pow#scalar matmul bmm mm exp log sqrt abs sin relu softmax norm var"
    " prod max min topk sort clamp where gather masked_fill getitem#mask getitem#tensor setitem#int"
)
NO_GRAPH = "argmax argmin eq lt#scalar bool long isnan detach data item numpy new_zeros"


@pytest.mark.parametrize("name", NEVER.split())
def test_second_walk_is_silent(name: str) -> None:
    profile = torch_table.method(name)
    assert profile is not None and profile.graph != "no"
    assert {fact.raises for fact in profile.masks.values() if fact.graph} == {False}


@pytest.mark.parametrize("name", ALWAYS.split())
def test_second_walk_raises(name: str) -> None:
    profile = torch_table.method(name)
    assert profile is not None and profile.graph == "yes"
    assert {fact.raises for fact in profile.masks.values()} == {True}


@pytest.mark.parametrize("name", NO_GRAPH.split())
def test_no_graph(name: str) -> None:
    profile = torch_table.method(name)
    assert profile is not None and profile.graph == "no" and not profile.masks


def test_what_is_saved() -> None:
    mul = torch_table.function("torch.mul")
    exp = torch_table.function("torch.exp")
    linear = torch_table.function("torch.nn.functional.linear")
    topk = torch_table.function("torch.topk")
    assert mul and exp and linear and topk
    assert mul.masks["10"].saved == (1,) and mul.masks["11"].saved == (0, 1) and not mul.masks["11"].result
    assert exp.masks["1"].result and exp.masks["1"].saved == ()
    assert linear.masks["001"].raises is False and linear.masks["100"].saved == (1,)
    assert topk.outputs == (True, False) and topk.masks["1"].results == (1,)


def test_an_unmeasured_mask_is_answered_by_its_parts() -> None:
    norm = torch_table.function("torch.nn.functional.batch_norm")
    linear = torch_table.function("torch.nn.functional.linear")
    assert norm is not None and linear is not None
    whole, usual = norm.fact("11111"), norm.fact("10011")
    assert whole == usual == norm.masks["10011"]  # running statistics cannot require grad
    assert linear.fact("000") is None and linear.fact("001") == linear.masks["001"]
    assert linear.fact("1") == linear.masks["100"], "arguments not given require no grad"


def test_views_and_what_returns_its_input() -> None:
    view, contiguous, reshape, clone = (
        torch_table.method(n) for n in ("view", "contiguous", "reshape", "clone")
    )
    assert view and contiguous and reshape and clone
    assert (view.view, view.same) == (True, False)
    assert contiguous.same == "depends" and reshape.view == "depends"
    assert (clone.view, clone.same) == (False, False)


def test_modules() -> None:
    linear, lstm, dropout, norm = (
        torch_table.module(n) for n in ("Linear", "LSTM", "Dropout", "BatchNorm1d")
    )
    assert linear and lstm and dropout and norm
    assert linear.params == ("weight", "bias") and linear.train.masks["01"].saved == (0,)
    assert lstm.returns == ("t", ("t", "t")) and lstm.train.outputs == (True, True, True)
    assert dropout.train.masks["1"].raises is True and dropout.eval.same is True
    assert norm.buffers == ("running_mean", "running_var", "num_batches_tracked")


@pytest.mark.parametrize("name", ["torch.mean", "torch.nn.functional.adaptive_avg_pool2d"])
def test_never_sure_where_versions_differ(name: str) -> None:
    profile = torch_table.function(name)
    assert profile is not None and {fact.raises for fact in profile.masks.values()} == {"depends"}


def test_unknown_names() -> None:
    assert torch_table.function("torch.no_such") is None
    assert torch_table.method("no_such") is None
    assert torch_table.module("NoSuch") is None


def test_masks_fit_their_arguments() -> None:
    for profile in checked_in()["profiles"]:
        assert all(len(mask) == len(profile["args"]) for mask in profile["masks"])
        assert all(
            i < len(profile["args"]) for fact in profile["masks"].values() for i in fact.get("saved", ())
        )


def test_small_and_quick() -> None:
    assert TABLE.stat().st_size < 150_000
    took = []
    for _ in range(5):
        began = time.perf_counter()
        json.loads(TABLE.read_bytes())
        took.append(time.perf_counter() - began)
    assert min(took) < 0.02, "3 ms on a quiet machine"
