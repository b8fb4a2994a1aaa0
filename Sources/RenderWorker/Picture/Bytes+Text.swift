import CLinux

extension Collection<UInt8> {
    func contains(text: String) -> Bool { Array(self).end(of: text, from: 0) != nil }
}

extension [UInt8] {
    /// The end of the first occurrence of `text` from `start` on.
    func end(of text: String, from start: Int) -> Int? {
        let at = withUnsafeBytes { bytes in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
            return clinux_find(rest.baseAddress, rest.count, text, text.utf8.count)
        }
        return at < 0 ? nil : start + at + text.utf8.count
    }
}
