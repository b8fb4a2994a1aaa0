package import PipelineModel
package import WorkerProtocol

/// The limits of downloads, as the settings have them.
package struct DownloadLimits: Sendable {
    package var transfer = FetchLimits()
    /// How often a download that breaks off is continued.
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
