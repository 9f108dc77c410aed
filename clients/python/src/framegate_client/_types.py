"""Types that the API's objects are made into."""

from __future__ import annotations

from ._api import Runner, RunStatusApprovalsItem


class PendingApproval(RunStatusApprovalsItem):
    """A question that a run is waiting for."""

    run_id: str
    session_id: str
    runner: Runner
