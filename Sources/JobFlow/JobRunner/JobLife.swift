package import PipelineModel

/// The state machine of a job in the window. For each event in each state, the machine defines the next state and the
/// effects that the runner must carry out. The machine reads no clock and touches no file, so a test can check every
/// pair of event and state.
package enum JobLife: Hashable {
    /// The progress of the job, as clients see it. A job that is cancelled after it has begun is shown as `cancelling`
    /// instead.
    package enum Stage: Hashable, CaseIterable {
        case queued
        case running
        /// The job has begun, but a pause or a disk that does not answer delays it.
        case waiting
    }

    /// Why a job leaves the window before it has ended.
    package enum Stop: Hashable {
        case cancel
        /// The job returns to the queue, because the daemon stops, its row has to be changed, or another node has
        /// returned it.
        case giveBack
        /// The job leaves the window, and waits in the ledger for a missing resource. The text is the reason.
        case wait(String)
    }

    /// The job's operations wait or execute.
    case working(Stage)
    /// The ledger has recorded the job's publish intent, or is recording it. The job ends `done` unless publishing
    /// fails. `pending` is a stop that was requested earlier; the stop takes effect only if publishing fails.
    case publishing(Stage, pending: Stop?)
    /// The job's operations are being stopped.
    case stopping(Stop, Stage)
    /// The job's operations have stopped, and its staging files are being removed.
    case discarding(Stop, Stage)
    /// The job has left the window.
    case ended

    package enum Event: Hashable {
        /// A user cancels the job.
        case cancel
        case giveBack
        /// A resource that the job needs is missing; the text is the reason.
        case setAside(String)
        /// The runner has withdrawn the job's operations before any of them began, so that the job's row can be
        /// changed.
        case withdrawn
        /// An operation has begun, and nothing delays it.
        case began
        case delayed
        /// The delay of the job is over.
        case resumed
        /// The publish operation is about to record the intent.
        case intends
        /// The publish operation has begun to finish the intent of an earlier attempt.
        case resumesIntent
        /// The ledger refuses the intent.
        case intentRefused
        case publishingFailed
        /// All operations of the job have stopped. `leavesFiles` says whether staging files have to be removed.
        case stopped(leavesFiles: Bool)
        /// The job's staging files have been removed.
        case discarded
        /// The runner takes the job out of the window, because the job is done, has failed, or has to wait in the
        /// ledger.
        case leaves
    }

    package enum Effect: Hashable {
        /// Keeps the part of the file that an interrupted download has fetched.
        case keepPart
        case cancelOperations
        /// Sends `stopped` if all operations have already stopped.
        case checkOperations
        case discardFiles
        /// Takes the job out of the window.
        case leave(Stop)
    }

    package struct Transition: Equatable {
        package var next: JobLife
        package var effects: [Effect] = []
    }

    /// The state that the ledger and clients see. Nil once the job has left the window, because the runner then sets
    /// the job's state itself.
    package var state: JobState? {
        switch self {
        case .ended: nil
        case .working(let stage), .publishing(let stage, _), .stopping(_, let stage), .discarding(_, let stage):
            switch (stage, stop) {
            case (.queued, _): .queued
            case (_, .cancel): .cancelling
            case (.running, _): .running
            case (.waiting, _): .waiting
            }
        }
    }

    package var stop: Stop? {
        switch self {
        case .publishing(_, let stop): stop
        case .stopping(let stop, _), .discarding(let stop, _): stop
        case .working, .ended: nil
        }
    }

    /// Whether a failure of the job's operations decides what happens to the job. False if the job has ended, is being
    /// cancelled, or returns to the queue.
    package var canFail: Bool { self != .ended && stop != .cancel && stop != .giveBack }

    /// Whether the job's operations may be withdrawn, because none has begun.
    package var canBeWithdrawn: Bool {
        switch self {
        case .working(.queued), .stopping(.wait, .queued): true
        default: false
        }
    }

    package var isPublishing: Bool { if case .publishing = self { true } else { false } }

    /// Whether nothing stops the job, so that its next operation may begin.
    package var goesOn: Bool {
        switch self {
        case .working, .publishing(_, nil): true
        case .publishing, .stopping, .discarding, .ended: false
        }
    }

    /// Returns the transition that an event causes; nil if the event can't occur in this state. Reports may arrive
    /// late, and clients may send requests at any time, so an event that changes nothing is legal and returns the same
    /// state.
    package func after(_ event: Event) -> Transition? {
        let unchanged = Transition(next: self)
        switch (event, self) {
        case (.cancel, .working(let stage)), (.cancel, .stopping(.giveBack, let stage)),
            (.cancel, .stopping(.wait, let stage)):
            return Transition(next: .stopping(.cancel, stage), effects: [.cancelOperations, .checkOperations])
        case (.cancel, .discarding(_, let stage)): return Transition(next: .discarding(.cancel, stage))
        case (.cancel, .stopping(.cancel, _)), (.cancel, .publishing), (.cancel, .ended): return unchanged

        case (.giveBack, .working(let stage)), (.giveBack, .stopping(.wait, let stage)):
            return Transition(
                next: .stopping(.giveBack, stage), effects: [.keepPart, .cancelOperations, .checkOperations])
        case (.giveBack, .discarding(.wait, let stage)): return Transition(next: .discarding(.giveBack, stage))
        case (.giveBack, .stopping), (.giveBack, .discarding), (.giveBack, .publishing), (.giveBack, .ended):
            return unchanged

        case (.setAside(let reason), .working(.queued)):
            return Transition(
                next: .stopping(.wait(reason), .queued), effects: [.cancelOperations, .checkOperations])
        case (.setAside(let reason), .stopping(.wait, .queued)):
            return Transition(next: .stopping(.wait(reason), .queued))
        case (.setAside, _): return unchanged

        case (.withdrawn, _):
            guard canBeWithdrawn else { return nil }
            return Transition(next: .stopping(.giveBack, .queued), effects: [.checkOperations])

        case (.began, _): return Transition(next: atStage { _ in .running })
        // A job that has not begun stays queued, and a job that is being cancelled keeps its stage.
        case (.delayed, _): return Transition(next: atStage { $0 == .queued || stop == .cancel ? $0 : .waiting })
        case (.resumed, _): return Transition(next: atStage { $0 == .waiting ? .running : $0 })

        case (.intends, .working(let stage)): return Transition(next: .publishing(stage, pending: nil))
        case (.intends, .publishing(_, nil)): return unchanged
        case (.intends, _): return nil

        case (.resumesIntent, .working(let stage)): return Transition(next: .publishing(stage, pending: nil))
        case (.resumesIntent, .stopping(let stop, let stage)):
            return Transition(next: .publishing(stage, pending: stop))
        case (.resumesIntent, .publishing), (.resumesIntent, .discarding), (.resumesIntent, .ended): return unchanged

        case (.intentRefused, .publishing(let stage, let stop)), (.publishingFailed, .publishing(let stage, let stop)):
            return Transition(next: stop.map { .stopping($0, stage) } ?? .working(stage))
        case (.publishingFailed, _): return unchanged
        case (.intentRefused, _): return nil

        case (.stopped(let leavesFiles), .stopping(let stop, let stage)):
            return leavesFiles
                ? Transition(next: .discarding(stop, stage), effects: [.discardFiles])
                : Transition(next: .ended, effects: [.leave(stop)])
        case (.stopped, _): return nil

        case (.discarded, .discarding(let stop, _)): return Transition(next: .ended, effects: [.leave(stop)])
        case (.discarded, .ended): return unchanged
        case (.discarded, _): return nil

        case (.leaves, .ended): return nil
        case (.leaves, _): return Transition(next: .ended)
        }
    }

    /// Returns the same state at another stage.
    private func atStage(_ next: (Stage) -> Stage) -> JobLife {
        switch self {
        case .working(let stage): .working(next(stage))
        case .publishing(let stage, let stop): .publishing(next(stage), pending: stop)
        case .stopping(let stop, let stage): .stopping(stop, next(stage))
        case .discarding(let stop, let stage): .discarding(stop, next(stage))
        case .ended: .ended
        }
    }
}
