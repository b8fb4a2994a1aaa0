import Glibc

/// The bytes of a file, for a reader that moves forward. Only one window of the file is in memory at a time.
struct FileWindow {
    private let read: (_ offset: Int, _ count: Int) -> [UInt8]?
    private let size: Int
    private var window: (start: Int, bytes: [UInt8]) = (0, [])

    private static let length = 1 << 16

    init(size: Int, _ read: @escaping (_ offset: Int, _ count: Int) -> [UInt8]?) {
        (self.size, self.read) = (size, read)
    }

    /// Nil past the end, and where the file can't be read.
    mutating func byte(_ at: Int) -> UInt8? {
        guard at < size else { return nil }
        if !(window.start..<window.start + window.bytes.count).contains(at) {
            guard let bytes = read(at, min(Self.length, size - at)) else { return nil }
            window = (at, bytes)
        }
        return window.bytes[at - window.start]
    }

    /// The next position of this byte, from `start` on.
    mutating func place(of byte: UInt8, from start: Int) -> Int? {
        var at = start
        while self.byte(at) != nil {
            let offset = at - window.start
            let found = window.bytes.withUnsafeBytes { bytes -> Int? in
                guard let base = bytes.baseAddress,
                    let place = memchr(base + offset, Int32(byte), bytes.count - offset)
                else { return nil }
                return UnsafeRawPointer(place) - base
            }
            if let found { return window.start + found }
            at = window.start + window.bytes.count
        }
        return nil
    }
}
