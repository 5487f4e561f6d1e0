"""Importers by name, as dotted paths: adding one touches this table and its own module."""

from collections.abc import Mapping

IMPORTERS: Mapping[str, str] = {
    "locomo": "benchmarks.importers.locomo.import_locomo",
}
