from __future__ import annotations

import pytest
from pytest_django import Settings

from evaluations.engine.models import OPENAI_URL
from evaluations.engine.offline import ANSWER_MODEL
from evaluations.models import EvaluationContract
from evaluations.runner.shells import model_settings


def contract(name: str) -> EvaluationContract:
    return EvaluationContract(
        answer_model={"name": name, "max_output_tokens": 512, "temperature": 0.0, "seed": 7}
    )


@pytest.mark.parametrize(
    ("name", "url", "expected"),
    [
        (ANSWER_MODEL, "", None),
        (ANSWER_MODEL, "http://127.0.0.1:9000/v1", "http://127.0.0.1:9000/v1"),
        ("gpt-9", "", OPENAI_URL),
        ("gpt-9", "https://models.example.org/v1", "https://models.example.org/v1"),
    ],
)
def test_a_model_is_called_where_the_environment_says_and_else_at_its_own_place(
    settings: Settings, name: str, url: str, expected: str | None
) -> None:
    settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = "sk-test", url
    assert model_settings(contract(name), role="answer").base_url == expected
