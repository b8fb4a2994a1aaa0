import Dispatch
import Glibc
import ServiceProgram
import Synchronization
package import SystemCalls

/// Opens the claim folder of each inbox and verifies its identity, because another user may have replaced it. Folders
/// are kept open only briefly, because an open folder prevents its file system from being unmounted.
package final class ClaimFolders: Sendable {
    private struct Identity: Equatable {
        var device: UInt64
        var inode: UInt64

        init(_ folder: Descriptor) throws(SystemError) {
            let status = FileStatus(try folder.status())
            (device, inode) = (status.device, status.inode)
        }
    }

    /// The identities of an inbox and of its `.pipelined`.
    private struct Known {
        var inbox: Identity
        var claims: Identity
        /// Number of mounts on the path to the inbox.
        var mounts: Int
    }

    /// Identifies this daemon's root folder among daemons that share an inbox.
    private let root: String
    private let known = Mutex<[String: Known]>([:])
    /// Claim folders opened a moment ago, by inbox, so that the originals of a burst share an open folder.
    private let fresh = Mutex<[String: ClaimFolder]>([:])
    private let queue = DispatchQueue(label: "pipelined.claims")

    private static let moment = DispatchTimeInterval.milliseconds(20)

    package init(root: String) { self.root = root }

    /// Opens the claim folder of an inbox that has been opened before.
    package func open(_ inbox: String) throws -> ClaimFolder {
        guard let known = known.withLock({ $0[inbox] }) else { return try begin(inbox, making: false) { true } }
        let top = try Descriptor.open(inbox, O_RDONLY | O_DIRECTORY)
        guard try Identity(top) == known.inbox else {
            // If the path now has fewer mounts than before, the inbox's file system was unmounted. The folder at the
            // path is then not the inbox, and its contents say nothing about the originals.
            guard try Self.mounts(inbox) >= known.mounts else { throw SystemError("open", inbox, code: ENODEV) }
            // Another file system has been mounted over the inbox, or another folder has replaced it.
            return try begin(inbox, making: false) { true }
        }
        if try isRemoved(known, from: top) { try PrivateFolder.make(ClaimFolder.name, in: top, at: path(inbox)) }
        let claims = try PrivateFolder.open(ClaimFolder.name, in: top, at: path(inbox))
        let now = try Identity(claims)
        if now != known.claims {
            // `.pipelined` belongs to the daemon's user, but its identity has changed. Some file systems change inode
            // numbers occasionally. So the change is an error only if the known folder still exists under another name.
            guard place(of: known.claims, in: top, called: inbox) == nil else { throw replaced(inbox, known, top) }
            self.known.withLock { $0[inbox]?.claims = now }
        }
        return ClaimFolder(of: inbox, root: root, top: top, claims: claims)
    }

    /// Opens an original, which is either claimed or kept in its inbox.
    package func openOriginal(_ source: String, of inbox: String, _ flags: Int32) throws -> Descriptor {
        if let folder = fresh.withLock({ $0[inbox] }), let file = try Self.opened(source, in: folder, flags) {
            return file
        }
        let folder = try open(inbox)
        fresh.withLock { $0[inbox] = folder }
        queue.asyncAfter(deadline: .now() + Self.moment) { self.fresh.withLock { $0[inbox] = nil } }
        return try folder.filePlace(source).open(flags)
    }

    /// Opens an original through a cached claim folder. Returns nil if the original is not found: the cached folder may
    /// be outdated, because an empty claim folder is removed and later recreated.
    private static func opened(
        _ source: String, in folder: ClaimFolder, _ flags: Int32
    ) throws(SystemError) -> Descriptor? {
        do {
            return try folder.filePlace(source).open(flags)
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    /// Opens the claim folder when an inbox opens. If the folder is missing and `making` is true, creates it. Throws if
    /// the known claim folder was replaced or moved although it is still needed.
    func begin(_ inbox: String, making: Bool = true, isNeeded: () throws -> Bool) throws -> ClaimFolder {
        // Refuses a path with a link that another user owns, because other users may be able to replace the inbox
        // itself.
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

    /// Whether the claim folder was removed, and not just renamed within the inbox.
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

    /// The claim folder's present name, if it is still in the inbox under any name.
    private func place(of folder: Identity, in top: Descriptor, called inbox: String) -> String? {
        let names = (try? FileSystem.names(in: top, called: inbox)) ?? []
        return names.first {
            // Ignores files, because a new file may have reused the inode of a removed folder.
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
