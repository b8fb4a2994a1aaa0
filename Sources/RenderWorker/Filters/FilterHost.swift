import CPipelinePlugin
import Glibc
import Synchronization
import WorkerProtocol

/// The host's side of the plugin contract: the functions that filters may call, and the messages that filters send. A
/// worker renders one picture at a time, so a single state serves all filters.
///
/// The table of functions that a filter receives is never freed. So a filter that keeps the pointer, against the
/// contract, reads no freed memory.
enum FilterHost {
    private struct State {
        var names: [UInt: String] = [:]
        var complaint: String?
        var lines = 0
        var linesLeft = 0
        var linesOmitted = 0
        var tell: @Sendable (WorkerMessage) -> Void = { _ in }
        var isCancelled: @Sendable () -> Bool = { false }
        var trail: FilterTrail?
        var words = PictureWords()
        /// Addresses of the texts that the running filter has received.
        var given: [UInt] = []
        /// The files of the current outputs, by SHA-256.
        var files: [String: FileBytes] = [:]
        /// The files of the running filter, by the addresses of the parameter values that name them.
        var handed: [UInt: FileBytes] = [:]
    }

    /// The bytes of a file that filters use.
    private final class FileBytes: Sendable {
        let start: UInt
        let count: Int

        init(_ bytes: [UInt8]) {
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 16)
            copy.copyBytes(from: bytes)
            (start, count) = (UInt(bitPattern: copy.baseAddress), bytes.count)
        }

        deinit { UnsafeMutableRawPointer(bitPattern: start)?.deallocate() }
    }

    private static let state = Mutex(State())
    private static let longestLine = 400

    static func table(of filter: String, resources: String?, ownFolder: String) -> UnsafePointer<PipelineHost> {
        let table = UnsafeMutablePointer<PipelineHost>.allocate(capacity: 1)
        table.initialize(
            to: PipelineHost(
                size: MemoryLayout<PipelineHost>.size,
                fail: { _, message in FilterHost.fail(FilterHost.line(message)) },
                log: { host, level, message in
                    FilterHost.log(host, isWarning: level == PIPELINE_LOG_WARNING, FilterHost.line(message))
                },
                cancelled: { _ in FilterHost.isCancelled ? 1 : 0 },
                resources: resources.flatMap { strdup($0) }.map { UnsafePointer($0) },
                own_folder: UnsafePointer(strdup(ownFolder)), text: { _, which in FilterHost.text(which) },
                file: { _, value, size in FilterHost.file(value, size) }))
        state.withLock { $0.names[UInt(bitPattern: table)] = filter }
        return UnsafePointer(table)
    }

    /// Sets the callbacks for messages and for cancellation, once, before the first picture.
    static func connect(
        tell: @escaping @Sendable (WorkerMessage) -> Void, isCancelled: @escaping @Sendable () -> Bool,
        trail: FilterTrail?
    ) {
        state.withLock { state in
            state.tell = tell
            state.isCancelled = isCancelled
            state.trail = trail
        }
    }

    /// Starts a picture, for which the filters may log at most `lines` lines.
    static func begin(lines: Int) {
        state.withLock { state in
            state.linesLeft = lines
            state.linesOmitted = 0
            state.trail?.begin()
        }
    }

    /// Finishes a picture, and reports how many log lines were omitted.
    static func end() {
        let (omitted, tell) = state.withLock { state in
            defer { (state.linesLeft, state.linesOmitted) = (0, 0) }
            return (state.linesOmitted, state.tell)
        }
        guard omitted > 0 else { return }
        let text = omitted == 1 ? "and one line more" : "and \(omitted) lines more"
        tell(.said(FilterLine(filter: nil, isWarning: false, text: text)))
    }

    /// Runs code of filters. Records the filters' names first, so that the supervisor can read them if the code never
    /// returns.
    static func applying<Result>(_ names: [String], _ body: () throws -> Result) rethrows -> Result {
        state.withLock { $0.trail?.enter(names) }
        defer { state.withLock { $0.trail?.leave() } }
        return try body()
    }

    /// Runs `body`, which calls a filter's function. The filter may read the texts in `words`. Returns the message that
    /// the filter passed to `fail`, if any.
    static func complaint(about words: PictureWords = PictureWords(), _ body: () -> Void) -> String? {
        state.withLock { ($0.complaint, $0.words) = (nil, words) }
        body()
        return state.withLock { state in
            for text in state.given { free(UnsafeMutableRawPointer(bitPattern: text)) }
            (state.given, state.words) = ([], PictureWords())
            return state.complaint
        }
    }

    /// Stores the files that the filters of the next outputs use, and forgets earlier files.
    static func take(_ files: [String: [UInt8]]) {
        state.withLock { $0.files = files.mapValues(FileBytes.init) }
    }

    /// Makes files available to the filter that runs next. `digests` contains the files' SHA-256, by the index of their
    /// parameter in `values`.
    static func hand(_ digests: [Int: String], at values: UnsafePointer<PipelineValue>) {
        state.withLock { state in
            state.handed = [:]
            for (index, digest) in digests { state.handed[UInt(bitPattern: values + index)] = state.files[digest] }
        }
    }

    private static func file(
        _ value: UnsafePointer<PipelineValue>, _ size: UnsafeMutablePointer<Int>
    ) -> UnsafeRawPointer? {
        guard let file = state.withLock({ $0.handed[UInt(bitPattern: value)] }) else { return nil }
        size.pointee = file.count
        return UnsafeRawPointer(bitPattern: file.start)
    }

    private static func text(_ which: PipelineText) -> UnsafePointer<CChar>? {
        state.withLock { state -> UInt? in
            let text = which == PIPELINE_CAPTION ? state.words.caption : state.words.credit
            guard let text, which.rawValue <= PIPELINE_CREDIT.rawValue else { return nil }
            let copy = UInt(bitPattern: strdup(text))
            state.given.append(copy)
            return copy
        }.flatMap { UnsafePointer(bitPattern: $0) }
    }

    /// Number of lines that filters have logged so far, including omitted lines.
    static var lines: Int { state.withLock { $0.lines } }

    private static var isCancelled: Bool { state.withLock { $0.isCancelled }() }

    private static func fail(_ message: String) { state.withLock { $0.complaint = message } }

    private static func log(_ host: UnsafePointer<PipelineHost>, isWarning: Bool, _ text: String) {
        let heard: (tell: @Sendable (WorkerMessage) -> Void, filter: String?)? = state.withLock { state in
            state.lines += 1
            guard state.linesLeft > 0 else {
                state.linesOmitted += 1
                return nil
            }
            state.linesLeft -= 1
            return (state.tell, state.names[UInt(bitPattern: host)])
        }
        if let (tell, filter) = heard { tell(.said(FilterLine(filter: filter, isWarning: isWarning, text: text))) }
    }

    /// The contract forbids a null pointer, but a plugin may break the contract.
    private static func line(_ text: UnsafePointer<CChar>) -> String {
        guard UInt(bitPattern: text) != 0 else { return "" }
        let whole = String(cString: text)
        return whole.utf8.count <= longestLine ? whole : String(whole.prefix(longestLine)) + "…"
    }
}
