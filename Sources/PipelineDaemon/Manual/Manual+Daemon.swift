import DaemonConfiguration
import ManualPages
import PictureFiles

/// pipelined(8).
extension Manual {
    static var daemonPage: ManualPage {
        ManualPage(
            "pipelined", section: 8, summary: purpose,
            parts: [
                .section("SYNOPSIS"), .paragraph("`pipelined` \(usage)"),
                .section("DESCRIPTION"),
                .paragraph(
                    "`pipelined` watches inboxes. Each belongs to a recipe, which says which results are made of the "
                        + "pictures that arrive there, and where the results go. A file is taken when it has been "
                        + "quiet for a moment. Its results appear in the outbox whole, or not at all. Then the "
                        + "original goes to the archive, or to the folder for failed or for cancelled originals. "
                        + "Nothing is lost when the daemon is killed."),
                .paragraph(
                    "Without any configuration there is the recipe noir, for `inbox/` itself: half the size, black and "
                        + "white. `pipelined.conf`(5) and `pipelined.recipe`(5) say how to write others; `--check` "
                        + "says whether they are right."),
                .paragraph(
                    "The daemon starts despite a mistake in the configuration. A recipe with a mistake is held: its "
                        + "pictures wait in their inbox. If the settings have a mistake, the last correct settings are used. "
                        + "`pipectl status` says so until the mistake is corrected and `pipectl reload` has read the files."
                ),
                .paragraph(
                    "Workers read pictures and servers: separate processes that the kernel confines. `pipectl`(1) "
                        + "shows, cancels and tunes their work. The log goes to standard error."),
                .section("OPTIONS"),
            ]
                + Arguments.Option.allCases.map { option in
                    .entry(
                        option.rawValue + (option.value == nil ? "" : " "), value: option.value ?? "", option.help)
                } + [
                    .section("SIGNALS"),
                    .entry(
                        "SIGTERM, SIGINT", value: "",
                        "stop: running jobs may go on for DrainTimeout=; unfinished ones then go back to the queue. A "
                            + "second signal stops at once."),
                    .entry("SIGHUP", value: "", "read configuration and plugins again, as `pipectl reload` does"),
                    .section("EXIT STATUS"),
                ] + ExitStatus.allCases.map { .entry("\($0.rawValue)", value: "", $0.meaning) }
                + [.section("FILES"), .paragraph("With `--root DIR` they lie below DIR, at the second path.")]
                + zip(files(of: .system), files(of: .laidOut(below: "DIR"))).map { system, below in
                    .entry(system.path, value: "", "\(below.path): \(system.help)")
                }
                + [
                    .section("EXAMPLES"),
                    .entry(
                        "pipelined --root ~/pictures", value: "",
                        "run it for yourself: pictures dropped into ~/pictures/inbox/ come out in "
                            + "~/pictures/outbox/noir/"
                    ),
                    .entry(
                        "pipelined --root ~/pictures --check", value: "",
                        "check the configuration before a start"),
                    .entry("pipectl --root ~/pictures watch", value: "", "follow its work, live"),
                ]
                + ManualPage.others(
                    ("pipectl", 1), ("pipelined.conf", 5), ("pipelined.recipe", 5), ("pipeline_plugin.h", 3)))
    }

    private static func files(of places: Places) -> [(path: String, help: String)] {
        [
            (
                places.mainConfiguration,
                "the settings, with more of them in `pipelined.conf.d/` beside it: `pipelined.conf`(5)"
            ),
            (places.recipes, "the recipes: `pipelined.recipe`(5)"),
            (places.inbox, "where pictures arrive; a recipe's inbox is a folder below it, or elsewhere"),
            (places.outbox, "the results, in a folder for each recipe"),
            (places.archive, "the originals of jobs that are done, in the outbox's folders"),
            (places.failed, "the originals of failed jobs, with a text beside each that says why and what to do"),
            (places.cancelled, "the originals of cancelled jobs"),
            (places.state, "the ledger of all jobs, and the limits set with `--save`"),
            (places.socket, "the control socket, for `pipectl`(1) and other Varlink clients"),
            (places.plugins[0], "filters of your own: `pipeline_plugin.h`(3)"),
        ]
    }
}
