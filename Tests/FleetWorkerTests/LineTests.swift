import Testing

@testable import FleetWorker

@Suite("A connection to a server")
struct LineTests {
    @Test("a connection that fails leaves nothing behind")
    func failed() {
        final class Kept: Sendable {}
        weak var kept: Kept?
        do {
            let call = Kept()
            kept = call
            #expect(throws: LineError.self) {
                _ = try Line("nats://127.0.0.1:1", name: "a", nil, refused: { _ in }) { withExtendedLifetime(call) {} }
            }
        }
        #expect(kept == nil)
    }
}
