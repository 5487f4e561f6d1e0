"""The byte budget that readers share."""

from __future__ import annotations

import asyncio

from evaluations.engine.slots import ByteBudget


def test_bytes_are_given_out_in_order_of_asking() -> None:
    async def scenario() -> list[str]:
        budget = ByteBudget(total=10)
        order: list[str] = []

        async def reader(name: str, size: int) -> None:
            taken = await budget.take(size)
            order.append(name)
            await asyncio.sleep(0.01)
            budget.give(taken)

        await asyncio.gather(reader("a", 8), reader("large", 10), reader("b", 2))
        return order

    assert asyncio.run(scenario()) == ["a", "large", "b"]


def test_nobody_waits_for_more_than_there_is() -> None:
    assert asyncio.run(ByteBudget(total=10).take(1000)) == 10


def test_a_reader_that_gives_up_keeps_nothing() -> None:
    async def scenario() -> int:
        budget = ByteBudget(total=10)
        held = await budget.take(10)
        waiting = asyncio.create_task(budget.take(5))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        budget.give(held)
        return await budget.take(10)

    assert asyncio.run(scenario()) == 10
