import PipelineModel
import SystemCalls

extension Engine {
    /// Makes the stream and its consumers, or finds out that they are what is needed.
    func check(ackWait: Duration, copies: Int) throws {
        do {
            try checkStream(copies: copies)
            for priority in Priority.allCases { try check(priority, Int64(ackWait / .nanoseconds(1))) }
        } catch let error as LineError where error.isNoResponders {
            throw Self.noJetStream
        } catch let error as EngineError where error.isDisabled {
            throw Self.noJetStream
        }
    }

    private static let noJetStream = EngineProblem(
        "the server has no JetStream; start it with a section jetstream {} in its configuration")

    private func checkStream(copies: Int) throws {
        let api = "STREAM.INFO.\(Subject.stream)"
        var answer: EngineAnswer.Stream
        do {
            answer = try ask(EngineAnswer.Stream.self, api, EngineRequest.Nothing())
        } catch let error as EngineError where error.isAbsence {
            answer = try ask(
                EngineAnswer.Stream.self, "STREAM.CREATE.\(Subject.stream)",
                EngineRequest.Stream(num_replicas: copies))
        }
        try Self.checkVersion(answer.config?.metadata?["_nats.ver"])
        let wanted = EngineRequest.Stream()
        try Self.check(
            "stream \(Subject.stream)", "stream rm \(Subject.stream)",
            [
                ("retention", answer.config?.retention, wanted.retention),
                ("storage", answer.config?.storage, wanted.storage),
                ("subjects", answer.config?.subjects?.joined(separator: ","), wanted.subjects.joined(separator: ",")),
                ("sealed", "\(answer.config?.sealed ?? false)", "false"),
            ])
    }

    /// Servers say their version in what they tell of a stream since 2.11.
    static func checkVersion(_ text: String?) throws {
        let version = text.flatMap(ServerVersion.init)
        guard let version else {
            throw EngineProblem("the server is older than 2.11, and known to lose messages; install 2.14.0 or newer")
        }
        guard let needed = version.needed else { return }
        throw EngineProblem(
            "the server is \(version), which has known flaws; install \(needed) or newer")
    }

    private func check(_ priority: Priority, _ ackWait: Int64) throws {
        let name = "\(Subject.stream).\(priority.rawValue)"
        let wanted = EngineRequest.Consumer.Config(
            durable_name: priority.rawValue, filter_subject: Subject.jobs(priority), ack_wait: ackWait)
        var answer: EngineAnswer.Consumer
        do {
            answer = try ask(EngineAnswer.Consumer.self, "CONSUMER.INFO.\(name)", EngineRequest.Nothing())
        } catch let error as EngineError where error.isAbsence {
            answer = try ask(
                EngineAnswer.Consumer.self, "CONSUMER.DURABLE.CREATE.\(name)",
                EngineRequest.Consumer(config: wanted))
        }
        let config = answer.config
        let removing = "consumer rm \(Subject.stream) \(priority.rawValue)"
        try Self.check(
            "consumer \(priority.rawValue) of stream \(Subject.stream)", removing,
            [
                ("filter_subject", config?.filter_subject, wanted.filter_subject),
                ("ack_policy", config?.ack_policy, wanted.ack_policy),
                ("ack_wait", config?.ack_wait.map { "\($0)" }, "\(wanted.ack_wait)"),
                ("max_deliver", "\(config?.max_deliver ?? -1)", "-1"),
                ("deliver_subject", config?.deliver_subject ?? "", ""),
            ])
    }

    private static func check(_ what: String, _ removing: String, _ settings: [(String, String?, String)]) throws {
        for (name, value, wanted) in settings where value != wanted {
            throw EngineProblem(
                "the \(what) has \(name)=\(String((value ?? "").prefix(100)).printable) where \(wanted) is needed; remove it, and it is "
                    + "made anew and filled again: nats \(removing)")
        }
    }
}
