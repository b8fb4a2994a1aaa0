import DaemonRuntime
import Foundation
import PipelineModel
import ServiceProgram
import SystemCalls
import WorkerProtocol

/// Finds a node for each lent picture: offers the picture to nodes with room, one after another, until a node accepts.
@Coordination
final class Offers {
    private struct Asked {
        var lent: Loan
        var node: String
        var at = ContinuousClock.now
        var line: ObjectIdentifier
    }

    private let loans: Loans
    private let lines: Lines
    private let patience: Duration
    var nodes = Nodes()
    /// Offers without an answer so far, keyed by the attempt's token.
    private var asked: [String: Asked] = [:]
    private var hasAppointment = false

    private static let inbox = "take"
    /// Timeout of an offer. A node that has not answered by then does not get the picture.
    private static let silence = Duration.seconds(2)
    /// Pause before the next search, if the last search found no node with a free place for some picture.
    private static let pause = Duration.milliseconds(500)
    /// How long a picture may wait although a node has room. A longer wait is reported as a problem.
    private static let tooLong = Duration.seconds(20)

    init(_ loans: Loans, _ lines: Lines, patience: Duration) {
        (self.loans, self.lines, self.patience) = (loans, lines, patience)
        lookForLost()
    }

    func listen(on line: Line) throws(LineError) {
        try line.listen(to: line.inbox("\(Self.inbox).*")) { [weak self] message in
            let (token, answer) = (Subject.last(of: message.subject), message.decoded(TakeAnswer.self))
            guard answer != nil || message.isAbsence else { return }
            Coordination.async { self?.hear(token, answer) }
        }
    }

    /// Records an announcement. Returns whether the node is new, was gone, or has restarted.
    func hear(_ presence: Presence) -> Bool {
        let isNew = nodes.hear(presence, own: loans.name)
        // The node sent the announcement before it received the pending offers, so each of these offers still reduces
        // the node's number of free places.
        for one in asked.values where one.node == presence.node.name { nodes.takesOne(one.node) }
        return isNew
    }

    /// Offers every picture that has no attempt yet.
    func look() {
        guard let line = lines.current else { return }
        var hasFull = false
        let all = loans.all
        var fetching = Fetching(all)
        for lent in all where !fetching.isFull {
            guard let search = lent.search else { continue }
            let busy = fetching.busy
            if let nodes = lent.dangerousTo {
                loans.end(lent, .failed(lent.key.id, Self.dangerous(nodes)))
            } else if let node = nodes.choose(
                for: lent.picture, of: Release.version, where: { search.mayAsk($0) && !busy.contains($0) })
            {
                ask(node, to: lent, line)
                if lent.fetcher == node { fetching.add(node) }
            } else {
                hasFull = true
            }
        }
        if hasFull { lookAgain() }
    }

    /// Searches again after a pause. Also tells some of the full nodes that this origin is waiting, so that they report
    /// when a place becomes free.
    private func lookAgain() {
        guard !hasAppointment else { return }
        hasAppointment = true
        Coordination.after(Self.pause) { [self] in
            hasAppointment = false
            look()
            guard let line = lines.current else { return }
            var notified: Set<String> = []
            for lent in loans.all where notified.count < nodes.mostNotified {
                guard let search = lent.search,
                    let node = nodes.chooseFull(
                        for: lent.picture, of: Release.version,
                        where: { search.mayAsk($0) && !notified.contains($0) })
                else { continue }
                notified.insert(node)
                try? line.publish(to: Subject.waits(at: node, by: loans.name))
            }
        }
    }

    private func ask(_ node: String, to lent: Loan, _ line: Line) {
        guard let token = lent.attempt(by: node) else { return }
        nodes.takesOne(node)
        asked[token] = Asked(lent: lent, node: node, line: ObjectIdentifier(line))
        let offer = Offer(run: loans.run, attempt: token, picture: lent.picture)
        if let bytes = try? JSONEncoder().encode(offer) {
            try? line.publish(
                Array(bytes), to: Subject.take(by: node, of: loans.name), reply: line.inbox("\(Self.inbox).\(token)"))
        }
        Coordination.after(Self.silence) { [weak self] in self?.hear(token, nil) }
    }

    /// Handles a node's answer to an offer. A nil answer means that the node did not answer in time, or is not
    /// connected.
    private func hear(_ token: String, _ answer: TakeAnswer?) {
        guard let asked = asked.removeValue(forKey: token) else { return }
        let (lent, node) = (asked.lent, asked.node)
        if case .yes = answer?.word {
            if lent.begins(token, announce: { loans.begun(lent, by: $0) }) { return }
            // The attempt is over, for example because the supervisor has taken the picture back meanwhile.
            try? lines.current?.publish(to: Subject.unwanted(on: node, by: loans.name))
        }
        // If the node accepted and its answer got lost, the node's first request may have started the attempt. The
        // attempt then continues.
        guard lent.isNotBegun(token) else { return }
        switch answer?.word {
        // Silence counts only if the connection is still the same. After a reconnection, the answer may have been lost
        // with the old connection.
        case nil where lines.current.map(ObjectIdentifier.init) == asked.line:
            nodes.isMute(node, since: asked.at)
            loans.fails(lent, because: .silent)
        case nil: break
        case .refused: loans.refused(lent, by: node, because: .refused(nil))
        case .yes, .full: nodes.hasNoPlace(node)
        }
        look()
    }

    /// Called after each reconnection. Restarts the timeout of every attempt, because no sign of life could arrive
    /// without a connection.
    func begin() {
        for lent in loans.all { lent.mayBeSilent() }
        look()
    }

    private func lookForLost(at planned: ContinuousClock.Instant = .now) {
        for lent in loans.all where lines.current != nil {
            if planned + patience / 6 < .now {
                // The timer fired late, probably because this process was suspended. A suspended process can't receive
                // signs of life.
                lent.mayBeSilent()
            } else if let node = lent.isLost(after: patience) {
                loans.fails(lent, because: .silent)
                loans.left(lent, by: node, hasPlace: false)
            }
        }
        let next = ContinuousClock.now + patience / 6
        Coordination.after(patience / 6) { [weak self] in self?.lookForLost(at: next) }
    }

    private static func dangerous(_ nodes: [String]) -> WorkerFailure {
        WorkerFailure(
            stage: "fleet",
            message: "\(nodes.count) nodes have begun it, and none has finished it: \(nodes.joined(separator: ", "))",
            advice: "check the logs of these nodes", class: .crash)
    }

    /// Reports pictures that wait too long although a node has room.
    var problem: String? {
        let all = loans.all
        let fetching = Fetching(all)
        guard !fetching.isFull else { return nil }
        let stuck = all.filter { lent in
            guard let search = lent.search, search.since + Self.tooLong < .now else { return false }
            return nodes.hasRoom(for: lent.picture, of: Release.version, without: fetching.busy)
        }
        guard !stuck.isEmpty else { return nil }
        return
            "\(stuck.count) lent pictures have waited for over 20 seconds, although a node has room; check "
            + "the logs of the other nodes"
    }
}

/// Counts the pictures that each node is fetching now. The total is limited, so that each node gets the pieces of its
/// pictures in time even over a slow connection.
struct Fetching {
    private var nodes: [String: Int] = [:]

    static let most = 8
    static let mostOfOne = 2

    init(_ all: [Loan]) { for lent in all { lent.fetcher.map { add($0) } } }

    var isFull: Bool { nodes.values.reduce(0, +) >= Self.most }
    /// Nodes that are already fetching `mostOfOne` pictures, and therefore get no offers now.
    var busy: Set<String> { Set(nodes.filter { $0.value >= Self.mostOfOne }.keys) }

    mutating func add(_ node: String) { nodes[node, default: 0] += 1 }
}
