import Dispatch
import Testing

@testable import ControlService

struct ComplaintsTests {
    @Test("Complaints of one kind are logged once in a while, with the number that was suppressed")
    func limit() {
        var complaints = Complaints()
        let start = DispatchTime(uptimeNanoseconds: 1_000_000_000)
        func line(_ kind: Complaints.Kind, _ text: String, after seconds: Int) -> String? {
            complaints.line(kind, text, at: start + .seconds(seconds))
        }
        #expect(line(.nonsense, "a", after: 0) == "a")
        #expect(line(.stall, "b", after: 0) == "b")
        #expect(line(.nonsense, "c", after: 1) == nil)
        #expect(line(.nonsense, "d", after: 9) == nil)
        #expect(line(.nonsense, "e", after: 10) == "e (since the last such line: 2 more)")
        #expect(line(.nonsense, "f", after: 30) == "f")
    }
}
