import DaemonRuntime
import Dispatch
import Glibc
import Synchronization
package import SystemCalls

/// Opens the claim folder of each inbox, and recognises it by its identity: somebody may have put another in its place.
/// Each is open for a moment only, because an open folder keeps its file system from being unmounted.
package final class ClaimFolders: Sendable {
    private struct Identity: Equatable {
        var device: UInt64
        var inode: UInt64

        init(_ folder: Descriptor) throws(SystemError) {
            let status = FileStatus(try folder.status())
            (device, inode) = (status.device, status.inode)
        }
    }

    /// The identity of an inbox, and of its `.pipelined`.
    private struct Known {
        var inbox: Identity
        var claims: Identity
        /// The number of mounts that the inbox lies under.
        var mounts: Int
    }

    /// The name of this daemon's root, among others that share an inbox.
    private let root: String
    private let known = Mutex<[String: Known]>([:])
    /// Folders that were opened a moment ago. In a burst one serves many originals.
    private let fresh = Mutex<[String: ClaimFolder]>([:])
    private let queue = DispatchQueue(label: "pipelined.claims")

    private static let moment = DispatchTimeInterval.milliseconds(20)

    package init(root: String) { self.root = root }

    /// Opens the folder that holds the originals claimed so far.
    package func open(_ inbox: String) throws -> ClaimFolder {
        guard let known = known.withLock({ $0[inbox] }) else { return try begin(inbox, making: false) { true } }
        let top = try Descriptor.open(inbox, O_RDONLY | O_DIRECTORY)
        guard try Identity(top) == known.inbox else {
            // The folder below a missing mount says nothing of the originals.
            guard try Self.mounts(inbox) >= known.mounts else { throw SystemError("open", inbox, code: ENODEV) }
            // Another file system is mounted there, or another folder lies in its place.
            return try begin(inbox, making: false) { true }
        }
        if try isRemoved(known, from: top) { try PrivateFolder.make(ClaimFolder.name, in: top, at: path(inbox)) }
        let claims = try PrivateFolder.open(ClaimFolder.name, in: top, at: path(inbox))
        let now = try Identity(claims)
        if now != known.claims {
            // The folder belongs to the daemon: some file systems renumber a folder now and then.
            guard place(of: known.claims, in: top, called: inbox) == nil else { throw replaced(inbox, known, top) }
            self.known.withLock { $0[inbox]?.claims = now }
        }
        return ClaimFolder(of: inbox, root: root, top: top, claims: claims)
    }

    /// Opens an original where it lies, in its inbox or claimed.
    package func openOriginal(_ source: String, of inbox: String, _ flags: Int32) throws -> Descriptor {
        if let folder = fresh.withLock({ $0[inbox] }), let file = try Self.opened(source, in: folder, flags) {
            return file
        }
        let folder = try open(inbox)
        fresh.withLock { $0[inbox] = folder }
        queue.asyncAfter(deadline: .now() + Self.moment) { self.fresh.withLock { $0[inbox] = nil } }
        return try folder.spot(source).open(flags)
    }

    /// Nil when nothing is there: a folder on the way may have been removed as empty, and made anew.
    private static func opened(
        _ source: String, in folder: ClaimFolder, _ flags: Int32
    ) throws(SystemError) -> Descriptor? {
        do {
            return try folder.spot(source).open(flags)
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    /// Opens the folder for an inbox that opens, and makes it if it is missing. Throws when another lies in the place
    /// of one that is still needed.
    func begin(_ inbox: String, making: Bool = true, isNeeded: () throws -> Bool) throws -> ClaimFolder {
        // Others may be able to replace the inbox itself.
        let way = try TrustedPath(to: inbox) { status, path, _ in
            guard status.kind == .link, !Trust.owners.contains(status.owner) else { return nil }
            return
                "\(path) is a link of user \(User.name(status.owner))'s, which is not followed; make it anew as root, or "
                + "write the folder that is meant as Inbox="
        }
        if let refusal = way.refusal { throw UnsafeFolder(description: refusal) }
        let top = try way.open(O_RDONLY | O_DIRECTORY)
        let known = known.withLock { $0[inbox] }
        let isSame = try known.map { try $0.inbox == Identity(top) } ?? false
        if let known, isSame, try isReplaced(known, in: top), try isNeeded() { throw replaced(inbox, known, top) }
        if making { try PrivateFolder.make(ClaimFolder.name, in: top, at: path(inbox)) }
        let claims = try PrivateFolder.open(ClaimFolder.name, in: top, at: path(inbox))
        let now = Known(inbox: try Identity(top), claims: try Identity(claims), mounts: try Self.mounts(inbox))
        self.known.withLock { $0[inbox] = now }
        return ClaimFolder(of: inbox, root: root, top: top, claims: claims)
    }

    private func path(_ inbox: String) -> String { "\(inbox)/\(ClaimFolder.name)" }

    private static func mounts(_ inbox: String) throws(SystemError) -> Int {
        try MountTable.depth(of: FileSystem.resolved(inbox))
    }

    /// Whether the folder is gone, with all that lay in it: it lies nowhere else in the inbox.
    private func isRemoved(_ known: Known, from top: Descriptor) throws -> Bool {
        guard try FileSystem.status(ClaimFolder.name, in: top) == nil else { return false }
        return place(of: known.claims, in: top, called: "its folder") == nil
    }

    private func isReplaced(_ known: Known, in top: Descriptor) throws -> Bool {
        guard let there = try FileSystem.status(ClaimFolder.name, in: top) else {
            return try !isRemoved(known, from: top)
        }
        if (there.device, there.inode) == (known.claims.device, known.claims.inode) { return false }
        return !Trust.owners.contains(there.owner) || place(of: known.claims, in: top, called: "its folder") != nil
    }

    /// The name under which a folder lies in the inbox now.
    private func place(of folder: Identity, in top: Descriptor, called inbox: String) -> String? {
        let names = (try? FileSystem.names(in: top, called: inbox).compactMap(\.self)) ?? []
        return names.first {
            // A new file may have got the number of a folder that was removed.
            guard let status = try? FileSystem.status($0, in: top), status.kind == .folder else { return false }
            return status.device == folder.device && status.inode == folder.inode
        }
    }

    private func replaced(_ inbox: String, _ known: Known, _ top: Descriptor) -> UnsafeFolder {
        let now = place(of: known.claims, in: top, called: inbox)
        let place = path(inbox)
        let advice =
            now.map { "it lies at \(inbox)/\($0) now: mv it back to \(place)" }
            ?? "find the folder with inode \(known.claims.inode) and mv it back, or `pipectl cancel` its jobs"
        return UnsafeFolder(
            description:
                "somebody has moved \(place) away, or put something else there, and it holds originals; \(advice)")
    }
}
