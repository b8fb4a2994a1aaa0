import CVips
import Dispatch
import Foundation
import Synchronization

/// Draws the sample pictures into a folder, using all processors.
enum Program {
    static func run(_ arguments: [String]) -> Int32 {
        guard let folder = arguments.first, arguments.count == 1, !folder.hasPrefix("-") else {
            print(help)
            return arguments == ["--help"] || arguments == ["-h"] ? EX_OK : EX_USAGE
        }
        guard vips_init("pipelined-samples") == 0 else { return complain("libvips does not start") }
        vips_concurrency_set(1)
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            return complain("\(folder): the folder can't be made: \(error.localizedDescription)")
        }
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: Drawing.all.count) { index in
            let drawing = Drawing.all[index]
            do {
                try drawing.write(into: folder)
            } catch {
                failures.withLock { $0.append("\(drawing.file): \(error)") }
            }
            vips_thread_shutdown()
        }
        return failures.withLock { $0.map(complain) }.isEmpty ? EX_OK : EX_CANTCREAT
    }

    private static func complain(_ message: String) -> Int32 {
        FileHandle.standardError.write(Data("pipelined-samples: \(message)\n".utf8))
        return EX_CANTCREAT
    }

    private static let help = """
        pipelined-samples FOLDER

        Draws twelve pictures to try pipelined with into FOLDER, which is made when it is not there. They are the same
        every time; files of their names are replaced.
        """
}
