// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// Code that works on pixels, or on the bytes of whole files, is optimised even in a debug build, which the tests run, so
/// that it is as fast as in a release.
let fast: [SwiftSetting] = strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// Each filter is a folder under Sources/Plugins, and one word here.
let filters = [
    "Autolevels",
    "Blur",
    "Border",
    "Chrome",
    "Crop",
    "Duotone",
    "Fade",
    "Flip",
    "Frame",
    "Grain",
    "Instant",
    "Lut",
    "Mono",
    "Noir",
    "Rotate",
    "Sepia",
    "Sharpen",
    "Straighten",
    "TiltShift",
    "Tone",
    "Vignette",
    "Watermark",
]

/// The name of a filter in a chain, and of its file: `TiltShift` becomes `tilt-shift`.
func stage(_ filter: String) -> String {
    filter.reduce("") { $0 + ($1.isUppercase && !$0.isEmpty ? "-" : "") + $1.lowercased() }
}

func room(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// Compilers vectorise loops with square roots only without math-errno.
let ofFilters: [CSetting] = [
    .unsafeFlags(["-fno-math-errno"]), .unsafeFlags(["-O2"], .when(configuration: .debug)),
]

/// The toolchain's own linker is the same everywhere. Debian 13's linker leaves the tables of Swift's programs
/// writable.
let linked: [LinkerSetting] = [.unsafeFlags(["-use-ld=lld"])]

func program(_ name: String, _ dependencies: [Target.Dependency], _ settings: [SwiftSetting] = strict) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: settings, linkerSettings: linked)
}

/// The files of the gallery's page. `PageFile` maps each URL path to a file.
let page = [
    "index.html", "gallery.css", "icon.svg", "large.css", "panels.css", "sample.webp", "adding.js", "address.js",
    "addresses.js", "ask.js", "batches.js", "calls.js", "cell.js", "chain.js", "chosen.js", "compare.js",
    "completion.js", "dom.js", "drop.js", "events.js", "exif.js", "filters.js", "fleet.js", "focus.js", "gallery.js",
    "grid.js", "headings.js", "help.js", "keys.js", "large.js", "layout.js", "notices.js", "pictures.js", "queues.js",
    "ranges.js", "recipes.js", "rows.js", "saving.js", "scroll.js", "store.js", "story.js", "subjects.js", "top.js",
    "uploads.js", "view.js", "words.js", "work.js", "zoom.js",
]

func tests(
    _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], _ settings: [SwiftSetting] = strict
) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

let package = Package(
    name: "pipelined",
    products: [
        .executable(name: "pipelined", targets: ["PipelineDaemon"]),
        .executable(name: "pipelined-render", targets: ["RenderWorker"]),
        .executable(name: "pipelined-filters", targets: ["FilterConformance"]),
        .executable(name: "pipelined-fetch", targets: ["FetchWorker"]),
        .executable(name: "pipelined-fleet", targets: ["FleetWorker"]),
        .executable(name: "pipelined-samples", targets: ["SamplePictures"]),
        .executable(name: "pipelined-gallery", targets: ["Gallery"]),
        .executable(name: "pipectl", targets: ["pipectl"]),
    ] + filters.map { .library(name: stage($0), type: .dynamic, targets: [$0]) },
    targets: [
        .systemLibrary(name: "CVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"])]),
        .systemLibrary(name: "CTurboJPEG", pkgConfig: "libturbojpeg", providers: [.apt(["libturbojpeg0-dev"])]),
        .systemLibrary(name: "CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
        .systemLibrary(name: "CZimg", pkgConfig: "zimg", providers: [.apt(["libzimg-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        // Debian has libcurl with OpenSSL and with GnuTLS. OpenSSL needs only the certificates; GnuTLS loads modules as
        // it runs.
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "CNats", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
        .target(name: "CPipelinePlugin", publicHeadersPath: "."),
        .target(name: "CLinux"),
        .target(name: "CJPEGPlanes", cSettings: [.unsafeFlags(["-O2"], .when(configuration: .debug))]),
        .target(
            name: "CPNGRows", cSettings: [.unsafeFlags(["-O2"], .when(configuration: .debug))],
            linkerSettings: [.linkedLibrary("deflate"), .linkedLibrary("z")]),
        // LibRaw is C++.
        .target(name: "CRaw", linkerSettings: [.linkedLibrary("raw_r")]),
        .target(name: "PluginKit", dependencies: ["CVips", "CPipelinePlugin"], swiftSettings: strict),

        .target(name: "SystemCalls", dependencies: ["CLinux"], swiftSettings: fast),
        room("ManualPages"),
        room("OperationGraph"),
        room("PipelineModel"),
        // `./run generate` makes Swift from the .varlink files, which the program also contains.
        .target(
            name: "PipelineControl", dependencies: ["SystemCalls", "PipelineModel"],
            resources: [.embedInCode("org.pipelined.Control.varlink"), .embedInCode("org.varlink.service.varlink")],
            swiftSettings: strict),
        program("VarlinkSwift", []),
        room("WorkerProtocol", ["SystemCalls", "PipelineModel"]),
        room("WorkerConfinement", ["CLinux", "CSeccomp", "SystemCalls", "WorkerProtocol"]),

        room("ServiceProgram", ["CLinux", "CSystemd", "SystemCalls"]),
        room("DaemonRuntime", ["SystemCalls", "ServiceProgram"]),
        room("JobModel", ["SystemCalls", "PipelineModel", "ServiceProgram"]),
        room("JobLedger", ["CSQLite", "SystemCalls", "DaemonRuntime", "ServiceProgram", "PipelineModel", "JobModel"]),
        room("DaemonInterface", ["SystemCalls", "PipelineModel", "WorkerProtocol", "DaemonRuntime", "JobModel"]),
        room(
            "WorkerPools",
            ["CLinux", "SystemCalls", "PipelineModel", "WorkerProtocol", "DaemonRuntime", "ServiceProgram"]),
        room("InboxWatching", ["CLinux", "SystemCalls", "PipelineModel", "ServiceProgram"]),
        room(
            "PictureFiles",
            [
                "SystemCalls", "PipelineModel", "WorkerProtocol", "DaemonRuntime", "ServiceProgram", "JobModel",
                "JobLedger",
                "InboxWatching",
                "WorkerPools",
            ]),
        room(
            "DaemonConfiguration",
            [
                "SystemCalls", "PipelineModel", "WorkerProtocol", "DaemonRuntime", "ServiceProgram", "JobModel",
                "JobLedger",
                "InboxWatching",
                "WorkerPools", "PictureFiles",
            ]),
        room(
            "Previewing",
            [
                "SystemCalls", "PipelineModel", "WorkerProtocol", "DaemonRuntime", "ServiceProgram", "DaemonInterface",
                "JobModel",
                "OperationGraph",
                "WorkerPools", "PictureFiles", "DaemonConfiguration",
            ]),
        room(
            "FleetSharing",
            [
                "SystemCalls", "PipelineModel", "WorkerProtocol", "DaemonRuntime", "ServiceProgram", "DaemonInterface",
                "OperationGraph",
                "WorkerPools",
                "PictureFiles", "DaemonConfiguration",
            ]),
        room(
            "JobFlow",
            [
                "CLinux", "SystemCalls", "PipelineModel", "WorkerProtocol", "DaemonRuntime", "ServiceProgram",
                "DaemonInterface",
                "JobModel", "JobLedger",
                "InboxWatching", "OperationGraph", "WorkerPools", "PictureFiles", "DaemonConfiguration", "Previewing",
                "FleetSharing",
            ]),
        room(
            "ControlService",
            [
                "CLinux", "SystemCalls", "PipelineModel", "PipelineControl", "WorkerProtocol", "DaemonRuntime",
                "ServiceProgram",
                "JobModel", "DaemonInterface",
            ]),
        program(
            "PipelineDaemon",
            [
                "CLinux", "SystemCalls", "PipelineModel", "WorkerProtocol", "DaemonRuntime", "ServiceProgram",
                "DaemonInterface",
                "JobModel", "JobLedger",
                "InboxWatching", "ManualPages", "OperationGraph", "WorkerPools", "PictureFiles", "DaemonConfiguration",
                "FleetSharing", "JobFlow", "ControlService",
            ]),
        program(
            "RenderWorker",
            [
                "CJPEGPlanes", "CPNGRows", "CLinux", "CVips", "CTurboJPEG", "CWebP", "CZimg", "CRaw", "CPipelinePlugin",
                "SystemCalls", "PipelineModel", "WorkerProtocol", "WorkerConfinement",
            ], fast),
        program(
            "FilterConformance",
            ["CLinux", "CVips", "SystemCalls", "PipelineModel", "WorkerProtocol", "WorkerConfinement"], fast),
        program(
            "FetchWorker", ["CLinux", "CCurl", "SystemCalls", "PipelineModel", "WorkerProtocol", "WorkerConfinement"]),
        program(
            "FleetWorker",
            [
                "CLinux", "CNats", "SystemCalls", "DaemonRuntime", "ServiceProgram", "PipelineModel", "WorkerProtocol",
                "WorkerConfinement",
            ]),
        program("SamplePictures", ["CVips"], fast),
        program("pipectl", ["SystemCalls", "ManualPages", "PipelineControl", "PipelineModel"]),
        .executableTarget(
            name: "Gallery",
            dependencies: ["CMicrohttpd", "SystemCalls", "ServiceProgram", "ManualPages", "PipelineControl"],
            resources: page.map { .embedInCode("Page/\($0)") },
            swiftSettings: strict, linkerSettings: linked),

        .target(
            name: "TestTools", dependencies: ["CLinux", "SystemCalls"], path: "Tests/TestTools",
            swiftSettings: fast),
        tests("OperationGraphTests", ["OperationGraph"]),
        tests("PipelineModelTests", ["PipelineModel"]),
        tests("PipelineControlTests", ["TestTools", "PipelineControl", "SystemCalls", "VarlinkSwift", "pipectl"]),
        tests("SystemCallsTests", ["TestTools", "SystemCalls"]),
        tests("ServiceProgramTests", ["TestTools", "CLinux", "ServiceProgram", "SystemCalls"]),
        tests("DaemonRuntimeTests", ["TestTools", "CLinux", "DaemonRuntime", "ServiceProgram", "SystemCalls"]),
        tests(
            "PictureFilesTests",
            [
                "TestTools", "InboxWatching", "JobModel", "JobLedger", "PictureFiles", "PipelineModel",
                "SystemCalls", "WorkerPools", "WorkerProtocol",
            ]),
        tests(
            "JobFlowTests",
            [
                "TestTools", "CLinux", "JobFlow", "DaemonConfiguration", "DaemonInterface", "DaemonRuntime",
                "ServiceProgram",
                "FleetSharing",
                "InboxWatching", "JobModel", "JobLedger", "OperationGraph", "PictureFiles", "PipelineModel",
                "Previewing",
                "WorkerPools", "WorkerProtocol", "SystemCalls",
            ]),
        tests("ControlServiceTests", ["ControlService", "ServiceProgram", "PipelineControl"]),
        tests(
            "PipelineDaemonTests",
            [
                "TestTools", "PipelineDaemon", "DaemonConfiguration", "ServiceProgram", "JobModel", "JobLedger",
                "ManualPages",
                "PictureFiles", "PipelineModel", "SystemCalls",
            ]),
        tests(
            "JobLedgerTests", ["TestTools", "JobModel", "JobLedger", "PipelineModel", "SystemCalls"],
            exclude: ["Fixture/ledger-1.sqlite"]),
        tests(
            "InboxWatchingTests", ["TestTools", "InboxWatching", "PipelineModel", "SystemCalls"]),
        tests(
            "WorkerPoolsTests",
            [
                "TestTools", "WorkerPools", "DaemonRuntime", "ServiceProgram", "PipelineModel", "SystemCalls",
                "WorkerProtocol",
            ]),
        tests(
            "RenderWorkerTests",
            [
                "TestTools", "CJPEGPlanes", "CPNGRows", "CLinux", "CVips", "CTurboJPEG", "SystemCalls",
                "PipelineModel", "WorkerProtocol",
            ],
            exclude: ["Fixture/scarce_memory.c", "Fixture/hdr_reader.py"], fast),
        tests("WorkerConfinementTests", ["WorkerConfinement", "FetchWorker", "FleetWorker", "RenderWorker"]),
        tests(
            "FetchWorkerTests",
            [
                "TestTools", "CLinux", "SystemCalls", "PipelineModel", "WorkerProtocol", "WorkerConfinement",
                "FetchWorker",
            ]),
        tests(
            "FleetWorkerTests",
            [
                "TestTools", "SystemCalls", "PipelineModel", "WorkerProtocol", "FleetWorker",
            ]),
        tests(
            "EndToEndTests", ["TestTools", "CLinux", "PipelineControl", "SystemCalls"],
            exclude: [
                "Fixture/faulty_disk.c", "Fixture/file_calls.c", "Fixture/fleet_guide.sh", "Fixture/foreign_client.py",
                "Fixture/guide.py", "Fixture/guide.sh",
            ]),
        tests(
            "GalleryTests",
            ["TestTools", "Gallery", "ServiceProgram", "ManualPages", "PipelineControl", "SystemCalls"]),
        tests("PluginKitTests", ["PluginKit", "CVips", "CPipelinePlugin"]),
        tests("ManualPagesTests", ["ManualPages"]),
        tests(
            "FuzzTests",
            [
                "TestTools", "CVips", "ControlService", "ServiceProgram", "FetchWorker", "FleetWorker", "Gallery",
                "PipelineControl", "PipelineModel", "RenderWorker", "SystemCalls", "WorkerProtocol", "pipectl",
            ], exclude: ["Corpus"]),
        tests("RoomTests", []),
    ]
        + filters.map {
            .target(
                name: $0, dependencies: ["CPipelinePlugin", "CVips"], path: "Sources/Plugins/\($0)",
                cSettings: ofFilters)
        }
)

// `./run` names the test modules that it needs now. Others would only lengthen the build.
if let named = Context.environment["PIPELINED_TESTS"], !named.isEmpty {
    let needed = Set(named.split(separator: " ").map(String.init))
    package.targets.removeAll { $0.type == .test && !needed.contains($0.name) }
}
