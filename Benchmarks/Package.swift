// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "benchmarks",
    targets: [
        .executableTarget(
            name: "floor", linkerSettings: ["jpeg", "turbojpeg", "webp", "m"].map { .linkedLibrary($0) }),
        .executableTarget(name: "usage"),
        .executableTarget(
            name: "bench",
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .treatAllWarnings(as: .error),
            ]),
    ]
)
