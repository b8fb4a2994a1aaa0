import CPipelinePlugin
import Synchronization

/// The services that the host offers to a filter while `apply` runs.
public enum Host {
    public enum Level: Sendable {
        /// The filter succeeds, but somebody should know about a problem.
        case warning
        /// Information that is useful only occasionally.
        case notice
    }

    /// Writes a line to the daemon's log, with the names of the filter and the picture.
    public static func log(_ level: Level, _ message: String) {
        guard let host = current else { return }
        host.pointee.log(host, level == .warning ? PIPELINE_LOG_WARNING : PIPELINE_LOG_NOTICE, message)
    }

    /// Whether the job is cancelled. A filter whose `apply` is slow should check this repeatedly, and throw if it is
    /// true.
    public static var isCancelled: Bool {
        guard let host = current else { return false }
        return host.pointee.cancelled(host) != 0
    }

    /// The path of the filter's own folder, which the filter may read; nil if the filter has no folder.
    public static var resources: String? { current?.pointee.resources.map { String(cString: $0) } }

    /// A description of the picture, from the download list that named the picture, or else from the picture's own
    /// metadata. Needs the trait `readsTexts`.
    public static var caption: String? { text(PIPELINE_CAPTION) }
    /// The name to print beside the picture. Needs the trait `readsTexts`.
    public static var credit: String? { text(PIPELINE_CREDIT) }

    private static func text(_ which: PipelineText) -> String? {
        // Older hosts do not have the function.
        guard let host = current, let end = MemoryLayout.offset(of: \PipelineHost.text), host.pointee.size > end else {
            return nil
        }
        return host.pointee.text?(host, which).map { String(cString: $0) }
    }

    /// Returns the bytes of the file that a value names, or nil if the value names no file.
    static func file(_ value: UnsafePointer<PipelineValue>) -> [UInt8]? {
        guard let host = current, let end = MemoryLayout.offset(of: \PipelineHost.file), host.pointee.size > end else {
            return nil
        }
        var size = 0
        return host.pointee.file?(host, value, &size).map { Array(UnsafeRawBufferPointer(start: $0, count: size)) }
    }

    /// The host's services for the current picture. The process renders only one picture at a time.
    static var current: UnsafePointer<PipelineHost>? {
        get { UnsafePointer(bitPattern: address.load(ordering: .relaxed)) }
        set { address.store(UInt(bitPattern: newValue), ordering: .relaxed) }
    }

    private static let address = Atomic<UInt>(0)
}
