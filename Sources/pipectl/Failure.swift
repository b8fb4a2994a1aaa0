import PipelineControl
import PipelineModel
import SystemCalls

/// A failure of the command: a name for programs, a message for people, and the exit code.
struct Failure: Error, Encodable {
    var name: String
    var message: String
    var code: ExitCode

    init(_ name: String, _ message: String, _ code: ExitCode) {
        (self.name, self.message, self.code) = (name, message, code)
    }

    static func usage(_ message: String) -> Failure {
        Failure("Usage", message, .usage)
    }

    private enum CodingKeys: String, CodingKey {
        case name = "error"
        case message
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(message, forKey: .message)
    }
}

extension Failure {
    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as ControlError: self.init(error)
        case let closed as ConnectionClosed:
            self.init("ConnectionClosed", "\(closed); its log says why", .unreachable)
        case let error as SystemError: self.init("SystemCall", "\(error)", .failed)
        case let error as DecodingError: self = .badAnswer("\(error)")
        case let endless as EndlessAnswer: self = .badAnswer("\(endless)")
        default: self.init("Failed", "\(error)", .failed)
        }
    }

    private static func badAnswer(_ what: String) -> Failure {
        Failure(
            "BadAnswer",
            """
            the daemon's answer is not understood: \(String(what.prefix(500)).printable)
            `pipectl version` tells whether the two are of one release
            """, .failed)
    }

    /// Suggests the most similar name that the daemon knows.
    private static func nearest(_ error: ControlError) -> String {
        switch error {
        case .noSuchRecipe(let name, let known), .noSuchQueue(let name, let known): didYouMean(name, among: known)
        default: ""
        }
    }

    init(_ error: ControlError) {
        let name = error.wire.name
        let prefix = ControlInterface.control.name + "."
        let short = name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
        // The message may quote untrusted text, which must not contain line breaks or control characters.
        let said = (error.description + Self.nearest(error)).printable
        switch error {
        case .noSuchJob: self.init(short, said, .noSuchJob)
        case .noSuchQueue, .noSuchRecipe, .badChain, .badValue: self.init(short, said, .usage)
        default: self.init(short, said, .failed)
        }
    }
}
