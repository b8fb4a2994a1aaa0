import DaemonRuntime
import PipelineModel
import SystemCalls
import WorkerProtocol

/// The files that filters use, by SHA-256. Files of earlier configurations stay, because jobs may still need them.
struct FilterFileTable {
    private var files: [String: Descriptor] = [:]

    mutating func add(_ files: [String: Descriptor]) { self.files.merge(files) { $1 } }

    subscript(digests: [String]) -> [Descriptor] { digests.compactMap { files[$0] } }

    /// Returns a failure if a worker can't get the files with these digests, which the task's filters use.
    @Coordination
    func lack(of digests: [String], for task: RenderTask) -> WorkerFailure? {
        guard task.files.sources.count + digests.count <= WorkerChannel.mostDescriptors else {
            return WorkerFailure(
                stage: "open", message: "the chains need \(digests.count) files", advice: "make several recipes of it")
        }
        guard let missing = digests.first(where: { files[$0] == nil }),
            let stage = task.outputs.flatMap(\.stages).first(where: { $0.files?.values.contains(missing) == true }),
            let parameter = stage.files?.first(where: { $0.value == missing })?.key
        else { return nil }
        return WorkerFailure(
            stage: stage.name,
            message: "the file '\(stage.arguments[parameter]?.text ?? "")' has changed since the job was added",
            advice: "put it back, then `pipectl reload` and `pipectl retry`; or `pipectl redo` takes the new one")
    }
}
