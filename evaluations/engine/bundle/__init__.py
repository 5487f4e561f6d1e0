"""Signed result bundles, ``aml-bundle/1``: written, read again, checked and compared."""

from evaluations.engine.bundle.compare import Comparison, compare_bundles
from evaluations.engine.bundle.content import BundleItem, StatementData, cells
from evaluations.engine.bundle.files import BundleError
from evaluations.engine.bundle.verify import VerifyReport, read_statement, verify_bundle
from evaluations.engine.bundle.write import write_bundle

__all__ = [
    "BundleError",
    "BundleItem",
    "Comparison",
    "StatementData",
    "VerifyReport",
    "cells",
    "compare_bundles",
    "read_statement",
    "verify_bundle",
    "write_bundle",
]
