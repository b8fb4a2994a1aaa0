#!/usr/bin/env python3
"""Sends pictures to pipelined on another machine, waits for them, and fetches the results.

    PIPELINED_TOKEN=... ./send.py --recipe web --to results http://localhost:8080 holiday/*.jpg

On that machine, `pipectl gallery token make NAME --role add` prints the token. Needs Python 3.9 and nothing else.
"""
import argparse, http.client, json, os, sys, time
from pathlib import Path
from urllib.parse import urlencode, urlsplit

BROKEN = (OSError, http.client.HTTPException)


class Refused(Exception):
    """A refusal, in the daemon's words."""


class Gallery:
    def __init__(self, address, token):
        self.address, self.token = urlsplit(address.rstrip("/")), token
        self.tries = 1

    def ask(self, method, path, body=b"", length=None):
        """Makes one request; returns the response, which the caller reads."""
        kind = http.client.HTTPSConnection if self.address.scheme == "https" else http.client.HTTPConnection
        connection = kind(self.address.netloc, timeout=600)
        try:
            connection.request(method, path, body, {
                "Authorization": f"Bearer {self.token}", "Content-Length": str(len(body) if length is None else length)})
        except (BrokenPipeError, ConnectionResetError):
            pass  # A refusal may arrive before the whole body has been sent.
        answer = connection.getresponse()
        if answer.status < 400:
            return answer
        text = answer.read().decode()
        if answer.status in (502, 503):
            raise OSError(text.strip())
        raise Refused(json.loads(text)["message"] if text.startswith("{") else text.strip())

    def call(self, method, /, **parameters):
        """Makes a call. Once any call has been answered, retries an unanswered call for a minute."""
        for attempt in range(self.tries, 0, -1):
            try:
                reply = json.load(self.ask("POST", f"/call/{method}", json.dumps(parameters).encode()))
                self.tries = 30
                return reply
            except BROKEN:
                if attempt == 1:
                    raise
                time.sleep(2)

    def jobs(self, batch):
        """All jobs of the batch, oldest first."""
        found, before = [], None
        while True:
            page = self.call("List", states=[], batch=batch, limit=500, before=before)["jobs"]
            found = page + found
            if len(page) < 500:
                return found
            before = page[0]["id"]

    def upload(self, path, batch, recipe):
        """Sends a picture; sends it again if there was no answer. Pictures are sent one after another."""
        parts = {"name": path.name, "batch": batch}
        if path.parent.parts and not path.is_absolute() and ".." not in path.parts:
            parts["folder"] = str(path.parent)
        if recipe:
            parts["recipe"] = recipe
        before = len(self.jobs(batch))
        while True:
            with path.open("rb") as file:
                try:
                    return self.ask("PUT", f"/upload?{urlencode(parts)}", file, path.stat().st_size)
                except BROKEN:
                    # Even without an answer, the picture may have become a job.
                    time.sleep(2)
                    if len(self.jobs(batch)) > before:
                        return

    def events(self, after):
        """The events after a cursor, each with its kind. Resumes a broken connection from the latest cursor."""
        while True:
            try:
                kind = "message"
                for line in self.ask("GET", f"/events?after={after}"):
                    name, _, value = line.decode().rstrip("\n").partition(": ")
                    if name == "event":
                        kind = value
                    elif name == "id":
                        after = int(value)
                    elif name == "data":
                        yield kind, json.loads(value)
                        kind = "message"
            except BROKEN:
                pass
            time.sleep(2)

    def wait(self, batch, after):
        """Waits until all jobs of the batch are over, and returns them."""
        for kind, event in self.events(after):
            ended = kind == "message" and event["kind"] == "batch" and event["batch"]["id"] == batch
            if ended and event["text"] == "ended" or kind == "lost":
                jobs = self.jobs(batch)
                if all(job["state"] in ("done", "failed", "cancelled") for job in jobs):
                    return jobs

    def get(self, path, target):
        """Writes a response to a file; returns whether it arrived completely."""
        try:
            target.write_bytes(self.ask("GET", path).read())
            return True
        except BROKEN:
            return False

    def fetch(self, job, folder):
        for number, output in enumerate(job["outputs"], 1):
            target = folder / f"{job['id']}-{number}-{Path(output).name}"
            part = target.with_suffix(".part")
            while not self.get(f"/pictures/{job['id']}/{number}", part):
                time.sleep(2)
            part.rename(target)
            print(target)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--recipe")
    options.add_argument("--to", type=Path, default=Path("results"), metavar="FOLDER")
    options.add_argument("address")
    options.add_argument("pictures", type=Path, nargs="+")
    wish = options.parse_args()
    gallery = Gallery(wish.address, os.environ.get("PIPELINED_TOKEN") or sys.exit("PIPELINED_TOKEN is not set"))
    after = gallery.call("Status")["status"]["cursor"]
    batch = gallery.call("NewBatch", name=wish.pictures[0].parent.name or None)["batch"]
    try:
        for path in wish.pictures:
            gallery.upload(path, batch, wish.recipe)
    finally:
        gallery.call("CloseBatch", batch=batch)
    wish.to.mkdir(parents=True, exist_ok=True)
    jobs = gallery.wait(batch, after)
    for job in jobs:
        gallery.fetch(job, wish.to)
        if job["state"] != "done":
            print(f"{job['input']}: {job['error'] or job['state']}", file=sys.stderr)
    sys.exit(any(job["state"] != "done" for job in jobs))


try:
    main()
except Refused as refused:
    sys.exit(f"refused: {refused}")
except BROKEN as error:
    sys.exit(str(error))
