"""Roles: what the printed statements allow, tried by logging in with nothing else (schema.md, console.md F3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from engine.desk.actor import Actor, Mandate
from engine.desk.grants import Role, grants
from engine.errors import EngineError, ValidationError
from tests.support.builders import claim
from tests.support.meters import DEFAULT, OTHER
from tests.support.money import make_meter

if TYPE_CHECKING:
    from engine.store import Store
    from tests.support.harness import Harness

ME = Actor("mk", "bastion-2")


def as_role(harness: Harness, role: Role, *prefixes: str) -> Store:
    """A store whose connections have this role's rights and no others; on the meters of these prefixes."""
    database = make_url(harness.url).database
    assert database is not None
    name = f"{role.value}_{database[-12:]}"
    with harness.raw() as connection:
        connection.execute(text(f"CREATE ROLE {name} LOGIN"))
        for line in grants(role, name, prefixes=prefixes):
            connection.execute(text(line))
    url = make_url(harness.url).set(username=name)
    return harness.open(url.render_as_string(hide_password=False), ensure_schema=False, clock=None)


def test_a_file_knows_no_roles(harness: Harness) -> None:
    with pytest.raises(ValidationError):
        grants(Role.OPS_RO, "ops", prefixes=("not a prefix",))
    assert harness.store.desk.missing_rights() == {}


def test_a_worker_works_and_sees_nothing_of_the_desk(postgres_harness: Harness) -> None:
    store = as_role(postgres_harness, Role.WORKER)
    token = claim(store, "t").token
    store.checkpoints.release("t", token)
    assert set(store.desk.missing_rights()) == {
        "delete",
        "sweep",
        "reconcile",
        "release",
        "resolve",
        "cancel plan",
    }
    for look in (store.desk.audit, store.desk.plans, store.desk.jobs):
        with pytest.raises(EngineError, match="permission denied"):
            look()


def test_ops_ro_looks_at_everything_and_changes_nothing(postgres_harness: Harness) -> None:
    claim(postgres_harness.store, "t")
    store = as_role(postgres_harness, Role.OPS_RO)
    assert store.desk.thread("t") is not None
    assert store.desk.audit().rows == ()
    assert store.desk.overview().claims is not None
    with pytest.raises(EngineError, match="permission denied"):
        claim(store, "u")
    with pytest.raises(EngineError, match="permission denied"):
        store.desk.plan_release(["t"], actor=ME, environment="TEST")


def test_ops_rw_plans_and_acts_and_cannot_rewrite_the_audit(postgres_harness: Harness) -> None:
    claim(postgres_harness.store, "t")
    store = as_role(postgres_harness, Role.OPS_RW)
    assert store.desk.missing_rights() == {}
    plan = store.desk.plan_release(["t"], actor=ME, environment="TEST")
    job = store.desk.execute(plan.plan_id, Mandate(ME, "INC-1"), plan.phrase)
    assert store.desk.runner("me").run(job.job_id).applied == 1
    assert store.desk.claim("t") is None
    for forgery in ("UPDATE audit SET actor = 'x'", "DELETE FROM audit", "TRUNCATE audit"):
        with (
            pytest.raises(Exception, match=r"permission denied|only grows"),
            store.engine.begin() as connection,
        ):
            connection.execute(text(forgery))
    assert store.desk.verify_audit().broken_at is None


def test_console_F3_of_the_meters_too_a_role_is_told_what_it_lacks(postgres_harness: Harness) -> None:
    with postgres_harness.raw() as connection:
        for prefix in (DEFAULT, OTHER):
            make_meter(connection, prefix)
    store = as_role(postgres_harness, Role.OPS_RW, DEFAULT, OTHER)
    assert store.desk.missing_rights() == {}
    role = store.desk.identity().role
    with postgres_harness.raw() as connection:
        for less in (
            f"UPDATE ON {OTHER}_meter",
            f"UPDATE, DELETE ON {OTHER}_reservations",
            "DELETE ON plan_item",
        ):
            connection.execute(text(f"REVOKE {less} FROM {role}"))
    settles = (f"UPDATE on {OTHER}_meter", f"UPDATE on {OTHER}_reservations")
    assert store.desk.missing_rights() == {
        "reconcile": settles,
        "resolve": settles,
        "sweep": (f"UPDATE on {OTHER}_reservations", f"DELETE on {OTHER}_reservations"),
        "cancel plan": ("DELETE on plan_item",),
    }
    claim(postgres_harness.store, "t")
    plan = store.desk.plan_release(["t"], actor=ME, environment="TEST")
    with pytest.raises(EngineError, match="permission denied for table plan_item"):
        store.desk.cancel_plan(plan.plan_id, Mandate(ME, "INC-1"))
