"""Writes ``torch_table.json``: what torch's functions, methods and modules do to the autograd graph.

Every fact is measured by running the installed torch (see ``torch_table_measure``), over torch's own
samples and a few of ours. Run it when the analyser is to follow a newer torch, and read the difference:

    python tools/generate_torch_table.py

``tests/knowledge/test_torch_table.py`` measures again and compares.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import torch
import torch_table_modules
import torch_table_samples
from torch_table_measure import DEPENDS, CaseFacts, measure
from torch_table_merge import Profile, forms, profile_of

TABLE = Path(__file__).parents[1] / "server/loopgrad/analysis/knowledge/torch_table.json"

#: Whose graph saves tensors in one version of torch and not in another, so that no claim about a second
#: backward may be certain. Found by running this script under torch 2.1 and 2.14 and comparing the tables.
DIFFERS: dict[str, str] = {
    "torch.mean": "2.1 saves the input, 2.13 its sizes alone",
    ".mean": "as torch.mean",
    "torch.nn.functional.adaptive_avg_pool1d": "to size 1 it is a mean",
    "torch.nn.functional.adaptive_avg_pool2d": "to size 1 it is a mean",
    "torch.nn.functional.adaptive_avg_pool3d": "to size 1 it is a mean",
    "AdaptiveAvgPool1d": "as the function",
    "AdaptiveAvgPool2d": "as the function",
    "AdaptiveAvgPool3d": "as the function",
    ".setitem#full": "h[:] = x copies into a view in 2.1 (which raises), into h itself in 2.13",
    ".setitem#full_scalar": "as .setitem#full",
    "torch.channel_shuffle": "2.1 has no derivative of it",
    "torch.nn.functional.channel_shuffle": "as torch.channel_shuffle",
    "ChannelShuffle": "as the function",
    "torch.narrow_copy": "2.1 has no derivative of it",
    ".narrow_copy": "as torch.narrow_copy",
    "torch.nextafter": "2.1 has no derivative of it",
    ".nextafter": "as torch.nextafter",
    "torch.aminmax": "in 2.1 a walk from one output alone differs from a walk from both",
    ".aminmax": "as torch.aminmax",
    "torch.nn.functional.linear_cross_entropy": "young: 2.14 computes it otherwise",
    "LinearCrossEntropyLoss": "as the function",
}

#: Methods that need another device. By their implementation they are ``.to(device)``, which is measured.
ASSUMED = {".cuda": ".to", ".xpu": ".to"}

#: Whether these return their input itself depends on where it lives, which this machine cannot vary.
SAME_DEPENDS = (".cpu", ".to", ".cuda", ".xpu")

Chosen = Callable[[str], bool]


def base(key: str) -> str:
    """The name without its form: ``torch.mul`` for ``torch.mul#scalar``."""
    return key.partition("#")[0]


def measured_functions(chosen: Chosen) -> dict[str, Profile]:
    """Profiles of functions and methods by key (``torch.mul``, ``.mul``, ``.mul#scalar``)."""
    facts: dict[str, list[CaseFacts]] = {}
    needed = {source for key, source in ASSUMED.items() if chosen(key)}
    for job in torch_table_samples.jobs():
        wanted = [key for key in job.keys if chosen(base(key)) or base(key) in needed]
        if not wanted:
            continue
        for case in job.cases():
            torch_table_samples.seed(1)
            found = measure(case)
            if found is None:
                continue
            for key in wanted:
                facts.setdefault(key, []).append(found)
    profiles: dict[str, Profile] = {}
    for key, cases in facts.items():
        profiles.update({form: profile_of(group) for form, group in forms(key, cases).items()})
    for key, source in ASSUMED.items():
        if source in profiles:
            profiles[key] = dict(profiles[source])
    for key in SAME_DEPENDS:
        if key in profiles:
            profiles[key]["same"] = DEPENDS
    return {key: unsure(key, profile) for key, profile in profiles.items() if chosen(base(key))}


def measured_modules(chosen: Chosen) -> dict[str, dict[str, Any]]:
    """What each module holds and returns, with its profile in training and, if other, in evaluation."""
    found: dict[str, dict[str, Any]] = {}
    for name in torch_table_modules.names():
        if not chosen(name):
            continue
        entry: dict[str, Any] = {}
        for training in (True, False):
            cases = []
            for sample in torch_table_modules.samples(name, training):
                facts = measure(sample.case)
                if facts is None:
                    continue
                cases.append(facts)
                entry.setdefault("params", sample.params)
                entry.setdefault("buffers", sample.buffers)
                entry.setdefault("returns", facts.structure)
            if cases:
                structured = [case for case in cases if case.structure == entry["returns"]] or cases
                entry["train" if training else "eval"] = unsure(name, profile_of(structured))
        if entry:
            found[name] = entry
    return found


def unsure(key: str, profile: Profile) -> Profile:
    """The profile with ``raises`` weakened where versions of torch differ."""
    if key in DIFFERS or base(key) in DIFFERS:
        for fact in profile["masks"].values():
            fact["raises"] = DEPENDS
    return profile


def table(chosen: Chosen = lambda name: True) -> dict[str, Any]:
    """The whole table with each profile written out; ``chosen`` restricts it to some names."""
    warnings.simplefilter("ignore")
    functions = measured_functions(chosen)
    return {
        "torch": torch.__version__.partition("+")[0],
        "functions": {k: v for k, v in sorted(functions.items()) if not k.startswith(".")},
        "methods": {k[1:]: v for k, v in sorted(functions.items()) if k.startswith(".")},
        "modules": measured_modules(chosen),
        "inplace": torch_table_samples.inplace_methods(),
    }


def packed(full: dict[str, Any]) -> dict[str, Any]:
    """The table with equal profiles stored once, in order of first use."""
    profiles: dict[str, int] = {}

    def number(profile: Profile) -> int:
        return profiles.setdefault(json.dumps(profile), len(profiles))

    functions = {name: number(profile) for name, profile in full["functions"].items()}
    methods = {name: number(profile) for name, profile in full["methods"].items()}
    modules = {}
    for name, entry in full["modules"].items():
        kept = {key: entry[key] for key in ("params", "buffers", "returns")}
        train, evaluation = entry.get("train"), entry.get("eval")
        kept["profile"] = number(train or evaluation)
        if evaluation is not None and train is not None and evaluation != train:
            kept["eval"] = number(evaluation)
        modules[name] = kept
    return {
        "torch": full["torch"],
        "profiles": [json.loads(text) for text in profiles],
        "functions": functions,
        "methods": methods,
        "modules": modules,
        "inplace": full["inplace"],
    }


def text_of(compact: dict[str, Any]) -> str:
    """JSON with one profile or module a line, so that a newer torch gives a readable difference."""

    def dump(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"))

    parts = []
    for key, value in compact.items():
        if key == "profiles":
            body = "[\n" + ",\n".join(dump(item) for item in value) + "\n]"
        elif key in ("functions", "methods", "modules"):
            body = "{\n" + ",\n".join(f"{dump(k)}:{dump(v)}" for k, v in value.items()) + "\n}"
        else:
            body = dump(value)
        parts.append(f"{dump(key)}:{body}")
    return "{" + ",\n".join(parts) + "}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--output", type=Path, default=TABLE, help="where to write the table")
    args = parser.parse_args()
    torch.set_num_threads(1)
    began = time.monotonic()
    compact = packed(table())
    text = text_of(compact)
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(text, encoding="utf-8")
    counts = ", ".join(f"{len(compact[k])} {k}" for k in ("functions", "methods", "modules", "profiles"))
    print(f"torch {compact['torch']}: {counts}; {len(text)} bytes, {time.monotonic() - began:.1f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
