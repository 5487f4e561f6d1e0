from benchmarks.types import Add, Ask, Message, Option
from evaluations.engine.requests import encode_add
from evaluations.engine.steps import add_request, gold_of, search_request, unscored, zero_by_failure
from evaluations.engine.types import AddRequest, Fault
from tests.engine.samples import questions, sample

SAMPLE = sample("s", "+?")
QUESTION = questions(SAMPLE)["s-q1"]


def request(secret: bytes = b"secret") -> AddRequest:
    add = SAMPLE.events[0].add
    assert add is not None
    return add_request(add, secret=secret, sample="s", event=0)


def test_an_add_is_the_same_bytes_every_time() -> None:
    assert encode_add(request()) == encode_add(request())


def test_another_run_shares_no_id() -> None:
    one, other = request(b"one"), request(b"other")
    assert not {one.request_id, one.user_id, one.session_id} & {
        other.request_id,
        other.user_id,
        other.session_id,
    }


def test_a_message_without_a_time_has_no_timestamp() -> None:
    add = Add(session="s1", messages=(Message(role="user", content="x"),))
    made = add_request(add, secret=b"s", sample="s", event=0)
    assert made.messages == ({"role": "user", "content": "x"},)


def test_a_search_goes_to_the_user_of_its_adds() -> None:
    search = search_request(QUESTION, secret=b"secret", sample="s")
    assert search.user_id == request().user_id
    assert (search.query, search.top_k, search.options) == ("What is s colour 0? Asked as s-q1.", 100, None)


def test_options_are_sent_in_the_packs_order() -> None:
    options = (Option(letter="B", text="two"), Option(letter="A", text="one"))
    asked = QUESTION.model_copy(update={"options": options})
    assert search_request(asked, secret=b"s", sample="s").options == ["B. two", "A. one"]


def test_an_asks_own_gold_replaces_the_questions() -> None:
    assert gold_of(Ask(id="a", question="q", gold="later"), QUESTION) == "later"
    assert gold_of(Ask(id="a", question="q"), QUESTION) == "blue0"


def test_failure_is_zero_and_the_participants_while_open_is_neither() -> None:
    failed = zero_by_failure("a", question=QUESTION, code="FORBIDDEN")
    assert (failed.value, failed.failed_by, failed.reason) == (0.0, Fault.PARTICIPANT, "FORBIDDEN")
    waiting = unscored("a", question=QUESTION, reason="OPEN")
    assert (waiting.value, waiting.failed_by) == (None, None)
