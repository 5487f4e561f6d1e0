"""URLs, addresses, and connecting, with resolver and connector stubbed."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Sequence

import pytest

from aml.lib.addresses import address_allowed, check_status_url, check_url, fill_status_url
from evaluations.engine.errors import Code, EngineError
from evaluations.engine.network import Connector, Network, Target
from evaluations.engine.types import Failure

TARGET = Target(scheme="http", host="memory.example.org", port=8080)

PUBLIC = [
    "8.8.8.8",
    "93.184.216.34",
    "2606:4700::1111",
    "64:ff9b::808:808",
    "::ffff:8.8.8.8",
    "2002:808:808::",
]
PRIVATE = [
    "10.0.0.1",
    "127.0.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "::1",
    "fc00::1",
    "::ffff:127.0.0.1",
    "64:ff9b::a00:1",
    "2002:a00:1::",
]
NEVER = [
    "169.254.169.254",
    "168.63.129.16",
    "100.100.100.200",
    "fd00:ec2::254",
    "0.0.0.0",
    "::",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "198.18.0.1",
    "fe80::1",
    "fe80::1%eth0",
    "ff02::1",
    "2001:db8::1",
    "2001::1",
    "64:ff9b:1::1",
    "64:ff9b::a9fe:a9fe",
    "::ffff:169.254.169.254",
    "::a9fe:a9fe",
    "2002:a9fe:a9fe::",
    "4000::1",
    "localhost",
    "",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_may_be_dialled(address: str) -> None:
    assert address_allowed(address, allow_private=False)


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_only_where_the_installation_says_so(address: str) -> None:
    assert not address_allowed(address, allow_private=False)
    assert address_allowed(address, allow_private=True)


@pytest.mark.parametrize("address", NEVER)
def test_metadata_and_special_addresses_never(address: str) -> None:
    assert not address_allowed(address, allow_private=True)


@pytest.mark.parametrize(
    "url",
    [
        "https://memory.example.org/add",
        "https://memory.example.org:8443/v1/add/?a=b%2Fc",
        "https://8.8.8.8/add",
        "https://[2606:4700::1111]/add",
        "https://bücher.example/add",
        "https://memory_1.example.org./add",
    ],
)
def test_public_https_urls_are_fine(url: str) -> None:
    assert check_url(url, allow_private=False) is None


@pytest.mark.parametrize(
    "url",
    [
        "",
        "memory.example.org/add",
        "ftp://memory.example.org/",
        "http://memory.example.org/add",
        "https:///add",
        "https://user:pw@memory.example.org/",
        "https://@memory.example.org/",
        "https://memory.example.org/#x",
        "https://memory.example.org/#",
        "https://memory.example.org:0/",
        "https://memory.example.org:99999/",
        "https://memory.example.org:x/",
        "https://memory.example.org/a b",
        "https://memory.example.org/\n",
        "https://[::1",
        "https://127.0.0.1/",
        "https://127.1/",
        "https://2130706433/",
        "https://0x7f.0.0.1/",
        "https://[::ffff:10.0.0.1]/",
        "https://localhost/",
        "https://memory/",
        "https://db.internal/",
        "https://metadata.google.internal/",
        "https://a..b/",
        "https://memory.example.org/" + "x" * 2048,
    ],
)
def test_other_urls_are_refused_with_a_sentence(url: str) -> None:
    sentence = check_url(url, allow_private=False)
    assert sentence is not None
    assert sentence.endswith(".")


@pytest.mark.parametrize("url", ["http://127.0.0.1:9000/add", "http://memory:80/add", "http://localhost/add"])
def test_local_urls_are_fine_where_the_installation_says_so(url: str) -> None:
    assert check_url(url, allow_private=True) is None


@pytest.mark.parametrize(
    "url", ["https://metadata.google.internal/", "https://169.254.169.254/", "https://0.0.0.0/"]
)
def test_metadata_urls_are_refused_even_there(url: str) -> None:
    assert check_url(url, allow_private=True) is not None


def test_a_task_id_is_percent_encoded_and_stays_in_its_place() -> None:
    filled = fill_status_url("https://a.example.org/tasks/{task_id}?x=1", task_id="../../admin?a=b#c")
    assert filled == "https://a.example.org/tasks/%2E%2E%2F%2E%2E%2Fadmin%3Fa%3Db%23c?x=1"


def test_a_task_id_must_not_choose_the_host() -> None:
    assert fill_status_url("https://{task_id}.example.org/", task_id="evil") is None
    assert check_status_url("https://{task_id}.example.org/", allow_private=False) is not None


@pytest.mark.parametrize(("path", "good"), [("/t/{task_id}", True), ("/t?id={task_id}", True), ("/t", False)])
def test_a_status_url_holds_the_task_id_once(path: str, good: bool) -> None:
    assert (check_status_url(f"https://a.example.org{path}", allow_private=False) is None) == good


def failure_of(
    *addresses: str | OSError,
    connector: Connector | None = None,
    target: Target = TARGET,
    timeout: float = 1.0,
) -> Failure:
    async def resolver(host: str, port: int) -> Sequence[str]:
        for address in addresses:
            if isinstance(address, OSError):
                raise address
        return [str(address) for address in addresses]

    async def nobody(address: str, port: int) -> socket.socket:
        raise AssertionError("must not be dialled")

    async def opening() -> None:
        network = Network(resolver=resolver, connector=connector or nobody)
        await network.open(target, allow_private=False, timeout=timeout)

    with pytest.raises(EngineError) as caught:
        asyncio.run(opening())
    assert not caught.value.failure.reached
    return caught.value.failure


def refusing(error: OSError) -> Connector:
    async def connector(address: str, port: int) -> socket.socket:
        raise error

    return connector


async def hanging(address: str, port: int) -> socket.socket:
    await asyncio.sleep(60)
    raise AssertionError


def test_one_bad_address_among_good_ones_blocks_the_name() -> None:
    failure = failure_of("8.8.8.8", "10.0.0.1")
    assert failure.code == Code.ADDRESS_BLOCKED
    assert "10.0.0.1" in failure.sentence


@pytest.mark.parametrize("addresses", [[], [socket.gaierror(-2, "Name or service not known")]])
def test_a_name_that_does_not_resolve_is_a_dns_failure(addresses: list[str | OSError]) -> None:
    assert failure_of(*addresses).code == Code.DNS_FAILURE


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), Code.CONNECT_REFUSED),
        (OSError(errno.EHOSTUNREACH, "No route to host"), Code.CONNECT_REFUSED),
        (TimeoutError(errno.ETIMEDOUT, "Connection timed out"), Code.CONNECT_TIMEOUT),
        (OSError(errno.EMFILE, "Too many open files"), Code.PLATFORM_ERROR),
    ],
)
def test_a_failed_connection_has_the_code_of_its_cause(error: OSError, code: Code) -> None:
    failure = failure_of("8.8.8.8", connector=refusing(error))
    assert failure.code == code
    assert failure.retryable


def test_a_slow_connection_names_host_port_limit_and_step() -> None:
    failure = failure_of("8.8.8.8", connector=hanging, timeout=0.05)
    assert failure.code == Code.CONNECT_TIMEOUT
    for part in ("memory.example.org", "8080", "0.05 s", "connecting to 8.8.8.8"):
        assert part in failure.sentence


def test_the_second_address_is_tried_when_the_first_refuses() -> None:
    dialled = []

    async def connector(address: str, port: int) -> socket.socket:
        dialled.append(address)
        raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")

    failure_of("2606:4700::1", "8.8.8.8", connector=connector)
    assert dialled == ["2606:4700::1", "8.8.8.8"]


def test_a_peer_that_speaks_no_tls_is_a_tls_failure() -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async def connector(address: str, port: int) -> socket.socket:
        return ours

    target = Target(scheme="https", host="memory.example.org", port=443)
    failure = failure_of("8.8.8.8", connector=connector, target=target)
    theirs.close()
    assert failure.code == Code.TLS_FAILURE
    assert ours.fileno() == -1


def test_the_checked_address_is_dialled_and_the_name_is_resolved_once() -> None:
    ours, theirs = socket.socketpair()
    calls: list[tuple[str, int]] = []

    async def resolver(host: str, port: int) -> Sequence[str]:
        calls.append((host, port))
        return ["8.8.8.8"]

    async def connector(address: str, port: int) -> socket.socket:
        calls.append((address, port))
        ours.setblocking(False)
        return ours

    async def opening() -> None:
        opened = await Network(resolver=resolver, connector=connector).open(
            TARGET, allow_private=False, timeout=1
        )
        opened.stream.close()

    asyncio.run(opening())
    theirs.close()
    assert calls == [("memory.example.org", 8080), ("8.8.8.8", 8080)]


def test_the_process_shares_one_ssl_context() -> None:
    from evaluations.engine.network import shared_ssl_context

    assert shared_ssl_context() is shared_ssl_context()
    assert shared_ssl_context().verify_mode is ssl.CERT_REQUIRED
