import CVips

/// An argument of a libvips operation: a number, a text, a picture, or a list.
public enum OperationArgument: Sendable {
    case number(Double)
    /// A text, or an enumeration's value by its libvips name.
    case text(String)
    case image(Image)
    case numbers([Double])
    case images([Image])
}

extension OperationArgument: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral
{
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(integerLiteral value: Int) { self = .number(Double(value)) }
    public init(booleanLiteral value: Bool) { self = .number(value ? 1 : 0) }
    public init(stringLiteral value: String) { self = .text(value) }
    public init(arrayLiteral elements: Double...) { self = .numbers(elements) }
}

extension Image {
    /// Calls a libvips operation that returns a picture, by the operation's name: `Image.call("gaussblur", ["in":
    /// .image(image), "sigma": 2])`. The command `vips -l` lists all operations, and `vips NAME` shows the arguments.
    public static func call(
        _ name: String, _ arguments: KeyValuePairs<String, OperationArgument>, result: String = "out"
    ) throws -> Image {
        guard let new = vips_operation_new(name) else { throw error(name) }
        var built: UnsafeMutablePointer<VipsOperation>? = new
        defer { g_object_unref(built) }
        for (key, value) in arguments { try set(new, key, value, of: name) }
        let status = vips_cache_operation_buildp(&built)
        guard let operation = built else { throw error(name) }
        defer { vips_object_unref_outputs(operation.object) }
        guard status == 0 else { throw error(name) }
        guard cvips_argument_type(operation, result) == vips_image_get_type(),
            let image = cvips_get_image(operation, result)
        else { throw FilterError("libvips' \(name) makes no picture '\(result)'") }
        return Image(owning: image)
    }

    private static func set(
        _ operation: UnsafeMutablePointer<VipsOperation>, _ key: String, _ value: OperationArgument, of name: String
    ) throws {
        let type = cvips_argument_type(operation, key)
        switch value {
        case .number(let number) where cvips_is_integer(type) != 0:
            guard let whole = Int32(exactly: number.rounded()) else {
                throw FilterError("\(number) is too large for '\(key)' of libvips' \(name)")
            }
            cvips_set_integer(operation, key, whole)
        case .number(let number) where cvips_is_number(type) != 0:
            cvips_set_number(operation, key, number)
        case .number(let number) where type == vips_array_double_get_type():
            try set(operation, key, .numbers([number]), of: name)
        case .text(let text) where cvips_is_text(type) != 0:
            cvips_set_text(operation, key, text)
        case .text(let text) where cvips_is_enumeration(type) != 0:
            let value = vips_enum_from_nick(name, type, text)
            guard value >= 0 else { throw error(name) }
            cvips_set_integer(operation, key, value)
        case .image(let image) where type == vips_image_get_type():
            cvips_set_object(operation, key, image.pointer)
        case .numbers(let numbers) where type == vips_array_double_get_type():
            let array = vips_array_double_new(numbers, Int32(numbers.count))
            cvips_set_object(operation, key, array)
            vips_area_unref(UnsafeMutableRawPointer(array)?.assumingMemoryBound(to: VipsArea.self))
        case .numbers(let numbers) where type == vips_array_int_get_type():
            let array = vips_array_int_new(numbers.map { Int32($0) }, Int32(numbers.count))
            cvips_set_object(operation, key, array)
            vips_area_unref(UnsafeMutableRawPointer(array)?.assumingMemoryBound(to: VipsArea.self))
        case .images(let images) where type == vips_array_image_get_type():
            var pointers: [UnsafeMutablePointer<VipsImage>?] = images.map(\.pointer)
            let array = vips_array_image_new(&pointers, Int32(images.count))
            cvips_set_object(operation, key, array)
            vips_area_unref(UnsafeMutableRawPointer(array)?.assumingMemoryBound(to: VipsArea.self))
        default:
            throw FilterError(
                type == 0
                    ? "libvips' \(name) takes no '\(key)'" : "'\(key)' of libvips' \(name) is not \(value)")
        }
    }

    /// Returns libvips' error message, and clears the error buffer, which all calls share.
    private static func error(_ name: String) -> FilterError {
        let words = String(cString: vips_error_buffer())
        vips_error_clear()
        return FilterError(
            words.isEmpty ? "libvips has no operation '\(name)'" : words.split(separator: "\n").joined(separator: "; "))
    }
}

extension UnsafeMutablePointer<VipsOperation> {
    /// The operation as its base class, `VipsObject`.
    fileprivate var object: UnsafeMutablePointer<VipsObject> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: VipsObject.self)
    }
}
