/// The files of an inbox that somebody means while they still settle.
package enum SettlingChoice: Sendable {
    case all
    /// The files of this folder right below the inbox, at any depth.
    case folder(String)

    /// Whether it speaks of the file at this path in the inbox.
    func includes(_ path: String) -> Bool {
        switch self {
        case .all: true
        case .folder(let name): path.hasPrefix(name + "/")
        }
    }
}
