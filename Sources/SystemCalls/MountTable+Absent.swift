import Foundation

/// Detects whether a file system that is not mounted now may be mounted later.
extension MountTable {
    /// Folders in which people mount removable file systems.
    private static let places = ["/mnt", "/media", "/run/media"]
    private static let units = "/etc/systemd/system"

    /// Whether a missing folder may appear once a file system is mounted. True for folders below a mount point that
    /// `/etc/fstab` or a systemd unit names, if nothing is mounted there. Also true for folders below `/mnt`, `/media`
    /// and `/run/media`, unless the folder is on a file system that is mounted there.
    public static func mayCome(with folder: String) -> Bool {
        func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
        let names = (try? FileSystem.names(in: units)) ?? []
        return mayCome(
            with: folder, fstab: text("/etc/fstab"), units: names.compactMap(\.self), mounted: text(path))
    }

    static func mayCome(with folder: String, fstab: String, units: [String], mounted: String) -> Bool {
        let mounts = points(in: mounted, word: 4)
        let expected = points(in: fstab, word: 1) + units.compactMap(point)
        let isAbsent = expected.contains {
            $0 != "/" && FileSystem.lies(folder, within: $0) && !mounts.contains($0)
        }
        return isAbsent
            || places.contains { place in
                place != folder && FileSystem.lies(folder, within: place)
                    && !mounts.contains {
                        $0 != place && FileSystem.lies($0, within: place) && FileSystem.lies(folder, within: $0)
                    }
            }
    }

    static func points(in text: String, word: Int) -> [String] {
        text.split(separator: "\n").compactMap { line in
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count > word, words[0].first != "#", words[word].first == "/" else { return nil }
            return unescaped(words[word])
        }
    }

    /// The mount point that the name of a systemd unit encodes: `/srv/my-nas` for `srv-my\x2dnas.mount`.
    private static func point(_ unit: String) -> String? {
        guard let suffix = [".mount", ".automount"].first(where: unit.hasSuffix) else { return nil }
        let slashes = unit.dropLast(suffix.count).replacing("-", with: "/")
        return "/" + slashes.replacing(#"\x2d"#, with: "-")
    }
}
