package import Dispatch

extension DispatchSource {
    /// Calls `handler` on `queue` for each signal of this number. Blocks until Dispatch has installed its own handler;
    /// from then on, no signal is lost. Before that, the signal has its default effect, which may end the process. Must
    /// not be called on `queue`, because the installation runs there.
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
