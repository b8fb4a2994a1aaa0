/// The files of an inbox that somebody means while they still settle.
package enum SettlingChoice: Sendable {
    case all
    /// The files of this folder right below the inbox, at any depth.
    case folder(String)
}
