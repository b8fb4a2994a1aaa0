extension StageCatalog {
    /// Checks an element and returns it as a stage. Throws if the stage is unknown or an argument is wrong.
    func stage(_ element: ChainElement) throws(ChainProblem) -> Stage {
        guard let description = self[element.name] else {
            throw ChainProblem(
                "unknown stage '\(element.name)'", column: element.column,
                advice: leftOut[element.name] ?? suggestion(for: element.name, among: stages.map(\.name)))
        }
        let builtIn = BuiltInStage.all.first { $0.description.name == element.name }
        var stage = Stage(name: element.name)
        var columns: [String: Int] = [:]
        for var assignment in element.assignments {
            if assignment.value == nil, let positional = builtIn?.positional, columns[positional] == nil {
                (assignment.name, assignment.value) = (positional, assignment.name)
            }
            let parameter = try parameter(assignment, of: description)
            guard columns.updateValue(assignment.column, forKey: parameter.name) == nil else {
                throw ChainProblem(
                    "'\(parameter.name)' for the second time", column: assignment.column, advice: "keep one")
            }
            let text = assignment.value ?? ""
            stage.arguments[parameter.name] = try value(text, of: parameter, column: assignment.column)
            guard parameter.type == .file, !text.isEmpty else { continue }
            do throws(Refusal) {
                stage.files = [parameter.name: try files.digest(text)].merging(stage.files ?? [:]) { new, _ in new }
            } catch {
                throw ChainProblem(
                    "\(parameter.name)=\(text) \(error.complaint)", column: assignment.column, advice: error.advice)
            }
        }
        for parameter in description.parameters where columns[parameter.name] == nil {
            guard let text = parameter.defaultValue else {
                guard parameter.isRequired else { continue }
                let word = builtIn?.positional == parameter.name ? "" : "\(parameter.name)="
                throw ChainProblem(
                    "'\(element.name)' needs '\(parameter.name)'", column: element.column,
                    advice: "write \(element.name) \(word)\(parameter.example)")
            }
            stage.arguments[parameter.name] = try value(text, of: parameter, column: element.column)
        }
        try checkGiven(stage, description, columns, column: element.column)
        if let violation = builtIn?.violation(stage) {
            let column = violation.parameter.flatMap { columns[$0] } ?? element.column
            throw ChainProblem(violation.complaint, column: column, advice: violation.advice)
        }
        if let format = stage.format, let lack = missingEncoders.first(where: { $0.format == format }) {
            throw ChainProblem(
                lack.complaint, column: columns["format"] ?? element.column,
                advice: "\(lack.remedy), then pipectl reload, or choose another format")
        }
        return stage
    }

    /// Checks the filter's `atLeastOneOf` and `atMostOneOf`. A parameter counts as given if its value differs from the
    /// default.
    private func checkGiven(
        _ stage: Stage, _ description: StageDescription, _ columns: [String: Int], column: Int
    ) throws(ChainProblem) {
        let given = description.given(in: stage)
        let needed = description.atLeastOneOf
        if !needed.isEmpty, !given.contains(where: needed.contains) {
            let names = needed.map { "'\($0)'" }.alternatives
            throw ChainProblem(
                "'\(stage.name)' needs \(names)", column: column,
                advice: "write \(stage.name) \(needed.map { "\($0)=…" }.alternatives)")
        }
        let rivals = given.filter(description.atMostOneOf.contains)
        guard rivals.count > 1 else { return }
        throw ChainProblem(
            "\(rivals.map { "'\($0)'" }.enumeration) of \(stage.name) together", column: columns[rivals[1]] ?? column,
            advice: "keep one")
    }

    private func parameter(
        _ assignment: ChainElement.Assignment, of stage: StageDescription
    ) throws(ChainProblem) -> ParameterDescription {
        let known = stage.parameters.map(\.name)
        if let parameter = stage.parameters.first(where: { $0.name == assignment.name }) {
            if assignment.value != nil { return parameter }
            throw ChainProblem(
                "'\(assignment.name)' without a value", column: assignment.column,
                advice: "write \(assignment.name)=value, without spaces")
        }
        if assignment.value == nil, self[assignment.name] != nil {
            throw ChainProblem(
                "stage '\(assignment.name)' inside '\(stage.name)'", column: assignment.column,
                advice: "write a | before it")
        }
        throw ChainProblem(
            "unknown parameter '\(assignment.name)' of \(stage.name)", column: assignment.column,
            advice: known.isEmpty ? "it takes none" : suggestion(for: assignment.name, among: known))
    }

    private func value(
        _ text: String, of parameter: ParameterDescription, column: Int
    ) throws(ChainProblem) -> ArgumentValue {
        do throws(Refusal) {
            return try parameter.value(text)
        } catch {
            throw ChainProblem("\(parameter.name)=\(text) \(error.complaint)", column: column, advice: error.advice)
        }
    }
}
