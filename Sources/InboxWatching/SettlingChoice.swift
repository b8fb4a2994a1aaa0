/// A choice of files in an inbox that are still settling.
package enum SettlingChoice: Sendable {
    case all
    /// All files below the folder of this name, which is directly below the inbox.
    case folder(String)

    /// Whether the choice includes the file at this path in the inbox.
    func includes(_ path: String) -> Bool {
        switch self {
        case .all: true
        case .folder(let name): path.hasPrefix(name + "/")
        }
    }
}
