"""Writes the health check into the image of an OCI layout: image-health.py LAYOUT

OCI has no word for it. Docker reads its own from the same place; Podman wants --health-cmd.
"""

import hashlib
import json
import pathlib
import sys

SECOND = 1_000_000_000
HEALTH = {
    "Test": ["CMD", "pipectl", "--root", "/pictures", "status"],
    "Interval": 30 * SECOND, "Timeout": 10 * SECOND, "StartPeriod": 60 * SECOND, "Retries": 3,
}

layout = pathlib.Path(sys.argv[1])


def blob(digest):
    return layout / "blobs" / digest.replace(":", "/")


def rewrite(description, change):
    """Changes the JSON that a descriptor tells of, and the descriptor."""
    old = blob(description["digest"])
    value = json.loads(old.read_bytes())
    change(value)
    words = json.dumps(value, separators=(",", ":")).encode()
    description["digest"], description["size"] = "sha256:" + hashlib.sha256(words).hexdigest(), len(words)
    old.unlink()
    blob(description["digest"]).write_bytes(words)


def with_health(configuration):
    configuration["config"]["Healthcheck"] = HEALTH


index = json.loads((layout / "index.json").read_bytes())
for manifest in index["manifests"]:
    rewrite(manifest, lambda value: rewrite(value["config"], with_health))
(layout / "index.json").write_bytes(json.dumps(index, separators=(",", ":")).encode())
