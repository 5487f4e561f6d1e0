"""Exit 0 if the site in this container answers /healthz. For the container's health check."""

from __future__ import annotations

import os
import sys
from http.client import HTTPConnection, HTTPException


def main() -> int:
    # Django answers only to a host it serves.
    host = os.environ.get("AML_ALLOWED_HOSTS", "localhost").split(",")[0].strip().lstrip(".*") or "localhost"
    connection = HTTPConnection("127.0.0.1", 8000, timeout=5)
    try:
        connection.request("GET", "/healthz", headers={"Host": host, "X-Forwarded-Proto": "https"})
        return 0 if connection.getresponse().status == 200 else 1
    except (OSError, HTTPException) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
