"""``loopgrad confirm``: the command line.

Exit status: 0 the run did its steps and nothing went wrong (with ``--with-fix``: the fix is proven),
1 confirmed, 2 bad usage, 3 inconclusive, 130 cancelled.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from loopgrad import __version__
from loopgrad.confirm import report
from loopgrad.confirm.details import add_details, wants_details
from loopgrad.confirm.observe import Request, ScratchError, observe
from loopgrad.confirm.progress import Progress
from loopgrad.confirm.proof import Proof, compare
from loopgrad.confirm.static import Checked, CheckError, Static, check, held_against
from loopgrad.confirm.static import report as write_report
from loopgrad.confirm.verdict import CLEAN, CONFIRMED, Verdict, judge
from loopgrad.confirm.warm import Warm
from loopgrad.messages import render
from loopgrad.model import Message

OK, FOUND, FAILED, INCONCLUSIVE, CANCELLED = 0, 1, 2, 3, 130


def register(commands: Any) -> None:
    from loopgrad.cli import add_common

    parser = commands.add_parser(
        "confirm",
        help="run a script and prove the fault",
        description="Runs a script under PyTorch and says whether a fault is real. Behind -- stand its arguments.",
    )
    parser.add_argument("script", metavar="SCRIPT", help="a Python file, or with -m a module's name")
    parser.add_argument("-m", action="store_true", dest="module", help="SCRIPT is a module, as in python -m")
    parser.add_argument(
        "--device", type=_device, default="auto", help="auto, cpu, cuda, cuda:N or mps (auto)"
    )
    parser.add_argument("--steps", type=_positive, default=8, metavar="K", help="end after K iterations (8)")
    parser.add_argument(
        "--timeout", type=_seconds, default=120.0, metavar="S", help="end after S seconds (120)"
    )
    parser.add_argument(
        "--nproc", type=_positive, default=1, metavar="N", help="run N ranks, as torchrun does"
    )
    parser.add_argument("--shape-only", action="store_true", help="compute shapes only (FakeTensorMode)")
    parser.add_argument(
        "--with-fix", action="store_true", help="run again with the preferred fixes, in memory"
    )
    parser.add_argument("--scratch-copy", action="store_true", help="run in a copy of the script's folder")
    parser.add_argument("--python", metavar="PATH", help="the interpreter to run it with")
    parser.add_argument(
        "--warm", action="store_true", help="keep a process with torch loaded for the next confirm (Linux)"
    )
    parser.add_argument(
        "--parent-pid", type=_positive, metavar="PID", help="as --warm, and that process ends with this one"
    )
    parser.add_argument(
        "--idle", type=_seconds, default=600.0, metavar="S", help="end the warm process after S seconds (600)"
    )
    parser.add_argument(
        "--report", metavar="FILE", help="write a script for a report of the first refuted finding"
    )
    parser.add_argument("--cancel-on-eof", action="store_true", help="cancel when standard input is closed")
    parser.add_argument(
        "--output-format",
        choices=("text", "json", "jsonl"),
        default="text",
        help="the form; jsonl tells how it goes on, an event a line (text)",
    )
    add_common(parser)
    parser.set_defaults(run=run, args=[])
    _split_arguments(parser)


def _split_arguments(parser: argparse.ArgumentParser) -> None:
    """What stands behind ``--`` is the script's; argparse would mix it with SCRIPT."""
    original = parser.parse_known_args

    def parse(given: Any = None, namespace: Any = None, **options: Any) -> Any:
        words: Sequence[str] = sys.argv[1:] if given is None else list(given)
        own, rest = list(words), []
        if "--" in words:
            at = list(words).index("--")
            own, rest = list(words[:at]), list(words[at + 1 :])
        result, unknown = original(own, namespace, **options)
        result.args = rest
        return result, unknown

    replaced: Any = parser
    replaced.parse_known_args = parse


def _device(text: str) -> str:
    if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not auto, cpu, cuda, cuda:N or mps")
    return text


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number < 1e7:
        raise ValueError
    return number


_positive.__name__, _seconds.__name__ = "positive number", "number of seconds"


def run(args: argparse.Namespace) -> int:
    return ConfirmCommand(args).run()


class ConfirmCommand:
    """One run. ``run`` gives the exit status."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args
        self._cancel = threading.Event()
        self._progress = Progress(None, report.Paths(os.getcwd(), args.script))

    def run(self) -> int:
        args = self._args
        if not args.module and not os.path.isfile(args.script):
            return self._usage(Message.of("confirm.usage.no-script", path=args.script))
        request = Request(
            script=args.script,
            module=args.module,
            args=tuple(args.args),
            device=args.device,
            steps=args.steps,
            timeout=args.timeout,
            nproc=args.nproc,
            shape_only=args.shape_only,
            scratch_copy=args.scratch_copy,
            python=args.python or interpreter(),
            adopt=True,
            warm=Warm(args.idle, args.parent_pid or 0) if args.warm or args.parent_pid else None,
        )
        if args.output_format == "jsonl":
            self._progress = Progress(sys.stdout.buffer, report.Paths(os.getcwd(), args.script))
        if args.cancel_on_eof:
            threading.Thread(target=self._await_end_of_input, daemon=True).start()
        previous = [signal.signal(number, self._on_signal) for number in (signal.SIGINT, signal.SIGTERM)]
        try:
            verdict, checked, proof = self._confirm(request)
        except ScratchError as error:
            return self._usage(Message.of("confirm.usage.too-large", path=str(error)))
        finally:
            for number, handler in zip((signal.SIGINT, signal.SIGTERM), previous):
                signal.signal(number, handler)
        statics = held_against(checked, verdict) if checked is not None else []
        self._add_reports(statics, verdict)
        self._print(request, verdict, statics, proof)
        if self._cancel.is_set():
            return CANCELLED
        if verdict.verdict == CONFIRMED:
            return OK if proof is not None and proof.proven else FOUND
        return OK if verdict.verdict == CLEAN else INCONCLUSIVE

    def _on_signal(self, number: int, frame: Any) -> None:
        self._cancel.set()

    def _await_end_of_input(self) -> None:
        """Below Python's buffers: a thread that waits in one would hold up the end."""
        try:
            while os.read(0, 4096):
                pass
        except OSError:
            pass
        self._cancel.set()

    def _usage(self, message: Message) -> int:
        print(render(Message.of("usage.error", message=message), self._args.language), file=sys.stderr)
        return FAILED

    def _observed(self, request: Request) -> Verdict:
        """The script's output goes on to the user; where standard output is the report's, to standard error."""
        out = sys.stdout.buffer if self._args.output_format == "text" else sys.stderr.buffer
        self._progress.say("start", phase="fixed-run" if request.replaced else "run")
        seen = observe(
            request, out=out, err=sys.stderr.buffer, cancel=self._cancel, on_event=self._progress.heard
        )
        return judge(seen, request)

    def _confirm(self, request: Request) -> tuple[Verdict, Checked | None, Proof | None]:
        verdict = self._observed(request)
        if wants_details(verdict, request) and not self._cancel.is_set():
            self._progress.say("start", phase="details")
            add_details(verdict, request, self._cancel)
        if self._cancel.is_set():
            return verdict, None, None
        with_fix = bool(self._args.with_fix)
        checked = self._checked(verdict, with_fix)
        proof = None
        if with_fix and verdict.verdict == CONFIRMED and checked is not None and checked.fixed:
            fixed = self._observed(replace(request, replaced=tuple(checked.fixed.items())))
            proof = compare(verdict, fixed, checked.kinds)
        return verdict, checked, proof

    def _checked(self, verdict: Verdict, with_fix: bool) -> Checked | None:
        """The check of what ran. A confirmation stands without it."""
        self._progress.say("check")
        try:
            return check(verdict.files, with_fix=with_fix, language=self._args.language, cancel=self._cancel)
        except CheckError as error:
            message = Message.of("confirm.text.no-check", reason=str(error))
            print(render(message, self._args.language), file=sys.stderr)
            return None

    def _add_reports(self, statics: list[Static], verdict: Verdict) -> None:
        """For certain findings that the run refutes; the first is written where that is asked for."""
        if self._args.output_format == "text" and not self._args.report:
            return
        for item in statics:
            if item.status == "refuted" and item.data["certainty"] == "certain":
                item.report = write_report(item, verdict, self._args.language, __version__, self._cancel)
        found = [item.report for item in statics if item.report is not None]
        if self._args.report and found:
            try:
                with open(self._args.report, "w", encoding="utf-8") as file:
                    file.write(found[0])
            except OSError as error:
                message = Message.of("confirm.text.report-not-written", error=str(error))
                print(render(message, self._args.language), file=sys.stderr)
        elif self._args.report:
            print(render(Message.of("confirm.text.no-report"), self._args.language), file=sys.stderr)

    def _print(self, request: Request, verdict: Verdict, statics: list[Static], proof: Proof | None) -> None:
        from loopgrad.report.style import Style, wants_colour

        paths = report.Paths(request.cwd, request.script)
        language = self._args.language
        if self._args.output_format != "text":
            document = report.as_object(verdict, statics, proof, paths, language)
            if self._args.with_fix:
                document.setdefault("fixed", None)
            if self._args.output_format == "jsonl":
                self._progress.say("result", **document)
                return
            text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
        else:
            style = Style(wants_colour(self._args.color, sys.stdout))
            text = report.as_text(verdict, statics, proof, paths, language, style)
            if self._args.with_fix and proof is None and verdict.verdict == CONFIRMED:
                text += render(Message.of("confirm.text.no-fix"), language) + "\n"
        sys.stdout.write(text)


def interpreter() -> str:
    """The interpreter that the user's scripts run with: the active environment's, else this one."""
    folder = os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX")
    if folder:
        for name in ("bin/python", "Scripts/python.exe", "python.exe"):
            path = os.path.join(folder, *name.split("/"))
            if os.path.isfile(path):
                return path
    return sys.executable or shutil.which("python3") or "python3"
