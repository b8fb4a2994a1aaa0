import Foundation
import PipelineModel

/// The rows of `orders`: many jobs share a work order, so it is written once. Lives on the ledger's queue.
final class OrderTable {
    private var rows: [WorkOrder: Int] = [:]

    func row(_ order: WorkOrder, _ database: Database) throws -> Int {
        if let row = rows[order] { return row }
        let body = try JSONText.encode(order)
        try database.run("INSERT INTO orders (body) VALUES (?) ON CONFLICT DO NOTHING", [.text(body)])
        let row = try database.first("SELECT id FROM orders WHERE body = ?", [.text(body)]) { $0.integer(0) }
        guard let row else { throw LedgerError(attempted: "INSERT INTO orders", message: "the row is not there") }
        rows[order] = row
        return row
    }

    /// After a rollback rows that were written are not there, nor are those that were forgotten.
    func forget() { rows = [:] }
}

/// JSON in a column: one fixed form, so that equal values are equal texts.
enum JSONText {
    static func encode(_ value: some Encodable) throws -> String {
        if let value = value as? any JSONWritten {
            var line = JSONLine()
            value.write(to: &line)
            return String(decoding: line.bytes, as: UTF8.self)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
