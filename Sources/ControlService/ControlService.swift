package import DaemonInterface
import DaemonRuntime
import Dispatch
import Glibc
import PipelineControl
import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls

/// Answers the calls of the Varlink interfaces. Each method has one handler; handlers for the same subject share a
/// file.
package final class ControlService: Sendable {
    let daemon: any DaemonInterface
    let version: String
    /// The path of the control socket.
    let socket: String
    /// Limits for clients; a reload changes them.
    var limits: ControlSettings { daemon.configurationInForce.settings.control }
    let watchers = ProgressWatchers()
    private let complaints = Mutex(Complaints())
    let writing = Mutex<[WritingRequest]>([])
    private let handlers = Mutex<[String: @Sendable (ControlRequest, PassedDescriptors) throws -> Void]>([:])

    package init(_ daemon: any DaemonInterface, version: String, socket: String) {
        (self.daemon, self.version, self.socket) = (daemon, version, socket)
        addServiceCalls()
        addStatusCalls()
        addMetricsCalls()
        addIgnoredCalls()
        addJobCalls()
        addAddingCalls()
        addBatchCalls()
        addNeedsCalls()
        addChoiceCalls()
        addKeepingCalls()
        addDoneCalls()
        addWatchingCalls()
        addProgressCalls()
        addQueueCalls()
        addFleetCalls()
        addConfigurationCalls()
        addExplaining()
        addTrying()
        addPictureCalls()
    }

    /// Adds a method's handler. If a client passes descriptors with the call, the service closes them unused.
    func on<Call: ControlCall>(
        _ call: Call.Type, _ handler: @escaping @Sendable (Call, ControlRequest) throws -> Void
    ) {
        onPassing(call) { call, _, request in try handler(call, request) }
    }

    /// Adds a method's handler that also receives the descriptors passed with the call.
    func onPassing<Call: ControlCall>(
        _ call: Call.Type, _ handler: @escaping @Sendable (Call, PassedDescriptors, ControlRequest) throws -> Void
    ) {
        handlers.withLock { handlers in
            handlers[Call.method] = { request, passed in
                try handler(try request.parameters(Call.self), passed, request)
            }
        }
    }

    /// Adds a method's handler that runs on the coordination queue.
    func onOwners<Call: ControlCall>(
        _ call: Call.Type, _ handler: @escaping @Coordination @Sendable (Call, ControlRequest) throws -> Void
    ) {
        on(call) { call, request in
            Coordination.async {
                do { try handler(call, request) } catch { request.fail(error) }
            }
        }
    }

    /// Adds a method's handler that changes the ledger. If the ledger can't be written, the call fails immediately and
    /// changes nothing.
    func onWriting<Call: ControlCall>(
        _ call: Call.Type, _ handler: @escaping @Coordination @Sendable (Call, ControlRequest) throws -> Void
    ) {
        on(call) { [self] call, request in whenWritable(request) { try handler(call, request) } }
    }

    /// Adds a method's handler that runs even while the ledger can't be written. In that case, the client gets an error
    /// immediately. The error says that the call has had `effect`, and that the ledger has not recorded it.
    func onWriting<Call: ControlCall>(
        _ call: Call.Type, but effect: String,
        _ handler: @escaping @Coordination @Sendable (Call, ControlRequest) throws -> Void
    ) {
        onOwners(call) { [self] call, request in
            try handler(call, request)
            write(for: request, but: effect)
        }
    }

    /// Runs the handler of the called method. Called on the server's queue.
    func answer(_ request: ControlRequest, _ passed: PassedDescriptors) {
        do {
            guard let handler = handlers.withLock({ $0[request.method] }) else { throw Self.unknown(request.method) }
            guard request.connection.role.allows(request.method) else {
                throw ControlRole.refusal(request.method, group: limits.lookGroup, steering: group)
            }
            try handler(request, passed)
        } catch {
            request.fail(error)
        }
    }

    /// The name of the group that owns the control socket. Its members may make all calls.
    private var group: String { Group.name((try? FileSystem.status(socket))?.group ?? getegid()) }

    /// Logs a complaint about a client, at a limited rate.
    func complain(_ kind: Complaints.Kind, _ line: String) {
        guard let line = complaints.withLock({ $0.line(kind, line, at: .now()) }) else { return }
        Log.failure(line)
    }

    private static func unknown(_ method: String) -> ControlError {
        if ControlInterface.all.contains(where: { method.hasPrefix($0.name + ".") }) { return .methodNotFound(method) }
        return .interfaceNotFound(method.split(separator: ".").dropLast().joined(separator: "."))
    }

    /// Adds the calls of `org.varlink.service`, the interface that describes a service to its clients.
    private func addServiceCalls() {
        let version = version
        on(Call.GetInfo.self) { _, request in
            request.reply(
                Call.GetInfo.Reply(
                    vendor: "pipelined", product: "pipelined", version: version, url: "https://pipelined.org/",
                    interfaces: ControlInterface.all.map(\.name)))
        }
        on(Call.GetInterfaceDescription.self) { call, request in
            guard let interface = ControlInterface.all.first(where: { $0.name == call.interface }) else {
                throw ControlError.interfaceNotFound(call.interface)
            }
            request.reply(Call.GetInterfaceDescription.Reply(description: interface.description))
        }
    }
}
