import DaemonConfiguration
package import DaemonRuntime
import Glibc
import JobLedger
import PipelineModel
import ServiceProgram
import SystemCalls

/// The clock that measures the age of files and jobs.
///
/// A machine may start with a clock that is years ahead. With such a clock, the age limits would remove everything. So
/// the daemon doubts a clock that is far beyond the latest trusted time, unless the system has synchronised the clock,
/// or a user has removed files by age.
@Coordination
package final class AgeClock {
    struct Reading {
        var time = Timestamp.now()
        var uptime = AgeClock.uptime
        var isSynchronised = AgeClock.isSynchronised
    }

    private let ledger: Ledger
    private let configuration: ConfigurationInForce
    private let read: @Coordination () -> Reading
    /// The latest trusted time, and the uptime at that moment.
    private var believed: (time: Double, uptime: Double)?
    private var recorded = 0.0
    /// Why the daemon doubts the clock, and the remedy; nil if it trusts the clock. In doubt, the daemon removes
    /// nothing by age.
    private(set) var doubt: String? {
        didSet {
            guard (doubt == nil) != (oldValue == nil) else { return }
            if let doubt { Log.failure(doubt) } else { Log.notice("the clock is right again: age limits apply") }
            events?.statusChanged()
        }
    }
    weak var events: (any DaemonEvents)?

    /// The earliest plausible time at which the daemon can have kept a file, because pipelined did not exist before
    /// 2026. An earlier recorded time comes from a machine whose clock had not been set yet.
    nonisolated static let earliest = 1_767_225_600.0
    /// Number of seconds by which the trusted time must change before it is recorded again.
    private static let step = 3600.0

    init(
        _ ledger: Ledger, _ configuration: ConfigurationInForce,
        _ read: @escaping @Coordination () -> Reading = { Reading() }
    ) {
        (self.ledger, self.configuration, self.read) = (ledger, configuration, read)
    }

    /// Reads the latest time that earlier runs have trusted.
    func begin() throws {
        guard let time = try ledger.believedTime() else { return }
        believed = (time, read().uptime)
        recorded = time
    }

    /// The current time; nil while the daemon doubts the clock.
    var now: Double? {
        let reading = read()
        if let believed, !reading.isSynchronised {
            let leap = configuration.settings.keep.clockLeap / .seconds(1)
            let latest = believed.time + max(0, reading.uptime - believed.uptime) + leap
            guard reading.time <= latest else {
                doubt =
                    "the clock says \(Timestamp.dated(reading.time)), and the latest time that is known is "
                    + "\(Timestamp.dated(believed.time)): nothing is removed by its age; set the clock, or, if it is right, "
                    + "confirm that with `pipectl clean --archive --older 2000-01-01`"
                return nil
            }
        }
        believe(reading)
        return reading.time
    }

    /// Trusts the clock, because a user has removed files by age.
    func confirm() { believe(read()) }

    private func believe(_ reading: Reading) {
        // A machine without a clock battery starts in the past, and its clock is corrected later. So only a
        // synchronised clock can move the trusted time back.
        let time = reading.isSynchronised ? reading.time : max(reading.time, believed?.time ?? 0)
        believed = (time, reading.uptime)
        doubt = nil
        guard abs(time - recorded) >= Self.step else { return }
        recorded = time
        ledger.believe(time: time)
    }

    /// Seconds since the boot, including the time that the machine slept.
    nonisolated private static var uptime: Double {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Whether systemd-timesyncd has set the clock since the boot.
    nonisolated private static var isSynchronised: Bool {
        (try? FileSystem.exists("/run/systemd/timesync/synchronized")) == true
    }
}
