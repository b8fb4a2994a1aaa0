import CLinux
import Foundation
import Glibc
import PipelineModel
import WorkerProtocol

/// Prepares the last message of a crashing worker. The message names the filter whose code was running, if the stack
/// shows one.
enum CrashNotes {
    /// Call this before the confinement, and before the first picture.
    static func prepare(_ filters: FilterLibrary) {
        for filter in filters.filters.values {
            var (start, size): (UnsafeRawPointer?, Int) = (nil, 0)
            guard clinux_code(filter.code, &start, &size) == 0 else { continue }
            add(start, size, filter.description.name)
        }
        add(nil, 0, nil)
        _ = clinux_tell_crashes(WorkerChannel.workerDescriptor)
    }

    private static func add(_ start: UnsafeRawPointer?, _ size: Int, _ filter: String?) {
        let (plain, short) = (note(filter, isOutOfMemory: false), note(filter, isOutOfMemory: true))
        _ = clinux_add_crash_note(start, size, plain.baseAddress, plain.count, short.baseAddress, short.count)
    }

    /// Encodes the note in advance, because a crashing process can't encode anything. The note's memory is never freed.
    private static func note(_ filter: String?, isOutOfMemory: Bool) -> UnsafeRawBufferPointer {
        let message = WorkerMessage.crashed(CrashNote(filter: filter, isOutOfMemory: isOutOfMemory))
        let bytes = (try? JSONEncoder().encode(message)) ?? Data()
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        room.copyBytes(from: bytes)
        return UnsafeRawBufferPointer(room)
    }
}
