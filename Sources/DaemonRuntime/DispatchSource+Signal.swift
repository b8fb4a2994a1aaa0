package import Dispatch

extension DispatchSource {
    /// Calls `handler` on `queue` for each signal of this number. Until Dispatch has installed its own handler, the
    /// signal still has its default effect, which may end the process; no signal is lost once this function has
    /// returned. It waits for a registration that runs on `queue`, so it must not be called on that queue.
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
