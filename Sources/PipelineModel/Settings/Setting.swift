/// A row in a table of settings: section and key in the file, the value's type, and the property of `Root` that stores
/// the value. The property's initial value is the default.
struct Setting<Root: Sendable>: Sendable {
    let section: String
    let key: String
    let help: String
    let values: String
    let isSecret: Bool
    let assign: @Sendable (_ text: String, _ root: inout Root) throws(Refusal) -> Void
    let reset: @Sendable (_ root: inout Root, _ base: Root) -> Void
    let written: @Sendable (Root) -> String

    init<Value: Sendable>(
        _ section: String, _ key: String, _ path: any WritableKeyPath<Root, Value> & Sendable,
        _ type: SettingType<Value>, _ help: String
    ) {
        self.section = section
        self.key = key
        self.help = help
        values = type.values
        isSecret = type.isSecret
        assign = { text, root throws(Refusal) in root[keyPath: path] = try type.read(text, root[keyPath: path]) }
        reset = { root, base in root[keyPath: path] = base[keyPath: path] }
        written = { type.write($0[keyPath: path]) }
    }

    func row(of root: Root, default base: Root, in header: String? = nil, source: String) -> SettingRow {
        SettingRow(
            section: header ?? section, key: key, value: written(root), default: written(base), source: source,
            help: help,
            values: values)
    }

    /// This setting as a setting of `Whole`. `path` leads from a `Whole` to the `Root` in it.
    func within<Whole: Sendable>(_ path: any WritableKeyPath<Whole, Root> & Sendable) -> Setting<Whole> {
        Setting<Whole>(of: self, within: path)
    }

    private init<Part: Sendable>(of part: Setting<Part>, within path: any WritableKeyPath<Root, Part> & Sendable) {
        section = part.section
        key = part.key
        help = part.help
        values = part.values
        isSecret = part.isSecret
        assign = { text, root throws(Refusal) in try part.assign(text, &root[keyPath: path]) }
        reset = { root, base in part.reset(&root[keyPath: path], base[keyPath: path]) }
        written = { part.written($0[keyPath: path]) }
    }
}

extension Array {
    /// The distinct sections in a table of settings, in order of appearance.
    func sections<Root>() -> [String] where Element == Setting<Root> {
        reduce(into: []) { if !$0.contains($1.section) { $0.append($1.section) } }
    }

    /// Assigns `text` to the setting `key` in `section`; empty text resets it to the value in `base`.
    func assign<Root>(
        _ text: String, to key: String, in section: String, of root: inout Root, base: Root
    ) throws(Refusal) where Element == Setting<Root> {
        guard let setting = first(where: { $0.section == section && $0.key == key }) else {
            throw unknown(key, in: section)
        }
        guard !text.isEmpty else { return setting.reset(&root, base) }
        do throws(Refusal) {
            try setting.assign(text, &root)
        } catch {
            throw Refusal(
                "\(key)=\(setting.isSecret ? "…" : text) \(error.complaint)", advice: error.advice,
                column: error.column)
        }
    }

    private func unknown<Root>(_ key: String, in section: String) -> Refusal where Element == Setting<Root> {
        let elsewhere = first { $0.key == key }
        return Refusal(
            "unknown setting '\(key)' in [\(section)]",
            advice: elsewhere.map { "it belongs in [\($0.section)]" }
                ?? suggestion(for: key, among: filter { $0.section == section }.map(\.key)))
    }
}
