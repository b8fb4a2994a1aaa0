/// Polling for states that no event reports.
public enum Look {
    /// Sleeps briefly before the next poll: a loop that only yields would keep a processor busy.
    public static func again() async { try? await Task.sleep(for: .milliseconds(5)) }
}
