import DaemonConfiguration
package import DaemonRuntime
import Dispatch
import InboxWatching
package import JobLedger
import JobModel
import PictureFiles
import PipelineModel
import ServiceProgram
import SystemCalls

/// Stops and restarts the work that needs a resource.
@Coordination
protocol ShortagesDelegate: AnyObject {
    /// If a job needs this resource and has not begun, makes the job wait. Rendering its picture now would be wasted
    /// effort.
    func setAside(_ resource: Resource, because reason: String)
    /// Releases the work that waits for this resource.
    func bringBack(_ resource: Resource)
}

/// Tracks the missing resources for which jobs and inboxes wait: outboxes without room or permission, inboxes and
/// outboxes whose disk is unmounted or does not answer, filters without their plugin, formats without their encoder.
///
/// None of these shortages is the picture's fault. A job that needs a missing resource waits, and continues
/// automatically when the resource is available again. Meanwhile, the inboxes of the affected recipes take no files;
/// other recipes continue.
@Coordination
package final class Shortages {
    private let configuration: ConfigurationInForce
    private let ledger: Ledger
    private let staging: Staging
    private let inboxes: Inboxes
    private let reloads: Reloads
    private let places: KnownPlaces
    let hours: RecipeHours
    weak var delegate: (any ShortagesDelegate)? { didSet { hours.delegate = delegate } }
    private var shortages: [Resource: Shortage] = [:]
    /// Resources being checked. A resource has only one check at a time, so that a disk that does not answer blocks
    /// only one thread.
    private var looking: Set<Resource> = []
    private lazy var looks = Repetition(while: { [weak self] in self?.shortages.isEmpty == false }) { [weak self] in
        self?.look()
    }

    init(
        _ configuration: ConfigurationInForce, _ ledger: Ledger, _ staging: Staging, _ inboxes: Inboxes,
        _ reloads: Reloads
    ) {
        (self.configuration, self.ledger, self.staging) = (configuration, ledger, staging)
        (self.inboxes, self.reloads) = (inboxes, reloads)
        places = KnownPlaces(configuration)
        hours = RecipeHours(configuration)
    }

    package subscript(resource: Resource) -> Shortage? { shortages[resource] }

    package var count: Int { shortages.count }

    /// Returns the first missing resource that satisfies the condition.
    func first(where isNeeded: (Resource) -> Bool) -> Resource? { shortages.keys.sorted().first(where: isNeeded) }

    /// Messages that name each missing resource, and say when the work that needs it continues.
    var problems: [String] {
        shortages.sorted { $0.key < $1.key }.map { "\($1.reason); its work goes on when \($1.awaited)" }
    }

    // MARK: - Beginning

    func begin(_ shortage: Shortage, of resource: Resource) {
        shortages[resource] = shortage
        Log.failure(
            "\(shortage.reason): its work waits, and goes on when \(shortage.awaited)",
            of: LogSubject(filter: resource.filter))
        delegate?.setAside(resource, because: shortage.reason)
        holdInboxes()
        looks.begin()
    }

    /// Records that `place` has no room for a job that had written `written` bytes.
    func begin(noRoomIn place: Resource, written: Int64, _ room: DiskRoom?) {
        var written = written
        if case .room(let known, _) = shortages[place]?.need { written = max(written, known) }
        let awaited = room?.awaited(written: written, freeSpace: configuration.settings.freeSpace) ?? "there is room"
        let need = Shortage.Need.room(written: written, awaited: awaited)
        switch shortages[place]?.need {
        case .room: shortages[place]?.need = need
        case .mount, .permission, .plugin, .replacement, .encoder, .answer, .sweep: break
        case nil: begin(Shortage(reason: "no space in \(place)", need: need), of: place)
        }
    }

    /// Checks whether the outbox itself is writable. Calls `done` with the error if it is not, and otherwise with nil.
    func lookForPermission(in outbox: String, done: @escaping Done<SystemError?>) {
        FileLanes.work(on: outbox).async { [staging] in
            let refusal = staging.refusal(of: outbox)
            Coordination.async { done(refusal) }
        }
    }

    /// Returns the first of these folders whose disk is no longer mounted, and makes the work that needs it wait.
    func gone(of folders: [String]) -> Resource? {
        guard let gone = folders.first(where: places.isGone) else { return nil }
        beginGone(gone)
        return .place(gone)
    }

    private func beginGone(_ place: String) {
        begin(Shortage(reason: "\(place) is not mounted any more", need: .mount), of: .place(place))
    }

    /// Makes the job wait for a file system that does not answer. Returns the reason. Returns nil if the job already
    /// waits for this file system, or if the place has another shortage.
    func begin(noAnswerFrom place: String, for job: Int) -> String? {
        switch shortages[.place(place)]?.need {
        case .answer(let jobs) where jobs.contains(job): return nil
        case .answer(let jobs): shortages[.place(place)]?.need = .answer(jobs.union([job]))
        case .room, .mount, .permission, .plugin, .replacement, .encoder, .sweep: return nil
        case nil: begin(Shortage(reason: "\(place) does not answer", need: .answer([job])), of: .place(place))
        }
        return shortages[.place(place)]?.reason
    }

    /// Makes jobs wait until this outbox has been swept, because its disk did not answer at the start.
    func begin(unswept outbox: String) {
        begin(Shortage(reason: "\(outbox) does not answer", need: .sweep), of: .place(outbox))
    }

    func swept(_ outbox: String) { if isUnswept(.place(outbox)) { goOn(.place(outbox)) } }

    func isUnswept(_ resource: Resource) -> Bool {
        if case .sweep = shortages[resource]?.need { true } else { false }
    }

    /// Notes that an operation of the job has ended, so its file system has answered.
    func answered(_ job: Int) {
        for (resource, shortage) in shortages {
            guard case .answer(var jobs) = shortage.need, jobs.remove(job) != nil else { continue }
            shortages[resource]?.need = .answer(jobs)
            if jobs.isEmpty { goOn(resource) }
        }
    }

    // MARK: - Ending

    func goOn(_ resource: Resource) {
        guard let shortage = shortages.removeValue(forKey: resource) else { return }
        Log.notice(shortage.endMessage(resource))
        delegate?.bringBack(resource)
        holdInboxes()
    }

    /// Ends the shortages of filters that need another version, because plugins were reloaded.
    func filtersReplaced() {
        for (resource, shortage) in shortages {
            if case .replacement = shortage.need { goOn(resource) }
        }
    }

    /// Begins and ends the shortages of encoders. Compares the encoders that the recipes need with the encoders that
    /// the start or the latest reload has found. The daemon also starts with recipes that lack an encoder, but the work
    /// of these recipes waits.
    func encodersChanged() {
        let missing = configuration.now.catalog.missingEncoders
        let lacks = missing.map { ($0, Resource.encoder($0.format)) }
        for resource in shortages.keys {
            if case .encoder = resource, !lacks.contains(where: { $0.1 == resource }) { goOn(resource) }
        }
        let orders = configuration.recipes.map(configuration.order)
        for (lack, encoder) in lacks where shortages[encoder] == nil && orders.contains(where: { $0.needs(encoder) }) {
            let reason = "\(encoder) is missing on this machine: \(lack.remedy)"
            begin(Shortage(reason: reason, need: .encoder), of: encoder)
        }
    }

    /// Counts the mounts again. Called at the start and after each reload, because the inboxes or outboxes may have
    /// changed.
    func placesChanged() {
        holdInboxes()
        places.forget()
        places.learn()
    }

    func mountsChanged() {
        inboxes.mountsChanged()
        for place in places.gone where shortages[.place(place)] == nil { beginGone(place) }
        look()
        places.learn()
    }

    /// Checks which shortages have ended.
    func look() {
        let freeSpace = configuration.settings.freeSpace
        for (resource, shortage) in shortages {
            switch (resource, shortage.need) {
            case (.place(let place), _) where places.isGone(place): break
            case (_, .mount): goOn(resource)
            case (.filter(let name), .plugin): reloads.look(for: name) { self.goOn(resource) }
            case (.place(let place), .room(let written, _)):
                let folder = staging.folder(in: place)
                look(for: resource, in: folder) {
                    DiskRoom.isEnough(in: folder, written: written, freeSpace: freeSpace)
                }
            case (.spool(let folder), .room(let written, _)):
                look(for: resource, in: folder) {
                    DiskRoom.isEnough(in: folder, written: written, freeSpace: freeSpace)
                }
            case (.place(let place), .permission):
                look(for: resource, in: place) { [staging] in staging.refusal(of: place) == nil }
            case (_, .answer), (_, .sweep), (_, .plugin), (_, .replacement), (_, .encoder): break
            case (.spool, _), (.filter, _), (.encoder, _), (.hours, _): break
            }
        }
    }

    private func look(for resource: Resource, in folder: String, _ isWell: @escaping @Sendable () -> Bool) {
        guard looking.insert(resource).inserted else { return }
        FileLanes.work(on: folder).async { [self] in
            let isWell = isWell()
            Coordination.async { [self] in
                looking.remove(resource)
                if isWell { goOn(resource) }
            }
        }
    }

    // MARK: - Inboxes

    /// Makes each inbox stop or resume taking files, depending on whether its recipe lacks a resource.
    func holdInboxes() {
        for inbox in inboxes.all {
            let order = configuration.order(for: inbox.recipe)
            let missing = first { $0 != .place(order.inbox) && order.needs($0) }
            inbox.hold(ledger.unwritableReason ?? missing.flatMap { shortages[$0]?.reason })
        }
    }
}
