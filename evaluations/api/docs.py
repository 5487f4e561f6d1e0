"""``/api/v1/docs/``: the generated schema as a page, without anybody else's server."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator

METHODS = ("get", "post", "put", "patch", "delete")


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    schema: dict[str, Any] = _schema()
    calls = [
        _call(method, path, operation)
        for path, operations in sorted(schema["paths"].items())
        for method, operation in operations.items()
        if method in METHODS
    ]
    shapes = [
        _shape(name, shape) for name, shape in sorted(schema.get("components", {}).get("schemas", {}).items())
    ]
    return render(request, "evaluations/api_docs.html", {"calls": calls, "shapes": shapes})


def _schema() -> Any:
    generator: Any = SchemaGenerator
    return generator().get_schema(request=None, public=True)


def _call(method: str, path: str, operation: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": operation["operationId"],
        "method": method.upper(),
        "path": path,
        "text": operation.get("description", ""),
        "needs_key": bool(operation.get("security")) and {} not in operation["security"],
        "parameters": [
            {"name": one["name"], "where": one["in"], "text": one.get("description", "")}
            for one in operation.get("parameters", [])
        ],
        "body": _ref(operation.get("requestBody", {})),
        "answers": [(status, _ref(answer)) for status, answer in operation.get("responses", {}).items()],
    }


def _ref(part: dict[str, Any]) -> str:
    """The name of the schema that a body or an answer has, "" if it has none of its own."""
    for content in part.get("content", {}).values():
        return str(content.get("schema", {}).get("$ref", "")).rpartition("/")[2]
    return ""


def _shape(name: str, shape: dict[str, Any]) -> dict[str, Any]:
    required = set(shape.get("required", []))
    return {
        "name": name,
        "text": shape.get("description", ""),
        "fields": [
            {
                "name": field,
                "type": _type(one),
                "required": field in required,
                "text": one.get("description", ""),
            }
            for field, one in shape.get("properties", {}).items()
        ],
    }


def _type(one: dict[str, Any]) -> str:
    if ref := one.get("$ref"):
        return str(ref).rpartition("/")[2]
    if one.get("type") == "array":
        return f"[{_type(one.get('items', {}))}]"
    for group in ("allOf", "oneOf", "anyOf"):
        if group in one:
            return " | ".join(_type(part) for part in one[group])
    kind = one.get("type", "any")
    return " | ".join(kind) if isinstance(kind, list) else str(kind)
