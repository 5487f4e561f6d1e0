from evaluations.engine.naming import request_id, sample_salt, session_id, user_id
from evaluations.engine.plan import lane_size, plan_lane
from evaluations.engine.types import UnitKind
from tests.engine.samples import sample


def kinds(shape: str) -> list[list[str]]:
    return [[unit.kind.value for unit in step.units] for step in plan_lane(sample("s", shape))]


def test_each_add_is_a_step_and_consecutive_asks_share_one() -> None:
    ask = ["search", "answer", "judge"]
    assert kinds("++??+?") == [["add"], ["add"], ask + ask, ["add"], ask]


def test_positions_count_through_the_lane_without_gaps() -> None:
    units = [unit for step in plan_lane(sample("s", "+??+?")) for unit in step.units]
    assert [unit.position for unit in units] == list(range(len(units)))


def test_units_name_their_event_and_ask() -> None:
    search = plan_lane(sample("s", "+?"))[1].units[0]
    assert (search.event, search.ask, search.question) == (1, "s-a1", "s-q1")


def test_a_question_that_needs_no_judge_gets_no_judge_unit() -> None:
    steps = plan_lane(sample("s", "+?"), judged=lambda question: question != "s-q1")
    assert [unit.kind for unit in steps[1].units] == [UnitKind.SEARCH, UnitKind.ANSWER]


def test_only_calls_to_the_service_hold_the_next_step_up() -> None:
    step = plan_lane(sample("s", "??"))[0]
    assert [unit.kind for unit in step.calls] == [UnitKind.SEARCH, UnitKind.SEARCH]


def test_a_lane_knows_its_size() -> None:
    size = lane_size(sample("s", "++??+?"))
    assert (size.adds, size.asks, size.chain) == (3, 3, 6)


def test_ids_are_stable_under_one_secret_and_differ_under_another() -> None:
    assert request_id(b"a", "s", 3) == request_id(b"a", "s", 3)
    assert request_id(b"a", "s", 3) != request_id(b"b", "s", 3)


def test_ids_of_different_things_differ() -> None:
    secret = b"secret"
    ids = {
        user_id(secret, "s"),
        user_id(secret, "s", scope="probe"),
        session_id(secret, "s", "s1"),
        request_id(secret, "s", 0),
        request_id(secret, "s", 1),
        sample_salt(secret, "s"),
    }
    assert len(ids) == 6
