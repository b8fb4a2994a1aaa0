public import Glibc

/// A failed system call: the call's name, the file or object of the call, and the error code.
public struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
    public let call: String
    public let subject: String
    public let code: Int32

    public init(_ call: String, _ subject: String, code: Int32 = errno) {
        (self.call, self.subject, self.code) = (call, subject, code)
    }

    /// The system's text for the error code, such as "Permission denied".
    public var reason: String { String(cString: strerror(code)) }

    public var description: String { "\(call) \(subject): \(reason)" }
}
