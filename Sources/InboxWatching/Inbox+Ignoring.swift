import Synchronization
import SystemCalls

/// Records which files the inbox skips, and why.
extension Inbox {
    /// Skips a file because of its name or type.
    func ignore(_ path: String, _ reason: String) {
        settling.drop(FileSystem.Key(path))
        note(path, reason)
    }

    /// Skips a file that matches the recipe but that the daemon can't take until a user acts.
    func leave(_ path: String, _ reason: String) {
        settling.drop(FileSystem.Key(path))
        note(path, reason, isStuck: true)
    }

    /// Records why a file is not taken now. `isStuck` means that a user must act.
    func note(_ path: String, _ reason: String, isStuck: Bool = false) {
        let key = FileSystem.Key(path)
        shared.withLock { report in
            if isStuck { report.stuck.insert(key) } else { report.stuck.remove(key) }
            guard report.reasons.updateValue(reason, forKey: key) != reason else { return }
            report.ignoredFiles = (report.ignoredFiles.filter { $0.path != path } + [(path, reason)]).suffix(5)
        }
    }

    func forgetIgnored(_ path: String) {
        shared.withLock { report in
            guard report.reasons.removeValue(forKey: FileSystem.Key(path)) != nil else { return }
            report.stuck.remove(FileSystem.Key(path))
            report.ignoredFiles.removeAll { $0.path == path }
        }
    }

    func forgetIgnored(where which: (FileSystem.Key) -> Bool) {
        shared.withLock { report in
            guard report.reasons.contains(where: { which($0.key) }) else { return }
            report.reasons = report.reasons.filter { !which($0.key) }
            report.stuck = report.stuck.filter { !which($0) }
            report.ignoredFiles.removeAll { report.reasons[FileSystem.Key($0.path)] == nil }
        }
    }

    /// Skips a file whose name is not UTF-8. `path` contains an escape for each invalid byte.
    func misnamed(_ path: String) { leave(path, "its name is not UTF-8; rename it") }
}
