package import PipelineModel
package import WorkerProtocol

/// Limits of downloads, made from the [Download] settings.
package struct DownloadLimits: Sendable {
    package var transfer = FetchLimits()
    /// Maximum number of immediate retries that resume an interrupted download.
    package var retries = 5

    package init() {}

    package init(_ settings: DownloadSettings) {
        func milliseconds(_ duration: Duration) -> Int { Int(duration / .milliseconds(1)) }
        transfer = FetchLimits(
            connectMilliseconds: milliseconds(settings.connectTimeout),
            stallMilliseconds: milliseconds(settings.stallTimeout), maxSize: settings.maxSize,
            redirects: settings.redirects, perHost: settings.perHost, allowPrivateHosts: settings.allowPrivateHosts)
        retries = settings.retries
    }
}
