import Testing

@testable import WorkerPools

@Suite("The number of usable processors")
struct ProcessorCountTests {
    @Test("a quota is read from cpu.max", arguments: [("150000 100000\n", 1.5), ("50000 100000", 0.5)])
    func quota(text: String, expected: Double) {
        #expect(ProcessorCount.quota(text) == expected)
    }

    @Test(
        "an unlimited or invalid quota is ignored", arguments: ["max 100000\n", "", "100000", "1 0", "-1\n 100000\n"])
    func noQuota(text: String) {
        #expect(ProcessorCount.quota(text) == nil)
    }

    @Test("at least one processor is usable")
    func atLeastOne() {
        #expect(ProcessorCount.usable() >= 1)
    }
}
