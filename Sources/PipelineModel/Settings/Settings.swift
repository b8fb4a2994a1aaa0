/// The settings of the whole daemon. Each setting is declared as a property here and as a row in `table`.
public struct Settings: Sendable, Hashable {
    public var defaultRecipe = "noir"
    public var drainTimeout = Duration.seconds(30)
    public var cancelGrace = Duration.milliseconds(250)
    public var jobTimeout = Duration.seconds(300)
    public var hookTimeout = Duration.seconds(30)
    public var hangTimeout = Duration.seconds(10)
    public var sandbox = Sandbox.best
    public var decoders = Decoders()
    public var log = LogDetail.jobs
    public var maxPixels: Int64 = 268_000_000
    public var maxTexts = Settings.usualTexts
    /// Default for `maxTexts`, in bytes. The texts in real pictures, such as long edit histories, have at most a few
    /// megabytes.
    public static let usualTexts: Int64 = 16 << 20
    public var maxResult: Int64 = 1 << 30
    public var memoryBudget = MemoryBudget.share(percent: 75)
    public var crashTries = 5
    public var crashStrikes = 3
    public var maxStages = 32
    /// Upper limit for `maxStages`. libvips evaluates a chain as nested calls; about 150 blurs overflow its stack.
    public static let mostStages = 64
    public var workerJobs = 5000
    public var history = Duration.seconds(30 * 86400)
    public var historyJobs = 100_000
    public var freeSpace: Int64 = 16 << 20
    public var download = QueueLimit.count(8)
    public var render = QueueLimit.auto
    public var publish = QueueLimit.count(128)
    public var previewPause = Duration.seconds(1)
    public var window = 1024
    public var intake = InboxSettings()
    public var downloads = DownloadSettings()
    public var control = ControlSettings()
    public var retry = RetrySettings()
    public var plugins = PluginSettings()
    public var keep = KeepSettings()
    public var fleet = FleetSettings()
    /// Logins by host or `host:port`, in lower case.
    public var hosts: [String: HostLogin] = [:]

    /// The file that set each setting, by `section.key`. Settings with their default value have no entry.
    private var sources: [String: String] = [:]

    public init() {}

    static let table: [Setting<Settings>] =
        [
            Setting(
                "Daemon", "DefaultRecipe", \.defaultRecipe, .text,
                "the recipe that inbox/ itself belongs to"),
            Setting(
                "Daemon", "DrainTimeout", \.drainTimeout, .duration(.zero ... .seconds(3600)),
                "how long running operations may continue after a stop was requested"),
            Setting(
                "Daemon", "CancelGrace", \.cancelGrace, .duration(.zero ... .seconds(60)),
                "how long a cancelled job may take to stop before its worker is killed"),
            Setting(
                "Daemon", "JobTimeout", \.jobTimeout, .duration(.seconds(1) ... .seconds(86400)),
                "how long a job may run before it fails"),
            Setting(
                "Daemon", "HookTimeout", \.hookTimeout, .duration(.seconds(1) ... .seconds(86400)),
                "how long a recipe's hook may run before it is ended"),
            Setting(
                "Daemon", "HangTimeout", \.hangTimeout, .duration(.seconds(1) ... .seconds(3600)),
                "how long an inbox or outbox may take to answer before its work is set aside"),
            Setting(
                "Daemon", "Sandbox", \.sandbox, .word,
                "best: workers are confined as far as the kernel allows; required: no part may be missing"),
            Setting(
                "Daemon", "JPEGDecoder", \.decoders.jpeg, .word,
                "own: workers decode common JPEGs themselves, which is faster; libjpeg: libjpeg-turbo decodes all"),
            Setting(
                "Daemon", "PNGDecoder", \.decoders.png, .word,
                "own: workers decode common PNGs themselves, which is faster; libvips: libvips decodes all"),
            Setting(
                "Daemon", "Log", \.log, .word,
                "jobs: the log shows the states of jobs; operations: also each step of each operation"),
            Setting(
                "Daemon", "MaxPixels", \.maxPixels, .magnitude(.pixels, 1000...10_000_000_000),
                "larger pictures are refused; 268M is 268 million pixels"),
            Setting(
                "Daemon", "MaxTexts", \.maxTexts, .magnitude(.bytes, 0...1 << 30),
                "a PNG whose texts and profile unpack to more is refused; a worker holds them in memory"),
            Setting(
                "Daemon", "MaxStages", \.maxStages, .count(1...Settings.mostStages),
                "a chain with more stages, including tees, is refused"),
            Setting(
                "Daemon", "MaxResult", \.maxResult, .magnitude(.bytes, 1 << 10...1 << 50),
                "a result that grows larger fails its job"),
            Setting(
                "Daemon", "MemoryBudget", \.memoryBudget, .memory,
                "how much of the service's memory all pictures in progress may need together; others wait"),
            Setting(
                "Daemon", "CrashTries", \.crashTries, .count(1...100),
                "a picture fails after it was in progress at this many crashes of the daemon itself"),
            Setting(
                "Daemon", "CrashStrikes", \.crashStrikes, .count(1...1_000_000),
                "after a filter has crashed or hung on this many pictures in a row, its recipes wait for another version"
            ),
            Setting(
                "Daemon", "WorkerJobs", \.workerJobs, .count(1...1_000_000),
                "number of jobs after which a worker is replaced"),
            Setting(
                "Daemon", "FreeSpace", \.freeSpace, .magnitude(.bytes, 4096...1_099_511_627_776),
                "how much must be free in an outbox that was full before its work continues"),
            Setting(
                "Daemon", "History", \.history, .duration(.seconds(1) ... .seconds(3650 * 86400)),
                "how long ended jobs are remembered"),
            Setting(
                "Daemon", "HistoryJobs", \.historyJobs, .count(1...100_000_000),
                "maximum number of ended jobs that are remembered; may be exceeded by an eighth"),
        ] + RetrySettings.table.map { $0.within(\.retry) } + PluginSettings.table.map { $0.within(\.plugins) } + [
            Setting("Queues", "Download", \.download, .limit, "downloads at once"),
            Setting("Queues", "Render", \.render, .limit, "pictures rendered at once; auto: one per CPU"),
            Setting("Queues", "Publish", \.publish, .limit, "jobs published at once"),
            Setting(
                "Queues", "PreviewPause", \.previewPause, .duration(.zero ... .seconds(86400)),
                "the interval between previews while jobs fill the render queue"),
            Setting(
                "Queues", "Window", \.window, .count(1...65536),
                "jobs held in the queues at once; the others wait in the ledger"),
        ] + InboxSettings.table.map { $0.within(\.intake) } + DownloadSettings.table.map { $0.within(\.downloads) }
        + ControlSettings.table.map { $0.within(\.control) } + KeepSettings.table.map { $0.within(\.keep) }
        + FleetSettings.table.map { $0.within(\.fleet) }

    /// Sets `key` in `section` as a file would; empty text resets it to the default.
    public mutating func set(
        _ key: String, in section: String, to text: String, source: String
    ) throws(Problem) {
        do throws(Refusal) {
            try assign(text, to: key, in: section, source: source)
        } catch {
            throw Problem(file: source, line: nil, message: error.sentence)
        }
    }

    mutating func assign(
        _ text: String, to key: String, in section: String, source: String
    ) throws(Refusal) {
        if let host = HostLogin.host(ofSection: section) {
            try HostLogin.table.assign(
                text, to: key, in: HostLogin.section, of: &hosts[host, default: HostLogin()], base: HostLogin())
        } else {
            try Self.table.assign(text, to: key, in: section, of: &self, base: Settings())
        }
        sources["\(section).\(key)"] = text.isEmpty ? nil : source
    }

    /// Every setting, in the order of the table.
    public var rows: [SettingRow] {
        let defaults = Settings()
        return Self.table.map { setting in
            setting.row(of: self, default: defaults, source: source(of: setting.key, in: setting.section))
        }
            + hosts.sorted { $0.key < $1.key }.flatMap { host, login in
                let header = "\(HostLogin.section) \(host)"
                return HostLogin.table.map { setting in
                    setting.row(
                        of: login, default: HostLogin(), in: header, source: source(of: setting.key, in: header))
                }
            }
    }

    /// Returns the login for a URL's server, and the name of its [Host] section, in lower case.
    public func login(for url: WebAddress) -> (host: String, login: HostLogin)? {
        guard !hosts.isEmpty else { return nil }
        let server = url.server
        let standard = url.isSecure ? ":443" : ":80"
        let bare = server.hasSuffix(standard) ? String(server.dropLast(standard.count)) : server
        return [server, bare, bare + standard].lazy.compactMap { host in hosts[host].map { (host, $0) } }.first
    }

    /// The settings that a [Host NAME] section may contain, for the manual.
    public static var hostRows: [SettingRow] {
        HostLogin.table.map {
            $0.row(of: HostLogin(), default: HostLogin(), in: "\(HostLogin.section) NAME", source: "default")
        }
    }

    /// The file that contains the PasswordFile= of this host.
    public func source(ofLogin host: String) -> String {
        source(of: "PasswordFile", in: "\(HostLogin.section) \(host)")
    }

    private func source(of key: String, in section: String) -> String { sources["\(section).\(key)"] ?? "default" }
}
