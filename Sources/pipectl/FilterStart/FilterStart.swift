import SystemCalls

/// The files of a new filter: the example from the guide to filters, renamed to the filter's name.
struct FilterStart: Encodable {
    enum Language: String, CaseIterable {
        case swift, c
        case cpp = "c++"
    }

    /// The files' contents, keyed by path.
    let files: [String: String]
    /// The build command, run in the filter's folder, and the file that it makes.
    let build: String
    let product: String
    private let folder: String

    private enum CodingKeys: CodingKey {
        case files, build, product
    }

    init(_ name: String, _ language: Language) throws(Failure) {
        guard Self.isName(name) else {
            throw .usage(
                "'\(name)' can't be a filter's name: it begins with a letter a-z; letters, digits and - can follow, 40 in all"
            )
        }
        let kit = Self.kit
        guard language != .swift || FileSystem.mayExist(kit) else {
            throw Failure(
                "NotInstalled",
                "there is no PluginKit in \(kit); install pipelined (./run install --prefix P), and use the pipectl there",
                .failed)
        }
        // The stage `tilt-shift` gets the type `TiltShift`.
        let type = name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        let texts: [String: String]
        switch language {
        case .swift:
            texts = ["Package.swift": Self.swiftPackage, "Sources/\(type)/\(type).swift": Self.swift]
            (build, product) = ("swift build -c release", ".build/release/lib\(name).so")
        case .c:
            texts = ["\(name).c": Self.c, "Makefile": Self.makefileOfC]
            (build, product) = ("make", "\(name).so")
        case .cpp:
            texts = ["\(name).cpp": Self.cpp, "Makefile": Self.makefileOfCPP]
            (build, product) = ("make", "\(name).so")
        }
        folder = name
        let pairs = texts.map { path, text in
            (
                FileSystem.join(name, path),
                text.replacing("WARM_NAME", with: name).replacing("WARM_TYPE", with: type)
                    .replacing("PLUGINKIT", with: kit)
            )
        }
        files = Dictionary(uniqueKeysWithValues: pairs)
    }

    /// Writes the files into a new folder named after the filter, in the current folder.
    func write() throws(Failure) {
        guard !FileSystem.mayExist(folder) else {
            throw Failure("Exists", "\(folder) exists already; nothing was written", .failed)
        }
        do throws(SystemError) {
            for (path, text) in files {
                try FileSystem.makeFolders(FileSystem.folder(of: path))
                try FileSystem.write(Array(text.utf8), to: path)
            }
        } catch {
            throw Failure("NotWritten", "\(error)", .failed)
        }
    }

    /// Whether the daemon accepts the filter's name, and the compiler accepts the type name that is derived from it.
    private static func isName(_ name: String) -> Bool {
        let words = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return name.utf8.count <= 40 && name.utf8.first.map { (97...122).contains($0) } == true
            && words.allSatisfy { !$0.isEmpty && $0.allSatisfy { (97...122).contains($0) || (48...57).contains($0) } }
    }

    /// The folder in which `./run install` puts PluginKit, found relative to this program.
    private static var kit: String {
        let programs = FileSystem.folder(of: FileSystem.resolved("/proc/self/exe"))
        return FileSystem.join(FileSystem.folder(of: programs), "share/pipelined/PluginKit")
    }
}
