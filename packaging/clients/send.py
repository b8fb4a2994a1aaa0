#!/usr/bin/env python3
"""Sends pictures to pipelined on another machine, and fetches the results.

    export PIPELINED_TOKEN=7f6767e47139e12edde2dbea82a64720
    ./send.py --recipe web --to results http://localhost:8080 holiday/*.jpg

On that machine, `pipectl gallery token make NAME --role add` prints the token.
Needs Python 3.9 and nothing else.
"""
import argparse
import http.client
import json
import os
import sys
import time
from pathlib import Path
from urllib.parse import urlencode, urlsplit

BROKEN = (OSError, http.client.HTTPException)


class Refused(Exception):
    """A refusal, in the gallery's words."""


class Gallery:
    def __init__(self, address, token):
        self.address, self.token = urlsplit(address), token

    def ask(self, method, path, body=None):
        """Makes one request, and returns the response."""
        secure = self.address.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(self.address.netloc, timeout=600)
        try:
            connection.request(method, path, body, {"Authorization": f"Bearer {self.token}"})
        except (BrokenPipeError, ConnectionResetError):
            pass  # A refusal may arrive before the whole body has been sent.
        answer = connection.getresponse()
        if answer.status < 400:
            return answer
        is_json = answer.headers.get_content_type() == "application/json"
        why = json.load(answer)["message"] if is_json else answer.reason
        raise OSError(why) if answer.status in (502, 503) else Refused(why)

    def call(self, method, **parameters):
        """Makes a call, and returns its reply."""
        return json.load(self.ask("POST", f"/call/{method}", json.dumps(parameters).encode()))

    def upload(self, path, **query):
        """Sends a picture, and returns the number of its job."""
        query = urlencode({"name": path.name, **query})
        return json.load(self.ask("PUT", f"/upload?{query}", path.read_bytes()))["job"]["id"]

    def wait(self, batch):
        """Waits until the batch has ended. Begins again if the connection breaks."""
        while True:
            try:
                cursor = self.call("Status")["status"]["cursor"]
                if self.call("FindBatch", batch=str(batch))["batch"]["ended"]:
                    return
                for line in self.ask("GET", f"/events?after={cursor}"):
                    name, _, value = line.decode().rstrip("\n").partition(": ")
                    event = json.loads(value) if name == "data" else {}
                    is_end = event.get("kind") == "batch" and event["text"] == "ended"
                    if is_end or (name, value) == ("event", "lost"):
                        break
            except BROKEN:
                pass
            time.sleep(1)

    def fetch(self, job, folder):
        for number, output in enumerate(job["outputs"], 1):
            target = folder / f"{job['id']}-{number}-{Path(output).name}"
            target.write_bytes(self.ask("GET", f"/pictures/{job['id']}/{number}").read())
            print(target)


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--recipe")
    options.add_argument("--to", type=Path, default=Path("results"), metavar="FOLDER")
    options.add_argument("address")
    options.add_argument("pictures", type=Path, nargs="+")
    wish = options.parse_args()
    token = os.environ.get("PIPELINED_TOKEN") or sys.exit("PIPELINED_TOKEN is not set")
    gallery = Gallery(wish.address, token)
    batch = gallery.call("NewBatch")["batch"]
    query = {"batch": batch, **({"recipe": wish.recipe} if wish.recipe else {})}
    try:
        numbers = [gallery.upload(path, **query) for path in wish.pictures]
    finally:
        try:
            gallery.call("CloseBatch", batch=batch)
        except BROKEN:
            pass  # The batch is closed, or the gallery closes it after 15 minutes.
    gallery.wait(batch)
    wish.to.mkdir(parents=True, exist_ok=True)
    jobs = [gallery.call("Show", id=number)["story"]["job"] for number in numbers]
    for job in jobs:
        gallery.fetch(job, wish.to)
        if job["state"] != "done":
            print(f"{job['input']}: {job['error'] or job['state']}", file=sys.stderr)
    sys.exit(any(job["state"] != "done" for job in jobs))


if __name__ == "__main__":
    try:
        main()
    except (Refused, *BROKEN) as error:
        sys.exit(str(error))
