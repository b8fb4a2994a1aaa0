import PipelineControl
import Testing

@testable import Gallery

@Suite("The format that a monitor asks for")
struct AcceptTests {
    @Test(
        "OpenMetrics goes only to monitors that name it, and prefer it at least as much as plain text",
        arguments: [
            ([], MetricsFormat.prometheus), (["*/*"], .prometheus), (["text/plain"], .prometheus),
            (["application/openmetrics-text"], .openMetrics),
            (
                ["application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1"],
                .openMetrics
            ),
            (["text/plain;version=0.0.4;q=0.5", "Application/OpenMetrics-Text; q=0.6"], .openMetrics),
            (["application/openmetrics-text;q=0.2, text/plain;q=0.9"], .prometheus),
            (["application/openmetrics-text;q=0"], .prometheus), (["application/*"], .prometheus),
            ([";;,,q="], .prometheus),
        ] as [([String], MetricsFormat)])
    func formats(accept: [String], format: MetricsFormat) {
        #expect(MetricsFormat.wanted(by: accept) == format)
    }
}
