import PipelineModel
import Testing

@Suite("The delays between retries")
struct RetrySettingsTests {
    private var retry: RetrySettings {
        var retry = RetrySettings()
        (retry.delay, retry.most) = (.seconds(5), .seconds(60))
        return retry
    }

    @Test(
        "each delay is twice the previous one, up to the longest",
        arguments: [(1, 5), (2, 10), (3, 20), (4, 40), (5, 60), (100, 60)])
    func doubled(number: Int, seconds: Int) {
        #expect(retry.pause(before: number, chance: 0) == .seconds(seconds))
        #expect(retry.pause(before: number, chance: 1) == .seconds(seconds) * 0.75)
    }

    @Test("a server's own delay takes precedence, up to the longest, and no retry comes earlier")
    func asked() {
        #expect(retry.pause(before: 3, asked: .seconds(30), chance: 0) == .seconds(30))
        #expect(retry.pause(before: 3, asked: .seconds(30), chance: 1) == .seconds(33))
        #expect(retry.pause(before: 1, asked: .seconds(3600), chance: 0.5) == .seconds(60))
    }
}
