import DaemonInterface
import DaemonRuntime
import JobModel
import PipelineControl
import ServiceProgram
import SystemCalls

extension ControlService {
    func addPictureCalls() {
        onOwners(Call.Open.self) { [self] call, request in
            let size = try Self.previewSize(call.width)
            let record = try record(of: call.id)
            guard let size else { return open(call.result, of: record, request) }
            let withdraw = daemon.preview(call.result, of: record, size: size) { request.hand($0) }
            request.connection.whenAbandoned { Coordination.async(withdraw) }
        }
    }

    /// The smallest preview size that is wide enough.
    private static func previewSize(_ width: Int?) throws(ControlError) -> Int? {
        guard let width else { return nil }
        let sizes = [ControlInterface.smallPreview, ControlInterface.largePreview]
        guard width >= 1, let size = sizes.first(where: { $0 >= width }) else {
            throw .badValue("width=\(width) is not allowed; it is 1 to \(ControlInterface.largePreview)")
        }
        return size
    }

    @Coordination
    private func open(_ result: Int?, of record: JobRecord, _ request: ControlRequest) {
        // Opening the picture may block on a hanging mount.
        request.work(on: daemon.lane(of: result, of: record)) { [daemon] in
            request.hand(Result { try daemon.open(result, of: record) })
        }
    }
}

extension ControlRequest {
    fileprivate func hand(_ picture: Result<OpenedPicture, any Error>) {
        do {
            let (name, file) = try picture.get()
            let bytes = FileStatus(try file.status()).identity.size
            reply(Call.Open.Reply(name: name, bytes: bytes), beside: [file])
        } catch {
            fail(ControlError.refused("\(error)"))
        }
    }
}
