import CPipelinePlugin
import Synchronization

struct ParameterDescription: Sendable {
    var type: PipelineParameterType.RawValue
    var minimum = 0.0
    var maximum = 0.0
    var defaultValue: String?
    var choices: [String] = []
    var unit: String?
    var help: String

    init(_ type: PipelineParameterType, _ help: String, default value: String?) {
        self.type = type.rawValue
        self.help = help
        defaultValue = value
    }

    static func number(
        _ range: ClosedRange<Double>, _ help: String, _ unit: String?, default value: Double?
    ) -> ParameterDescription {
        var description = ParameterDescription(PIPELINE_NUMBER, help, default: value.map { "\($0)" })
        (description.minimum, description.maximum, description.unit) = (range.lowerBound, range.upperBound, unit)
        return description
    }

    static func integer(
        _ range: ClosedRange<Int>, _ help: String, _ unit: String?, default value: Int?
    ) -> ParameterDescription {
        var description = ParameterDescription(PIPELINE_INTEGER, help, default: value.map { "\($0)" })
        (description.minimum, description.maximum) = (Double(range.lowerBound), Double(range.upperBound))
        description.unit = unit
        return description
    }

    static func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ type: Value.Type, _ help: String, default value: Value?
    ) -> ParameterDescription {
        var description = ParameterDescription(PIPELINE_CHOICE, help, default: value?.rawValue)
        description.choices = type.allCases.map(\.rawValue)
        return description
    }
}

extension ParameterDescription {
    static func file(_ endings: [String], _ help: String, default value: String?) -> ParameterDescription {
        var description = ParameterDescription(PIPELINE_FILE, help, default: value)
        description.choices = endings
        return description
    }
}

/// A parameter's value from the host, which has checked it against the parameter's description.
struct Argument: Sendable {
    var number: Double
    var text: String?
    /// The bytes of a file.
    var bytes: [UInt8]?
}

/// A parameter of any type.
protocol AnyParameter {
    var description: ParameterDescription { get }
    func take(_ argument: Argument) throws
}

/// Stores a parameter's value by reference. `Filter.parameters` finds the parameters by reflection, which returns only
/// copies. A copy shares this object with the original, so setting the copy's value also sets the original's value.
final class Stored<Value: Sendable>: Sendable {
    private let place: Mutex<Value?>

    init(_ value: Value?) { place = Mutex(value) }

    var value: Value? {
        get { place.withLock { $0 } }
        set { place.withLock { $0 = newValue } }
    }
}

extension Filter {
    /// The filter's parameters and their names, in the order of their declarations.
    var parameters: [(name: String, parameter: any AnyParameter)] {
        Mirror(reflecting: self).children.compactMap { child in
            guard let parameter = child.value as? any AnyParameter, let label = child.label else { return nil }
            return (String(label.drop { $0 == "_" }).inChains, parameter)
        }
    }
}
