import PipelineControl

extension Verb {
    static let settings = Verb(
        name: "settings",
        summary: "every setting in force, and where it comes from",
        discussion: [
            "The source is a file, `default`, or `pipectl` for a change that lasts until the daemon restarts."
        ],
        examples: [Example("pipectl settings --json | jq 'select(.source != \"default\")'", "what was changed")],
        run: { context in
            let settings = try context.call(Call.Settings()).settings
            if context.json {
                for setting in settings { try context.output.object(setting) }
                return .done
            }
            var table = Table([
                .init(title: "SETTING"), .init(title: "VALUE", fit: .words),
                .init(title: "SOURCE", fit: .name, spare: 2),
                .init(title: "", fit: .words, spare: 1),
            ])
            for setting in settings {
                let isDefault = setting.source == "default"
                table.add(
                    "[\(setting.section)] \(setting.key, .strong)", Text(setting.value, isDefault ? .plain : .busy),
                    Text(setting.source, .faint), Text(setting.help, .faint))
            }
            try context.output.lines(table.lines(width: context.output.columns))
            return .done
        })
}
