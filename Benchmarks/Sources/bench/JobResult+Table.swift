extension JobResult {
    /// A table with one row per contender: its processor time, throughput and memory. Each value is followed by its
    /// ratio to the floor, if the floor was measured, and by the ratio of pipelined's value to it.
    var table: Table {
        let hasFloor = self["floor"] != nil
        let floor = hasFloor ? ["÷ floor"] : []
        let header =
            ["", "CPU ms a picture"] + floor + ["pipelined ÷ it", "pictures/s"] + floor
            + ["pipelined ÷ it", "peak MB"] + floor + ["pipelined ÷ it"]
        return Table(header: header, rows: series.map { row(of: $0) })
    }

    private func row(of one: Series) -> [String] {
        [one.name] + cells(one, \.cpuEach) + cells(one, \.rate) + cells(one, \.megabytes, spread: false)
    }

    private func cells(_ one: Series, _ value: (Sample) -> Double, spread: Bool = true) -> [String] {
        let figure = one.figure(value)
        let shown = figure.map { spread ? $0.text : Text.short($0.median) } ?? "–"
        let toFloor = self["floor"].map { [Self.text(one.ratio(to: $0, value))] } ?? []
        let pipelined = one.name == "pipelined" ? nil : self["pipelined"]
        return [shown] + toFloor + [Self.text(pipelined?.ratio(to: one, value))]
    }

    private static func text(_ figure: Figure?) -> String { figure.map { Text.fixed($0.median, 2) } ?? "" }
}
