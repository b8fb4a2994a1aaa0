/// Polling for a state that no event announces.
public enum Look {
    /// Leaves the processors to the other threads for a moment: a loop that only yields would occupy one of them.
    public static func again() async { try? await Task.sleep(for: .milliseconds(5)) }
}
