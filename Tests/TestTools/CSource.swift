import Foundation
import Synchronization

/// A program or a library in C that tests need. Its source lies beside them.
public enum CSource {
    private struct Complaint: Error, CustomStringConvertible {
        let description: String
    }

    private static let products = Mutex<[String]>([])

    /// Compiles it, and returns where the product is until this run of the tests ends. A caller keeps the answer for all its tests.
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
