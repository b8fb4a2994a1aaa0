import ManualPages
import PictureFiles
import PipelineModel

/// pipelined.recipe(5).
extension Manual {
    static func recipePage(filters: [StageDescription]) -> ManualPage {
        let (system, below) = (Places.system, Places.laidOut(below: "DIR"))
        return ManualPage(
            "pipelined.recipe", section: 5, summary: "the recipes of pipelined",
            parts: [
                .section("SYNOPSIS"), .lines(["\(system.recipes)/*.recipe"]),
                .section("DESCRIPTION"),
                .paragraph(
                    "A recipe says from which inbox pictures are taken, which results are made of each, and what "
                        + "becomes of the original. Its file gives it its name. An inbox belongs to one recipe; "
                        + "`inbox/` itself belongs to the recipe that DefaultRecipe= names in `pipelined.conf`(5). "
                        + "`pipectl reload` brings a change into force; a job keeps the chains that it was made with."),
            ] + dialect + [
                .paragraph(
                    "There is a section [Output] for each result. All but one have a name, as in [Output thumb], which "
                        + "becomes part of the result's file name. [Inbox] overrides settings in [Inbox] of "
                        + "`pipelined.conf`(5)."
                )
            ] + sections(of: Recipe.settings) { $0 == "Output" ? "Output NAME" : $0 }
                + [
                    .section("NAMES"),
                    .paragraph(
                        "Name= says where a result lies below the outbox, with / between folders and without the "
                            + "suffix, which is its format's. A field stands between braces. An empty one goes with its "
                            + "folder, or with the character before it. No value leads out of the outbox: its characters that "
                            + "mean something to a path are replaced."),
                ] + NameField.allCases.map { .entry($0.example, value: "", "\($0.help).") } + [
                    .section("HOOKS"),
                    .paragraph(
                        "The program that Hook= names is run for each picture that is done and each batch that has "
                            + "ended, one after the other. It gets the event as one JSON object on its standard input, "
                            + "as `pipectl watch --json` prints it, and PIPELINED_RECIPE and PIPELINED_SOCKET in its "
                            + "environment, so `pipectl` asks this daemon. It runs as the daemon's user, and is ended "
                            + "after HookTimeout= of `pipelined.conf`(5)."),
                    .section("CHAINS"),
                    .paragraph(
                        "A chain is a list of stages with | between them: `resize width=1600 | noir | save "
                            + "format=jpeg`. The picture goes through them in this order. A stage's name is followed "
                            + "by parameters, `name=value`; a value with spaces stands between quotes. Optional "
                            + "parameters are shown below with their defaults."
                    ),
                    .paragraph(
                        "A result is one picture: an animation becomes its first frame, a file of several pages its "
                            + "first page, and a HEIC or AVIF of several pictures its main one. With `save "
                            + "format=webp pages=all`, or `gif`, an animation stays one. `pipectl show`, `list` and "
                            + "`explain` say how many there are."
                    ),
                    .paragraph(
                        "`pipectl explain` shows the operations of a chain, `pipectl plugins` the stages of the "
                            + "running daemon."
                    ),
                    .section("STAGES"), .paragraph("These stages are built in."),
                ] + StageCatalog.builtIn.stages.flatMap(stage)
                + [
                    .section("FILTERS"),
                    .paragraph(
                        "These filters come with pipelined, as plugins; `pipeline_plugin.h`(3) says how to write "
                            + "others."
                    ),
                ] + filters.flatMap(stage) + [
                    .section("EXAMPLES"), .paragraph("For the web, with a thumbnail:"),
                    .lines([
                        "[Recipe]", "Description=For the web, with a thumbnail", "Inbox=web", "", "[Output]",
                        "Chain=resize width=1600 | save format=webp quality=80 metadata=keep-without-place", "",
                        "[Output thumb]",
                        "Chain=resize width=320 height=320 fit=cover | noir contrast=1.4 | save format=jpeg",
                    ]),
                    .section("FILES"),
                    .entry("\(system.recipes)/*.recipe", value: "", "with `--root DIR`: \(below.recipes)/*.recipe"),
                ] + ManualPage.others(("pipelined", 8), ("pipelined.conf", 5), ("pipectl", 1), ("pipeline_plugin.h", 3))
        )
    }

    private static func stage(_ stage: StageDescription) -> [ManualPage.Part] {
        let traits = stage.traits.map(\.rawValue).sorted().joined(separator: ", ")
        let summary = stage.summary.prefix(1).uppercased() + stage.summary.dropFirst() + "."
        return [.heading(stage.name), .paragraph(traits.isEmpty ? summary : "\(summary) Traits: \(traits).")]
            + stage.parameters.map { parameter in
                let left = parameter.isRequired ? "; must be given" : ""
                return .entry(
                    "\(parameter.name)=", value: parameter.defaultValue ?? "",
                    "\(parameter.help) (\(parameter.values)\(left))")
            }
    }
}
