import Foundation
import Synchronization

/// Compiles C sources that lie beside the tests.
public enum CSource {
    private struct Complaint: Error, CustomStringConvertible {
        let description: String
    }

    private static let products = Mutex<[String]>([])

    /// Compiles the source into a file that is removed when the test process exits. Callers cache the path for all
    /// their tests.
    public static func built(
        _ name: String, _ options: String = "", beside tests: String = #filePath
    ) throws -> String {
        let source = URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent(name).path
        let product = NSTemporaryDirectory() + "pipelined-\(name)-\(getpid())"
        let command = #"exec clang -O1 -Wall -Werror -o "$1" "$2" \#(options)"#
        let compiler = try ChildProcess("/bin/sh", ["-c", command, "sh", product, source]).wait()
        guard compiler.status == 0 else { throw Complaint(description: "\(name): \(compiler.errors)") }
        products.withLock { products in
            if products.isEmpty { atexit { CSource.products.withLock { $0.forEach { unlink($0) } } } }
            products.append(product)
        }
        return product
    }
}
