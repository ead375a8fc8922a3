"""A VS Code server of our own: its settings, extensions, locale and trust, started and stopped as one tree."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.e2e.tools import Tools

#: Quiet: no welcome page, no chat, nothing from the network.
SETTINGS: dict[str, Any] = {
    "workbench.startupEditor": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.tips.enabled": False,
    "workbench.editor.revealIfOpen": True,
    "chat.disableAIFeatures": True,
    "telemetry.telemetryLevel": "off",
    "extensions.autoUpdate": False,
    "extensions.autoCheckUpdates": False,
    "extensions.ignoreRecommendations": True,
    "update.mode": "none",
    "editor.minimap.enabled": False,
    "files.autoSave": "off",
    "git.enabled": False,
    "window.commandCenter": False,
}


class CodeServer:
    """One server with a folder of its own. ``locale`` is VS Code's display language."""

    def __init__(
        self,
        tools: Tools,
        folder: Path,
        extensions: Path,
        *,
        locale: str = "en",
        trusted: bool = True,
        settings: Mapping[str, Any] = {},
    ) -> None:
        self._tools = tools
        self.folder = folder
        self._extensions = extensions
        self._locale = locale
        self._trusted = trusted
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0
        user = folder / "data" / "User"
        user.mkdir(parents=True)
        (user / "settings.json").write_text(json.dumps({**SETTINGS, **settings}))
        # A browser's window takes what belongs to a machine (an interpreter) from that machine's settings alone.
        machine = folder / "data" / "Machine"
        machine.mkdir()
        (machine / "settings.json").write_text(json.dumps(settings))
        (folder / "home").mkdir()
        (folder / "config.yaml").write_text("auth: none\n")
        if locale != "en":
            _add_language(folder / "data", locale)

    @property
    def log(self) -> Path:
        return self.folder / "code-server.log"

    def start(self) -> None:
        """Starts it and waits until it listens; raises RuntimeError with its output where it does not."""
        options = [
            "--bind-addr=127.0.0.1:0",
            "--disable-telemetry",
            "--disable-update-check",
            "--disable-getting-started-override",
            "--reconnection-grace-time=10",
            f"--locale={self._locale}",
        ]
        if self._trusted:
            options.append("--disable-workspace-trust")
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                # It ends with this process, even if this one is killed.
                ["setpriv", "--pdeathsig", "TERM", *self._command(*options)],
                stdout=log,
                stderr=log,
                env=self._environment(),
                start_new_session=True,
            )
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline and self._process.poll() is None:
            said = re.search(r"listening on http://127\.0\.0\.1:(\d+)", self.log.read_text(errors="replace"))
            if said:
                self.port = int(said[1])
                return
            time.sleep(0.1)
        self.stop()
        raise RuntimeError(f"code-server does not listen:\n{self.log.read_text(errors='replace')}")

    def install(self, vsix: Path) -> None:
        run = subprocess.run(
            self._command("--install-extension", str(vsix), "--force"),
            env=self._environment(),
            check=False,
            capture_output=True,
            text=True,
        )
        if run.returncode != 0 or "was successfully installed" not in run.stdout:
            raise RuntimeError(f"the VSIX cannot be installed:\n{run.stdout}{run.stderr}")

    def stop(self) -> list[str]:
        """Ends it and all that it started. Gives the command lines of what did not end by itself."""
        if self._process is None:
            return []
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            pass
        deadline = time.monotonic() + 15  # an extension's server ends when its input does
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.2)
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self._process.wait()
        self._process = None
        return list(left.values())

    def processes(self, containing: str = "") -> dict[int, str]:
        """The processes that run in this server's home: number and command line, those alone that contain a text."""
        found = {}
        home = f"LOOPGRAD_E2E_SERVER={self.folder}".encode()
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                if home not in (entry / "environ").read_bytes().split(b"\0"):
                    continue
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            except OSError:
                continue
            if line and containing in line:  # an ended one has no command line
                found[int(entry.name)] = line
        return found

    def _command(self, *options: str) -> list[str]:
        data = ["--user-data-dir", str(self.folder / "data"), "--extensions-dir", str(self._extensions)]
        config = ["--config", str(self.folder / "config.yaml")]
        return [self._tools.node, self._tools.code_server, *config, *data, *options]

    def _environment(self) -> dict[str, str]:
        """This process's, with a home of its own, this Python first, and nothing of an editor around it."""
        kept = {
            name: text for name, text in os.environ.items() if not name.startswith(("VSCODE_", "LOOPGRAD_"))
        }
        path = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
        home = str(self.folder / "home")
        return {**kept, "PATH": path, "HOME": home, "LOOPGRAD_E2E_SERVER": str(self.folder)}


def _add_language(data: Path, locale: str) -> None:
    """Makes a language known to VS Code, as a language pack does. Its own texts stay English: there is no pack here."""
    texts = data / "language-pack.json"
    texts.write_text(json.dumps({"version": "1.0.0", "contents": {}}))
    pack = {
        "hash": "0123456789abcdef0123456789abcdef",
        "extensions": [{"extensionIdentifier": {"id": "loopgrad-tests.language-pack"}, "version": "1.0.0"}],
        "translations": {"vscode": str(texts)},
        "label": locale,
    }
    (data / "languagepacks.json").write_text(json.dumps({locale: pack}))
