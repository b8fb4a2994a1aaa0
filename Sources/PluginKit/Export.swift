public import CPipelinePlugin
import CVips
import Glibc
import Synchronization

/// The return type of a plugin's only exported function.
public typealias ExportedFilter = UnsafePointer<PipelineFilter>

/// Describes a filter to the host. A plugin's only exported function returns the result of this call.
///
///     @c(pipeline_filter) public func pipelineFilter() -> ExportedFilter { export(Warm.self) }
public func export<Exported: Filter>(_ type: Exported.Type) -> ExportedFilter {
    Exports.make.withLock { $0 = { Exported() } }
    let parameters = Exported().parameters.map { $1.description.exported(as: $0) }
    let filter = UnsafeMutablePointer<PipelineFilter>.allocate(capacity: 1)
    filter.initialize(
        to: PipelineFilter(
            abi: UInt32(PIPELINE_PLUGIN_ABI), filter_size: UInt32(MemoryLayout<PipelineFilter>.size),
            parameter_size: UInt32(MemoryLayout<PipelineParameter>.stride), traits: type.traits.rawValue,
            name: lasting(type.name), version: lasting(type.version), summary: lasting(type.summary),
            parameter_count: parameters.count, parameters: lasting(parameters),
            apply: { Exports.apply($0, $1, $2, $3) }, author: type.author.map(lasting),
            at_least_one_of: lasting(type.atLeastOneOf), at_most_one_of: lasting(type.atMostOneOf),
            arrange: { Exports.arrange($0, $1, $2, $3, $4) }, needs_colours: lasting(type.needsColours)))
    return UnsafePointer(filter)
}

/// The exported filter of this shared object. A shared object can export only one filter.
private enum Exports {
    static let make = Mutex<(@Sendable () -> any Filter)?>(nil)

    static func apply(
        _ host: UnsafePointer<PipelineHost>, _ values: UnsafePointer<PipelineValue>,
        _ input: UnsafeMutablePointer<VipsImage>,
        _ output: UnsafeMutablePointer<UnsafeMutablePointer<VipsImage>?>?
    ) -> Int32 {
        Host.current = host
        defer { Host.current = nil }
        do {
            output?.pointee = try filter(values).apply(to: Image(borrowing: input)).handedOver()
            return 0
        } catch {
            host.pointee.fail(host, "\(error)")
            return -1
        }
    }

    static func arrange(
        _ host: UnsafePointer<PipelineHost>, _ values: UnsafePointer<PipelineValue>, _ width: Int32, _ height: Int32,
        _ arrangement: UnsafeMutablePointer<PipelineArrangement>
    ) -> Int32 {
        Host.current = host
        defer { Host.current = nil }
        // If `arrangement` fails, the host calls `apply`, which reports the reason.
        guard let made = try? filter(values).arrangement(width: Int(width), height: Int(height)) else { return -1 }
        arrangement.pointee = made.exported
        return 0
    }

    private static func filter(_ values: UnsafePointer<PipelineValue>) throws -> any Filter {
        guard let filter = make.withLock({ $0 })?() else { throw FilterError("it was not exported") }
        for (index, (_, parameter)) in filter.parameters.enumerated() {
            let value = values[index]
            try parameter.take(
                Argument(
                    number: value.number, text: value.text.map { String(cString: $0) },
                    bytes: parameter.description.type == PIPELINE_FILE.rawValue ? Host.file(values + index) : nil))
        }
        return filter
    }
}

extension ParameterDescription {
    func exported(as name: String) -> PipelineParameter {
        PipelineParameter(
            name: lasting(name), type: PipelineParameterType(rawValue: type), minimum: minimum, maximum: maximum,
            default_value: defaultValue.map(lasting),
            choices: lasting(choices),
            unit: unit.map(lasting), help: lasting(help))
    }
}

/// Copies a text. The copy is never freed, because the host may read a filter's description until the process ends.
private func lasting(_ text: String) -> UnsafePointer<CChar> { UnsafePointer(strdup(text)) }

/// Copies words to an array that ends with a null pointer. Nil if there are no words.
private func lasting(_ words: [String]) -> UnsafePointer<UnsafePointer<CChar>?>? {
    words.isEmpty ? nil : lasting(words.map { UnsafePointer(lasting($0)) } + [nil])
}

private func lasting<Element>(_ elements: [Element]) -> UnsafePointer<Element> {
    let place = UnsafeMutablePointer<Element>.allocate(capacity: max(1, elements.count))
    place.initialize(from: elements, count: elements.count)
    return UnsafePointer(place)
}
