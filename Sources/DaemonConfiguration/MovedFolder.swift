import Foundation
package import JobLedger
package import PictureFiles
import ServiceProgram
import SystemCalls

/// Updates the ledger after the daemon's folder was moved, or restored elsewhere from a backup. The ledger contains
/// absolute paths. It must be updated before anything else happens, because the daemon removes staging files that the
/// ledger does not name.
package enum MovedFolder {
    package static func follow(_ places: Places, _ ledger: Ledger) throws {
        let former = try read(places.place)
        guard former != places.data else { return }
        if let former {
            guard ledger.move(from: former, to: places.data) else {
                throw StartError(
                    status: .failed,
                    description:
                        "this folder was at \(former), and the ledger can't follow it to \(places.data); see above")
            }
            Log.notice("this folder was at \(former); the ledger has followed it to \(places.data)")
        }
        try FileSystem.write(Array("\(places.data)\n".utf8), to: places.place)
    }

    private static func read(_ path: String) throws -> String? {
        guard try FileSystem.exists(path) else { return nil }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return text.hasPrefix("/") ? String(text.prefix { $0 != "\n" }) : nil
    }
}
