import Synchronization

/// libvips' last warning. When the PNG reader fails, it gives the reason only in a warning, not in its error.
enum VipsWarning {
    private static let last = Mutex<String?>(nil)
    private static let noted = Mutex(0)

    /// The number of warnings so far.
    static var count: Int { noted.withLock { $0 } }

    /// May be called on any thread.
    static func note(_ text: UnsafePointer<CChar>?) {
        noted.withLock { $0 += 1 }
        // Ignore these two warnings, because they follow the warning that gives the reason.
        guard let text, case let text = String(cString: text), text != "Invalid IHDR data",
            !text.hasPrefix("error in tile")
        else { return }
        // libspng's warnings begin with the loader's name; libpng's need a prefix.
        last.withLock { $0 = text.hasPrefix("pngload") ? text : "libpng: \(text)" }
    }

    static func take() -> String? {
        last.withLock { last in
            defer { last = nil }
            return last
        }
    }
}
