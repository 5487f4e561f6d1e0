"""Signed result bundles, ``aml-bundle/1``: written, read again, and checked."""

from evaluations.engine.bundle.content import BundleItem, Cell, StatementData, cells
from evaluations.engine.bundle.files import BundleError
from evaluations.engine.bundle.verify import VerifyReport, read_statement, verify_bundle
from evaluations.engine.bundle.write import write_bundle

__all__ = [
    "BundleError",
    "BundleItem",
    "Cell",
    "StatementData",
    "VerifyReport",
    "cells",
    "read_statement",
    "verify_bundle",
    "write_bundle",
]
