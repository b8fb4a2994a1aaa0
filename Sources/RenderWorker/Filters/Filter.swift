import CPipelinePlugin
import CVips
import Glibc
import PipelineModel
import Synchronization
import WorkerConfinement
import WorkerProtocol

/// A filter of a loaded plugin.
struct Filter {
    let description: StageDescription
    private let filter: UnsafePointer<PipelineFilter>

    init(_ filter: UnsafePointer<PipelineFilter>, description: StageDescription) {
        self.filter = filter
        self.description = description
    }

    /// Why the filter that is being applied says that it can't. One picture is rendered at a time, so one place is enough.
    private static let complaint = Mutex<String?>(nil)

    func apply(_ stage: Stage, to picture: Picture) throws -> Picture {
        var texts: [UnsafeMutablePointer<CChar>?] = []
        defer { for text in texts { free(text) } }
        let values = description.parameters.map { parameter in
            switch stage.arguments[parameter.name] {
            case .number(let number): return PipelineValue(number: number, text: nil)
            case .text(let text):
                let copy = strdup(text)
                texts.append(copy)
                return PipelineValue(number: 0, text: copy.map { UnsafePointer($0) })
            case nil: return PipelineValue(number: 0, text: nil)
            }
        }
        Self.complaint.withLock { $0 = nil }
        var host = PipelineHost(
            size: MemoryLayout<PipelineHost>.size,
            fail: { _, message in
                let copy = String(cString: message)
                Filter.complaint.withLock { $0 = copy }
            },
            log: { _, _, _ in }, cancelled: { _ in 0 }, resources: nil)
        var made: UnsafeMutablePointer<VipsImage>?
        RefusedCall.forget()
        let status = filter.pointee.apply(&host, values, picture.image, &made)
        let result = made.map { Picture(owning: $0) }
        // Even when it goes on without: what it makes then is not what it is to make.
        if let call = RefusedCall.first { throw WorkerFailure(who: "the filter '\(description.name)'", tried: call) }
        guard status == 0 else { throw failure(Self.complaint.withLock { $0 } ?? VipsError.take().reason) }
        guard let result else { throw failure("it returned no picture") }
        try check(result, against: picture)
        // Floating samples and the like are brought back to what stages agree on.
        return try result.format == picture.format ? result : result.inStandardColours(as: picture.format)
    }

    /// A filter that returns nonsense costs its own job, with its name.
    private func check(_ result: Picture, against input: Picture) throws {
        guard result.width > 0, result.height > 0, (1...4).contains(result.bands) else {
            throw failure(
                "it returned a picture of \(result.width) × \(result.height) with \(result.bands) bands")
        }
        let sameSize = result.width == input.width && result.height == input.height
        guard sameSize || description.traits.contains(.changesSize) else {
            throw failure(
                "it made \(result.width) × \(result.height) of \(input.width) × \(input.height), and does not say "
                    + "that it changes the size")
        }
    }

    private func failure(_ message: String) -> WorkerFailure {
        WorkerFailure(
            stage: description.name, message: message,
            advice: "the filter comes from \(description.file ?? "a plugin"); leave it out of the chain, or mend it")
    }
}
