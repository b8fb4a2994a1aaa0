import Foundation

/// A file below Sources/, with its Swift imports or C includes.
struct SourceFile {
    /// The path below Sources/: `Plugins/Noir/noir.c`.
    let path: String
    let imports: [String]
    let includes: [String]
    /// Lines that create a Dispatch source for a descriptor.
    let dispatchSources: [String]
    /// Lines that dispatch work to threads shared by several queues.
    let sharedThreads: [String]
    /// Lines that create an unstructured task.
    let tasks: [String]

    init(path: String, text: String) {
        self.path = path
        // Drop multi-line string literals, because they contain the text of other files.
        let code = text.components(separatedBy: "\"\"\"").enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
            .joined()
        let lines = code.split(whereSeparator: \.isNewline)
        imports = path.hasSuffix(".swift") ? lines.compactMap(Self.importedModule) : []
        dispatchSources = lines.filter {
            $0.contains("DispatchSource.makeRead") || $0.contains("DispatchSource.makeWrite")
        }
        .map(String.init)
        sharedThreads = lines.filter { line in
            // A Dispatch source that is created without a queue runs its handler on a global queue.
            let ofNoQueue = line.contains("DispatchSource.make") && !line.contains("queue:")
            return ofNoQueue || line.contains("DispatchQueue.global(") || line.contains("attributes: .concurrent")
        }
        .map(String.init)
        tasks = path.hasSuffix(".swift") ? lines.filter(Self.makesTask).map(String.init) : []
        includes = path.hasSuffix(".swift") ? [] : lines.compactMap(Self.includedHeader)
    }

    /// The folder directly below Sources/.
    var room: String { String(path.prefix { $0 != "/" }) }

    func lies(in folder: String) -> Bool { path.hasPrefix(folder + "/") }

    private static func importedModule(_ line: Substring) -> String? {
        // First skip lines that can't be imports, because regular expressions are slow in a debug build.
        guard line.contains("import") else { return nil }
        let pattern =
            #/
            \s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?
            import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias|actor)\s+)?(\w+)
            /#
        return line.prefixMatch(of: pattern).map { String($0.output.1) }
    }

    /// Whether the line has `Task {`, `Task.detached {` or `Task(priority: .low) {` outside a comment.
    private static func makesTask(_ line: Substring) -> Bool {
        guard line.contains("Task") else { return false }
        let code = line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line
        let isType = code.contains(#/\b(?:enum|struct|class|extension)\s+Task\b/#)
        return !isType && code.contains(#/\bTask(?:<[^>]*>)?(?:\.detached|\.init|\.immediate)?\s*[({]/#)
    }

    /// Returns the header with its brackets or quotes: `<math.h>`.
    private static func includedHeader(_ line: Substring) -> String? {
        guard line.contains("#") else { return nil }
        return line.prefixMatch(of: #/\s*#\s*(?:include|import)\s*(<[^>]+>|"[^"]+")/#).map { String($0.output.1) }
    }

    static func all() throws -> [SourceFile] { try found.get() }

    /// All files of Sources/, located relative to this file and read once.
    private static let found = Result { try find() }

    private static func find() throws -> [SourceFile] {
        let package = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let sources = package.appendingPathComponent("Sources").path
        return try FileManager.default.subpathsOfDirectory(atPath: sources).sorted()
            .filter { path in [".swift", ".c", ".h", ".cpp", ".hpp"].contains(where: path.hasSuffix) }
            .map { SourceFile(path: $0, text: try String(contentsOfFile: "\(sources)/\($0)", encoding: .utf8)) }
    }
}
