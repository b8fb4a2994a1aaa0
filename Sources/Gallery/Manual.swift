import DaemonRuntime
import ManualPages
import PipelineControl

/// What the program says of itself.
enum Manual {
    private static let purpose = "answers monitors over HTTP for pipelined"
    private static let usage = "[--root DIR | --instance NAME | --socket PATH] [--metrics-listen ADDRESS:PORT]"

    static var help: String {
        """
        pipelined-gallery: \(purpose).

        Usage: pipelined-gallery \(usage)

        \(Arguments.Option.lines)

        It is a client of the daemon's control socket, and reads no folder. At gallery.sock beside that socket, or at the
        sockets that systemd passes, it serves

          /metrics   the daemon's figures, for Prometheus and what reads its format, or OpenMetrics
          /healthz   200 while the daemon answers, 503 while it does not, with the reason

        Try it: curl --unix-socket /run/pipelined/gallery.sock http://localhost/metrics
        """
    }

    static var page: ManualPage {
        ManualPage(
            "pipelined-gallery", section: 8, summary: purpose,
            parts: [
                .section("SYNOPSIS"), .paragraph("`pipelined-gallery` \(usage)"),
                .section("DESCRIPTION"),
                .paragraph(
                    "`pipelined-gallery` is a client of the control socket of `pipelined`(8). It serves what it is told there "
                        + "over HTTP, and reads no folder. It listens at `gallery.sock` beside the control socket, or at the "
                        + "sockets that systemd passes."),
                .entry(
                    "/metrics", value: "",
                    "the daemon's figures in Prometheus' text format, or in OpenMetrics for a client whose Accept asks for it. "
                        + "Counters live in the daemon, so a monitor that comes late misses nothing."),
                .entry(
                    "/healthz", value: "",
                    "200 and `ok` while the daemon answers, with the problems that it tells of below; 503 and the reason while "
                        + "it does not answer, or stops."),
                .section("OPTIONS"),
            ]
                + Arguments.Option.allCases.map { option in
                    .entry(option.rawValue + (option.value == nil ? "" : " "), value: option.value ?? "", option.help)
                } + [
                    .section("SECURITY"),
                    .paragraph(
                        "Who may use the socket may read the figures: it belongs to the group pipelined. Anybody who reaches "
                            + "ADDRESS:PORT may read them, too: no label holds a path, a name or an ID. A request with two hosts, "
                            + "or with two lengths, is refused."),
                    .section("FILES"),
                    .entry("/run/pipelined/gallery.sock", value: "", "the socket of pipelined-gallery.socket"),
                    .entry(
                        "127.0.0.1:9188", value: "",
                        "where pipelined-metrics.socket listens, for a monitor that wants a port, once it is enabled"),
                    .section("EXAMPLES"),
                    .entry(
                        "systemctl enable --now pipelined-metrics.socket", value: "",
                        "have Prometheus read http://127.0.0.1:9188/metrics"),
                    .entry(
                        "curl --unix-socket /run/pipelined/gallery.sock http://localhost/healthz", value: "",
                        "ask whether the daemon answers"),
                ] + ManualPage.others(("pipelined", 8), ("pipectl", 1)))
    }
}
