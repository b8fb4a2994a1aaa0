package import DaemonRuntime

/// The daemon as its clients see it: everything that a call may read or change. Members that may block, or that any
/// thread may call, are `nonisolated`; all others run on the coordination queue, and wait for no disk except the
/// ledger's.
@Coordination
package protocol DaemonInterface: AnyObject, Sendable, ConfigurationReading, StatusReading, JobReading, JobSteering,
    DoneJobSteering, BatchSteering, Adding, PictureReading, Watching, Cleaning, QueueSteering, FleetSteering,
    LedgerAvailability
{}

/// Withdraws a request whose client has disconnected.
package typealias Withdrawal = @Coordination @Sendable () -> Void
