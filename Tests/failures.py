"""Tells what failed in a run of the tests, from Swift Testing's stream of events: python3 Tests/failures.py FILE

For the end of a long log, where a reader looks first: each failed test by name, its file and line, and what it said,
and each test that had begun and did not end.
"""

import json
import sys


def main(path):
    names, issues, running = {}, {}, {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            try:
                record = json.loads(line)
            except ValueError:
                continue  # The run ended in the middle of a line.
            payload = record["payload"]
            test = payload.get("testID", payload.get("id"))
            if record["kind"] == "test":
                names[test] = payload.get("displayName", payload["name"])
            elif payload["kind"] == "testStarted":
                running[test] = True
            elif payload["kind"] == "testEnded":
                running.pop(test, None)
            elif payload["kind"] == "issueRecorded" and not payload["issue"].get("isKnown"):
                issues.setdefault(test, []).append(payload)
    for test, recorded in issues.items():
        print(f"failed: {names.get(test, test)}")
        for payload in recorded:
            place = payload["issue"].get("sourceLocation")
            if place:
                print(f"  {place['fileID']}:{place['line']}")
            for message in payload["messages"]:
                print("    " + message["text"].replace("\n", "\n    "))
    for test in running:
        if "/" in (test or ""):  # A suite ends after its tests.
            print(f"did not end: {names.get(test, test)}")


main(sys.argv[1])
