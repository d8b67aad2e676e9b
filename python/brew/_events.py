"""Events of sessions."""
import contextlib
import functools
import types
import weakref

__all__ = ["Event", "Events", "KINDS"]

#: Kinds of events, indexed by their numbers in brew/events.h.
KINDS = ("log", "solver_set_up", "net_set_up", "seed", "solver_ready", "weights_loading", "snapshot_loading",
         "solving_begin", "iteration", "display", "learning_rate", "gradients_clipped", "progress",
         "test_begin", "test_done", "test_interrupted", "snapshot_writing", "snapshot", "data_stall",
         "paused", "resumed", "field_set", "final_loss", "solving_done", "throughput", "stopped_by_rule",
         "reset", "step_times", "episode", "parameters_changed")


class Event(types.SimpleNamespace):
    """An event with its ``kind`` and the fields of that kind, such as ``iteration`` and
    ``loss``."""


def event_of(kind, fields):
    return Event(kind=KINDS[kind], **fields)


def _deliver(weak_events, key, kind, fields):
    # The session references only this function, not the listeners, so that they may reference
    # the session.
    self = weak_events()
    function = self._functions.get(key) if self is not None else None
    if function is None:
        return
    self._active_calls += 1
    try:
        function(event_of(kind, fields))
    finally:
        self._active_calls -= 1


class Events:
    """The listeners of a session.

    :data:`KINDS` lists the kinds. For example, ``iteration`` is emitted for each training
    iteration (``iteration``, ``loss``, ``smoothed_loss``, ``learning_rate``, ``seconds``), and
    ``test_done`` has ``outputs``, a list of (blob, mean, loss weight). ``brew/events.h``
    documents all fields."""

    def __init__(self, first=None):
        self._core, self._functions, self._stale = None, {0: first} if first else {}, []
        self._active_calls, self._next_key = 0, 1

    def _first(self):
        """Returns the initial listener for the session, or None."""
        return functools.partial(_deliver, weakref.ref(self), 0) if self._functions else None

    def listen(self, function, *kinds):
        """Calls ``function(event)`` for each event on the running thread. Returns a function
        that removes the listener. An exception in ``function`` aborts the run.

        ``function`` may read the session but not run it. Without ``kinds`` it receives all
        events."""
        numbers = []
        for kind in kinds:
            if kind not in KINDS:
                raise ValueError("there are no events %r; the kinds are: %s" % (kind, ", ".join(KINDS)))
            numbers.append(KINDS.index(kind))
        self._remove_stopped()
        key, self._next_key = self._next_key, self._next_key + 1
        self._functions[key] = function
        number = self._core.add_listener(functools.partial(_deliver, weakref.ref(self), key), numbers)

        def stop():
            if self._functions.pop(key, None) is not None:
                self._stale.append(number)
                self._remove_stopped()

        return stop

    def _remove_stopped(self):
        """Removes stopped listeners, unless a listener is being called."""
        while self._stale and not self._active_calls:
            self._core.remove_listener(self._stale.pop())

    @contextlib.contextmanager
    def record(self, *kinds):
        """Context manager that returns a list and appends events to it."""
        recorded = []
        stop = self.listen(recorded.append, *kinds)
        try:
            yield recorded
        finally:
            stop()
