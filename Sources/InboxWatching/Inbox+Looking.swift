import Dispatch
import PipelineModel
import ServiceProgram
import SystemCalls

/// Scans the inbox's folder and checks the files in it.
extension Inbox {
    /// Scans the whole inbox. New folders count as arrivals, except in the first scan.
    func scan(isFirst: Bool = false) {
        // Forgets why files were skipped, because the scan finds the reasons again. Files that are still settling keep
        // their reasons.
        forgetIgnored(where: { !settling.contains($0) })
        if let found = scan(folder, isFirst: isFirst) { bursts.forget(but: found) }
        logged = logged.filter { FileSystem.mayExist($0.key.path) }
        finishLook()
    }

    /// Scans a folder and its subfolders. Returns the folders found, or nil if a folder could not be read. `isNew`
    /// means that the kernel has reported `top` as new.
    @discardableResult
    func scan(_ top: String, isFirst: Bool = false, isNew: Bool = false) -> Set<FileSystem.Key>? {
        var folders = [top]
        var isWhole = true
        var found: Set<FileSystem.Key> = []
        while let path = folders.popLast() {
            if isOthers(path) { continue }
            if path != folder {
                bursts.found(path, hasCome: !isFirst, isNew: isNew, at: .now())
                found.insert(FileSystem.Key(path))
            }
            if path != folder, let inotify {
                do {
                    try inotify.add(path)
                } catch {
                    if error.isMissing { continue }
                    // If the folder is unreadable, the code below reports that. If there are too few watches, the inbox
                    // is polled instead.
                    if error.isPassing { scanLater() } else if !error.isRefusal { fallBack(error) }
                }
            }
            let names: [String]
            do {
                let found = try FileSystem.names(in: path) { misnamed(FileSystem.join(path, $0)) }
                names = compute { found.sorted { NaturalOrder($0) < NaturalOrder($1) } }
            } catch {
                let reason = Permission.unreadable(path, "folder", error)
                if path == folder {
                    broken(reason, isPassing: error.isPassing)
                    return nil
                }
                if error.isMissing { continue }
                isWhole = false
                leave(path, reason)
                if error.isPassing { scanLater() }
                continue
            }
            // Forgets a reason from an earlier scan, in which the folder may have been unreadable.
            forgetIgnored(path)
            let aside = settling.namesAside(in: path)
            var below: [String] = []
            defer { folders += below.reversed() }
            for name in names {
                if aside.contains(FileSystem.Key(name)) { continue }
                let child = FileSystem.join(path, name)
                if isOthers(child) { continue }  // Skipped without a `stat`: its disk may not answer.
                if consider(child, quiet: false, found: true) == .folder { below.append(child) }
            }
        }
        return isWhole ? found : nil
    }

    private func scanLater() {
        guard !settling.isPolled, !scansLater else { return }
        scansLater = true
        afterInterval {
            $0.scansLater = false
            if $0.report.problem == nil { $0.scan() }
        }
    }

    private func isOthers(_ path: String) -> Bool {
        FileNames.isHidden(FileSystem.name(of: path)) && path != folder
            || excluded.contains { FileSystem.lies(path, within: $0) }
    }

    /// Checks one path: skips the file, lets it settle, or takes it.
    @discardableResult
    func consider(_ path: String, quiet: Bool, found: Bool = false) -> FileStatus.Kind? {
        step()
        let name = FileSystem.name(of: path)
        let known: FileStatus?
        do {
            known = FileNames.isPartial(name) ? nil : try FileSystem.status(path)
        } catch {
            unseen(path, error)
            return nil
        }
        guard let status = known else {
            settling.drop(FileSystem.Key(path))
            return nil
        }
        switch status.kind {
        case .folder: return .folder
        case .link, .other:
            ignore(path, Self.reasonForLeaving(status.kind))
            return nil
        case .file: break
        }
        guard recipe.matches(name) else {
            ignore(path, FileNames.reasonForIgnoring(name, recipe: recipe.name))
            return nil
        }
        if kept.contains(path, status.identity) { return .file }
        if found, settling.putAside(path) { return .file }
        let key = FileSystem.Key(path)
        let isQuiet = quiet || (found && settling.isQuiet(status, at: Timestamp.now()))
        let isOfFolder = found && FolderBursts.top(of: path, below: folder) != nil
        if isQuiet, isOfFolder || isCalled {
            // Leaves the file to the next check, which takes the files of a folder in the order of their names.
            checkLater(settling.ripen(key, status, at: .now()))
        } else if isQuiet {
            take(path, status, cancelled: settling.isCancelled(key))
        } else {
            settle(path, status)
        }
        return .file
    }

    /// Handles a path whose status can't be read.
    func unseen(_ path: String, _ error: SystemError) {
        guard error.isPassing else { return leave(path, Permission.unreadable(path, "file", error)) }
        // The path may belong to a folder, so scan again later.
        scanLater()
        if recipe.matches(FileSystem.name(of: path)) { again(path, error) }
    }
}
