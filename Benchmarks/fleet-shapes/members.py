"""The members of a fleet: nodes, and origins.

Members find each other by queue groups or, if `fleet.presence` is set, by presence. Presence works as in Sources/FleetWorker, with
the same numbers.
"""
import asyncio, bisect, collections, random
from line import NOBODY, Line, later, now, spawn

# In seconds. SILENCE: the timeout of an offer. PAUSE: the time between two searches for a place. BEAT: the time between
# two presences. GONE: the silence after which a member counts as gone. LIFE: the silence after which an attempt counts
# as lost. KEPT: how long a place is kept. NOTED: how long a full node remembers who has asked.
SILENCE, PAUSE, BEAT, GONE, LIFE, KEPT, NOTED = 2, 0.5, 2, 10, 3, 1, 5
# PLACES: the number of places of a node. MOST_MESSAGES: the most presences that a member receives per second. WINDOW:
# the most concurrent offers of an origin to the queue group.
PLACES, MOST_MESSAGES, WINDOW = 4, 25, 16


class Member:
    """A node or an origin. With presence, each member publishes its places."""
    places = free = 0

    def __init__(self, fleet, name, port):
        self.fleet, self.name, self.count, self.heard, self.line = fleet, name, 0, {}, Line(self, port)
        if fleet.presence:
            self.line.listen("nodes.*", self.hear_and_greet)
            self.line.listen(f"hello.{name}.*", self.hear)

    def up(self):
        if self.fleet.presence:
            self.present("nodes")
        self.look()

    def down(self):
        pass

    def present(self, to):
        self.line.say(f"{to}.{self.name}", f"{self.places} {self.free}")

    def pause(self):
        return max(BEAT, len(self.heard) / MOST_MESSAGES)

    async def beat(self):
        while self.fleet.presence:
            await asyncio.sleep(self.pause())
            await self.line.goes.wait()
            self.present("nodes")

    def is_present(self, one):
        return one["at"] + max(GONE, 3 * self.pause()) > now()

    def hear(self, subject, _, text):
        places, free = map(int, text.split())
        self.heard[subject.split(".")[-1]] = {"places": places, "free": free, "at": now(), "mute": False}
        self.look()

    def hear_and_greet(self, subject, _, text):
        before = self.heard.get(name := subject.split(".")[-1])
        if not before or not self.is_present(before):
            self.present(f"hello.{name}")
        self.hear(subject, _, text)


class Node(Member):
    places, free = PLACES, property(lambda self: PLACES - len(self.taken))

    def __init__(self, *words):
        super().__init__(*words)
        self.taken, self.waiting, self.invited, self.reachable, self.since = {}, {}, {}, False, 0
        self.released, self.number = collections.deque(), None
        if self.fleet.presence:
            self.line.listen(f"take.{self.name}.*", self.asked)
            self.line.listen(f"declined.{self.name}.*", self.declined)
        else:
            self.has_room()

    def look(self):
        if not self.reachable:
            self.reachable, self.since = True, self.fleet.clock()
            if not self.fleet.presence and self.free:
                self.line.say("room")

    def down(self):
        self.end_stretch()
        self.reachable = False

    def end_stretch(self):
        if self.reachable and self.free:
            self.fleet.stretches.append(self.fleet.clock() - self.since)
        self.since = self.fleet.clock()

    def asked(self, subject, reply, text):
        key, attempt = (subject.split(".")[-1], text.split()[0].decode()), text.split()[1].decode()
        if is_known := key in self.taken:
            self.release(key)  # The origin has given up the earlier attempt.
        if self.admits(key[0]):
            self.end_stretch()
            if self.released:
                self.fleet.unused.append(self.fleet.clock() - self.released.popleft())
            self.taken[key], self.count = attempt, self.count + 1
            self.line.say(reply, f"yes {self.name}")
            if self.number and not self.free:
                self.number = self.line.leave(self.number)
            spawn(self.work(key, attempt))
        else:
            self.line.say(reply, "full")
        if is_known:
            self.has_room()

    def release(self, key):
        self.since = self.since if self.free else self.fleet.clock()
        self.released.append(self.fleet.clock())
        del self.taken[key]

    def admits(self, origin):
        self.forget()
        if self.free <= len(self.invited.keys() - {origin}):
            self.waiting[origin] = now()
            return False
        self.forget(origin)
        return True

    def declined(self, subject, *_):
        self.forget(subject.split(".")[-1])
        self.has_room()

    def forget(self, gone=None):
        self.waiting = {origin: at for origin, at in self.waiting.items() if origin != gone and at + NOTED >= now()}
        self.invited = {origin: until for origin, until in self.invited.items() if origin != gone and until > now()}

    def has_room(self):
        if not self.fleet.presence:
            if self.free and not self.number:
                self.number = self.line.listen("offer.*", self.asked, "free")
                self.line.say("room")
            return
        self.forget()
        if invited := list(self.waiting)[:max(0, self.free - len(self.invited))]:
            for origin in invited:
                del self.waiting[origin]
                self.invited[origin] = now() + KEPT
                self.present(f"room.{origin}")
            spawn(self.invite_again())

    async def invite_again(self):
        """Invites others if the invited origins don't use their places."""
        await asyncio.sleep(KEPT + 0.01)
        await self.line.goes.wait()
        self.has_room()

    async def work(self, key, attempt):
        left, is_wanted = self.fleet.random.expovariate(1 / self.fleet.mean), await self.tell("read", key, attempt)
        while is_wanted and left > 0:
            await asyncio.sleep(step := min(left, 1) if self.fleet.faults else left)
            left -= step
            is_wanted = await self.tell("progress" if left > 0 else "done", key, attempt)
        if self.taken.get(key) == attempt:
            self.release(key)
            self.has_room()

    async def tell(self, verb, key, attempt):
        """Asks the origin until it answers whether it still wants the picture from this node."""
        while self.taken.get(key) == attempt:
            await self.line.goes.wait()
            if self.line.writer:
                answer = await self.line.ask(f"origin.{key[0]}.{verb}.{self.name}", f"{key[1]} {attempt}")
                if answer in (b"yes", b"no"):
                    return answer == b"yes"
            await asyncio.sleep(0.25)


class Origin(Member):
    def __init__(self, fleet, name, port, most):
        super().__init__(fleet, name, port)
        self.most, self.lent, self.waiting, self.timer = most, {}, [], None
        self.window, self.asking, self.news, self.number = WINDOW, 0, 0, None  # For the queue: the number of concurrent offers.
        self.line.listen(f"origin.{name}.*.*", self.told)
        if fleet.presence:
            self.line.listen(f"room.{name}.*", self.is_invited)

    def up(self):
        for attempt in self.lent.values():
            attempt["seen"] = now()  # Without a connection, no sign of life could arrive.
        super().up()

    def want(self):
        while len(self.lent) + len(self.waiting) < self.most:
            self.fleet.last += 1
            self.wait(self.fleet.last)
        self.look()

    def wait(self, picture):
        bisect.insort(self.waiting, (picture, now()))
        self.fleet.wants(1)

    def begins(self, attempt):
        if not attempt["begun"]:
            self.fleet.wants(-1)
            self.fleet.waits.append(now() - attempt["since"])
            self.count += 1
        attempt.update(begun=True, seen=now())

    def told(self, subject, reply, text):
        (_, _, verb, node), (picture, token) = subject.split("."), map(int, text.split())
        attempt = self.lent.get(picture)
        is_wanted = bool(attempt) and attempt["token"] == token
        if is_wanted:
            self.begins(attempt)
        if is_wanted and verb == "done":
            del self.lent[picture]
            self.fleet.done += 1
            later(0, self.came, node)
        self.line.say(reply, "yes" if is_wanted else "no")

    def came(self, node):
        if self.fleet.presence:
            self.heard[node]["free"] = min(self.heard[node]["free"] + 1, PLACES)
        self.want()

    async def watch(self):
        while self.fleet.faults:
            await asyncio.sleep(LIFE / 6)
            lost = [picture for picture, one in self.lent.items() if one["begun"] and one["seen"] + LIFE < now()]
            for picture in lost if self.line.writer else []:
                del self.lent[picture]
                self.wait(picture)
            self.look()

    def look(self):
        if self.fleet.presence:
            while self.waiting and self.line.writer:
                free = {name: one["free"] for name, one in self.heard.items() if one["free"] and self.is_able(one)}
                if not free:
                    self.timer = self.timer or later(PAUSE, self.look_again)
                    return
                self.offer(random.choices(list(free), list(free.values()))[0])
        else:
            while self.waiting and self.line.writer and self.asking < self.window and not self.timer:
                self.offer()
            if bool(self.waiting or self.asking) != bool(self.number):
                self.number = self.line.leave(self.number) if self.number else self.line.listen("room", self.has_room)

    def is_able(self, one):
        return not one["mute"] and self.is_present(one)

    def look_again(self):
        self.timer = None
        self.look()
        full = [name for name, one in self.heard.items() if one["free"] == 0 < one["places"] and self.is_able(one)]
        most = max(1, sum(one["free"] == 0 for one in self.heard.values()) // 10)
        if self.line.writer:
            for node in random.sample(full, min(most, len(full), len(self.waiting))):
                self.offer(node)

    def is_invited(self, subject, _, text):
        has_some = bool(self.waiting)
        self.hear(subject, _, text)
        if not has_some:
            self.line.say(f"declined.{subject.split('.')[-1]}.{self.name}")

    def has_room(self, *_):
        """A node of the queue group has a free place."""
        self.window, self.news = max(self.window, min(WINDOW, self.asking + 1)), self.news + 1
        if self.timer:
            self.timer.cancel()
        self.look_again()

    def offer(self, node=None):
        (picture, since), self.asking, self.fleet.attempts = self.waiting.pop(0), self.asking + 1, self.fleet.attempts + 1
        attempt = self.lent[picture] = {"token": self.fleet.attempts, "since": since, "begun": False}
        if node:
            self.heard[node]["free"] = max(0, self.heard[node]["free"] - 1)
        spawn(self.settle(node, picture, attempt, self.news))

    async def settle(self, node, picture, attempt, news):
        subject, asked, writer = f"take.{node}.{self.name}" if node else f"offer.{self.name}", now(), self.line.writer
        answer = await self.line.ask(subject, f"{picture} {attempt['token']}", SILENCE)
        if node and not answer:
            await asyncio.sleep(asked + SILENCE - now())  # The connection was lost before the timeout.
        word = {None: "silent", NOBODY: "nobody"}.get(answer) or answer[:4].decode().strip()
        self.asking, self.fleet.tally[word] = self.asking - 1, self.fleet.tally[word] + 1
        if self.lent.get(picture) is attempt and word == "yes":
            self.begins(attempt)
        elif self.lent.get(picture) is attempt and not attempt["begun"]:
            del self.lent[picture]
            bisect.insort(self.waiting, (picture, attempt["since"]))
            if node and word == "full":
                self.heard[node]["free"] = 0
            elif node and self.heard[node]["at"] < asked and self.line.writer is writer:
                self.heard[node]["mute"] = True
        if not node and word == "yes":
            self.window = min(WINDOW, 2 * self.window)
        elif not node and word == "nobody":
            self.window = 1
            if news == self.news and not self.timer:
                self.timer = later(PAUSE, self.look_again)
        self.look()
