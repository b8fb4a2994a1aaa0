import Foundation
import TestTools

/// Serves the pictures `/1.png`, `/2.png`, …. It sends the first half of each picture at once, and the second half when
/// the test allows it.
final class SlowServer: Sendable {
    let http: HTTPServer
    private let gates: [String: Gate]
    private let numbers: ClosedRange<Int>

    init(pictures count: Int) throws {
        numbers = 1...count
        gates = Dictionary(uniqueKeysWithValues: numbers.map { ("/\($0).png", Gate()) })
        http = try HTTPServer { [gates] request, connection in
            let half = Picture.small.count / 2
            try connection.begin(200, ["Content-Length": "\(Picture.small.count)"])
            try connection.write(Picture.small.prefix(half))
            gates[request.path]?.wait()
            try connection.write(Picture.small.dropFirst(half))
        }
    }

    /// A URL list of all its pictures.
    var list: Data { Data(numbers.map { http.url("/\($0).png") }.joined(separator: "\n").utf8) }

    func finish(_ number: Int) { gates["/\(number).png"]?.open() }

    /// The numbers of the requested pictures, in the order of the requests.
    var asked: [Int] { http.seen.requests.compactMap { Int($0.path.dropFirst().dropLast(4)) } }

    /// Waits until `asked` pictures have been requested and `coming` of them are still being transferred.
    func until(asked: Int, coming: Int) async {
        await http.until { $0.requests.count == asked && $0.busy == coming }
    }
}
