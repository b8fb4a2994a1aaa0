import Foundation
import Glibc

/// Paths of everything that a measurement needs.
struct Setup {
    /// The folder of pipelined's programs.
    var programs: String
    /// A Python that has the peers' libraries.
    var python: String
    /// The folder of the peers' scripts.
    var peers: String
    var photograph: String
    /// The folder that contains the derived pictures and the working folders, all on one file system.
    var cache: String
    /// The server program for a fleet.
    var natsServer: String?

    var pictures: String { "\(cache)/pictures" }
    /// The working folder of this process.
    var work: String { "\(cache)/work-\(getpid())" }
    /// Files with noir's table and luma's weights, for peers.
    var table: String { "\(cache)/noir.pgm" }
    var luma: String { "\(cache)/luma.mat" }
    var floor: String { Self.beside("floor") }
    var usage: String { Self.beside("usage") }

    static let processors = ProcessInfo.processInfo.activeProcessorCount

    /// Makes the tables and the missing pictures.
    func prepare(_ sets: [PictureSet]) throws {
        removeLeftovers()
        try Folder.make(work)
        try Folder.make(pictures)
        let made = try ChildProcess.output([floor, "table"])
        try Folder.write(made, to: table)
        try Folder.write("3 1\n0.299 0.587 0.114\n", to: luma)
        var orders: [String] = []
        for set in sets where !orders.contains(set.order) { orders.append(set.order) }
        _ = try ChildProcess.output([python, "\(peers)/pictures.py", photograph, pictures] + orders)
    }

    /// Removes the working folders of processes that no longer exist.
    private func removeLeftovers() {
        for name in Folder.names(in: cache) where name.hasPrefix("work-") {
            guard let id = pid_t(name.dropFirst(5)), kill(id, 0) != 0 else { continue }
            Folder.remove("\(cache)/\(name)")
        }
    }

    private static func beside(_ name: String) -> String {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return "\(program.split(separator: "/").dropLast().map { "/\($0)" }.joined())/\(name)"
    }
}
