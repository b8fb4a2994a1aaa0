package import ServiceProgram
package import SystemCalls

extension ReadySource {
    /// Creates a source that calls its handler on the coordination queue.
    package convenience init(coordinated descriptor: Descriptor, _ direction: Direction = .reading) {
        self.init(descriptor, direction, queue: Coordination.queue)
    }

    /// Like `activate`, for a source on the coordination queue.
    package func coordinate(_ handler: @escaping @Coordination @Sendable () -> Void) {
        activate { Coordination.assumeIsolated(handler) }
    }
}
