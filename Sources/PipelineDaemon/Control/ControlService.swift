import DaemonRuntime
import Dispatch
import PipelineControl
import PipelineModel
import Synchronization
import SystemCalls

/// Answers the calls of the interface. Each method is one handler; those of one subject share a file.
final class ControlService: Sendable {
    let supervisor: Supervisor
    let version: String
    /// What clients may take; changed by a reload.
    var limits: ControlSettings { supervisor.clientLimits.withLock { $0 } }
    private let complaints = Mutex(Complaints())
    private let handlers = Mutex<[String: @Sendable (ControlRequest, PassedDescriptors) throws -> Void]>([:])

    init(supervisor: Supervisor, version: String) {
        self.supervisor = supervisor
        self.version = version
        addStatusCalls()
        addIgnoredCalls()
        addJobCalls()
        addNeedsCalls()
        addChoiceCalls()
        addWatchingCalls()
        addProgressCalls()
        addQueueCalls()
        addConfigurationCalls()
        addExplaining()
    }

    /// A method whose parameters are `Call`. What is passed beside it is closed at once.
    func on<Call: ControlCall>(
        _ call: Call.Type, _ handler: @escaping @Sendable (Call, ControlRequest) throws -> Void
    ) {
        onPassing(call) { call, _, request in try handler(call, request) }
    }

    /// The same for one that wants what is passed beside it.
    func onPassing<Call: ControlCall>(
        _ call: Call.Type, _ handler: @escaping @Sendable (Call, PassedDescriptors, ControlRequest) throws -> Void
    ) {
        handlers.withLock { handlers in
            handlers["\(ControlInterface.name).\(Call.method)"] = { request, passed in
                try handler(try request.parameters(Call.self), passed, request)
            }
        }
    }

    /// The same, answered where the supervisor lives.
    func onSupervisor<Call: ControlCall>(
        _ call: Call.Type, _ handler: @escaping @Coordination @Sendable (Call, ControlRequest) throws -> Void
    ) {
        on(call) { call, request in
            Coordination.async {
                do { try handler(call, request) } catch { request.fail(error) }
            }
        }
    }

    /// On the server's queue.
    func answer(_ request: ControlRequest, _ passed: PassedDescriptors) {
        do {
            if let handler = handlers.withLock({ $0[request.method] }) { return try handler(request, passed) }
            try answerService(request)
        } catch {
            request.fail(error)
        }
    }

    /// About a client, in the log.
    func complain(_ kind: Complaints.Kind, _ line: String) {
        guard let line = complaints.withLock({ $0.line(kind, line, at: .now()) }) else { return }
        Log.failure(line)
    }

    /// Varlink's own interface, by which a service describes itself.
    private func answerService(_ request: ControlRequest) throws(ControlError) {
        switch request.method {
        case "\(ControlInterface.serviceName).GetInfo":
            request.reply(
                ServiceInfo(
                    vendor: "pipelined", product: "pipelined", version: version, url: "https://pipelined.org/",
                    interfaces: [ControlInterface.serviceName, ControlInterface.name]))
        case "\(ControlInterface.serviceName).GetInterfaceDescription":
            let wanted = try request.parameters(InterfaceName.self).interface
            switch wanted {
            case ControlInterface.name: request.reply(InterfaceDescription(description: ControlInterface.description))
            case ControlInterface.serviceName:
                request.reply(InterfaceDescription(description: ControlInterface.serviceDescription))
            default: throw .other(name: "\(ControlInterface.serviceName).InterfaceNotFound", message: wanted)
            }
        default:
            let known = [ControlInterface.name, ControlInterface.serviceName]
            if known.contains(where: { request.method.hasPrefix($0 + ".") }) {
                throw .other(name: "\(ControlInterface.serviceName).MethodNotFound", message: request.method)
            }
            let interface = request.method.split(separator: ".").dropLast().joined(separator: ".")
            throw .other(name: "\(ControlInterface.serviceName).InterfaceNotFound", message: interface)
        }
    }
}

private struct ServiceInfo: Codable, Sendable {
    var vendor: String
    var product: String
    var version: String
    var url: String
    var interfaces: [String]
}

private struct InterfaceName: Codable, Sendable {
    var interface: String
}

private struct InterfaceDescription: Codable, Sendable {
    var description: String
}
