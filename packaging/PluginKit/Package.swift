// swift-tools-version: 6.0
import PackageDescription

/// Filters for pipelined in Swift. A filter's package depends on it by its path.
let package = Package(
    name: "PluginKit",
    products: [.library(name: "PluginKit", type: .static, targets: ["PluginKit"])],
    targets: [
        .systemLibrary(name: "CVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"])]),
        .target(name: "CPipelinePlugin", publicHeadersPath: "."),
        .target(
            name: "PluginKit", dependencies: ["CVips", "CPipelinePlugin"],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]),
    ]
)
