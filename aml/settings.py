"""Every setting comes from the environment; ``.env.example`` lists them. Read top to bottom."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import dj_database_url
from django.utils.translation import gettext_lazy as _

from aml.lib.env import Env

BASE_DIR = Path(__file__).resolve().parent.parent
env = Env(os.environ)

# -- what runs ----------------------------------------------------------------------------------
env.section("What runs")
MODE = env.choice(
    "AML_MODE",
    choices=("embedded", "production"),
    default="embedded",
    help="embedded: one machine, nothing prepared. production: refuses to start without what it needs.",
)
PRODUCTION = MODE == "production"
DEBUG = env.bool("AML_DEBUG", default=False, help="Django's debug pages. Never in production.")
VAR_DIR = Path(
    env.str("AML_VAR_DIR", default=str(BASE_DIR / "var"), shown="var", help="Where data files live.")
)
DATABASE_URL = env.url(
    "DATABASE_URL",
    schemes=("postgres", "postgresql", "sqlite"),
    secret=True,
    help="PostgreSQL; without it SQLite in AML_VAR_DIR.",
)
REDIS_URL = env.url(
    "REDIS_URL",
    schemes=("redis", "rediss", "unix"),
    secret=True,
    help="Redis for Celery and the cache; without it runs are driven beside the site.",
)
EMBEDDED_DRIVER = not REDIS_URL

# -- site ---------------------------------------------------------------------------------------
env.section("Site")
SITE_URL = env.url(
    "AML_SITE_URL", default="http://127.0.0.1:8000", help="Address of the site in mails and headers."
)
ALLOWED_HOSTS = env.list(
    "AML_ALLOWED_HOSTS", default=("127.0.0.1", "localhost", "[::1]"), help="Host names served."
)
SECRET_KEY = env.secret("SECRET_KEY", min_length=32, help="Signs sessions and forms; at least 32 characters.")
KEY_PEPPER = env.secret("AML_KEY_PEPPER", min_length=32, help="Keys the hash of Evaluation Keys.")
ENCRYPTION_KEYS = env.list("AML_ENCRYPTION_KEYS", help="Fernet keys for memory keys, newest first.")
SIGNING_KEY = env.secret("AML_SIGNING_KEY", help="Ed25519 seed (64 hex digits) that signs result bundles.")
CODE_REVISION = env.str("AML_CODE_REVISION", help="Code revision shown in the footer and in results.")
EGRESS_ADDRESSES = env.list(
    "AML_EGRESS_ADDRESSES", help="Addresses our calls come from, printed in the API guide."
)
METRICS_TOKEN = env.secret("AML_METRICS_TOKEN", help="Bearer token for /metrics from outside.")
ALLAUTH_TRUSTED_PROXY_COUNT = env.int(
    "AML_TRUSTED_PROXIES",
    default=0,
    help="Proxies in front that append to X-Forwarded-For; log-in limits count the address before them.",
)
ALLOW_PRIVATE_ENDPOINTS = env.bool(
    "AML_ALLOW_PRIVATE_ENDPOINTS",
    default=not PRODUCTION,
    shown="yes in embedded mode, else no",
    help="Allow http, loopback and private addresses for memory services; shown as a warning.",
)

# -- mail ---------------------------------------------------------------------------------------
env.section("Mail")
EMAIL_HOST = env.str(
    "AML_EMAIL_HOST", help="SMTP host; without it mails go to the console and the outbox page."
)
EMAIL_PORT = env.int("AML_EMAIL_PORT", default=587, minimum=1, maximum=65535, help="SMTP port.")
EMAIL_HOST_USER = env.str("AML_EMAIL_USER", help="SMTP log-in.")
EMAIL_HOST_PASSWORD = env.secret("AML_EMAIL_PASSWORD", help="SMTP password.")
EMAIL_USE_TLS = env.bool("AML_EMAIL_TLS", default=True, help="STARTTLS.")
DEFAULT_FROM_EMAIL = env.str("AML_EMAIL_FROM", default="AML <aml@localhost>", help="Sender of mails.")
EMAIL_TIMEOUT = 20

# -- models -------------------------------------------------------------------------------------
env.section("Answer model and Judge")
OPENAI_API_KEY = env.secret(
    "OPENAI_API_KEY", help="Key of the model provider; without it the offline models answer."
)
OPENAI_BASE_URL = env.url("OPENAI_BASE_URL", help="Any OpenAI-compatible endpoint.")
_REAL, _OFFLINE = "gpt-4.1-mini-2025-04-14", "aml-offline-{}-1"
ANSWER_MODEL = env.str(
    "AML_ANSWER_MODEL",
    default=_REAL if OPENAI_API_KEY else _OFFLINE.format("answer"),
    shown=_OFFLINE.format("answer"),
    help=f"Model snapshot that answers; with a key the default is {_REAL}.",
)
JUDGE_MODEL = env.str(
    "AML_JUDGE_MODEL",
    default=_REAL if OPENAI_API_KEY else _OFFLINE.format("judge"),
    shown=_OFFLINE.format("judge"),
    help=f"Model snapshot that judges; with a key the default is {_REAL}.",
)

# -- driving ------------------------------------------------------------------------------------
env.section("Driving runs")
DRIVER_BUDGET = env.int("AML_DRIVER_BUDGET", default=256, minimum=1, help="Calls in flight per driver.")
MODEL_BUDGET = env.int("AML_MODEL_BUDGET", default=32, minimum=1, help="Model calls in flight per provider.")
DRIVE_SECONDS = env.int("AML_DRIVE_SECONDS", default=300, minimum=1, help="How long one drive task claims.")
CLAIM_SECONDS = env.int(
    "AML_CLAIM_SECONDS", default=30, minimum=3, help="How long a claim holds unless renewed."
)
RECONCILE_SECONDS = env.int("AML_RECONCILE_SECONDS", default=15, minimum=1, help="How often reconcile runs.")
LOG_LEVEL = env.choice(
    "AML_LOG_LEVEL", choices=("DEBUG", "INFO", "WARNING", "ERROR"), default="INFO", help="Log level."
)

env.require(
    "DATABASE_URL", "REDIS_URL", "SECRET_KEY", "AML_KEY_PEPPER", "AML_ENCRYPTION_KEYS", "AML_SIGNING_KEY",
    "AML_EMAIL_HOST", reason="AML_MODE=production", when=PRODUCTION,
)  # fmt: skip
env.finish()

if not PRODUCTION:
    # Kept in a file of the data directory, so that a restart keeps sessions and encrypted keys readable.
    from aml.lib.embedded import embedded_secrets

    _secrets = embedded_secrets(VAR_DIR)
    SECRET_KEY = SECRET_KEY or _secrets["SECRET_KEY"]
    KEY_PEPPER = KEY_PEPPER or _secrets["AML_KEY_PEPPER"]
    ENCRYPTION_KEYS = ENCRYPTION_KEYS or [_secrets["AML_ENCRYPTION_KEYS"]]
    SIGNING_KEY = SIGNING_KEY or _secrets["AML_SIGNING_KEY"]

# -- Django -------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "rest_framework",
    "drf_spectacular",
    "django_htmx",
    "aml.web",
    "benchmarks",
    "registration",
    "evaluations",
    "review",
    "leaderboard",
    "aml.pages",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "aml.web.middleware.refuse_nul",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "aml.web.middleware.keep_private",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "aml.urls"
WSGI_APPLICATION = "aml.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "web.User"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "django.template.context_processors.i18n",
                "aml.web.context.site",
            ],
        },
    },
]

DATABASES: dict[str, Any]
if DATABASE_URL.startswith("postgres"):
    DATABASES = {
        "default": dict(dj_database_url.parse(DATABASE_URL, conn_max_age=60, conn_health_checks=True))
    }
    # A process frozen inside a transaction must not keep a run's lock: shorter than a claim lasts between
    # two renewals, so that the drivers who wait for it lose none of theirs.
    DATABASES["default"].setdefault("OPTIONS", {}).setdefault(
        "options", "-c idle_in_transaction_session_timeout=15000"
    )
else:
    VAR_DIR.mkdir(parents=True, exist_ok=True)
    _sqlite = DATABASE_URL.removeprefix("sqlite://").removeprefix("/") or str(VAR_DIR / "aml.sqlite3")
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": _sqlite,
            "OPTIONS": {
                # DEFERRED would raise "database is locked" when a reader turns writer.
                "transaction_mode": "IMMEDIATE",
                "timeout": 30,
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
            },
        }
    }

CACHES: dict[str, Any] = {
    "default": (
        {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}
        if REDIS_URL
        else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    )
}

STORAGES: dict[str, Any] = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": str(VAR_DIR / "files")},
    },
    "bodies": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": str(VAR_DIR / "bodies")},
    },
    "staticfiles": {
        "BACKEND": (
            "whitenoise.storage.CompressedManifestStaticFilesStorage"
            if PRODUCTION
            else "django.contrib.staticfiles.storage.StaticFilesStorage"
        )
    },
}
STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = not PRODUCTION

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

# -- accounts -----------------------------------------------------------------------------------
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[AML] "
ACCOUNT_USER_DISPLAY = "aml.web.people.display_name"
LOGIN_REDIRECT_URL = "/evaluation/"
LOGIN_URL = "account_login"

EMAIL_BACKEND = (
    "django.core.mail.backends.smtp.EmailBackend" if EMAIL_HOST else "aml.web.mail.ConsoleAndFileBackend"
)
EMAIL_FILE_PATH = VAR_DIR / "mail"

# -- security -----------------------------------------------------------------------------------
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PRODUCTION
SECURE_SSL_REDIRECT = PRODUCTION
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if PRODUCTION else None
SECURE_HSTS_SECONDS = 31_536_000 if PRODUCTION else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = PRODUCTION
CSRF_TRUSTED_ORIGINS = [SITE_URL] if SITE_URL.startswith("https") else []
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_500_000
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
    }
}

# -- REST ---------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["registration.authentication.EvaluationKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["aml.web.parsers.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "aml.web.errors.exception_handler",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "AML",
    "DESCRIPTION": "Everything a participant can do on the pages, for scripts.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PUBLIC": True,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
}

# -- Celery -------------------------------------------------------------------------------------
CELERY_BROKER_URL = REDIS_URL or "memory://"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_DEFAULT_QUEUE = "aml"
# A drive claims for DRIVE_SECONDS, then only waits for calls it holds (30 min at most) and 5 min more.
CALL_SECONDS = 30 * 60
DRIVE_HARD_LIMIT = DRIVE_SECONDS + CALL_SECONDS + 300
CELERY_TASK_TIME_LIMIT = DRIVE_HARD_LIMIT
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 2 * DRIVE_HARD_LIMIT + 60}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "celerybeat-schedule")
CELERY_BEAT_SCHEDULE: dict[str, Any] = {
    "reconcile": {"task": "evaluations.reconcile", "schedule": float(RECONCILE_SECONDS)},
    "send-mail": {"task": "web.send_outbox", "schedule": 15.0},
    "seal-audit": {"task": "web.seal_audit", "schedule": 30.0},
}

# -- logging ------------------------------------------------------------------------------------
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "json": {"()": "aml.web.logs.JsonFormatter"},
        "line": {"()": "aml.web.logs.LineFormatter"},
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "json" if PRODUCTION else "line"}
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    # These log whole URLs at INFO; ours says what matters without them.
    "loggers": {name: {"level": "WARNING"} for name in ("httpx2", "httpcore2", "openai", "asyncio")},
}
