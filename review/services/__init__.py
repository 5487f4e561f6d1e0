"""What reviewers and participants ask for of a case. Each service guards, changes in one transaction, records."""

from review.services.deciding import decide
from review.services.guards import blockers, conflict, may_decide
from review.services.material import answer_material
from review.services.viewing import note_private_view

__all__ = ["answer_material", "blockers", "conflict", "decide", "may_decide", "note_private_view"]
