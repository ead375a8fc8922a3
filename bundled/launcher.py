# Starts Loopgrad from the folders beside this file: ``python -I -S launcher.py server``, and so every command.
#
# The extension calls it with a Python of the user's. Only that Python's standard library is used with it: what is
# installed there, what stands in the working folder and what environment variables name is left alone. Without
# ``libs`` beside it (a checkout) the packages of that Python are taken.
#
# An old Python has to be able to parse this file, so that it can say what is wrong.

import os
import sys

OLDEST = (3, 10)
TOO_OLD = 64  # EX_USAGE


def main():
    if sys.version_info < OLDEST:
        sys.stderr.write("loopgrad: needs Python " + dotted(OLDEST) + " or newer, this is ")
        sys.stderr.write(dotted(sys.version_info[:3]) + " (" + sys.executable + ")\n")
        return TOO_OLD
    set_path(os.path.dirname(os.path.abspath(__file__)))
    from loopgrad.cli import main as run

    return run()


def dotted(version):
    return ".".join(str(part) for part in version)


def set_path(here):
    server, libs = os.path.join(here, "server"), os.path.join(here, "libs")
    if not os.path.isdir(server):
        server = os.path.join(os.path.dirname(here), "server")
    if os.path.isdir(libs):
        sys.path[:] = [server, libs] + [path for path in sys.path if is_standard(path, here)]
    else:
        import site

        if sys.flags.no_site:
            site.main()
        sys.path[:] = [server] + [path for path in sys.path if path and os.path.abspath(path) != here]


def is_standard(path, here):
    """Whether an entry of the path belongs to Python itself; the first may be the folder of this file."""
    folder = os.path.basename(path)
    return path and os.path.abspath(path) != here and folder not in ("site-packages", "dist-packages")


if __name__ == "__main__":
    sys.exit(main())
