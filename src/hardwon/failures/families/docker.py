"""Docker and Compose: the daemon, builds, services."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Rule, Span, first

_RULES: tuple[Rule, ...] = (
    ("no daemon", "Cannot connect to the Docker", r"(?P<message>Cannot connect to the Docker daemon)"),
    ("no daemon", "failed to connect to the docker", r"(?P<message>failed to connect to the docker API)"),
    ("permission", "permission denied while trying",
     r"(?P<message>permission denied while trying to connect to the [Dd]ocker daemon socket)"),
    ("daemon", "rror response from daemon", r"[Ee]rror response from daemon: (?P<message>.+)$"),
    ("build", "failed to solve", r"^(?:ERROR: |target \S+: )*failed to solve: (?P<message>.+)$"),
    ("compose", "no such service", r"^(?P<message>no such service: \S+)$"),
    ("compose", "no configuration file", r"^(?P<message>no configuration file provided)"),
    ("compose", "has neither", r"^(?:.*?)(?P<message>service \"[^\"]+\" has neither an image nor a build context)"),
    ("compose", "dependency failed", r"^(?:.*?)(?P<message>dependency failed to start: .+)$"),
    ("compose", "compose", r"^(?P<message>(?:yaml: |validating |services\.).+)$"),
    ("docker", "is not a docker command", r"^docker: (?P<message>'[^']+' is not a docker command)"),
    ("docker", "invalid reference", r"^(?:docker: )?(?P<message>invalid reference format.*)$"),
)  # fmt: skip
_NAME = re.compile(r"( on endpoint \S+| by container \"?)\s*\(?[0-9a-f]{12,64}\)?\"?")
_CHECKSUM = re.compile(r"failed to compute cache key: (?:failed to calculate checksum of ref \S+ )?")
_PORT = re.compile(r"^.* on endpoint (\S+).*: Bind for \S+ failed: (port is already allocated)")
_STEP = re.compile(r"process \"(?:/bin/(?:ba)?sh -\w+ )?(.+)\" did not complete successfully: (.+)")
_ADVICE = re.compile(r"\. (?:You have to|See |Is the|Did you|Run )")


def find(text: str) -> Span | None:
    found = first(text, _RULES)
    if not found:
        return None
    name, match = found
    message = _PORT.sub(r"'\1': \2", match.group("message").removeprefix("Conflict. "))
    if step := _STEP.match(message):
        return Span(
            "docker", name, f"process did not complete successfully: {step.group(2)}", step.group(1), match.group()
        )
    message = _CHECKSUM.sub("", _NAME.sub(r"\1", message))
    return Span("docker", name, _ADVICE.split(message, maxsplit=1)[0].strip(), "", match.group().strip())
