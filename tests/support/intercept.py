"""A Checkpointer with a test standing before it: counts calls, and may act before or after one."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.checkpoints import Checkpointer

    Action = Callable[[], object]


class Interceptor:
    """Passes every call on to `inner`.

    `before(name, a, b)` runs `a` before the next call of that name and `b` before the one after it; `after`
    does likewise once the call has done its work. An action that raises makes the call fail: before, nothing
    has happened; after, the work has landed and is reported failed.
    """

    def __init__(self, inner: Checkpointer) -> None:
        self._inner = inner
        self._before: defaultdict[str, deque[Action]] = defaultdict(deque)
        self._after: defaultdict[str, deque[Action]] = defaultdict(deque)
        self.calls: Counter[str] = Counter()

    @property
    def checkpoints(self) -> Checkpointer:
        """The intercepted store, for code that wants a Checkpointer."""
        return cast("Checkpointer", self)

    def before(self, name: str, *actions: Action) -> None:
        """Queue actions, one for each of the next calls of `name`."""
        self._before[name].extend(actions)

    def after(self, name: str, *actions: Action) -> None:
        """Queue actions to follow the next calls of `name`."""
        self._after[name].extend(actions)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls[name] += 1
            _act(self._before[name])
            result = method(*args, **kwargs)
            _act(self._after[name])
            return result

        return call


def _act(actions: deque[Action]) -> None:
    if actions:
        actions.popleft()()


def failing(error: BaseException) -> Action:
    """An action that raises `error`."""

    def fail() -> None:
        raise error

    return fail
