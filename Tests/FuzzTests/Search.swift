import Foundation
import Glibc
import Synchronization

/// A libFuzzer search for inputs that break a reader. It needs a build with libFuzzer: `./run fuzz --target NAME
/// MINUTES`.
enum Search {
    /// The name of the reader that is fuzzed.
    static let name = ProcessInfo.processInfo.environment["PIPELINED_FUZZ"]

    private static let target = Mutex<FuzzTarget?>(nil)

    private typealias Driver =
        @convention(c) (
            UnsafeMutablePointer<Int32>, UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
            @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
        ) -> Int32

    /// Starts a search with the command-line options of this process, and exits when the search ends.
    static func run(_ target: FuzzTarget) throws {
        guard let symbol = dlsym(nil, "LLVMFuzzerRunDriver") else { throw NoFuzzer() }
        Self.target.withLock { $0 = target }
        let (own, options) = words
        try writeDictionary(of: target, options)
        var arguments = ([own.joined(separator: " ")] + options).map { strdup($0) } + [nil]
        try arguments.withUnsafeMutableBufferPointer { words in
            var (count, first) = (Int32(words.count - 1), words.baseAddress)
            let status = unsafeBitCast(symbol, to: Driver.self)(&count, &first) { start, count in
                let bytes = Array(UnsafeBufferPointer(start: start, count: count))
                Search.target.withLock { $0 }?.read(bytes)
                return 0
            }
            guard status == 0 else { throw NoFuzzer() }
        }
    }

    /// Writes the reader's words to the file that libFuzzer uses as its dictionary.
    private static func writeDictionary(of target: FuzzTarget, _ options: [String]) throws {
        guard let option = options.first(where: { $0.hasPrefix("-dict=") }) else { return }
        let lines = Set(target.words).sorted().map { word in
            "\"" + word.utf8.map { "\\x" + String(Int($0) + 256, radix: 16).dropFirst() }.joined() + "\"\n"
        }
        // The comment line keeps the file from being empty, which libFuzzer rejects.
        try (["# \(target.name)\n"] + lines).joined().write(
            toFile: String(option.dropFirst("-dict=".count)), atomically: true, encoding: .utf8)
    }

    /// The arguments of this process, split at the first libFuzzer option, which has a single dash. libFuzzer starts
    /// its child processes with its first argument as the command, so `own` is joined into that argument.
    private static var words: (own: [String], options: [String]) {
        let all = CommandLine.arguments
        let first = all.firstIndex { $0.hasPrefix("-") && !$0.hasPrefix("--") } ?? all.endIndex
        return (Array(all[..<first]), Array(all[first...]))
    }

    private struct NoFuzzer: Error, CustomStringConvertible {
        var description: String { "this build has no libFuzzer: ./run fuzz --target NAME MINUTES makes one that has" }
    }
}
