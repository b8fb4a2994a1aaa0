import CPipelinePlugin

/// A plugin's description, copied to this host's struct layout. Older plugins have shorter structs, and newer plugins
/// have longer structs.
struct PluginLayout {
    let filter: PipelineFilter
    let parameters: [PipelineParameter]

    /// Address of the function `apply`; nil if a plugin left it out, against the contract.
    static func code(of filter: PipelineFilter) -> UnsafeRawPointer? {
        withUnsafeBytes(of: filter) { $0.load(fromByteOffset: apply, as: UnsafeRawPointer?.self) }
    }

    private static let apply = MemoryLayout.offset(of: \PipelineFilter.apply) ?? 0
    /// Minimum size of a `PipelineFilter`: all versions have the fields up to `apply`.
    private static let leastFilter = apply + MemoryLayout<UnsafeRawPointer>.size
    private static let leastParameter = MemoryLayout<PipelineParameter>.size
    /// Maximum size of a struct. No version of the contract has a larger struct.
    private static let most = 4096
    private static let mostParameters = 64

    init(_ start: UnsafeRawPointer) throws(PluginError) {
        let head = start.loadUnaligned(as: (abi: UInt32, filter: UInt32, parameter: UInt32).self)
        guard head.abi == UInt32(PIPELINE_PLUGIN_ABI) else {
            throw PluginError(
                "it is made for version \(head.abi) of the contract, and this is \(PIPELINE_PLUGIN_ABI); compile it with "
                    + "this version's pipeline_plugin.h")
        }
        let (filterSize, stride) = (Int(head.filter), Int(head.parameter))
        try Self.check(filterSize, of: "PipelineFilter", least: Self.leastFilter)
        try Self.check(stride, of: "PipelineParameter", least: Self.leastParameter)
        filter = Self.copy(start, filterSize, as: PipelineFilter.self)
        guard filter.parameter_count <= Self.mostParameters else {
            throw PluginError("it has \(filter.parameter_count) parameters; \(Self.mostParameters) are the most")
        }
        guard let first = filter.parameters else {
            guard filter.parameter_count == 0 else { throw PluginError("its parameters are missing") }
            parameters = []
            return
        }
        parameters = (0..<filter.parameter_count).map { index in
            Self.copy(UnsafeRawPointer(first) + index * stride, stride, as: PipelineParameter.self)
        }
    }

    private static func check(_ size: Int, of name: String, least: Int) throws(PluginError) {
        guard (least...most).contains(size), size.isMultiple(of: MemoryLayout<UnsafeRawPointer>.alignment) else {
            throw PluginError(
                "it says that its \(name) has \(size) bytes, which none has; begin it with PIPELINE_FILTER_LAYOUT")
        }
    }

    /// Copies the fields that the plugin and this host both have, and zeroes the host's other fields.
    private static func copy<Value>(_ source: UnsafeRawPointer, _ size: Int, as type: Value.Type) -> Value {
        withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { room in
            let bytes = UnsafeMutableRawBufferPointer(room)
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            bytes.copyMemory(from: UnsafeRawBufferPointer(start: source, count: min(size, bytes.count)))
            return room[0]
        }
    }
}
