"""All the changes that a console may make, behind the one door that `W` opens."""

from __future__ import annotations

from console.gateway.jobs import JobsChanging
from console.gateway.plans import PlansChanging
from console.gateway.records import RecordsChanging
from console.gateway.resolving import ResolvingChanging


class EngineActing(PlansChanging, JobsChanging, ResolvingChanging, RecordsChanging):
    """Changes a store through `engine.desk`. Safe to share between threads; no connection before `open`."""
