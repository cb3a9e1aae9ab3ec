"""Tells doors that the server is about to stop, so that they end the streams that clients hold open: it would wait for them."""

from collections.abc import Callable


class Stopping:
    """The callbacks that run once, when the server begins to stop."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[], None]] = []
        self._begun = False

    def add(self, callback: Callable[[], None]) -> None:
        """Have `callback` called, at once if the server stops already; it must not wait and not raise."""
        if self._begun:
            callback()
        else:
            self._callbacks.append(callback)

    def stop(self) -> None:
        """Call each of them. Later calls do nothing."""
        self._begun = True
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()
