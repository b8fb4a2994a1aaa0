import CLinux
import Dispatch
import Glibc
import ServiceProgram
import SystemCalls

/// Reports changes in a tree of folders. Use only on the inbox's queue.
final class Inotify {
    enum Event {
        /// A file's content or attributes have changed.
        case changed(String)
        case made(String)
        /// A process has written to the file, and still has it open.
        case written(String)
        /// A process that had the file open for writing has closed it.
        case closed(String)
        /// A complete file has arrived by a rename.
        case movedIn(String)
        case gone(String)
        case folderAppeared(String)
        /// The file's name is not UTF-8. The path contains an escape for each invalid byte.
        case misnamed(String)
        case folderGone(String)
        case overflow
        /// The top folder itself was removed, moved or unmounted.
        case topGone
    }

    private let descriptor: Descriptor
    private let source: ReadySource
    private let top: String
    private var folders: [Int32: String] = [:]
    private var watches: [FileSystem.Key: Int32] = [:]

    /// Watches only `top`; the inbox adds subfolders as it finds them.
    init(top: String, queue: DispatchQueue, events: @escaping @Sendable () -> Void) throws(SystemError) {
        let number = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
        guard number >= 0 else { throw SystemError("inotify_init", top) }
        let descriptor = Descriptor(owning: number)
        (self.descriptor, self.top) = (descriptor, top)
        source = ReadySource(descriptor, queue: queue)
        try add(top)
        source.activate(events)
    }

    deinit { source.cancel() }

    func add(_ folder: String) throws(SystemError) {
        let mask =
            IN_CLOSE_WRITE | IN_MODIFY | IN_CREATE | IN_ATTRIB | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE
            | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK
        let watch = inotify_add_watch(descriptor.number, folder, UInt32(mask))
        guard watch >= 0 else { throw SystemError("inotify_add_watch", folder) }
        folders[watch] = folder
        watches[FileSystem.Key(folder)] = watch
    }

    private func remove(below folder: String) {
        for (key, watch) in watches where FileSystem.lies(key.path, within: folder) {
            inotify_rm_watch(descriptor.number, watch)
            watches[key] = nil
            folders[watch] = nil
        }
    }

    /// Reads all pending events.
    func read() -> [Event] {
        var events: [Event] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let length = Glibc.read(descriptor.number, &buffer, buffer.count)
            guard length > 0 else { return events }
            var offset = 0
            let header = MemoryLayout<inotify_event>.size
            while offset + header <= length {
                let event = buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: inotify_event.self) }
                let name = buffer[(offset + header)..<(offset + header + Int(event.len))].prefix { $0 != 0 }
                offset += header + Int(event.len)
                if let heard = interpret(event, name) { events.append(heard) }
            }
        }
    }

    private func interpret(_ event: inotify_event, _ bytes: ArraySlice<UInt8>) -> Event? {
        func has(_ flag: Int) -> Bool { event.mask & UInt32(truncatingIfNeeded: flag) != 0 }
        if has(IN_Q_OVERFLOW) { return .overflow }
        guard let folder = folders[event.wd] else { return nil }
        if has(IN_DELETE_SELF) || has(IN_MOVE_SELF) || has(IN_UNMOUNT) || has(IN_IGNORED) {
            if has(IN_IGNORED) || has(IN_DELETE_SELF) {
                folders[event.wd] = nil
                watches[FileSystem.Key(folder)] = nil
            }
            return folder == top ? .topGone : nil
        }
        guard let name = String(validating: bytes, as: UTF8.self) else {
            let path = FileSystem.join(folder, bytes.escaped)
            return has(IN_MOVED_FROM) || has(IN_DELETE) ? .gone(path) : .misnamed(path)
        }
        // An attribute of the top folder has changed, such as its mode. Files may have become readable or removable, so
        // scan again.
        guard !name.isEmpty else { return has(IN_ATTRIB) && folder == top ? .folderAppeared(top) : nil }
        let path = FileSystem.join(folder, name)
        if has(IN_ISDIR) {
            // A folder whose mode has changed may have become readable, so it is treated as new.
            if has(IN_CREATE) || has(IN_MOVED_TO) || has(IN_ATTRIB) { return .folderAppeared(path) }
            if has(IN_MOVED_FROM) || has(IN_DELETE) {
                remove(below: path)
                return .folderGone(path)
            }
            return nil
        }
        if has(IN_MOVED_TO) { return .movedIn(path) }
        if has(IN_MOVED_FROM) || has(IN_DELETE) { return .gone(path) }
        if has(IN_CLOSE_WRITE) { return .closed(path) }
        if has(IN_MODIFY) { return .written(path) }
        return has(IN_CREATE) ? .made(path) : .changed(path)
    }
}

// The values of inotify(7). Swift does not import all of these glibc macros with the same type.
private let IN_MODIFY = 0x2
private let IN_ATTRIB = 0x4
private let IN_CLOSE_WRITE = 0x8
private let IN_MOVED_FROM = 0x40
private let IN_MOVED_TO = 0x80
private let IN_CREATE = 0x100
private let IN_DELETE = 0x200
private let IN_DELETE_SELF = 0x400
private let IN_MOVE_SELF = 0x800
private let IN_UNMOUNT = 0x2000
private let IN_Q_OVERFLOW = 0x4000
private let IN_IGNORED = 0x8000
private let IN_ONLYDIR = 0x0100_0000
private let IN_EXCL_UNLINK = 0x0400_0000
private let IN_ISDIR = 0x4000_0000
