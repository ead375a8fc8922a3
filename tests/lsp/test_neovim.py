"""A real Neovim, with the configuration that ``docs/editors/neovim.md`` gives, from a squiggle to none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROBE = """
local log = {}
local function note(text) table.insert(log, text) end
local function finish(status)
  vim.fn.writefile(log, vim.env.PROBE_LOG)
  vim.cmd(status == 0 and 'qall!' or 'cquit! 1')
end
local function wait(what, condition)
  if not vim.wait(20000, condition, 20) then note('never: ' .. what); finish(1) end
  note(what)
end
local function shown(severity)
  return vim.diagnostic.get(0, { severity = severity })
end
vim.cmd('filetype plugin on')
vim.cmd.edit('train.py')
wait('attached', function() return #vim.lsp.get_clients({ name = 'loopgrad', bufnr = 0 }) == 1 end)
wait('shown', function() return #shown(vim.diagnostic.severity.ERROR) == 1 end)
local found = shown(vim.diagnostic.severity.ERROR)[1]
note('line ' .. (found.lnum + 1) .. ' ' .. found.code .. ' ' .. found.source)
note('namespaces ' .. #vim.tbl_keys(vim.iter(vim.diagnostic.get(0)):fold({}, function(all, each)
  all[each.namespace] = true
  return all
end)))
local hint = shown(vim.diagnostic.severity.HINT)[1]
note('hint at line ' .. (hint.lnum + 1))
vim.api.nvim_win_set_cursor(0, { hint.lnum + 1, 0 })
vim.lsp.buf.code_action({ apply = true, filter = function(action) return action.isPreferred end })
wait('fixed', function() return vim.bo.modified end)
wait('told', function()
  local at = { textDocument = vim.lsp.util.make_text_document_params(0), position = { line = 80, character = 16 } }
  local answers = vim.lsp.buf_request_sync(0, 'textDocument/hover', at, 20000) or {}
  for _, each in pairs(answers) do
    if each.result then note(each.result.contents.value); return true end
  end
end)
vim.cmd.write()
wait('gone', function() return #shown(vim.diagnostic.severity.ERROR) == 0 end)
finish(0)
"""


@pytest.mark.skipif(shutil.which("nvim", path=os.path.dirname(sys.executable)) is None, reason="no Neovim")
def test_neovim_from_open_to_mended(tmp_path):
    page = (ROOT / "docs" / "editors" / "neovim.md").read_text(encoding="utf-8")
    config = re.search(r"```lua\n(.*?)```", page, re.DOTALL)[1]
    server = f"{{ '{sys.executable}', '-m', 'loopgrad', 'server' }}"
    assert "{ 'loopgrad', 'server' }" in config
    config = config.replace("{ 'loopgrad', 'server' }", server)
    work = tmp_path / "work"
    work.mkdir()
    (work / "pyproject.toml").write_text("[project]\n")
    (work / "train.py").write_text((ROOT / "examples" / "encoded_features.py").read_text())
    (tmp_path / "probe.lua").write_text(config + PROBE)
    log = tmp_path / "log.txt"
    nvim = shutil.which("nvim", path=os.path.dirname(sys.executable))
    result = subprocess.run(
        [nvim, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-S", str(tmp_path / "probe.lua")],
        cwd=work,
        env=dict(os.environ, PROBE_LOG=str(log), PYTHONPATH=str(ROOT / "server"), HOME=str(tmp_path)),
        check=False,
        timeout=120,
        capture_output=True,
        text=True,
    )
    told = log.read_text().splitlines() if log.exists() else []
    assert result.returncode == 0, (told, result.stderr)
    assert told[:2] == ["attached", "shown"]
    assert re.fullmatch(r"line \d+ LG\d+ loopgrad", told[2])
    assert told[3] == "namespaces 1"  # pulled or pushed, not both
    assert told[-4] == "fixed" and told[-2:] == ["told", "gone"]
    assert told[-3] == "`loss` carries a graph, built in line 81 in the same iteration."
    assert (work / "train.py").read_text() != (ROOT / "examples" / "encoded_features.py").read_text()
