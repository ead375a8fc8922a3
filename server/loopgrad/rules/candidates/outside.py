from __future__ import annotations
from loopgrad.analysis.observe import Observation
from loopgrad.model import FixRequest
from ..context import Context
def requests(seen: Observation, context: Context) -> list[FixRequest]:
    return []
loss_requests = requests
