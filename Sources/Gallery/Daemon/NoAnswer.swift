import PipelineControl

/// Why a call to the daemon has no reply.
enum NoAnswer: Error, CustomStringConvertible {
    /// The daemon has answered with an error.
    case refused(ControlError)
    /// The daemon has not answered.
    case away(String)

    static func silent(for seconds: Int) -> NoAnswer { .away("the daemon has said nothing for \(seconds) s") }

    var description: String {
        switch self {
        case .refused(let error): "\(error)"
        case .away(let why): why
        }
    }
}
