"""TLS over our own sockets: the certificate is verified, and large bodies pass both ways."""

from __future__ import annotations

import asyncio
import datetime
import ssl
from collections.abc import Sequence
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from evaluations.engine.client import HttpMemoryService
from evaluations.engine.contract import Limits
from evaluations.engine.errors import Code
from evaluations.engine.network import Network
from evaluations.engine.types import AddRequest, Endpoint, Exchange

NAME = "memory.example.org"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for NAME with its key, in one PEM file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
    return path


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers Adds as they should be, one after the other."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            await reader.readexactly(length)
            body = (
                b'{"success": true, "request_id": "r", "user_id": "u", "session_id": "s"'
                + b" " * 500_000
                + b"}"
            )
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, OSError):
        writer.close()


async def resolver(host: str, port: int) -> Sequence[str]:
    return ["127.0.0.1"]


def adds(certificate: Path, *, host: str, size: int = 10, trusted: bool = True) -> list[Exchange]:
    async def scenario() -> list[Exchange]:
        theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        theirs.load_cert_chain(certificate)
        ours = ssl.create_default_context(cafile=str(certificate) if trusted else None)
        server = await asyncio.start_server(echo, "127.0.0.1", 0, ssl=theirs)
        port = server.sockets[0].getsockname()[1]
        endpoint = Endpoint(f"https://{host}:{port}/add", f"https://{host}:{port}/search", allow_private=True)
        client = HttpMemoryService(
            endpoint,
            limits=Limits.model_validate({"attempt_total": 10.0}),
            network=Network(resolver=resolver, ssl_context=ours),
        )
        request = AddRequest("r", "u", "s", [{"role": "user", "content": "x" * size}])
        exchanges = [await client.add(request) for _ in range(2)]
        await client.aclose()
        server.close()
        await asyncio.sleep(0.05)
        return exchanges

    return asyncio.run(scenario())


@pytest.mark.parametrize("size", [10, 5_000_000])
def test_calls_over_tls_are_answered_on_one_connection(certificate: Path, size: int) -> None:
    first, second = adds(certificate, host=NAME, size=size)
    assert (first.failure, second.failure) == (None, None)
    assert first.timing.tls is not None
    assert second.timing.connect is None


@pytest.mark.parametrize(("host", "trusted"), [("other.example.org", True), (NAME, False)])
def test_a_certificate_that_does_not_fit_is_a_tls_failure(
    certificate: Path, host: str, trusted: bool
) -> None:
    failure = adds(certificate, host=host, trusted=trusted)[0].failure
    assert failure is not None
    assert (failure.code, failure.retryable, failure.reached) == (Code.TLS_FAILURE, True, False)
    assert "certificate" in failure.sentence.lower() or "mismatch" in failure.sentence.lower()
