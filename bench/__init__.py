"""Measurements, run by ``manage.py bench NAME``. Figures are ratios within one run, never a pass or a fail."""
