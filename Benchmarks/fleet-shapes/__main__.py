#!/usr/bin/python3
"""How does a node that has a picture to lend find a node with a free place? Measures two ways with a real nats-server.

    python3 Benchmarks/fleet-shapes NATS_SERVER [--quick] [--only silent,chaos]

NATS_SERVER is the server's program. The script starts it on free ports of this machine. All measurements together take about 20
minutes.

queue     Nodes with a free place form a queue group, and the server chooses among them. It reports (503) when there is none. A node
          that was full publishes `room` when it has a place again.
presence  The way of Sources/FleetWorker. Nodes publish their places. Origins, which lend pictures, count the free places and ask one
          node. A full node notes who has asked, tells the first of them about a free place, and keeps the place for a second.

Nothing is rendered: the duration of a render is simulated. A node has 4 places. Load: the origins together want half as many places
as there are (half), as many (even), or 1.25 times as many, so that something always waits (full).

silent   one node stops sending, but stays connected
chaos    each second a node is disconnected for 2 seconds or stopped for 5, or the server is killed
late     four origins have all places, and another joins: how many places it then gets (a fifth of all would be fair)
many     many origins, which want few pictures each: how much of the fleet is used
cluster  half of the nodes and origins are connected to another server
loads    fleets of several sizes
idle     messages while nothing is lent

An attempt without a sign of life counts as lost after 3 seconds here, and after 30 in the program. Times are in ms, as the maximum of
50, 99 or 100 of 100 cases. Per picture: the server's messages in and out, without the messages of an idle fleet, and answers `full`.

wait              from the wish to lend a picture to a node's yes
unused, stretch   how long one place was free while some picture waited somewhere, and how long a node then had a free place
silent            offers without an answer
to join           the server's outgoing messages while all joined, one after the other
nodes±, origins±  how evenly they got pictures: standard deviation divided by mean; in brackets the value that chance alone would give
"""
import argparse, asyncio, collections, gc, json, random, socket, statistics, subprocess, urllib.request
from line import later, now, spawn
from members import PLACES, Node, Origin


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Fleet:
    """Some nodes and origins, connected to one server or to two."""
    def __init__(self, program, shape, nodes=10, origins=1, load="half", work=0.2, seconds=8, servers=1, faults="", late=0):
        self.presence, self.mean, self.faults, self.seconds, self.late = shape == "presence", work, faults, seconds, late
        self.last = self.attempts = self.wanted = self.demanded = self.since = 0
        self.random, ports = random.Random(7), [free_port() for _ in range(6)]
        self.ports, self.https, self.processes = ports[:servers], ports[2 : 2 + servers], [None] * servers
        self.words = [[program, "-a", "127.0.0.1", "-p", str(ports[i]), "-m", str(ports[2 + i]), "-n", f"s{i}"] + (
            ["--cluster_name", "fleet", "--cluster", f"nats://127.0.0.1:{ports[4 + i]}", "--routes",
             f"nats://127.0.0.1:{ports[5 - i]}"] if servers > 1 else []) for i in range(servers)]
        places, most = nodes * PLACES, nodes * PLACES * {"full": 1.25, "even": 1, "half": 0.5, "none": 0}[load]
        self.nodes = [Node(self, f"n{i}", self.ports[i % servers]) for i in range(nodes)]
        self.origins = [Origin(self, f"o{i}", self.ports[i % servers], round(most / (origins - late))) for i in range(origins)]
        self.goal = 0.95 * min(most, places)

    def begin(self):
        for member in self.nodes + self.origins:
            member.count = 0
        for node in self.nodes:
            node.end_stretch()
        self.waits, self.unused, self.stretches, self.tally, self.done = [], [], [], collections.Counter(), 0

    def clock(self):
        """The total time during which some picture waited."""
        return self.demanded + (now() - self.since if self.wanted else 0)

    def wants(self, count):
        self.demanded, self.since, self.wanted = self.clock(), now(), self.wanted + count

    def start(self, index):
        self.processes[index] = subprocess.Popen(self.words[index], stderr=subprocess.DEVNULL)

    async def messages(self):
        pages = [await asyncio.to_thread(urllib.request.urlopen, f"http://127.0.0.1:{port}/varz") for port in self.https]
        got = [json.load(page) for page in pages]
        return [now(), sum(one["in_msgs"] for one in got), sum(one["out_msgs"] for one in got)]

    async def run(self):
        self.begin()
        try:
            return await self.measured()
        finally:
            for member in self.nodes + self.origins:
                member.up = member.down = member.look = member.offer = lambda *_: None
            for process in filter(None, self.processes):
                process.kill()
                process.wait()

    async def measured(self):
        for index in range(len(self.ports)):
            self.start(index)
        await asyncio.sleep(len(self.ports))
        for member in self.nodes + self.origins:
            spawn(member.line.run())
            spawn(member.beat())
            await asyncio.sleep(0.002 * len(self.nodes) / 10)  # Each new member hears all present members.
        await asyncio.sleep(1)
        joined = await self.messages()
        await asyncio.sleep(max(6, len(self.nodes) / 25))
        before, late, row = await self.messages(), self.origins[-1], {}
        idle = [(b - a) / (before[0] - joined[0]) for a, b in zip(joined[1:], before[1:])]
        for origin in self.origins[:len(self.origins) - self.late]:
            origin.want()
            spawn(origin.watch())
        end = now() + 30
        while len(self.waits) < self.goal and now() < end:
            await asyncio.sleep(0.02)
        await asyncio.sleep(6 * self.late)  # By then the late origin knows that there is no free place.
        self.begin()
        late.want()
        before, rng = await self.messages(), random.Random(11)
        for second in range(1, self.seconds + 1):
            if self.faults == "chaos" or self.faults and second == 1:
                self.fault(rng)
            await asyncio.sleep(1)
            row[f"after {second} s"] = sum(one["begun"] for one in late.lent.values())
        after = [0] * 3 if self.faults else await self.messages()
        done = self.done or 1
        rates = [(b - a - rate * (after[0] - before[0])) / done for a, b, rate in zip(before[1:], after[1:], idle)]
        for node in self.nodes:
            node.end_stretch()
        return row | {
            "pictures": self.done, "in": f"{rates[0]:.1f}", "out": f"{rates[1]:.1f}", "in/s": round(idle[0]),
            "out/s": round(idle[1]), "to join": joined[2], "full": f"{self.tally['full'] / done:.2f}",
            "wait 50 99 100": figures(self.waits, 50, 99, 100), "stretch 99 100": figures(self.stretches, 99, 100),
            "unused 99": figures(self.unused, 99), "silent": self.tally["silent"], "nodes±": spread(self.nodes),
            "origins±": spread(self.origins) if len(self.origins) > 1 else "-",
            "at each": " ".join(str(sum(node.count for node in self.nodes[i::2])) for i in range(2))}

    def fault(self, rng):
        reachable = [node for node in self.nodes if node.reachable]
        node = rng.choice([node for node in reachable if node.free] or reachable or [None])
        kind = rng.choice(["cut"] * 9 + ["stop"] * 9 + ["kill"] * 2) if self.faults == "chaos" else "stop"
        if kind == "kill":
            self.processes[0].kill()
            self.processes[0].wait()
            later(1, self.start, 0)
        elif node and kind == "cut":
            node.line.not_before = now() + 2
            node.line.writer.transport.abort()
        elif node:
            node.down()
            node.line.goes.clear()
            if self.faults == "chaos":
                later(5, self.go_on, node)

    def go_on(self, node):
        node.line.goes.set()
        if node.line.writer:
            node.look()


def figures(values, *parts):
    values = sorted(values) or [0]
    return " ".join(f"{1000 * values[min(len(values) - 1, len(values) * part // 100)]:.0f}" for part in parts)


def spread(members):
    mean = statistics.mean(member.count for member in members) or 1
    return f"{statistics.pstdev(member.count for member in members) / mean:.2f} ({mean ** -0.5:.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server")
    parser.add_argument("--quick", action="store_true", help="shorter, and rougher")
    parser.add_argument("--only", default="silent,chaos,late,many,cluster,loads,idle", help="some of the tables")
    args = parser.parse_args()
    gc.disable()
    print(subprocess.run([args.server, "--version"], capture_output=True, text=True).stdout.strip())
    minute, full = 20 if args.quick else 60, {"origins": 5, "load": "full"}
    third = minute // 3
    tables = {
        "silent": ([{"faults": "silent", "seconds": third}], "pictures,wait 50 99 100,silent"),
        "chaos": ([{**full, "work": 1, "faults": "chaos", "seconds": minute}],
                  "pictures,stretch 99 100,wait 50 99 100,nodes±,origins±,silent"),
        "late": ([{"nodes": nodes, **full, "work": 4, "seconds": third, "late": 1} for nodes in (10, 100)],
                 ",".join(f"after {second} s" for second in (1, 5, 10, 20) if second <= third)),
        "many": ([{"origins": count, "load": "even", "work": 1, "seconds": third} for count in (5, 20)],
                 "pictures,full,wait 50 99 100,unused 99,origins±"),
        "cluster": ([{"origins": 2, "load": load, "servers": 2} for load in ("half", "full")],
                    "pictures,at each,silent,wait 50 99 100,origins±"),
        "loads": ([{"nodes": nodes, "origins": origins, "load": load, "work": 4 if nodes == 100 else 0.2}
                   for nodes, origins in ((10, 1), (10, 5), (100, 5)) for load in ("half", "full")],
                  "pictures,in,out,full,wait 50 99 100,unused 99,nodes±,origins±"),
        "idle": ([{"nodes": nodes, "load": "none", "seconds": 0} for nodes in (10, 100, 500)], "in/s,out/s,to join")}
    for name in args.only.split(","):
        cases, columns = tables[name]
        columns = [(key, 17 if "wait" in key else 15 if "±" in key or len(key) > 9 else 10)
                   for key in ["nodes", "origins", "load", *columns.split(",")]]
        print(f"\n{name:8}" + "".join(f"{key:>{width}}" for key, width in columns))
        for case in cases:
            for shape in ("queue", "presence"):
                row = {"nodes": 10, "origins": 1, "load": "half", **case, **asyncio.run(Fleet(args.server, shape, **case).run())}
                print(f"{shape:8}" + "".join(f"{row[key]:>{width}}" for key, width in columns), flush=True)
                gc.collect()


main()
