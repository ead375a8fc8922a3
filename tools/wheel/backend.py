"""What pip asks to build Loopgrad: setuptools, and mypy where the engine is to be compiled (see setup.py)."""

import os

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403


def _with_mypy(needed: list[str]) -> list[str]:
    return needed if os.environ.get("LOOPGRAD_COMPILE", "0") in ("", "0") else [*needed, "mypy>=1.15"]


def get_requires_for_build_wheel(config_settings=None):
    return _with_mypy(build_meta.get_requires_for_build_wheel(config_settings))
