"""What a run found, as text, JSON, SARIF or GitHub annotations.

Every format is a function from a ``Report`` to a string; ``Report`` knows how to say a message in the
reader's language and how to name a line of a notebook.
"""

from loopgrad.report.as_github import as_github
from loopgrad.report.as_json import as_json
from loopgrad.report.as_sarif import as_sarif
from loopgrad.report.as_text import as_text
from loopgrad.report.base import Report
from loopgrad.report.style import Style

__all__ = ["Report", "Style", "as_github", "as_json", "as_sarif", "as_text"]
