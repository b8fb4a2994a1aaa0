import Foundation
import TestTools
import Testing

@Suite("Programs that may open only few files")
struct FewDescriptorsTests {
    /// Descriptor limits, from too few to load any program up to enough for everything.
    private static let counts = [3, 4, 5, 6, 7, 8, 10, 12, 64]

    /// In the arguments, `DIR` stands for a separate folder for each limit.
    @Test(
        "a program does its work or says why it can't; with enough descriptors it succeeds",
        arguments: [
            ["pipectl", "status"], ["pipectl", "status", "--check"], ["pipectl", "list", "--json"],
            ["pipectl", "add", "mine/a.png"], ["pipectl", "explain", "mine/a.png"], ["pipectl", "recipes"],
            ["pipectl", "wait", "--all"], ["pipectl", "plugins"], ["pipectl", "backup", "DIR"],
            ["pipelined", "--check"], ["pipelined-gallery", "--help"],
        ])
    func command(_ words: [String]) async throws {
        try await DaemonFixture.with { daemon in
            try daemon.write(Picture.small, to: "mine/a.png")
            for count in Self.counts {
                let folder = daemon.root.path + "-backup-\(count)"
                defer { try? FileManager.default.removeItem(atPath: folder) }
                let arguments = words.dropFirst().map {
                    $0 == "DIR" ? folder : $0.hasPrefix("mine/") ? daemon.path($0) : $0
                }
                let outcome = try await Programs.run(
                    path: "/usr/bin/prlimit",
                    ["--nofile=\(count):\(count)", Programs.path(words[0]), "--root", daemon.root.path] + arguments)
                #expect(outcome.status >= 0, "\(words) with \(count): \(outcome)")
                #expect(outcome.status == 0 || !outcome.errors.isEmpty, "\(words) with \(count): \(outcome)")
                if count == Self.counts.last { #expect(outcome.status == 0, "\(words): \(outcome)") }
            }
        }
    }

    @Test("the gallery serves its page or says why it can't")
    func gallery() async throws {
        try await DaemonFixture.with { daemon in
            for count in Self.counts {
                let wrapper = ["/usr/bin/prlimit", "--nofile=\(count):\(count)"]
                let words =
                    Array(wrapper.dropFirst()) + [Programs.path("pipelined-gallery"), "--root", daemon.root.path]
                let gallery = try ChildProcess(wrapper[0], words)
                defer { gallery.signal(SIGKILL) }
                await gallery.until { gallery.errors.contains("serves the daemon") || gallery.status != nil }
                if let status = gallery.status {
                    #expect(
                        status > 0 && !gallery.errors.isEmpty && count < 64, "\(count): \(status) \(gallery.errors)")
                    continue
                }
                // A gallery that serves its page exits when it receives SIGTERM.
                gallery.signal(SIGTERM)
                #expect(await gallery.outcome().status == 0)
            }
        }
    }
}
