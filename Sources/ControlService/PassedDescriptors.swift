import SystemCalls

/// The descriptors that came beside a call.
package struct PassedDescriptors: Sendable {
    var descriptors: [Descriptor] = []
    /// There were more than this process could take.
    var lost = false
}

/// Descriptors on their way to the call that they came with. A stream tells only up to which byte it had brought them:
/// they belong to the call that was being read there.
struct PassingDescriptors {
    private var waiting: [(end: Int, passed: PassedDescriptors)] = []
    private(set) var count = 0

    /// `end` is how many bytes of the stream have come so far.
    mutating func append(_ packet: Received, end: Int) {
        guard !packet.descriptors.isEmpty || packet.truncated else { return }
        waiting.append((end, PassedDescriptors(descriptors: packet.descriptors, lost: packet.truncated)))
        count += packet.descriptors.count
    }

    /// Descriptors of the call that ends at `end`.
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
