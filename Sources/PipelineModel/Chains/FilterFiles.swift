/// The files in the recipes' folder that chains may name, as the daemon has read them.
public struct FilterFiles: Sendable {
    /// The SHA-256 of each file, by name.
    public var digests: [String: String]
    /// The reasons why other files can't be used, by the files' names.
    public var refused: [String: String]
    public var folder: String

    public init(in folder: String = "", digests: [String: String] = [:], refused: [String: String] = [:]) {
        (self.folder, self.digests, self.refused) = (folder, digests, refused)
    }

    func digest(_ name: String) throws(Refusal) -> String {
        if let digest = digests[name] { return digest }
        if let reason = refused[name] { throw Refusal("can't be used: \(reason)") }
        let place = folder.isEmpty ? "" : " \(folder)"
        throw Refusal(
            "names no file that the daemon has read", advice: "put it into\(place), then `pipectl reload`")
    }
}
