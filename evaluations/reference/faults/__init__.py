"""Faults of real services that the reference service can be told to have, one class each.

``FAULTS`` is the registry. A fault's docstring is its description; ``name:value`` sets the one number that
some take, as in ``slow:0.2``. Adding one is one class with its hook.
"""

from evaluations.reference.faults import adding, listener, searching
from evaluations.reference.faults.base import FAULTS, Fault, Json, Respond, build, describe

__all__ = ["FAULTS", "Fault", "Json", "Respond", "adding", "build", "describe", "listener", "searching"]
