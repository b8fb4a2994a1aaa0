#!/usr/bin/env python3
"""contents.py FILE PACKAGE.deb…: writes what packages contain and need to FILE, as SPDX 2.3 in JSON.
contents.py FILE --image ROOT: the same for the image whose files are in the folder ROOT.

For packages: what each depends on, with the version on this machine, and the Swift runtime that they bring. For an image: the
packages that are installed in it. dpkg knows all of it, except for the runtime's version, which the compiler tells.
"""
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def installed(name):
    """The version of a package on this machine; None if it is not installed."""
    found = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], capture_output=True, text=True)
    return found.stdout if found.returncode == 0 and found.stdout else None


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def package(name, version, **more):
    return {
        "SPDXID": identifier(name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION", **more}


def swift_runtime():
    version = re.search(r"Swift version (\S+)", run("swift", "--version"))
    return package("swift-runtime", version[1] if version else "NOASSERTION")


def of_packages(files):
    """The packages by name, and the relations between them."""
    packages, relations = {}, []
    own = {run("dpkg-deb", "--field", file, "Package").strip(): file for file in files}
    for name, file in own.items():
        bytes = Path(file).read_bytes()
        packages[name] = package(
            name, run("dpkg-deb", "--field", file, "Version").strip(), packageFileName=Path(file).name,
            checksums=[{"algorithm": "SHA256", "checksumValue": hashlib.sha256(bytes).hexdigest()}])
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", name))
        for wish in run("dpkg-deb", "--field", file, "Depends").replace("\n", " ").split(","):
            needed = re.split(r"[ (|:]", wish.strip())[0]
            if not needed:
                continue
            if needed not in own and needed not in packages:
                packages[needed] = package(needed, installed(needed) or "NOASSERTION", supplier="Organization: Debian")
            relations.append((identifier(name), "DEPENDS_ON", needed))
        if "/usr/lib/pipelined/swift/" in run("dpkg-deb", "--contents", file):
            packages["swift-runtime"] = swift_runtime()
            relations.append((identifier(name), "CONTAINS", "swift-runtime"))
    return packages, relations


def of_image(root):
    packages = {}
    for line in run("dpkg-query", f"--admindir={root}/var/lib/dpkg", "-W", "-f", "${Package} ${Version}\\n").splitlines():
        name, version = line.split()
        supplier = {} if name.startswith("pipelined") else {"supplier": "Organization: Debian"}
        packages[name] = package(name, version, **supplier)
    packages["swift-runtime"] = swift_runtime()
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", name) for name in packages if name != "swift-runtime"]
    return packages, relations + [(identifier("pipelined"), "CONTAINS", "swift-runtime")]


def main(target, *sources):
    is_image = sources[0] == "--image"
    packages, relations = of_image(sources[1]) if is_image else of_packages(sources)
    version = packages["pipelined"]["versionInfo"]
    released = re.search(r'date = "(.*)"', (Path(__file__).parent.parent / "Sources/SystemCalls/Release.swift").read_text())[1]
    described = sorted(other for one, kind, other in relations if kind == "DESCRIBES")
    digest = hashlib.sha256("".join(described).encode() + version.encode()).hexdigest()
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"pipelined-{'image-' if is_image else ''}{version}",
        "documentNamespace": f"https://pipelined.example/spdx/{version}/{digest[:16]}",
        "creationInfo": {"created": released[:10] + "T00:00:00Z", "creators": ["Tool: pipelined packaging/contents.py"]},
        "packages": sorted(packages.values(), key=lambda one: one["SPDXID"]),
        "relationships": [
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": identifier(other)}
            for one, kind, other in sorted(set(relations))],
    }
    Path(target).write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")


main(*sys.argv[1:])
