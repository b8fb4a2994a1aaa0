import SystemCalls

/// The descriptors that arrived with a call.
struct PassedDescriptors: Sendable {
    var descriptors: [Descriptor] = []
    /// Whether the kernel dropped descriptors, most likely because this process has too many descriptors open.
    var lost = false
}

/// Descriptors whose calls have not been started yet. When descriptors arrive, the connection knows only the number of
/// bytes received so far. The descriptors belong to the call that contains the last of these bytes.
struct PassingDescriptors {
    private var waiting: [(end: Int, passed: PassedDescriptors)] = []
    private(set) var count = 0

    /// `end` is the number of bytes received so far.
    mutating func append(_ packet: Received, end: Int) {
        guard !packet.descriptors.isEmpty || packet.truncated else { return }
        waiting.append((end, PassedDescriptors(descriptors: packet.descriptors, lost: packet.truncated)))
        count += packet.descriptors.count
    }

    /// Removes and returns the descriptors of the call that ends at byte `end`.
    mutating func take(upTo end: Int) -> PassedDescriptors {
        var taken = PassedDescriptors()
        while let first = waiting.first, first.end <= end {
            taken.descriptors += first.passed.descriptors
            taken.lost = taken.lost || first.passed.lost
            waiting.removeFirst()
        }
        count -= taken.descriptors.count
        return taken
    }
}
