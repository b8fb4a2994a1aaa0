/// An interface of the control socket: its name, and its description in Varlink's own language.
///
/// This module's `.varlink` files are the only description of the messages. From these files, `./run generate` makes
/// `Varlink.swift`, which contains `Control` (the types), `Call` and `ControlError`.
public struct ControlInterface: Sendable {
    public let name: String
    public let description: String

    public static let service = ControlInterface("org.varlink.service", PackageResources.org_varlink_service_varlink)
    public static let control = ControlInterface(
        "org.pipelined.Control", PackageResources.org_pipelined_Control_varlink)

    private init(_ name: String, _ text: [UInt8]) {
        self.name = name
        description = Self.limits.reduce(String(decoding: text.dropLast(), as: UTF8.self)) { text, limit in
            text.replacing("\\(\(limit.key))", with: "\(limit.value)")
        }
    }

    /// All interfaces of the socket. The first is Varlink's own, which every Varlink service must implement.
    public static let all = [service, control]
}

/// The limits that the interface's description mentions.
extension ControlInterface {
    /// Maximum IDs in a call.
    public static let mostIDs = 1000
    /// Maximum bytes of a reason.
    public static let longestReason = 1000
    /// Maximum bytes of a chain.
    public static let longestChain = 10_000
    /// Maximum batches, and maximum jobs, in a reply of Progress.
    public static let mostProgress = 100
    /// Maximum results of a Try; a single message carries their descriptors.
    public static let mostProofs = 32
    /// Maximum width and height of a picture in a sheet, in pixels.
    public static let sheetEdge = 640
    /// The longest sides of previews, in pixels.
    public static let (smallPreview, largePreview) = (320, 1280)
    /// Maximum replies of Progress per second.
    public static let progressRate = 4

    private static let limits = [
        "mostIDs": mostIDs, "longestReason": longestReason, "longestChain": longestChain,
        "mostProgress": mostProgress, "progressRate": progressRate, "mostProofs": mostProofs,
        "sheetEdge": sheetEdge, "smallPreview": smallPreview, "largePreview": largePreview,
    ]
}

/// A call of one of the interface's methods. The stored properties are the method's parameters.
public protocol ControlCall: Codable, Sendable {
    associatedtype Reply: Codable & Sendable
    /// The method's full name, with its interface.
    static var method: String { get }
    static var parameterNames: [String] { get }
}
