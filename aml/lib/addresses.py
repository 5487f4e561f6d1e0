"""Which URLs and addresses of a participant's service may be called (contract.md, "URLs").

``ipaddress.is_global`` alone is not enough: it lets NAT64, 6to4 and some metadata addresses through.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import quote, urlsplit

URL_LENGTH = 2048
TASK_ID = "{task_id}"
Address = IPv4Address | IPv6Address


def _networks(text: str) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(item) for item in text.split())


# Allowed where the installation allows private endpoints.
PRIVATE = _networks("10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 127.0.0.0/8 100.64.0.0/10 ::1/128 fc00::/7")
# Never allowed: cloud metadata, link-local, multicast, reserved, documentation, benchmarks, unspecified.
REFUSED = _networks(
    "169.254.0.0/16 168.63.129.16/32 100.100.100.200/32 fd00:ec2::/32 0.0.0.0/8 192.0.0.0/24 192.0.2.0/24 "
    "192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 ::/128 "
    "64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 3fff::/20 5f00::/16 fe80::/10 fec0::/10 ff00::/8"
)
_GLOBAL_V6 = ip_network("2000::/3")
_NAT64 = ip_network("64:ff9b::/96")
_COMPATIBLE = ip_network("::/96")
_METADATA_NAMES = frozenset(
    {"metadata", "metadata.google.internal", "instance-data", "metadata.azure.internal"}
)
_LOCAL_SUFFIXES = (".localhost", ".local", ".internal", ".home.arpa", ".lan")
_NUMBER = re.compile(r"(0x[0-9a-f]*|[0-9]+)", re.IGNORECASE)
_LABEL = re.compile(r"[^\x00-\x20\x7f/?#@:\[\]\\%<>^`{|}\"]{1,63}")


def address_allowed(text: str, *, allow_private: bool) -> bool:
    """Whether ``text``, an IP address, may be dialled; False for what is no address."""
    try:
        address: Address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            return False
        address = _embedded(address) or address
    if any(address in network for network in REFUSED):
        return False
    if any(address in network for network in PRIVATE):
        return allow_private
    return isinstance(address, IPv4Address) or address in _GLOBAL_V6


def _embedded(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 form stands for: mapped, 6to4, NAT64, compatible."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    compatible = address in _COMPATIBLE and int(address) > 1
    if compatible or address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def check_url(url: str, *, allow_private: bool, allow_http: bool = False) -> str | None:
    """None if the platform may call ``url``, else a sentence saying why not. Resolves nothing.

    ``allow_private`` lets plain http and private addresses through, ``allow_http`` only the former.
    """
    if len(url) > URL_LENGTH:
        return f"The URL is longer than {URL_LENGTH} characters."
    if any(letter.isspace() or not letter.isprintable() for letter in url):
        return "The URL holds white space or control characters."
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "The URL can't be read: check brackets and port."
    schemes = ("https", "http") if allow_private or allow_http else ("https",)
    if parts.scheme not in schemes:
        return "The URL must begin with " + " or ".join(f"{scheme}://" for scheme in schemes) + "."
    if "@" in parts.netloc:
        return "The URL must not hold a user name or password."
    if "#" in url:
        return "The URL must not hold a fragment (#)."
    if port == 0:
        return "Port 0 can't be called."
    return _check_host(parts.hostname or "", allow_private=allow_private)


def check_status_url(url: str, *, allow_private: bool, allow_http: bool = False) -> str | None:
    """As ``check_url`` for an Add-status URL: ``{task_id}`` once, in the path or the query."""
    if url.count(TASK_ID) != 1:
        return "The status URL must hold {task_id} exactly once."
    filled = fill_status_url(url, task_id="x")
    problem = check_url(url if filled is None else filled, allow_private=allow_private, allow_http=allow_http)
    return problem or ("The status URL must hold {task_id} in its path or query." if filled is None else None)


def fill_status_url(template: str, *, task_id: str) -> str | None:
    """The URL to poll; None if the task id would change the origin or leave its path segment."""
    before = urlsplit(template)
    if TASK_ID in before.netloc or TASK_ID in before.scheme:
        return None
    # A bare "." or ".." survives percent-encoding and would walk up the path.
    encoded = quote(task_id, safe="").replace(".", "%2E")
    url = template.replace(TASK_ID, encoded)
    after = urlsplit(url)
    return url if (before.scheme, before.netloc) == (after.scheme, after.netloc) else None


def _check_host(host: str, *, allow_private: bool) -> str | None:
    name = host.rstrip(".").lower()
    if not name:
        return "The URL names no host."
    if ":" in name:
        return _check_literal(name, allow_private=allow_private)
    if not all(_LABEL.fullmatch(label) for label in name.split(".")):
        return f"{name} is not a host name."
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        return _check_literal(name, allow_private=allow_private)
    if name in _METADATA_NAMES:
        return f"{name} is a cloud metadata service and is never called."
    local = "." not in name or name.endswith(_LOCAL_SUFFIXES)
    return f"{name} is a local name; a public one is needed." if local and not allow_private else None


def _check_literal(name: str, *, allow_private: bool) -> str | None:
    try:
        ip_address(name)
    except ValueError:
        # Forms such as 127.1, 0x7f.1 or 2130706433, which some resolvers take for addresses.
        return f"{name} is not an address in its usual form."
    if address_allowed(name, allow_private=allow_private):
        return None
    return f"{name} is not a public address."
