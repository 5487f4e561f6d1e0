from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "aml.web"
    label = "web"
    verbose_name = "Platform"
