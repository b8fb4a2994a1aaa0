/// A type with messages that are sent for every picture. Such a message is packed: the fields have a fixed order, a
/// number takes eight bytes, and a text follows its length. As JSON, these messages would cost the supervisor more than
/// all its other work. All other messages are sent as JSON, whose first byte never equals the kind of a packed message.
protocol PackedMessage {
    /// Returns nil for a message that is sent as JSON.
    func pack() -> Packer?
    init(_ packed: inout Unpacker) throws(PackedMessageError)
}

struct PackedMessageError: Error, CustomStringConvertible {
    var description: String { "the packed message is malformed" }
}

struct Packer {
    private(set) var bytes: [UInt8]

    /// `kind` distinguishes the messages of a type. A kind is less than the first byte of any JSON text.
    init(_ kind: UInt8) {
        bytes = [kind]
        bytes.reserveCapacity(256)
    }

    mutating func add(_ number: some BinaryInteger) {
        withUnsafeBytes(of: Int64(number).littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func add(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    mutating func add(_ text: String) {
        add(text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    mutating func add(_ text: String?) {
        add(text != nil)
        if let text { add(text) }
    }

    mutating func add<Element>(_ list: [Element], _ each: (inout Packer, Element) -> Void) {
        add(list.count)
        for element in list { each(&self, element) }
    }
}

struct Unpacker {
    let kind: UInt8
    private let bytes: [UInt8]
    private var next = 1

    init(_ bytes: [UInt8]) throws(PackedMessageError) {
        guard let kind = bytes.first else { throw PackedMessageError() }
        (self.kind, self.bytes) = (kind, bytes)
    }

    private mutating func take(_ count: Int) throws(PackedMessageError) -> ArraySlice<UInt8> {
        guard count >= 0, count <= bytes.count - next else { throw PackedMessageError() }
        defer { next += count }
        return bytes[next..<next + count]
    }

    mutating func number() throws(PackedMessageError) -> Int64 {
        let start = try take(8).startIndex
        return Int64(littleEndian: bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: Int64.self) })
    }

    mutating func integer() throws(PackedMessageError) -> Int { Int(try number()) }

    mutating func flag() throws(PackedMessageError) -> Bool { try take(1).first == 1 }

    mutating func text() throws(PackedMessageError) -> String {
        String(decoding: try take(integer()), as: UTF8.self)
    }

    mutating func optionalText() throws(PackedMessageError) -> String? { try flag() ? try text() : nil }

    mutating func list<Element>(
        _ each: (inout Unpacker) throws(PackedMessageError) -> Element
    ) throws(PackedMessageError) -> [Element] {
        var list: [Element] = []
        for _ in 0..<max(0, try integer()) { list.append(try each(&self)) }
        return list
    }

    /// Throws if any bytes have not been read.
    func end() throws(PackedMessageError) { if next != bytes.count { throw PackedMessageError() } }
}
