import DaemonRuntime
import Foundation
import PipelineModel
import SystemCalls
package import WorkerProtocol

/// Keeps private copies of plugins, one folder per generation, and switches to a new generation.
package struct PluginShelf: Sendable {
    private let folder: String
    package let sources: [String]

    package init(folder: String, sources: [String]) {
        (self.folder, self.sources) = (folder, sources)
    }

    /// Copies the current plugins and tries them in a worker, repeatedly, without each plugin that fails. Hands over
    /// the hello of the worker that starts; `accept(true)` puts the generation into use.
    package func trial(
        in pool: WorkerPool, within timeout: Duration,
        _ done: @escaping @Sendable (Result<(hello: Hello, accept: @Sendable (Bool) -> Void), WorkerStartError>) -> Void
    ) {
        do {
            let new = FileSystem.join(folder, "new")
            try? FileManager.default.removeItem(atPath: new)
            trial(try PluginStock(of: sources, in: new, before: newest.map(path)), in: pool, timeout, done)
        } catch {
            done(.failure(WorkerStartError(copyingTo: folder, error)))
        }
    }

    private func trial(
        _ stock: PluginStock, in pool: WorkerPool, _ timeout: Duration,
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

    /// Numbers the new generation, and removes earlier ones: their workers have already loaded what they need.
    private func keep(_ stock: PluginStock, of hello: Hello) -> WorkerPool.Plugins {
        var files: [String: String] = [:]
        for filter in hello.filters { files[filter.name] = filter.file }
        return WorkerPool.Plugins(folder: keep(stock), files: files)
    }

    /// Returns the folder in which the copies are now.
    private func keep(_ stock: PluginStock) -> String {
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

    private var names: [String] { (try? FileSystem.names(in: folder))?.compactMap(\.self) ?? [] }
    private var newest: Int? { names.compactMap { Int($0) }.max() }
    private func path(_ generation: Int) -> String { FileSystem.join(folder, "\(generation)") }
}
