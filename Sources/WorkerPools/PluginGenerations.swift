import Foundation
import PipelineModel
import ServiceProgram
import SystemCalls
package import WorkerProtocol

/// Stores private copies of the plugins, in one folder per generation of workers, and introduces new generations.
package struct PluginGenerations: Sendable {
    private let folder: String
    package let sources: [String]

    package init(folder: String, sources: [String]) {
        (self.folder, self.sources) = (folder, sources)
    }

    /// Copies the current plugins, and loads the copies in a worker on trial. If a plugin fails, removes its copy and
    /// tries again. `done` receives the `hello` message of the worker that has loaded all remaining plugins.
    /// `accept(true)` puts the generation into use; `accept(false)` discards it.
    package func trial(
        in pool: WorkerPool, within timeout: Duration,
        _ done: @escaping @Sendable (Result<(hello: Hello, accept: @Sendable (Bool) -> Void), WorkerStartError>) -> Void
    ) {
        do {
            let new = FileSystem.join(folder, "new")
            try? FileManager.default.removeItem(atPath: new)
            trial(try PluginCopies(of: sources, in: new, before: newest.map(path)), in: pool, timeout, done)
        } catch {
            done(.failure(WorkerStartError(copyingTo: folder, error)))
        }
    }

    private func trial(
        _ stock: PluginCopies, in pool: WorkerPool, _ timeout: Duration,
        _ done: @escaping @Sendable (Result<(hello: Hello, accept: @Sendable (Bool) -> Void), WorkerStartError>) -> Void
    ) {
        pool.trial(stock.folder, within: timeout) { result in
            var stock = stock
            switch result {
            case .failure(let error):
                guard let copy = error.loading else { return done(.failure(error)) }
                _ = stock.refuse(copy, because: "the worker that loads it \(error.how)")
                trial(stock, in: pool, timeout, done)
            case .success(let (hello, accept)):
                let puttingBack = hello.skipped.filter { stock.refuse($0.file, because: $0.reason) }
                guard puttingBack.isEmpty else {
                    accept(nil)
                    return trial(stock, in: pool, timeout, done)
                }
                let named = stock.named(hello)
                done(
                    .success(
                        (named, { [stock] accepted in accept(accepted ? keep(stock, of: named) : nil) })))
            }
        }
    }

    /// Moves the copies to the folder of a new generation. Removes the folders of earlier generations, whose workers
    /// have already loaded their plugins.
    private func keep(_ stock: PluginCopies, of hello: Hello) -> WorkerPlugins {
        var files: [String: String] = [:]
        for filter in hello.filters { files[filter.name] = filter.file }
        return WorkerPlugins(folder: keep(stock), files: files)
    }

    /// Moves the copies to a new generation's folder. Returns the folder that contains the copies afterwards.
    private func keep(_ stock: PluginCopies) -> String {
        let place = path((newest ?? 0) + 1)
        do {
            try FileSystem.rename(stock.folder, place)
        } catch {
            Log.failure("\(error); plugins stay in \(stock.folder)")
            return stock.folder
        }
        for name in names where FileSystem.join(folder, name) != place {
            try? FileManager.default.removeItem(atPath: FileSystem.join(folder, name))
        }
        return place
    }

    private var names: [String] { (try? FileSystem.names(in: folder)) ?? [] }
    private var newest: Int? { names.compactMap { Int($0) }.max() }
    private func path(_ generation: Int) -> String { FileSystem.join(folder, "\(generation)") }
}
