"""Planning a bulk change from the console is bounded, and its refusal says what to do (console.md 3.2, row 66).

The engine's own bounds are tested where plans are: `tests/contract/test_plans_*.py`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from console.screens.plan import PlanScreen
from console.widgets.pane import Pane
from engine.desk.plans.model import MOST_ITEMS
from tests.console.test_f1_by_keys import operating
from tests.support import crowd

if TYPE_CHECKING:
    from tests.console.test_f1_by_keys import Operator
    from tests.support.harness import Harness

WIDE: Final = "id:t"
NARROW: Final = "id:t00001"


async def plan_all(operator: Operator) -> PlanScreen:
    """Type the command that means all that the filter does; the plan's screen, once the store has answered."""
    await operator.press("colon")
    await operator.type("delete filter")
    await operator.press("enter")
    await operator.come_to(
        lambda: isinstance(operator.app.screen, PlanScreen) and not operator.app.screen._busy
    )
    screen = operator.app.screen
    assert isinstance(screen, PlanScreen)
    return screen


def test_report_66_from_the_console_a_plan_of_too_much_is_refused_and_a_narrower_one_made(
    harness: Harness,
) -> None:
    with harness.raw() as connection:
        crowd.threads(connection, "t", MOST_ITEMS + 1)

    async def run() -> None:
        async with operating(harness) as operator:
            await operator.narrow(WIDE)
            refused = await plan_all(operator)
            said = refused.query_one("#facts", Pane).text
            assert refused.made is None
            assert f"{MOST_ITEMS:,}" in said
            assert "narrow" in said
            assert operator.app.session.gateway.plans(None, 10).rows == ()
            await operator.press("escape")
            await operator.narrow(NARROW)
            made = (await plan_all(operator)).made
            assert made is not None
            assert made.view.items == 10
            assert [each.id for each in operator.app.session.gateway.plans(None, 10).rows] == [made.view.id]

    asyncio.run(run())
