import Dispatch
import JobModel
import PipelineModel
import Synchronization
import Testing

@testable import DaemonConfiguration
@testable import JobFlow
@testable import PictureFiles

@Suite("The configuration in force")
struct ConfigurationInForceTests {
    private static let places = Places.laidOut(below: "/srv/pictures")

    /// Returns a configuration with this window size. The name of its only recipe contains the size, so that the test
    /// notices a mixture of two configurations.
    private func loaded(window: Int) -> LoadedConfiguration {
        let settings = ConfigurationText(name: "test.conf", text: "[Queues]\nWindow=\(window)\n")
        let recipe = ConfigurationText(
            name: "w\(window).recipe",
            text: "[Recipe]\nInbox=in\(window)\nOutbox=out\(window)\nPriority=high\n[Output]\nChain=save\n")
        let configuration = Configuration.load(settings: [settings], recipes: [recipe], catalog: .builtIn).configuration
        return LoadedConfiguration(configuration: configuration, catalog: .builtIn, skipped: [], missing: ["Landlock"])
    }

    private func recipe(_ name: String, _ configuration: ConfigurationInForce) throws -> Recipe {
        try #require(configuration.recipes.first { $0.name == name })
    }

    @Test("a new configuration replaces the former as a whole, and the former is handed back")
    func replaced() throws {
        let configuration = ConfigurationInForce(loaded(window: 8), Self.places)
        #expect(configuration.settings.window == 8 && configuration.now.missing == ["Landlock"])
        let former = configuration.replace(by: loaded(window: 9))
        #expect(former.configuration.settings.window == 8 && former.recipe("w8") != nil)
        #expect(configuration.settings.window == 9)
        #expect(
            configuration.recipes.contains { $0.name == "w9" } && !configuration.recipes.contains { $0.name == "w8" })
        #expect(configuration.now.recipe("w9") != nil && configuration.now.recipe("w8") == nil)
        #expect(configuration.places == Self.places)
    }

    @Test(
        "a recipe's folders and work lie in the daemon's places, and ad-hoc jobs have a place of their own")
    func folders() throws {
        let configuration = ConfigurationInForce(loaded(window: 8), Self.places)
        let recipe = try recipe("w8", configuration)
        #expect(configuration.inbox(of: recipe) == "/srv/pictures/inbox/in8")
        #expect(configuration.outbox(of: recipe) == "/srv/pictures/outbox/out8")
        #expect(configuration.adHocOutbox == "/srv/pictures/outbox/chain")
        let order = configuration.order(for: recipe)
        #expect(order.recipe == "w8" && !order.adHoc && order.priority == .high && order.outputs == recipe.outputs)
        #expect(order.inbox == configuration.inbox(of: recipe) && order.outbox == configuration.outbox(of: recipe))
    }

    @Test("threads that replace the configuration at the same time lose none, and readers never see a mixture")
    func atOnce() {
        let windows = Array(9..<17)
        let configuration = ConfigurationInForce(loaded(window: 8), Self.places)
        let others = windows.map { loaded(window: $0) }
        let left = Mutex<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: others.count) { index in
            // In each round, the thread puts back the configuration that it replaced in the round before.
            var own = others[index]
            for _ in 1...2000 { own = configuration.replace(by: own) }
            left.withLock { $0.append(own.configuration.settings.window) }
            let now = configuration.now
            #expect(now.recipe("w\(now.configuration.settings.window)") != nil)
        }
        let seen = left.withLock { $0 } + [configuration.settings.window]
        #expect(seen.sorted() == [8] + windows)
    }
}
