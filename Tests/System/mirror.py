#!/usr/bin/python3
"""Runs a command without network access, except to Debian's packages: mirror.py URL … -- COMMAND [ARGUMENT …]

The command runs in its own network namespace, which has only loopback. For apt-get, an HTTP proxy listens there at
http://127.0.0.1:3142. The proxy connects only to the hosts of the URLs. The exit status is that of the command. on.sh calls this script.
"""

import ctypes
import fcntl
import http.client
import http.server
import os
import shutil
import signal
import socket
import struct
import sys
import threading
import urllib.parse

PORT = 3142
CLONE_NEWNET = 0x40000000
IFF_UP = 1
SIOCSIFFLAGS = 0x8914
# Headers that concern a single connection, so a proxy must not forward them.
HOP_BY_HOP = {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hosts = set()

    def do_GET(self):
        address = urllib.parse.urlsplit(self.path)
        if address.scheme != "http" or address.netloc not in self.hosts:
            return self.send_error(403, "Only the mirror of packages can be reached from here")
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
        upstream = http.client.HTTPConnection(address.netloc, timeout=60)
        try:
            upstream.request("GET", urllib.parse.urlunsplit(("", "", *address[2:])), headers=headers)
            answer = upstream.getresponse()
            self.send_response_only(answer.status, answer.reason)
            for name, value in answer.getheaders():
                if name.lower() not in HOP_BY_HOP:
                    self.send_header(name, value)
            if answer.getheader("Content-Length") is None and answer.status not in (204, 304):
                self.send_header("Connection", "close")
                self.close_connection = True
            self.end_headers()
            shutil.copyfileobj(answer, self.wfile, 1 << 16)
        except OSError as error:
            self.close_connection = True
            print(f"mirror.py: {address.netloc}: {error}", file=sys.stderr)
        finally:
            upstream.close()

    def do_CONNECT(self):
        if self.path not in self.hosts:
            return self.send_error(403, "Only the mirror of packages can be reached from here")
        host, _, port = self.path.rpartition(":")
        self.close_connection = True
        with socket.create_connection((host, int(port)), timeout=60) as upstream:
            self.send_response_only(200)
            self.end_headers()
            thread = threading.Thread(target=pass_on, args=(self.connection, upstream), daemon=True)
            thread.start()
            pass_on(upstream, self.connection)

    def log_message(self, *words):
        pass


def pass_on(source, destination):
    try:
        while piece := source.recv(1 << 16):
            destination.sendall(piece)
        destination.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, listener):
        super().__init__(listener.getsockname(), Proxy, bind_and_activate=False)
        self.socket.close()
        self.socket = listener


def begin_alone(channel, command):
    """Runs in the child: enters a new network namespace, sends a listening socket to the parent, and executes the command."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
    listener = socket.create_server(("127.0.0.1", PORT))
    socket.send_fds(channel, [b"."], [listener.fileno()])
    listener.close()
    channel.close()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execvp(command[0], command)


def main():
    split = sys.argv.index("--")
    urls, command = sys.argv[1:split], sys.argv[split + 1:]
    for url in urls:
        address = urllib.parse.urlsplit(url)
        Proxy.hosts.add(address.netloc if address.scheme == "http" else f"{address.hostname}:{address.port or 443}")
    # The terminal sends SIGINT to the command as well. Ignore the signal here, and wait until the command has exited.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        try:
            ours.close()
            begin_alone(theirs, command)
        except OSError as error:
            print(f"mirror.py: {error}", file=sys.stderr)
        finally:
            os._exit(125)
    theirs.close()

    def stop(number, _):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os._exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    descriptors = socket.recv_fds(ours, 1, 1)[1]
    if descriptors:
        threading.Thread(target=Server(socket.socket(fileno=descriptors[0])).serve_forever, daemon=True).start()
    status = os.waitpid(child, 0)[1]
    os._exit(os.waitstatus_to_exitcode(status) % 256)


main()
