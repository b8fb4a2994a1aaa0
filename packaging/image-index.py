"""Adds the health check and the image's name to an OCI layout, which umoci can't do: image-index.py LAYOUT NAME

OCI does not define health checks. Docker reads its own definition from the image's configuration; Podman needs --health-cmd.
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
    """Changes the JSON blob that a descriptor refers to, and updates the descriptor."""
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
    # Podman reads the first annotation, Docker the second.
    manifest["annotations"] = {"org.opencontainers.image.ref.name": sys.argv[2], "io.containerd.image.name": sys.argv[2]}
    rewrite(manifest, lambda value: rewrite(value["config"], with_health))
(layout / "index.json").write_bytes(json.dumps(index, separators=(",", ":")).encode())
