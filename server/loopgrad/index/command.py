"""``loopgrad clean``: takes away what earlier runs have kept."""

from __future__ import annotations

import argparse
import os
from typing import Any

from loopgrad.config import Config
from loopgrad.index.opening import place_of
from loopgrad.index.places import caches_below, clean, user_folder
from loopgrad.messages import render
from loopgrad.model import Message


def register(commands: Any) -> None:
    from loopgrad.cli import add_common

    parser = commands.add_parser(
        "clean",
        help="remove the results that are kept of earlier runs",
        description="Removes the results that `loopgrad check` has kept for these folders and those below them, "
        "and with --server those of the language server, for all workspaces.",
    )
    parser.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="folders (.)")
    parser.add_argument("--server", action="store_true", help="also those of the language server")
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    folders = [place_of([path], Config())[0].folder for path in args.paths]
    for path in args.paths:
        folders += caches_below(path)
    if args.server:
        folders.append(user_folder())
    removed = [folder for folder in dict.fromkeys(map(os.path.abspath, folders)) if clean(folder)]
    for folder in removed:
        print(render(Message.of("cache.removed", path=folder), args.language))
    if not removed:
        print(render(Message.of("cache.none"), args.language))
    return 0
