import Glibc

/// Functions that treat paths as bytes, as the kernel does. Swift's `String` joins a combining mark with the slash
/// before it, and treats two encodings of an accented letter as equal.
extension FileSystem {
    private static let slash = UInt8(ascii: "/")

    public static func folder(of path: String) -> String {
        guard let end = path.utf8.lastIndex(of: slash) else { return "." }
        return end == path.utf8.startIndex ? "/" : String(decoding: path.utf8[..<end], as: UTF8.self)
    }

    /// The folder of a relative path; "" for a plain name.
    public static func subfolder(of path: String) -> String {
        path.utf8.contains(slash) ? folder(of: path) : ""
    }

    public static func name(of path: String) -> String {
        guard let end = path.utf8.lastIndex(of: slash) else { return path }
        return String(decoding: path.utf8[path.utf8.index(after: end)...], as: UTF8.self)
    }

    public static func join(_ folder: String, _ rest: String) -> String {
        if rest.isEmpty { return folder }
        if rest.utf8.first == slash { return rest }
        return folder.utf8.last == slash ? folder + rest : "\(folder)/\(rest)"
    }

    /// The absolute path. Resolves `.` and `..`, but no symbolic links.
    public static func absolute(_ path: String) -> String {
        var parts: [String] = []
        for part in join(workingFolder, path).utf8.split(separator: slash) {
            switch String(decoding: part, as: UTF8.self) {
            case ".": continue
            case "..": _ = parts.popLast()
            case let name: parts.append(name)
            }
        }
        return "/" + parts.joined(separator: "/")
    }

    public static var workingFolder: String {
        guard let folder = getcwd(nil, 0) else { return "/" }
        defer { free(folder) }
        return String(cString: folder)
    }

    public static func lies(_ path: String, within folder: String) -> Bool {
        guard path.utf8.starts(with: folder.utf8) else { return false }
        let rest = path.utf8.dropFirst(folder.utf8.count)
        return rest.isEmpty || rest.first == slash || folder.utf8.last == slash
    }

    public static func relative(_ path: String, to folder: String) -> String {
        String(decoding: path.utf8.dropFirst(folder.utf8.count).drop { $0 == slash }, as: UTF8.self)
    }

    /// A path as the key of a set or dictionary, compared by its bytes.
    public struct Key: Hashable, Sendable {
        public let path: String

        public init(_ path: String) { self.path = path }

        public static func == (left: Key, right: Key) -> Bool { left.path.utf8.elementsEqual(right.path.utf8) }

        public func hash(into hasher: inout Hasher) {
            var path = path
            path.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }
}
