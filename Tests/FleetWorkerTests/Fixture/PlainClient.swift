import Foundation
import Glibc
import SystemCalls
import TestTools

@testable import FleetWorker

/// A client that connects to the same server without being a node, and speaks the protocol by hand.
final class PlainClient {
    private let socket: Descriptor
    private var rest: [UInt8] = []
    private let inbox = "_INBOX.stranger\(UInt32.random(in: 0 ... .max))"
    private var asked = 0
    private var listensToWaiting = false
    /// The number of subscriptions. The first is the inbox for replies.
    private var subscriptions = 1

    init(_ url: String) throws {
        socket = try Loopback.connect(to: Int(url.split(separator: ":").last ?? "") ?? 0)
        _ = try line()
        try write("CONNECT {\"verbose\":false,\"pedantic\":false}\r\nSUB \(inbox).* 1\r\n")
    }

    func publish(_ bytes: [UInt8], to subject: String, reply: String? = nil) throws {
        try write("PUB \(subject) \(reply.map { $0 + " " } ?? "")\(bytes.count)\r\n")
        try write(bytes + Array("\r\n".utf8))
    }

    func publish(_ text: String, to subject: String, reply: String? = nil) throws {
        try publish(Array(text.utf8), to: subject, reply: reply)
    }

    /// Sends a request; returns its reply.
    func ask(_ subject: String, _ bytes: [UInt8] = []) throws -> [UInt8] {
        asked += 1
        let reply = "\(inbox).\(asked)"
        try publish(bytes, to: subject, reply: reply)
        while true {
            let message = try message()
            if message.subject == reply { return message.body }
        }
    }

    private func listen(to subject: String) throws {
        subscriptions += 1
        try write("SUB \(subject) \(subscriptions)\r\n")
    }

    /// Waits until a node reports its state, which shows that it is listening.
    func hear(of node: String) throws {
        try listen(to: "nodes.\(node)")
        while try message().subject != "nodes.\(node)" {}
    }

    /// Waits until each of these origins has reported once more that it waits for a place on the node.
    func hearWaiting(at node: String, _ origins: Set<String>) throws {
        if !listensToWaiting { try listen(to: "waits.\(node).*") }
        listensToWaiting = true
        try flush()
        var missing = Set(origins.map { "waits.\(node).\($0)" })
        while !missing.isEmpty { missing.remove(try message().subject) }
    }

    /// Publishes `presence` as the report of a node that does not exist. Waits until an origin offers that node a
    /// picture.
    func offer(to node: String, saying presence: String) throws -> (Offer, reply: String) {
        try listen(to: "take.\(node).*")
        try publish(#"{"token":"t","node":\#(presence)}"#, to: "nodes.\(node)")
        while true {
            let message = try message()
            guard let reply = message.reply else { continue }
            return (try JSONDecoder().decode(Offer.self, from: Data(message.body)), reply)
        }
    }

    /// Waits until `count` requests have arrived on the subject; returns their reply subjects.
    func replies(to subject: String, _ count: Int) throws -> [String] {
        try listen(to: subject)
        var replies: [String] = []
        while replies.count < count {
            let message = try message()
            if message.subject == subject, let reply = message.reply { replies.append(reply) }
        }
        return replies
    }

    /// Waits until the server has received everything that this client sent.
    func flush() throws {
        try write("PING\r\n")
        while try line() != "PONG" {}
    }

    private func message() throws -> (subject: String, reply: String?, body: [UInt8]) {
        while true {
            let words = try line().split(separator: " ").map(String.init)
            switch words.first {
            case "PING": try write("PONG\r\n")
            case "MSG":
                let body = try take(Int(words.last ?? "") ?? 0)
                _ = try take(2)
                return (words[1], words.count == 5 ? words[3] : nil, body)
            case "-ERR": throw Unexpected("the server says \(words)")
            default: break
            }
        }
    }

    private func write(_ text: String) throws { try write(Array(text.utf8)) }

    private func write(_ bytes: [UInt8]) throws {
        var done = 0
        while done < bytes.count {
            let sent = bytes[done...].withUnsafeBytes {
                send(socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { throw SystemError("send", "the server") }
            done += sent
        }
    }

    private func more() throws {
        var room = [UInt8](repeating: 0, count: 65536)
        let got = recv(socket.number, &room, room.count, 0)
        guard got > 0 else { throw SystemError("receive", "the server") }
        rest += room[..<got]
    }

    private func take(_ count: Int) throws -> [UInt8] {
        while rest.count < count { try more() }
        defer { rest.removeFirst(count) }
        return Array(rest.prefix(count))
    }

    private func line() throws -> String {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let text = String(decoding: rest[..<end], as: UTF8.self)
                rest.removeFirst(end + 1)
                return text.trimmingCharacters(in: .whitespacesAndNewlines)
            }
            try more()
        }
    }
}
