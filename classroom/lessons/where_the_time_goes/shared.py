"""What several exercises of this lesson need."""

from tinyframe.observe import Observer, Ran


class Times(Observer):
    """Name and seconds of every kernel that ran."""

    def __init__(self) -> None:
        self.kernels: list[tuple[str, float]] = []

    def ran(self, work: Ran) -> None:
        if work.spec is not None:
            self.kernels.append((work.spec.name, work.seconds))
