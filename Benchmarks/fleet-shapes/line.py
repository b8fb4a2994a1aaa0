"""A small client of a NATS server, which can be disconnected, or stopped like a process."""
import asyncio, random, time

NOBODY, now, tasks = b"503", time.monotonic, set()


def spawn(coroutine):
    tasks.add(task := asyncio.ensure_future(coroutine))
    task.add_done_callback(tasks.discard)


def later(seconds, *call):
    return asyncio.get_running_loop().call_later(seconds, *call)


class Line:
    """A connection to the server. Reconnects automatically, and then renews its subscriptions."""
    def __init__(self, member, port):
        self.member, self.port, self.last, self.not_before, self.writer = member, port, 0, 0, None
        self.listened, self.replies, self.inbox, self.goes = {}, {}, f"_INBOX.{random.getrandbits(60):x}", asyncio.Event()
        self.goes.set()  # Cleared while the process is stopped: nothing is sent or received, and the server does not notice.
        self.listen(self.inbox + ".*", self.answered)

    async def run(self):
        while True:
            try:
                await self.goes.wait()
                await asyncio.sleep(max(0, self.not_before - now()))
                reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
                self.write('CONNECT {"verbose":false,"headers":true,"no_responders":true,"echo":false}')
                for number, (subject, queue, _) in self.listened.items():
                    self.write(f"SUB {subject} {queue} {number}")
                self.member.up()
                while words := (await reader.readuntil(b"\r\n")).split():
                    text = words[0][-3:] == b"MSG" and (await reader.readexactly(int(words[-1]) + 2))[:-2]
                    await self.goes.wait()
                    if words[0] == b"PING":
                        self.write("PONG")
                    elif text is not False and int(words[2]) in self.listened:  # MSG subject number [reply] size
                        text, reply = NOBODY if text[:12] == b"NATS/1.0 503" else text, words[3] if len(words) == 5 else b""
                        self.listened[int(words[2])][2](words[1].decode(), reply.decode(), text)
            except (OSError, asyncio.IncompleteReadError):
                self.writer = None
                for reply in self.replies.values():
                    reply.done() or reply.set_result(None)
                self.member.down()
                await asyncio.sleep(random.uniform(0.1, 1))

    def write(self, text):
        if self.writer and not self.writer.is_closing():
            self.writer.write(text.encode() + b"\r\n")

    def listen(self, subject, call, queue=""):
        self.last += 1
        self.listened[self.last] = (subject, queue, call)
        self.write(f"SUB {subject} {queue} {self.last}")
        return self.last

    def leave(self, number):
        self.write(f"UNSUB {number}")
        later(2, self.listened.pop, number, None)  # Messages that are already in flight are still handled.

    def say(self, subject, text="", reply=""):
        self.write(f"PUB {subject} {reply} {len(text)}\r\n{text}")

    async def ask(self, subject, text, patience=10):
        """Returns the answer, or None."""
        self.last += 1
        reply = self.replies[inbox := f"{self.inbox}.{self.last}"] = asyncio.get_running_loop().create_future()
        self.say(subject, text, inbox)
        await asyncio.wait([reply], timeout=patience)
        return self.replies.pop(inbox).done() and reply.result() or None

    def answered(self, subject, _, text):
        if (reply := self.replies.get(subject)) and not reply.done():
            reply.set_result(text)
