import ManualPages
import PipelineControl
import ServiceProgram

/// The program's help and manual page.
enum Manual {
    private static let purpose = "shows the pictures of pipelined in a browser, and answers monitors"
    private static let usage = "[--root DIR | --instance NAME | --socket PATH] [--listen ADDRESS:PORT] …"

    static var help: String {
        """
        pipelined-gallery: \(purpose).

        Usage: pipelined-gallery \(usage)

        \(Arguments.Option.lines)

        It is a client of the daemon's control socket, and reads no folder. At gallery.sock beside that socket, or at the
        sockets that systemd passes, it serves

          /          the page, on which pictures are looked at as they are made; /plain is the same without JavaScript
          /metrics   the daemon's figures, for Prometheus and what reads its format, or OpenMetrics
          /healthz   200 while the daemon answers, 503 while it does not, with the reason

        Try it: pipelined-gallery --listen 127.0.0.1:8080, and in another terminal: pipectl gallery
        """
    }

    static var page: ManualPage {
        ManualPage(
            "pipelined-gallery", section: 8, summary: purpose,
            parts: [
                .section("SYNOPSIS"), .paragraph("`pipelined-gallery` \(usage)"),
                .section("DESCRIPTION"),
                .paragraph(
                    "`pipelined-gallery` is a client of the control socket of `pipelined`(8). It publishes the daemon's answers "
                        + "over HTTP, and reads no folders itself. It listens at `gallery.sock` beside the control socket, or at the "
                        + "sockets that systemd passes."),
                .entry(
                    "/", value: "",
                    "the page, which shows the pictures as they are made, and controls jobs. `/plain` is a list with "
                        + "forms, for browsers without JavaScript."),
                .entry(
                    "/metrics", value: "",
                    "the daemon's metrics in Prometheus' text format, or in OpenMetrics for a client whose Accept asks for it. "
                        + "The daemon keeps the counters, so a monitor that starts late misses nothing."),
                .entry(
                    "/healthz", value: "",
                    "200 and `ok` while the daemon answers, followed by the number of its problems, if any; 503 and the "
                        + "reason while it does not answer, or is stopping."),
                .section("OPTIONS"),
            ]
                + Arguments.Option.allCases.map { option in
                    .entry(option.rawValue + (option.value == nil ? "" : " "), value: option.value ?? "", option.help)
                } + [
                    .section("SECURITY"),
                    .paragraph(
                        "Anyone who may use the socket may do what `pipectl` does: it belongs to the group pipelined. At the port of --listen, "
                            + "a browser needs a cookie, which it gets in exchange for a code that `pipectl`(1) gallery prints. The cookie "
                            + "lasts until a week has passed without a visit. Anyone who "
                            + "reaches the port of --metrics-listen may read the metrics: no label contains a path, a file name or an ID. "
                            + "The server refuses a request with two hosts, with two lengths, for a name that is not its own, or from another "
                            + "site's page."),
                    .section("FILES"),
                    .entry("/run/pipelined/gallery.sock", value: "", "the socket of pipelined-gallery.socket"),
                    .entry(
                        "/var/lib/pipelined-gallery/gallery-sessions-PORT", value: "",
                        "the logins of browsers at a port; without systemd, beside the control socket. Without the file, users log "
                            + "in again"),
                    .entry(
                        "127.0.0.1:9188", value: "",
                        "where pipelined-metrics.socket listens, if enabled, for a monitor that needs a port"),
                    .section("EXAMPLES"),
                    .entry(
                        "systemctl enable --now pipelined-metrics.socket", value: "",
                        "have Prometheus read http://127.0.0.1:9188/metrics"),
                    .entry(
                        "ssh -L 8080:/run/pipelined/gallery.sock HOST", value: "",
                        "show the page of another machine at http://localhost:8080"),
                    .entry(
                        "curl --unix-socket /run/pipelined/gallery.sock http://localhost/healthz", value: "",
                        "check whether the daemon answers"),
                ] + ManualPage.others(("pipelined", 8), ("pipectl", 1)))
    }
}
