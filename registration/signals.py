"""What higher apps may object to or hear of."""

from __future__ import annotations

from django.dispatch import Signal

#: Sent inside the transaction before versions are withdrawn, with ``versions`` (a list of Version).
#: A receiver that raises Refusal stops it, as a run that still needs the service does.
withdrawing = Signal()
