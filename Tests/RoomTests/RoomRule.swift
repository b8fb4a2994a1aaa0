import Testing

/// A rule for a room (a folder of Sources), with a description and a check. The build enforces only one such rule: a
/// target can't import targets that Package.swift does not list for it.
struct RoomRule: CustomTestStringConvertible {
    let testDescription: String
    /// Returns those lines of a file that violate the rule.
    let offences: @Sendable (SourceFile) -> [String]

    /// Returns a rule: only these folders may import the module or include its library's headers.
    static func only(_ folders: [String], see module: String, header: String) -> RoomRule {
        RoomRule(testDescription: "Only \(folders.joined(separator: ", ")) see \(module)") { file in
            guard !folders.contains(where: file.lies(in:)) else { return [] }
            let isModuleItself = file.room == module
            return file.imports.filter { $0 == module }
                + file.includes.filter { $0.dropFirst().hasPrefix(header) && !isModuleItself }
        }
    }

    /// Returns a rule: this room may import only these modules.
    static func room(_ room: String, importsOnly modules: [String]) -> RoomRule {
        RoomRule(testDescription: "\(room) imports nothing but \(modules.joined(separator: ", "))") { file in
            file.room == room ? file.imports.filter { !modules.contains($0) } : []
        }
    }

    static let all: [RoomRule] = [
        .room("PipelineModel", importsOnly: ["Foundation", "FoundationEssentials"]),
        .room("OperationGraph", importsOnly: ["Dispatch", "Foundation", "Synchronization"]),
        .room("ManualPages", importsOnly: []),
        .room("JobModel", importsOnly: ["PipelineModel", "ServiceProgram", "SystemCalls"]),
        .room(
            "DaemonInterface",
            importsOnly: ["DaemonRuntime", "JobModel", "PipelineModel", "SystemCalls", "WorkerProtocol"]),
        .room(
            "ControlService",
            importsOnly: [
                "CLinux", "DaemonInterface", "DaemonRuntime", "Dispatch", "Glibc", "JobModel",
                "PipelineControl", "PipelineModel", "ServiceProgram", "Synchronization", "SystemCalls",
                "WorkerProtocol",
            ]),
        .room("PluginKit", importsOnly: ["CVips", "CPipelinePlugin", "Glibc", "Synchronization"]),
        .only(["JobLedger"], see: "CSQLite", header: "sqlite3"),
        .only(
            ["RenderWorker", "FilterConformance", "PluginKit", "Plugins", "CPipelinePlugin", "SamplePictures"],
            see: "CVips", header: "vips/"
        ),
        .only(["RenderWorker"], see: "CTurboJPEG", header: "turbojpeg"),
        .only(["RenderWorker"], see: "CJPEGPlanes", header: "CJPEGPlanes"),
        .only(["RenderWorker"], see: "CPNGRows", header: "CPNGRows"),
        .only(["RenderWorker"], see: "CWebP", header: "webp/"),
        .only(["RenderWorker"], see: "CRaw", header: "libraw/"),
        .only(["Gallery"], see: "CMicrohttpd", header: "microhttpd"),
        .only(["FetchWorker"], see: "CCurl", header: "curl/"),
        .only(["FleetWorker"], see: "CNats", header: "nats/"),
        .only(["WorkerConfinement"], see: "CSeccomp", header: "seccomp"),
        .only(["ServiceProgram/Systemd"], see: "CSystemd", header: "systemd/"),
        RoomRule(testDescription: "Descriptors are waited for by ReadySource: Dispatch's own sources race on Linux") {
            $0.dispatchSources
        },
        RoomRule(testDescription: "Queues of a process that sleeps are serial: others have it woken each second") {
            file in
            let daemon = [
                "ControlService", "DaemonConfiguration", "DaemonInterface", "DaemonRuntime", "FleetSharing", "Gallery",
                "InboxWatching", "JobFlow", "JobLedger", "JobModel", "OperationGraph", "PictureFiles",
                "PipelineDaemon", "Previewing", "ServiceProgram", "WorkerPools",
            ]
            return daemon.contains(file.room) ? file.sharedThreads : []
        },
        RoomRule(testDescription: "No task is made that nobody waits for: queues and the actors on them do the work") {
            $0.tasks
        },
        RoomRule(testDescription: "A filter in C includes the contract, libvips, libc and its own headers alone") {
            file in
            guard file.room == "Plugins" else { return [] }
            return file.includes.filter { !Self.filterMayInclude($0) }
        },
        RoomRule(testDescription: "The public contract of filters includes libc alone") { file in
            guard file.path == "CPipelinePlugin/pipeline_plugin.h" else { return [] }
            return file.includes.filter { !libc.contains($0) }
        },
        RoomRule(testDescription: "C rooms wrap and decide nothing: there is no Swift in them") { file in
            let name = Array(file.room.prefix(2))
            let isWrapper = name.count == 2 && name[0] == "C" && name[1].isUppercase
            return isWrapper && file.path.hasSuffix(".swift") ? [file.path] : []
        },
    ]

    private static func filterMayInclude(_ header: String) -> Bool {
        let isOwn = header.hasPrefix("\"") && !header.contains("/")
        let ofFilters = ["<pipeline_plugin.h>", "<pipeline_vips.h>", "<pipeline_blur.h>"]
        return isOwn || ofFilters.contains(header) || header.hasPrefix("<vips/") || libc.contains(header)
    }

    /// The headers of standard C.
    private static let libc = Set(
        [
            "assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "limits", "locale", "math", "setjmp",
            "signal", "stdalign", "stdarg", "stdatomic", "stdbool", "stddef", "stdint", "stdio", "stdlib",
            "stdnoreturn", "string", "tgmath", "threads", "time", "uchar", "wchar", "wctype",
        ].map { "<\($0).h>" })
}
