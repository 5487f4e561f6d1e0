from django.apps import AppConfig


class PagesConfig(AppConfig):
    name = "aml.pages"
    label = "pages"
    verbose_name = "Pages"

    def ready(self) -> None:
        from aml.pages import receivers

        receivers.connect()
