"""Each callback is called once when the server begins to stop."""

from gateway.doors.shutdown import Stopping


def test_each_is_called_once() -> None:
    calls: list[int] = []
    stopping = Stopping()
    stopping.add(lambda: calls.append(1))
    stopping.add(lambda: calls.append(2))
    stopping.stop()
    stopping.stop()
    assert calls == [1, 2]


def test_what_comes_after_the_beginning_of_the_end_is_called_at_once() -> None:
    calls: list[int] = []
    stopping = Stopping()
    stopping.stop()
    stopping.add(lambda: calls.append(1))
    assert calls == [1]
