"""What the host asks of the probe, read once from an inherited file as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Job:
    """One run of one script."""

    #: An absolute path, or with ``module`` a module's name.
    script: str
    #: What ``sys.argv[0]`` would hold, as the user typed it.
    shown: str
    module: bool = False
    args: list[str] = field(default_factory=list)
    steps: int = 8
    device: str = "auto"
    shape_only: bool = False
    #: Let the CPU stand in for an accelerator; with 2, also answer that there is one.
    redirect: int = 0
    #: Texts that stand in for files, by absolute path. Nothing on disk changes.
    replaced: dict[str, str] = field(default_factory=dict)
    #: Writes below these folders are reported.
    workspace: list[str] = field(default_factory=list)
    #: The host's process: the probe ends if it has gone.
    parent: int = 0
    seed: int = 0
    #: After so long the probe reports what it has seen and ends by itself, if it comes to a tick.
    seconds: float = 120.0
    #: Note for each statement the calls that led to it: the second pass.
    details: bool = False
    #: Parts to leave out, for benchmarks: ``marks`` (which statement built what), ``names`` (what the live
    #: frames call a tensor), ``growth`` (generations that stay alive), ``training`` (optimizers).
    without: list[str] = field(default_factory=list)
