package import Dispatch

extension DispatchSource {
    /// Calls `handler` on `queue` for each signal of this number. When this returns, none is lost: before, it ends the process as it
    /// does any other, then Dispatch has a handler of its own in place. So `queue` must not be waiting for this.
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
