import PipelineControl

/// An error in the form that programs and the page's scripts read.
private struct Complaint: Encodable {
    var error: String
    var message: String
    var parameters: ErrorParameters
}

extension HTTPAnswer {
    private static let jsonType = "application/json"

    static func json(_ value: some Encodable) -> HTTPAnswer {
        guard let bytes = try? Wire.encode(value) else { return failure(500, "the answer can't be written as JSON") }
        return HTTPAnswer(status: 200, type: jsonType, body: .bytes(bytes))
    }

    /// An error response from the gallery itself rather than from the daemon.
    static func failure(_ status: Int, _ message: String) -> HTTPAnswer {
        failure(status, .other(name: "org.pipelined.Gallery.Refused", message: message), message)
    }

    static func failure(_ why: Tokens.Refusal) -> HTTPAnswer { failure(why.status, why.words) }

    static func failure(_ why: NoAnswer) -> HTTPAnswer {
        guard case .refused(let error) = why else { return failure(503, "\(why)").with("Retry-After", "2") }
        let status =
            switch error {
            case .noSuchJob: 404
            case .refused: 409
            default: 400
            }
        return failure(status, error, "\(error)")
    }

    private static func failure(_ status: Int, _ error: ControlError, _ message: String) -> HTTPAnswer {
        let (name, parameters) = error.wire
        let complaint = Complaint(error: name, message: message, parameters: parameters)
        let bytes = (try? Wire.encode(complaint)) ?? []
        return HTTPAnswer(status: status, type: jsonType, body: .bytes(bytes), message: message)
    }
}
