import DaemonConfiguration
package import DaemonRuntime
import Glibc
import JobLedger
import JobModel
import PipelineModel
import ServiceProgram

/// Lets the jobs of a recipe with `Hours=` begin only in these hours. At other times the jobs wait in the ledger, like
/// jobs that lack a resource. But the status reports no problem, and inboxes keep taking pictures.
@Coordination
package final class RecipeHours {
    struct Clock: Sendable {
        var now: @Sendable () -> Double = { Timestamp.now() }
        var minute: @Sendable (Double) -> Int = { Timestamp.minuteOfDay($0) }
    }

    /// Maximum seconds between checks of the clock. The daemon isn't notified when the time or the time zone is
    /// changed.
    private static let longestPause = 600.0

    private let configuration: ConfigurationInForce
    weak var delegate: (any ShortagesDelegate)?
    /// Tests replace the clock before the first check.
    var clock = Clock()
    /// Recipes that are outside their hours, with the reason why their pictures wait.
    private var closed: [String: String] = [:]
    private lazy var border = Appointment(now: clock.now) { [unowned self] _ in look() }

    init(_ configuration: ConfigurationInForce) { self.configuration = configuration }

    /// Returns the reason why the job must not begin now; nil if it may begin.
    func reason(against job: JobRecord) -> String? { job.order.adHoc ? nil : closed[job.order.recipe] }

    /// Opens and closes recipes according to the clock and the configuration in force.
    func look() {
        tzset()
        let time = clock.now()
        var (reasons, next): ([String: String], Double) = ([:], .infinity)
        for recipe in configuration.recipes {
            guard let hours = recipe.hours else { continue }
            let change = hours.nextChange(after: time, minute: clock.minute)
            next = min(next, change ?? .infinity, time + Self.longestPause)
            guard !hours.contain(minute: clock.minute(time)), let change else { continue }
            reasons[recipe.name] =
                "\(Resource.outsideHours)\(hours.text) of recipe \(recipe.name); "
                + "they begin at \(Timestamp.text(ofMinute: clock.minute(change)))"
        }
        let earlier = closed
        closed = reasons
        for (name, reason) in earlier.sorted(by: { $0.key < $1.key }) where reasons[name] != reason {
            if reasons[name] == nil { Log.notice("the hours of recipe '\(name)' begin", of: LogSubject(recipe: name)) }
            // If the recipe stays closed, its pictures get the new reason when they try to enter the window.
            delegate?.bringBack(.hours(name))
        }
        for (name, reason) in reasons.sorted(by: { $0.key < $1.key }) where earlier[name] == nil {
            Log.notice("the pictures of recipe '\(name)' wait: \(reason)", of: LogSubject(recipe: name))
            delegate?.setAside(.hours(name), because: reason)
        }
        if next < .infinity { border.make(at: next) }
    }
}
