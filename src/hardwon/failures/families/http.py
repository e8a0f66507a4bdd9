"""Asking another machine: curl, wget, ssh, and what HTTP libraries say of a status."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Rule, Span, first

_RULES: tuple[Rule, ...] = (
    ("curl", "curl: (", r"^(?:.*?)(?P<type>curl: \(\d+\)) (?P<message>.+)$"),
    ("wget", " ERROR ", r"^.*? ERROR (?P<code>\d{3}): (?P<message>.+?)\.?$"),
    ("wget", "failed: Connection",
     r"^Connecting to (?P<host>\S+) .*failed: (?P<message>Connection refused|Connection timed out)"),
    ("wget", "unable to resolve host", r"^wget: (?P<message>unable to resolve host address .+)$"),
    ("wget", "wget: ",
     r"^wget: (?P<message>(?:bad address|server returned error|can't connect|download timed out).*)$"),
    ("ssh", "ssh: ", r"^ssh: (?P<message>connect to host \S+ port \d+: .+|Could not resolve hostname [^:\n]+)"),
    ("status", "status code ", r"^(?:.*?)(?P<message>[Rr]equest failed with status code \d+)"),
    ("status", "HTTP Error ", r"^(?:.*?)(?P<message>HTTP Error \d{3}: .+)$"),
    ("status", "HTTP/", r"^[<\s]*HTTP/[\d.]+ (?P<code>[45]\d\d) ?(?P<message>.*)$"),
    ("status", "statusCode",
     r"\"statusCode\":\s?(?P<code>[45]\d\d).*?\"(?:message|error)\":\s?\"(?P<message>[^\"]+)\""),
)  # fmt: skip
_CONNECT = re.compile(r"^(Failed to connect to \S+).*$")


def find(text: str) -> Span | None:
    found = first(text, _RULES)
    if not found:
        return None
    name, match = found
    parts = match.groupdict()
    message = _CONNECT.sub(r"\1", parts["message"].strip())
    if code := parts.get("code"):
        message = f"status {code} {message}".strip()
    elif host := parts.get("host"):
        message = f"{host} {message}"
    message = re.sub(r"(?<=returned error: )(\d{3})", r"status \1", message)
    return Span("http", parts.get("type") or name, message, "", match.group().strip())
