import Foundation
import PipelineControl
import SystemCalls
import TestTools
import Testing

@testable import pipectl

struct ExitCodeTests {
    @Test("Without a daemon the code is 3, and the message says how to start it")
    func unreachable() async throws {
        let system = try await Pipectl.run("status", "--socket", "/nowhere/control.sock")
        #expect(system.status == 3)
        #expect(system.errors.contains("no daemon answers at /nowhere/control.sock (No such file or directory)"))
        let root = try await Pipectl.run("--root", "/nowhere", "status", "--json")
        #expect(root.status == 3)
        #expect(root.output.isEmpty)
        let error = try #require(
            try JSONSerialization.jsonObject(with: Data(root.errors.utf8)) as? [String: String])
        #expect(error["error"] == "Unreachable")
        #expect(error["message"]?.contains("`pipelined --root /nowhere`") == true)
    }

    @Test("The advice for the system's daemon is systemctl")
    func advice() {
        let system = SocketAddress(socket: nil, root: nil, variable: nil)
        let failure = Unreachable(address: system, cause: SystemError("connect", system.path, code: ENOENT)).failure
        #expect(failure.message.contains("`systemctl start pipelined`"))
        let web = SocketAddress(socket: nil, root: nil, instance: "web", variable: "/elsewhere")
        #expect(web.path == "/run/pipelined@web/control.sock")
        let other = Unreachable(address: web, cause: SystemError("connect", web.path, code: ENOENT)).failure
        #expect(other.message.contains("`systemctl start pipelined@web`"))
    }

    @Test("If permission is missing, the message names the socket's group and how to join it")
    func permission() {
        let unreachable = Unreachable(
            address: SocketAddress(socket: nil, root: nil, variable: nil),
            cause: SystemError("connect", "/run/pipelined/control.sock", code: EACCES))
        #expect(unreachable.failure.code == .unreachable)
        #expect(unreachable.permission(group: "pipelined").contains("`sudo usermod -aG pipelined $USER`"))
    }

    @Test("If permission for the gallery's socket is missing, the message does not advise to start a gallery")
    func galleryPermission() {
        let client = GalleryClient(SocketAddress(socket: nil, root: nil, variable: nil))
        func failure(_ code: Int32) -> Failure {
            client.failure(SystemError("connect", "/run/pipelined/gallery.sock", code: code))
        }
        let refused = failure(EACCES)
        #expect(refused.name == "PermissionDenied" && refused.code == .unreachable)
        #expect(refused.message.hasPrefix("you may not use the socket /run/pipelined/gallery.sock (Permission denied)"))
        #expect(!refused.message.contains("start"))
        #expect(failure(ENOENT).message.contains("start it with `systemctl enable --now pipelined-gallery.socket`"))
    }

    @Test("--root finds the socket below it, and takes precedence over the environment")
    func root() async throws {
        let daemon = try CannedDaemon()
        daemon.answer(Call.Status.self, .init(status: Sample.status()))
        let outcome = try await Pipectl.run(
            "status", "--root", daemon.root, environment: ["PIPELINED_SOCKET": "/nowhere"])
        #expect(outcome.status == 0)
    }

    @Test("A daemon that dies during a call gives 3")
    func died() async throws {
        let daemon = try CannedDaemon()
        daemon.on(Call.Wait.self) { _, conversation in
            try conversation.reply(Call.Wait.Reply(jobs: [Sample.job(1)]), continues: true)
            conversation.hangUp()
        }
        let outcome = try await Pipectl.run("wait", at: daemon)
        #expect(outcome.status == 3)
        #expect(outcome.lines.count == 1)
    }

    @Test(
        "Each of the daemon's refusals has its code",
        arguments: [
            (ControlError.noSuchJob(7), 4, "NoSuchJob"), (.noSuchQueue("x", queues: ["render"]), 2, "NoSuchQueue"),
            (.badValue("too much"), 2, "BadValue"), (.refused("it is stopping"), 1, "Refused"),
            (.methodNotFound("Cancel"), 1, "MethodNotFound"),
        ] as [(ControlError, Int32, String)])
    func refusals(error: ControlError, code: Int32, name: String) async throws {
        let daemon = try CannedDaemon()
        daemon.on(Call.Cancel.self) { _, _ in throw error }
        let outcome = try await Pipectl.run("cancel", "7", "--json", at: daemon)
        #expect(outcome.status == code)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains(name))
    }

    @Test(
        "An invalid limit is refused with the allowed range, before the daemon is asked",
        arguments: ["banana", "-3", "1025", "2.5"])
    func limits(word: String) async throws {
        for words in [[word], ["publish", word]] {
            let failure = #expect(throws: Failure.self) {
                let context = try Context(Parser.parse(["concurrency"] + words + ["--socket", "/nowhere"]))
                _ = try context.invocation.verb.run(context)
            }
            #expect(failure?.code == .usage)
            #expect(failure?.message.contains("0 to 1024, or auto") == true)
        }
    }

    @Test("Output that can't be written is a failure")
    func fullDisk() async throws {
        let daemon = try CannedDaemon()
        daemon.answer(Call.Status.self, .init(status: Sample.status()))
        let outcome = try await Pipectl.run(["status"], at: daemon, output: Descriptor.open("/dev/full", O_WRONLY))
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("No space left on device"))
    }
}
