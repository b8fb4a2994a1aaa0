import ManualPages

/// pipelined(8).
extension Manual {
    static var daemonPage: ManualPage {
        ManualPage(
            "pipelined", section: 8, summary: purpose,
            parts: [
                .section("SYNOPSIS"), .paragraph("`pipelined` \(usage)"),
                .section("DESCRIPTION"),
                .paragraph(
                    "`pipelined` watches inboxes. Each belongs to a recipe, which says what is made of the pictures that "
                        + "arrive there, and where the results go. A file is taken when it has been quiet for a moment; its "
                        + "results appear in the outbox whole, or not at all; then the original goes to an archive, or where "
                        + "failed and cancelled ones are kept. Nothing is lost when the daemon is killed."),
                .paragraph(
                    "Without any configuration there is the recipe noir, for `inbox/` itself: half the size, black and white. "
                        + "`pipelined.conf`(5) and `pipelined.recipe`(5) say how to write others; `--check` says whether they "
                        + "are right."),
                .paragraph(
                    "Pictures and servers are read by workers, processes of their own that are confined by the kernel. "
                        + "`pipectl`(1) shows, cancels and tunes what they do. The log goes to standard error."),
                .section("OPTIONS"),
            ]
                + Arguments.Option.allCases.map { option in
                    .entry(
                        option.rawValue + (option.value == nil ? "" : " "), value: option.value ?? "", option.help)
                } + [
                    .section("SIGNALS"),
                    .entry(
                        "SIGTERM, SIGINT", value: "",
                        "stop: what runs may go on for DrainTimeout=, and what has not ended then goes back to the "
                            + "queue. A second one stops at once."),
                    .entry("SIGHUP", value: "", "read configuration and plugins again, as `pipectl reload` does"),
                    .section("EXIT STATUS"),
                ] + ExitStatus.allCases.map { .entry("\($0.rawValue)", value: "", $0.meaning) }
                + [.section("FILES"), .paragraph("With `--root DIR` they lie below DIR, as the second path tells.")]
                + zip(files(of: .system), files(of: .laidOut(below: "DIR"))).map { system, below in
                    .entry(system.path, value: "", "\(below.path): \(system.help)")
                }
                + [
                    .section("EXAMPLES"),
                    .entry(
                        "pipelined --root ~/pictures", value: "",
                        "run it for oneself: what is dropped into ~/pictures/inbox/ comes out in ~/pictures/outbox/noir/"
                    ),
                    .entry(
                        "pipelined --root ~/pictures --check", value: "",
                        "before a start, whether all that is written is right"),
                    .entry("pipectl --root ~/pictures watch", value: "", "what it does, live"),
                ]
                + ManualPage.others(
                    ("pipectl", 1), ("pipelined.conf", 5), ("pipelined.recipe", 5), ("pipeline_plugin.h", 3)))
    }

    private static func files(of places: Places) -> [(path: String, help: String)] {
        [
            (
                places.mainConfiguration,
                "the settings, and in `pipelined.conf.d/` beside it more of them: `pipelined.conf`(5)"
            ),
            (places.recipes, "the recipes: `pipelined.recipe`(5)"),
            (places.inbox, "where pictures arrive; a recipe's folder below it, or one elsewhere that it names"),
            (places.outbox, "the results, in a folder for each recipe"),
            (places.archive, "the originals of what is done, in folders as the outbox has them"),
            (places.failed, "the originals of what has failed, with a text beside each that says why and what to do"),
            (places.cancelled, "the originals of what was cancelled"),
            (places.state, "the ledger of all jobs, and what was set with `--save`"),
            (places.socket, "where `pipectl`(1) and other Varlink clients ask"),
            (places.plugins[0], "filters of one's own: `pipeline_plugin.h`(3)"),
        ]
    }
}
