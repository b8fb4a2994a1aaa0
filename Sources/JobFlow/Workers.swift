package import WorkerPools

/// The worker processes, and the plugins that they load.
package struct Workers: Sendable {
    package var render: WorkerPool
    package var fetch: FetchPool
    package var fleet: FleetPool
    package var plugins: PluginGenerations

    package init(render: WorkerPool, fetch: FetchPool, fleet: FleetPool, plugins: PluginGenerations) {
        (self.render, self.fetch, self.fleet, self.plugins) = (render, fetch, fleet, plugins)
    }
}
