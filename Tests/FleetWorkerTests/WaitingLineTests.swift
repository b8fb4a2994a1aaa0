import Testing

@testable import FleetWorker

@Suite("The origins that wait for a place")
struct WaitingLineTests {
    private final class Node {
        private var line = WaitingLine()
        private let start = ContinuousClock.now

        func admits(_ origin: String, free: Int) -> Bool { line.admits(origin, free: free, at: start) }
        func add(_ origin: String, after time: Duration = .zero) { line.add(origin, at: start + time) }
        func declines(_ origin: String) { line.declines(origin) }
        func invite(_ free: Int, after time: Duration = .zero) -> [String] { line.invite(free, at: start + time) }
    }

    @Test("origins get free places in turn")
    func turns() {
        let node = Node()
        #expect(node.admits("x", free: 1))
        for origin in ["y", "z", "x"] { #expect(!node.admits(origin, free: 0)) }
        for origin in ["y", "z", "x", "y", "z", "x"] {
            #expect(node.invite(1) == [origin])
            #expect(node.admits(origin, free: 1))
            #expect(!node.admits(origin, free: 0))
        }
    }

    @Test("waiting origins precede an origin that asks at the moment when a place becomes free")
    func early() {
        let node = Node()
        for origin in ["y", "z"] { node.add(origin) }
        #expect(!node.admits("x", free: 1))
        #expect(!node.admits("x", free: 2))
        #expect(node.invite(2) == ["y", "z"])
        #expect(!node.admits("x", free: 2))
        #expect(node.admits("x", free: 3))
    }

    @Test("an origin may ask before it is told about a place")
    func untold() {
        let node = Node()
        for origin in ["y", "z"] { node.add(origin) }
        #expect(node.admits("y", free: 1))
        #expect(node.invite(0) == [])
        #expect(node.invite(1) == ["z"])
    }

    @Test("an origin that does not take its place in time loses it")
    func slow() {
        let node = Node()
        for origin in ["y", "z"] { node.add(origin) }
        #expect(node.invite(1) == ["y"])
        #expect(node.invite(1) == [])
        #expect(node.invite(1, after: WaitingLine.time) == ["z"])
    }

    @Test("an origin that falls silent is forgotten")
    func silent() {
        let node = Node()
        node.add("y")
        node.add("z", after: .seconds(1))
        #expect(node.invite(2, after: WaitingLine.patience + .seconds(1)) == ["z"])
    }

    @Test("a place that an origin declines is offered to the next origin")
    func declined() {
        let node = Node()
        for origin in ["y", "z"] { node.add(origin) }
        #expect(node.invite(1) == ["y"])
        node.declines("y")
        #expect(node.invite(1) == ["z"])
    }
}
