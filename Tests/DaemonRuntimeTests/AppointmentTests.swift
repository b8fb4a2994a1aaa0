import DaemonRuntime
import ServiceProgram
import Synchronization
import Testing

@Suite("Appointments")
struct AppointmentTests {
    private final class Clock: Sendable {
        let time = Mutex(1_000_000.0)
    }

    @Test("when the clock is set back, an appointment still fires after its delay, and reports how early that is")
    func setBack() async {
        let clock = Clock()
        let early = await withCheckedContinuation { continuation in
            Coordination.async {
                var appointment: Appointment?
                appointment = Appointment(now: { clock.time.withLock { $0 } }) { early in
                    continuation.resume(returning: early)
                    appointment = nil
                }
                appointment?.make(at: 1_000_000.05)
                clock.time.withLock { $0 -= 3600 }
            }
        }
        #expect(early > 3599 && early < 3601)
    }
}
