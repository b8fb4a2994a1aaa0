import Foundation
import Synchronization

/// A C program or library for tests, whose source lies beside them.
public enum CSource {
    private struct Complaint: Error, CustomStringConvertible {
        let description: String
    }

    private static let products = Mutex<[String]>([])

    /// Compiles the source; the product exists until this run of the tests ends. Callers cache the path for all their
    /// tests.
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
