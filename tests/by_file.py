"""`--dist loadfile` that comes to its end although workers die.

pytest-xdist hands a dead worker's files to the others together with what was done in them already,
and waits for ever for those that had nothing left; a worker with one test left waits for a second
one; and a worker that has not collected yet is given tests that it never hears of (its issues 1378,
1327 and 1189, not in a release yet). Here only what was not run is handed on, the test that the
worker died of is not run again, and a worker that gets the last file is told so.
"""

from __future__ import annotations

import re

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

# A file; in these, what is about one notebook, stage of mini or project, which is made ready once.
TOGETHER = re.compile(
    r"([^:]+)(?:(?<=test_answers\.py|_submissions\.py)::\w+\[(\d\d[a-z]?|\w+)(?=[/_]))?"
)


class ByFile(LoadFileScheduling):
    def _split_scope(self, nodeid: str) -> str:
        """The tests that go to one worker, one after the other."""
        found = TOGETHER.match(nodeid)
        assert found
        return f"{found[1]} {found[2] or ''}"

    def remove_node(self, node: WorkerController) -> str | None:
        """Hand on what a worker has left. Returns the test that it died of, if it died of one."""
        files = {
            file: {test: False for test, done in tests.items() if not done}
            for file, tests in self.assigned_work.pop(node).items()
        }
        left = {file: tests for file, tests in files.items() if tests}
        if not left:
            return None
        first = next(iter(left))
        died_of = next(iter(left[first]))
        del left[first][died_of]
        self.workqueue.update((file, tests) for file, tests in left.items() if tests)
        for other in self.assigned_work:
            self._reschedule(other)
        return died_of

    def _reschedule(self, node: WorkerController) -> None:
        """Give a worker that is almost done another file, and send it home where there is none."""
        if node not in self.registered_collections:
            return  # it stands in for one that died, and has not collected yet; then it is asked
        while self.workqueue and not node.shutting_down and self._almost_done(node):
            self._assign_work_unit(node)
        if not self.workqueue and not node.shutting_down:
            node.shutdown()

    def _almost_done(self, node: WorkerController) -> bool:
        return self._pending_of(self.assigned_work[node]) <= 2
