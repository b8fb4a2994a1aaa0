import Synchronization

/// What libvips warned of last. Its PNG reader tells what is wrong with a file as a warning, and then fails without a word.
enum VipsWarning {
    private static let last = Mutex<String?>(nil)

    /// On any thread.
    static func note(_ text: UnsafePointer<CChar>?) {
        // The line before that says what of them.
        guard let text, case let text = String(cString: text), text != "Invalid IHDR data" else { return }
        last.withLock { $0 = text }
    }

    static func take() -> String? {
        last.withLock { last in
            defer { last = nil }
            return last
        }
    }
}
