public import Glibc

/// A system call that failed: its name, its object and the reason.
public struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
    public let call: String
    public let subject: String
    public let code: Int32

    public init(_ call: String, _ subject: String, code: Int32 = errno) {
        (self.call, self.subject, self.code) = (call, subject, code)
    }

    /// The reason alone: "Permission denied".
    public var reason: String { String(cString: strerror(code)) }

    public var description: String { "\(call) \(subject): \(reason)" }
}
