"""What a run found, as text (in full or a line each), JSON, SARIF, GitHub annotations or for GitLab.

Every format is a function from a ``Report`` to a string; ``Report`` knows how to say a message in the
reader's language and how to name a line of a notebook.
"""

from loopgrad.report.as_concise import as_concise
from loopgrad.report.as_github import as_github
from loopgrad.report.as_gitlab import as_gitlab
from loopgrad.report.as_json import as_json
from loopgrad.report.as_sarif import as_sarif
from loopgrad.report.as_text import as_text
from loopgrad.report.base import Report
from loopgrad.report.style import Style

__all__ = ["Report", "Style", "as_concise", "as_github", "as_gitlab", "as_json", "as_sarif", "as_text"]
