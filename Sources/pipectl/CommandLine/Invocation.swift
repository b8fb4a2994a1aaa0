import PipelineModel

/// A parsed command line: a verb with its arguments and options.
struct Invocation {
    var verb: Verb
    var arguments: [String] = []
    /// The values of each option, by the option's name, in the order of the command line.
    var options: [String: [String]] = [:]

    func has(_ option: Option) -> Bool { options[option.name] != nil }

    func values(_ option: Option) -> [String] { options[option.name] ?? [] }

    /// The option's last value. It overrides earlier values, which may come from an alias or a script.
    func value(_ option: Option) -> String? { options[option.name]?.last }

    func number(_ option: Option) throws(Failure) -> Int? {
        guard let text = value(option) else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw .usage("\(option.name) needs a number, not '\(text)'")
        }
        return number
    }

    /// Parses a duration such as `90`, `90s`, `5min` or `1h`. Returns seconds.
    func seconds(_ option: Option) throws(Failure) -> Double? {
        guard let text = value(option) else { return nil }
        let unit = String(text.drop { $0.isNumber || $0 == "." })
        let units = ["": 1.0, "s": 1, "min": 60, "h": 3600, "d": 86400]
        guard let factor = units[unit], let number = Double(text.dropLast(unit.count)), number.isFinite else {
            throw .usage("\(option.name) needs a time, such as 90s, 5min or 1h, not '\(text)'")
        }
        return number * factor
    }

    func choice<Choice: RawRepresentable & CaseIterable>(
        _ option: Option, among _: Choice.Type
    ) throws(Failure) -> Choice? where Choice.RawValue == String {
        guard let text = value(option) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let known = Choice.allCases.map(\.rawValue)
        let hint = didYouMean(text, among: known)
        throw .usage("\(option.name) is one of \(known.joined(separator: ", ")), not '\(text)'\(hint)")
    }

    func ids() throws(Failure) -> [Int] {
        try Self.ids(arguments) { word in
            let isFile = word.contains { $0 == "." || $0 == "/" }
            return isFile ? "; `pipectl explain \(word)` names the job of a file" : verb.optionHint(word)
        }
    }

    /// The option's job IDs, separated by spaces or commas.
    func ids(_ option: Option) throws(Failure) -> [Int] {
        try Self.ids(values(option).flatMap { $0.split(separator: ",").map(String.init) })
    }

    static func ids(_ words: [String], hint: (String) -> String = { _ in "" }) throws(Failure) -> [Int] {
        var ids: [Int] = []
        for word in words {
            guard let id = id(word) else {
                throw .usage("'\(word)' is not a job's ID: IDs are numbers, as shown by `pipectl list`\(hint(word))")
            }
            ids.append(id)
        }
        return ids
    }

    static func areIDs(_ list: String) -> Bool {
        list.split(separator: ",").allSatisfy { id(String($0)) != nil }
    }

    /// Parses `12`, and also `#12`, which users copy from the tables.
    static func id(_ word: String) -> Int? {
        guard let id = Int(word.hasPrefix("#") ? String(word.dropFirst()) : word), id > 0 else { return nil }
        return id
    }
}
