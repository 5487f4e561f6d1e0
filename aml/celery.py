"""The Celery application. Tasks only wake: the database is the truth."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aml.settings")

app = Celery("aml")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["aml.web", "evaluations"])
