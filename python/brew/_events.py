"""What a session tells of while it runs."""
import contextlib
import functools
import types
import weakref

__all__ = ["Event", "Events", "KINDS"]

#: Kinds of events by their numbers in brew/events.h.
KINDS = ("log", "solver_set_up", "net_set_up", "seed", "solver_ready", "weights_loading", "snapshot_loading",
         "solving", "iteration", "display", "rate", "clipped", "progress", "test_begin", "test_done",
         "test_interrupted", "snapshot_writing", "snapshot", "starvation", "paused", "resumed", "field_set",
         "final_loss", "solving_done", "speed", "stopped_by_rule", "reset", "step_times")


class Event(types.SimpleNamespace):
    """Something that happened: its ``kind`` and what that kind has to say, such as
    ``iteration`` and ``loss``."""


def event_of(kind, fields):
    return Event(kind=KINDS[kind], **fields)


def _deliver(hub, key, kind, fields):
    # The session holds this and nothing else, so that whoever listens may hold the session.
    self = hub()
    function = self._functions.get(key) if self is not None else None
    if function is None:
        return
    self._inside += 1
    try:
        function(event_of(kind, fields))
    finally:
        self._inside -= 1


class Events:
    """Who listens to a session: ``listen`` and ``record``.

    The kinds are those of :data:`KINDS`; ``iteration`` comes for each iteration of a
    training (``iteration``, ``loss``, ``smoothed_loss``, ``learning_rate``, ``seconds``),
    ``test_done`` with ``outputs``, a list of (blob, mean, loss weight). All fields are those
    of ``brew/events.h``."""

    def __init__(self, first=None):
        self._core, self._functions, self._stale = None, {0: first} if first else {}, []
        self._inside, self._next = 0, 1

    def _first(self):
        """What a session is opened with that ``first`` is to hear of, or None."""
        return functools.partial(_deliver, weakref.ref(self), 0) if self._functions else None

    def listen(self, function, *kinds):
        """Calls ``function(event)`` on the thread that runs, until the function that this
        returns is called. What it raises ends the run.

        It may read the session and not run it. Without ``kinds`` it hears of all."""
        numbers = []
        for kind in kinds:
            if kind not in KINDS:
                raise ValueError("there are no events %r; there are: %s" % (kind, ", ".join(KINDS)))
            numbers.append(KINDS.index(kind))
        self._sweep()
        key, self._next = self._next, self._next + 1
        self._functions[key] = function
        number = self._core.add_listener(functools.partial(_deliver, weakref.ref(self), key), numbers)

        def stop():
            if self._functions.pop(key, None) is not None:
                self._stale.append(number)
                self._sweep()

        return stop

    def _sweep(self):
        """Takes away listeners that are done, which none may do while one is called."""
        while self._stale and not self._inside:
            self._core.remove_listener(self._stale.pop())

    @contextlib.contextmanager
    def record(self, *kinds):
        """A list to which events are added as long as the block lasts."""
        seen = []
        stop = self.listen(seen.append, *kinds)
        try:
            yield seen
        finally:
            stop()
