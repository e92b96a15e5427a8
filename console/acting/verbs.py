"""The verbs that change something, or begin to: upper case, and starting is never enough (ruling 52)."""

from __future__ import annotations

from typing import Final

from console.acting.deeds import WORDS, Deed
from console.action import Action, Capability, Level, Place

SCREENS: Final = (
    Action(
        "jobs", ("6",), "Jobs", "Go to the jobs: plans that are carried out; tab shows the plans", short="Job"
    ),
    Action("plans", (), "Plans", "The stored plans, newest first, and what has become of each"),
    Action("audit", ("7",), "Audit", "Go to what operators did, newest first", short="Aud"),
)

PLANNED: Final = (
    Action(
        "changes",
        ("x",),
        "changes...",
        "What can be done to this row, mildest first, and what cannot and why",
        Place.AUDITED,
        footer=5,
    ),
    Action(
        "release",
        ("L",),
        Deed.RELEASE.value,
        WORDS[Deed.RELEASE].help,
        Place.CLAIMED,
        Capability.PLAN,
        Level.PHRASE,
    ),
    Action(
        "reconcile",
        ("R",),
        Deed.RECONCILE.value,
        WORDS[Deed.RECONCILE].help,
        Place.DUE,
        Capability.PLAN,
        Level.REASON,
    ),
    Action(
        "sweep",
        ("S",),
        Deed.SWEEP.value,
        WORDS[Deed.SWEEP].help,
        Place.SWEPT,
        Capability.PLAN,
        Level.REASON,
    ),
    Action(
        "delete",
        ("D",),
        Deed.DELETE.value,
        WORDS[Deed.DELETE].help,
        Place.DELETABLE,
        Capability.PLAN,
        Level.REASON,
    ),
    Action(
        "execute",
        (),
        "execute",
        "Make this plan a job and carry it out",
        Place.PLAN,
        Capability.WRITE,
        Level.REASON,
    ),
    Action(
        "replan",
        ("r",),
        "plan again",
        "Plan the same once more, under a new id: from what the store holds now",
        Place.PLAN,
        footer=1,
    ),
    Action(
        "plan_items",
        ("v",),
        "items",
        "The items one by one, each with the guard it was seen under",
        Place.PLAN,
        footer=2,
    ),
    Action(
        "export_plan",
        ("E",),
        "export",
        "Write the plan and all its items to a new .jsonl file of this machine",
        Place.PLAN,
        footer=3,
    ),
    Action(
        "give_up_plan",
        ("F",),
        "give up",
        "Cancel this plan: it can never be executed then",
        Place.PLAN,
        Capability.WRITE,
        Level.ASK,
        footer=7,
    ),
    Action(
        "approve",
        ("O",),
        "approve",
        "The second pair of eyes: let another person's plan be executed",
        Place.PLAN,
        Capability.WRITE,
        Level.PHRASE,
    ),
)

BY_HAND: Final = (
    Action(
        "resolve",
        ("e",),
        "resolve...",
        "Decide by hand what became of this reservation, on evidence; while changes are off, only look",
        Place.DECIDED,
        footer=4,
    ),
    Action("history", ("a",), "audit of it", "What operators did to this object", Place.TOLD),
    Action(
        "unknown",
        ("u",),
        "unknown outcomes",
        "Changes whose answer was lost, and what the store says became of them",
    ),
    Action(
        "close_intent",
        ("F",),
        "close",
        "Write down the end of this change, which nobody told: nothing is done again",
        Place.INTENTS,
        Capability.WRITE,
        Level.ASK,
        footer=2,
    ),
)

OF_JOBS: Final = (
    Action(
        "other_jobs",
        ("tab",),
        "jobs/plans",
        "From the jobs to the stored plans, and back",
        Place.JOBS,
        footer=2,
    ),
    Action(
        "outcomes",
        ("tab",),
        "outcomes",
        "The items that were applied, then those skipped, those failed, and all again",
        Place.JOB,
        footer=2,
    ),
    Action(
        "about",
        ("o",),
        "what it was",
        "Open the thread or the reservation that the item was about",
        Place.JOB,
    ),
    Action(
        "begin_job",
        ("B",),
        "run here",
        "Carry this job out from this console, or hand it over to others where that is done already",
        Place.CARRIED,
        Capability.PLAN,
        Level.ASK,
        footer=3,
    ),
    Action(
        "halt_job",
        ("H",),
        "halt/go on",
        "Pause this job at the end of its chunk, or let it go on",
        Place.CARRIED,
        Capability.WRITE,
        Level.ASK,
        footer=4,
    ),
    Action(
        "give_up",
        ("F",),
        "give up",
        "End this job where it stands, or cancel this plan; what was done stays done",
        Place.CARRIED,
        Capability.WRITE,
        Level.ASK,
        footer=5,
    ),
)
