"""Run a command with a complete production environment of throwaway values.

    python scripts/production_env.py COMMAND…

For checks and for building images: the settings load as in production, and nothing is connected to. What the
caller has set stays.
"""

from __future__ import annotations

import base64
import os
import secrets
import sys


def values() -> dict[str, str]:
    return {
        "AML_MODE": "production",
        "AML_SITE_URL": "https://aml.example.org",
        "AML_ALLOWED_HOSTS": "aml.example.org",
        "DATABASE_URL": "postgres://aml:aml@127.0.0.1:1/aml",
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "SECRET_KEY": secrets.token_urlsafe(64),
        "AML_KEY_PEPPER": secrets.token_urlsafe(64),
        "AML_ENCRYPTION_KEYS": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        "AML_SIGNING_KEY": secrets.token_hex(32),
        "AML_EMAIL_HOST": "mail.example.org",
    }


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    os.execvpe(sys.argv[1], sys.argv[1:], {**values(), **os.environ})  # noqa: S606  # the caller's own command


if __name__ == "__main__":
    main()
