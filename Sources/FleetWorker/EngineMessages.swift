// The names are those of JetStream's API.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// Requests to the server.
enum EngineRequest {
    struct Nothing: Encodable {}

    struct Purge: Encodable { var filter: String }

    struct Subjects: Encodable {
        var subjects_filter: String
        var offset: Int
    }

    /// One picture, if there is one.
    struct Next: Encodable {
        var batch = 1
        var no_wait = true
    }

    struct Stream: Encodable {
        var name = Subject.stream
        var subjects = [Subject.jobs]
        var retention = "workqueue"
        var storage = "file"
        var num_replicas = 1
    }

    struct Consumer: Encodable {
        struct Config: Encodable {
            var durable_name: String
            var filter_subject: String
            /// Nanoseconds.
            var ack_wait: Int64
            var ack_policy = "explicit"
            var deliver_policy = "all"
            var replay_policy = "instant"
            var max_deliver = -1
            var max_ack_pending = 1024
        }

        var stream_name = Subject.stream
        var config: Config
    }
}

protocol EngineAnswering: Decodable {
    var error: EngineError? { get }
}

struct EngineError: Decodable, Error, CustomStringConvertible {
    var code: Int
    var err_code: Int?
    var description: String

    var isAbsence: Bool { err_code == 10059 || err_code == 10014 }
    /// The account or the server has no JetStream.
    var isDisabled: Bool { err_code == 10039 || err_code == 10076 }
}

/// The server's answers, as far as they are looked at.
enum EngineAnswer {
    struct Plain: EngineAnswering { var error: EngineError? }

    struct Kept: EngineAnswering {
        var error: EngineError?
        var stream: String?
    }

    struct Stream: EngineAnswering {
        struct Config: Decodable {
            var subjects: [String]?
            var retention: String?
            var storage: String?
            var sealed: Bool?
            var metadata: [String: String]?
        }

        struct State: Decodable { var subjects: [String: Int]? }

        var error: EngineError?
        var config: Config?
        var state: State?
        var total: Int?
    }

    struct Consumer: EngineAnswering {
        struct Config: Decodable {
            var filter_subject: String?
            var ack_policy: String?
            var ack_wait: Int64?
            var max_deliver: Int?
            var max_ack_pending: Int?
            var deliver_subject: String?
        }

        var error: EngineError?
        var config: Config?
    }
}
