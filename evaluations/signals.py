"""What apps above may listen to. Sent after the commit, so a listener sees what everybody sees."""

from django.dispatch import Signal

run_finished = Signal()  # run_id: int
run_published_state = Signal()  # run_id: int; its publication changed
baselines_measured = Signal()  # contract_id: int
reconciled = Signal()  # after each pass of reconcile: for what apps above make good
