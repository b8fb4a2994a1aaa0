import Synchronization

/// libvips' last warning. Its PNG reader gives the reason as a warning, then fails without a reason.
enum VipsWarning {
    private static let last = Mutex<String?>(nil)
    private static let noted = Mutex(0)

    /// The number of warnings so far.
    static var count: Int { noted.withLock { $0 } }

    /// May be called on any thread.
    static func note(_ text: UnsafePointer<CChar>?) {
        noted.withLock { $0 += 1 }
        // These lines follow the warning that has the reason.
        guard let text, case let text = String(cString: text), text != "Invalid IHDR data",
            !text.hasPrefix("error in tile")
        else { return }
        // libspng's warnings begin with the loader's name, libpng's do not.
        last.withLock { $0 = text.hasPrefix("pngload") ? text : "libpng: \(text)" }
    }

    static func take() -> String? {
        last.withLock { last in
            defer { last = nil }
            return last
        }
    }
}
