import DaemonRuntime
import Dispatch
import Synchronization
import Testing

@testable import PipelineDaemon

@Suite("Appointments")
struct AppointmentTests {
    @Test("one that the clock moves away from is kept when its time has passed, and says how far that was")
    func setBack() async {
        let queue = DispatchQueue(label: "appointment")
        let clock = Mutex(1_000_000.0)
        let early = await withCheckedContinuation { continuation in
            queue.async {
                var appointment: Appointment?
                appointment = Appointment(on: queue, now: { clock.withLock { $0 } }) { early in
                    continuation.resume(returning: early)
                    appointment = nil
                }
                appointment?.make(at: 1_000_000.05)
                clock.withLock { $0 -= 3600 }
            }
        }
        #expect(early > 3599 && early < 3601)
    }
}
