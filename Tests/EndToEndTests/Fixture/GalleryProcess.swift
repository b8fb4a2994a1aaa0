import Foundation
import Glibc
import SystemCalls
import TestTools
import Testing

/// A running gallery for a test's daemon.
final class GalleryProcess {
    let process: ChildProcess
    private let socket: String

    init(of daemon: DaemonFixture, _ words: [String] = [], under wrapper: [String] = [], passing: [Descriptor] = [])
        async throws
    {
        socket = daemon.path("run/gallery.sock")
        let all = wrapper + [Programs.path("pipelined-gallery"), "--root", daemon.root.path] + words
        let process = try ChildProcess(all[0], Array(all.dropFirst()), passed: passing)
        self.process = process
        await process.until { process.errors.contains("serves the daemon") || process.status != nil }
        try #require(process.status == nil, "\(process.errors)")
    }

    deinit { process.signal(SIGKILL) }

    /// Runs `body` with a daemon and its gallery.
    static func with(
        _ words: [String] = [], _ body: (DaemonFixture, GalleryProcess) async throws -> Void
    ) async throws {
        try await DaemonFixture.with { daemon in try await body(daemon, try await GalleryProcess(of: daemon, words)) }
    }

    /// The address of the gallery's TCP port; nil if the gallery listens on no port.
    var port: String? {
        process.errors.components(separatedBy: "http://").dropFirst().last?.trimmingCharacters(in: .newlines)
    }

    /// Connects, and sends these bytes.
    func client(_ bytes: String = "") throws -> Descriptor {
        let client = try Socket.connect(socket)
        if !bytes.isEmpty { try Socket.send(bytes.utf8, to: client) }
        return client
    }

    /// Returns everything that the gallery sends until it closes the connection.
    static func all(from client: Descriptor) throws -> String {
        String(decoding: try bytes(from: client), as: UTF8.self)
    }

    private static func bytes(from client: Descriptor) throws -> [UInt8] {
        var all: [UInt8] = []
        while true {
            do {
                let packet = try Socket.receive(room: 65536, from: client)
                if packet.bytes.isEmpty { break }
                all += packet.bytes
            } catch {
                if error.code == ECONNRESET { break }
                throw error
            }
        }
        return all
    }

    func send(_ bytes: String) throws -> String { try Self.all(from: client(bytes)) }

    /// Returns the response, including its headers.
    func bytes(_ path: String) throws -> [UInt8] { try Self.bytes(from: client(Self.request(path))) }

    func get(_ path: String, method: String = "GET", _ headers: String...) throws -> String {
        try send(Self.request(path, method: method, headers))
    }

    static func request(_ path: String, method: String = "GET", _ headers: [String] = []) -> String {
        (["\(method) \(path) HTTP/1.1", "Host: localhost", "Connection: close"] + headers).joined(separator: "\r\n")
            + "\r\n\r\n"
    }
}
