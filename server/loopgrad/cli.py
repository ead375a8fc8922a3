"""The command line: ``loopgrad check``, ``explain``, ``clean``, and the commands of the other parts.

Exit status of ``check``: 0 no error and no warning is left, 1 some are, 2 bad usage or an input that could
not be read or parsed, 130 interrupted. A part brings a command of its own by a module ``command`` with
``register(commands)``, which adds a parser whose default ``run`` takes the arguments and gives the status.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from loopgrad import __version__
from loopgrad.messages import LANGUAGES, render
from loopgrad.model import Message

if TYPE_CHECKING:
    from loopgrad.report import Style

OK, FOUND, FAILED, INTERRUPTED = 0, 1, 2, 130

FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab")

#: Parts that bring commands, where they are installed, and the names of those commands.
_PARTS = {
    "confirm": "loopgrad.confirm.command",
    "server": "loopgrad.lsp.command",
    "clean": "loopgrad.index.command",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and gives the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    args = build_parser(arguments).parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    from loopgrad.config import ConfigError

    try:
        status: int = args.run(args)
        sys.stdout.flush()
        return status
    except ConfigError as error:
        return usage_error(error.message, args.language)
    except BrokenPipeError:
        # The reader has gone (``| head``): nothing more can be said, and nothing went wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND
    except KeyboardInterrupt:
        print("\n" + render(Message.of("usage.interrupted"), args.language), file=sys.stderr)
        return INTERRUPTED


def usage_error(message: Message, language: str) -> int:
    print(render(Message.of("usage.error", message=message), language), file=sys.stderr)
    return FAILED


# The parser ------------------------------------------------------------------------------------------


def _version(argv: Sequence[str]) -> str:
    """What ``--version`` prints: whether the engine is compiled is looked up where it is asked for."""
    engine = importlib.util.find_spec("loopgrad.analysis.runtime") if "--version" in argv else None
    compiled = engine is not None and not (engine.origin or "").endswith(".py")
    return f"loopgrad {__version__}{' (compiled)' if compiled else ''}"


def build_parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of all commands; parts whose command is not asked for are not imported."""
    parser = argparse.ArgumentParser(
        prog="loopgrad",
        description="Finds PyTorch tensors that carry an autograd graph where none may be carried.",
    )
    parser.add_argument("--version", action="version", version=_version(argv))
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_check(commands)
    _add_explain(commands)
    if not argv or argv[0] not in ("check", "explain"):
        for name, module in _PARTS.items():
            if _exists(module) and (argv[:1] == [name] or argv[:1] not in [[other] for other in _PARTS]):
                importlib.import_module(module).register(commands)
    return parser


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def add_common(parser: argparse.ArgumentParser) -> None:
    """Options that every command has."""
    parser.add_argument(
        "--language", choices=tuple(LANGUAGES), default="en", help="the language of messages (en)"
    )
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colours (auto)")
    parser.add_argument("--no-color", action="store_const", const="never", dest="color", help="no colours")


def _codes(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


_positive.__name__ = "positive number"


def _add_check(commands: Any) -> None:
    parser = commands.add_parser(
        "check", help="check files", description="Checks Python files and notebooks."
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files and folders; - is standard input")
    parser.add_argument("--output-format", choices=FORMATS, default="text", help="the report's form (text)")
    parser.add_argument(
        "--select", type=_codes, action="extend", metavar="CODES", help="run these rules: LG101,LG2 or ALL"
    )
    parser.add_argument(
        "--ignore", type=_codes, action="extend", metavar="CODES", help="do not run these rules"
    )
    change = parser.add_mutually_exclusive_group()
    change.add_argument("--fix", action="store_true", help="apply the preferred fixes of errors and warnings")
    change.add_argument("--diff", action="store_true", help="show what --fix would change, change nothing")
    change.add_argument(
        "--add-ignore", action="store_true", help="silence each finding by a comment on its line"
    )
    parser.add_argument("--exit-zero", action="store_true", help="exit with 0 though there are findings")
    parser.add_argument("--statistics", action="store_true", help="count the findings of each rule")
    parser.add_argument(
        "--show-unused-ignores", action="store_true", help="report ignore comments that silence nothing"
    )
    parser.add_argument(
        "--force-exclude", action="store_true", help="pass over excluded files though they are named"
    )
    parser.add_argument("-j", "--jobs", type=_positive, metavar="N", help="check N files at a time")
    parser.add_argument("--no-cache", action="store_true", help="do not use or keep results of other runs")
    parser.add_argument("--cache-dir", metavar="DIR", help="the folder for results (.loopgrad_cache)")
    add_common(parser)
    parser.set_defaults(run=_check)


def _add_explain(commands: Any) -> None:
    parser = commands.add_parser("explain", help="explain a rule", description="Shows a rule's page.")
    parser.add_argument("code", metavar="CODE", help="a rule's code or name")
    add_common(parser)
    parser.set_defaults(run=_explain)


# Commands --------------------------------------------------------------------------------------------


def _check(args: argparse.Namespace) -> int:
    from loopgrad.check_command import CheckCommand

    return CheckCommand(args).run()


def _explain(args: argparse.Namespace) -> int:
    from loopgrad.config import ConfigError, unknown_code
    from loopgrad.report.pages import read_page, render_page
    from loopgrad.report.style import Style, wants_colour
    from loopgrad.rules.catalogue import RULES

    wanted = args.code.strip()
    rule = RULES.get(wanted.upper()) or next(
        (rule for rule in RULES.values() if rule.name == wanted.lower()), None
    )
    if rule is None:
        usage_error(unknown_code(wanted), args.language)
        for rule in RULES.values():
            print(f"  {rule.code}  {rule.name}", file=sys.stderr)
        return FAILED
    page = read_page(rule.code, args.language)
    if page is None:
        raise ConfigError(Message.of("usage.no-page", code=rule.code))
    style: Style = Style(wants_colour(args.color, sys.stdout))
    sys.stdout.write(render_page(page, style) if sys.stdout.isatty() or style.colour else page)
    return OK
