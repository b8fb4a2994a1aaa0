/// A state that nobody announces is looked at again and again until it is there.
public enum Look {
    /// Leaves the processors for a moment to those who bring the state about: a loop that only yields takes one of them whole.
    public static func again() async { try? await Task.sleep(for: .milliseconds(5)) }
}
