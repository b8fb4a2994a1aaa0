package import Dispatch

extension DispatchSource {
    /// Calls `handler` on `queue` for each signal of this number; no signal is lost once this has returned. Until
    /// Dispatch has installed a handler of its own, a signal ends the process as usual. The registration runs on
    /// `queue`, so the caller must not block it.
    package static func signal(
        _ number: Int32, on queue: DispatchQueue, _ handler: @escaping @Sendable () -> Void
    ) -> sending any DispatchSourceSignal {
        let registered = DispatchSemaphore(value: 0)
        let source = makeSignalSource(signal: number, queue: queue)
        source.setRegistrationHandler { registered.signal() }
        source.setEventHandler(handler: handler)
        source.activate()
        registered.wait()
        return source
    }
}
