/// A method of the interface: its parameters are the value itself, its reply is `Reply`.
public protocol ControlCall: Codable, Sendable {
    associatedtype Reply: Codable & Sendable
    /// The method's name within `org.pipelined.Control`.
    static var method: String { get }
}

/// A reply or a call without parameters.
public struct Nothing: Codable, Sendable, Hashable {
    public init() {}
}

/// The calls, in the order of the interface.
public enum Call {
    public struct Status: ControlCall {
        public static let method = "Status"
        public init() {}

        public struct Reply: Codable, Sendable {
            public var status: Control.Overview
            public init(status: Control.Overview) { self.status = status }
        }
    }

    public struct WhyWaiting: ControlCall {
        public static let method = "WhyWaiting"
        public var ids: [Int]
        @Nullable public var batch: Int?

        public init(ids: [Int] = [], batch: Int? = nil) {
            self.ids = ids
            self.batch = batch
        }

        public struct Reply: Codable, Sendable {
            public var waiting: [Control.Waiting]
            public init(waiting: [Control.Waiting]) { self.waiting = waiting }
        }
    }

    public struct ListIgnored: ControlCall {
        public static let method = "ListIgnored"
        @Nullable public var recipe: String?
        @Nullable public var after: String?

        public init(recipe: String? = nil, after: String? = nil) {
            self.recipe = recipe
            self.after = after
        }

        public struct Reply: Codable, Sendable {
            public var ignored: [Control.Ignored]
            public init(ignored: [Control.Ignored]) { self.ignored = ignored }
        }
    }

    public struct List: ControlCall {
        public static let method = "List"
        public var states: [String]
        @Nullable public var recipe: String?
        @Nullable public var batch: Int?
        @Nullable public var limit: Int?
        @Nullable public var since: String?
        @Nullable public var until: String?

        public init(
            states: [String] = [], recipe: String? = nil, batch: Int? = nil, limit: Int? = nil, since: String? = nil,
            until: String? = nil
        ) {
            self.since = since
            self.until = until
            self.states = states
            self.recipe = recipe
            self.batch = batch
            self.limit = limit
        }

        public typealias Reply = JobsReply
    }

    public struct Show: ControlCall {
        public static let method = "Show"
        public var id: Int
        public init(id: Int) { self.id = id }

        public struct Reply: Codable, Sendable {
            public var story: Control.Story
            public init(story: Control.Story) { self.story = story }
        }
    }

    public struct Explain: ControlCall {
        public static let method = "Explain"
        @Nullable public var file: String?
        @Nullable public var chain: String?

        public init(file: String? = nil, chain: String? = nil) {
            self.file = file
            self.chain = chain
        }

        public struct Reply: Codable, Sendable {
            public var explanation: Control.Explanation
            public init(explanation: Control.Explanation) { self.explanation = explanation }
        }
    }

    public struct Add: ControlCall {
        public static let method = "Add"
        public var name: String
        @Nullable public var recipe: String?
        @Nullable public var chain: String?
        @Nullable public var batch: Int?
        @Nullable public var after: [Int]?
        @Nullable public var anyway: Bool?
        @Nullable public var priority: String?

        public init(
            name: String, recipe: String? = nil, chain: String? = nil, batch: Int? = nil, after: [Int]? = nil,
            anyway: Bool? = nil, priority: String? = nil
        ) {
            self.name = name
            self.recipe = recipe
            self.chain = chain
            self.batch = batch
            self.after = after
            self.anyway = anyway
            self.priority = priority
        }

        public struct Reply: Codable, Sendable {
            public var job: Control.Job
            public init(job: Control.Job) { self.job = job }
        }
    }

    public struct AddList: ControlCall {
        public static let method = "AddList"
        @Nullable public var name: String?
        @Nullable public var recipe: String?
        @Nullable public var chain: String?
        @Nullable public var batch: Int?
        @Nullable public var after: [Int]?
        @Nullable public var anyway: Bool?
        @Nullable public var priority: String?

        public init(
            name: String? = nil, recipe: String? = nil, chain: String? = nil, batch: Int? = nil, after: [Int]? = nil,
            anyway: Bool? = nil, priority: String? = nil
        ) {
            self.name = name
            self.recipe = recipe
            self.chain = chain
            self.batch = batch
            self.after = after
            self.anyway = anyway
            self.priority = priority
        }

        public struct Reply: Codable, Sendable {
            public var batch: Int
            public var first: Int
            public var last: Int

            public init(batch: Int, first: Int, last: Int) {
                self.batch = batch
                self.first = first
                self.last = last
            }
        }
    }

    public struct NewBatch: ControlCall {
        public static let method = "NewBatch"
        public init() {}

        public struct Reply: Codable, Sendable {
            public var batch: Int
            public init(batch: Int) { self.batch = batch }
        }
    }

    public struct CloseBatch: ControlCall {
        public static let method = "CloseBatch"
        public var batch: Int
        public init(batch: Int) { self.batch = batch }

        public struct Reply: Codable, Sendable {
            public init() {}
        }
    }

    public struct Wait: ControlCall {
        public static let method = "Wait"
        public var ids: [Int]
        public init(ids: [Int]) { self.ids = ids }

        public struct Reply: Codable, Sendable {
            public var jobs: [Control.Job]
            /// Why originals of ended jobs can't be moved now.
            @Nullable public var waitsFor: String?

            public init(jobs: [Control.Job], waitsFor: String? = nil) {
                self.jobs = jobs
                self.waitsFor = waitsFor
            }
        }
    }

    public struct Watch: ControlCall {
        public static let method = "Watch"
        @Nullable public var cursor: Int?
        public init(cursor: Int? = nil) { self.cursor = cursor }

        public struct Reply: Codable, Sendable {
            public var events: [Control.Event]
            public init(events: [Control.Event]) { self.events = events }
        }
    }

    public struct Progress: ControlCall {
        public static let method = "Progress"
        @Nullable public var batch: Int?
        public init(batch: Int? = nil) { self.batch = batch }

        public struct Reply: Codable, Sendable, Hashable {
            public var batches: [Control.BatchProgress]
            public var others: Control.Progress
            public var jobs: [Control.JobProgress]
            public var unfinished: Int
            public var running: Int

            public init(
                batches: [Control.BatchProgress], others: Control.Progress, jobs: [Control.JobProgress],
                unfinished: Int, running: Int
            ) {
                self.batches = batches
                self.others = others
                self.jobs = jobs
                self.unfinished = unfinished
                self.running = running
            }
        }
    }

    public struct Cancel: ControlCall {
        public static let method = "Cancel"
        public var ids: [Int]
        public init(ids: [Int]) { self.ids = ids }

        public typealias Reply = JobsReply
    }

    public struct CancelAll: ControlCall {
        public static let method = "CancelAll"
        public init() {}

        public struct Reply: Codable, Sendable {
            public var cancelled: Int
            public init(cancelled: Int) { self.cancelled = cancelled }
        }
    }

    public struct CancelMatching: ControlCall {
        public static let method = "CancelMatching"
        @Nullable public var batch: Int?
        @Nullable public var recipe: String?
        public var states: [String]

        public init(batch: Int? = nil, recipe: String? = nil, states: [String] = []) {
            self.states = states
            self.batch = batch
            self.recipe = recipe
        }

        public struct Reply: Codable, Sendable {
            public var cancelled: Int
            public init(cancelled: Int) { self.cancelled = cancelled }
        }
    }

    public struct Depend: ControlCall {
        public static let method = "Depend"
        public var id: Int
        public var after: [Int]
        public var remove: [Int]
        public var anyway: Bool

        public init(id: Int, after: [Int] = [], remove: [Int] = [], anyway: Bool = false) {
            self.id = id
            self.after = after
            self.remove = remove
            self.anyway = anyway
        }

        public struct Reply: Codable, Sendable {
            public var job: Control.Job
            public init(job: Control.Job) { self.job = job }
        }
    }

    public struct Prioritise: ControlCall {
        public static let method = "Prioritise"
        public var ids: [Int]
        @Nullable public var batch: Int?
        public var priority: String

        public init(ids: [Int] = [], batch: Int? = nil, priority: String) {
            self.ids = ids
            self.priority = priority
            self.batch = batch
        }

        public struct Reply: Codable, Sendable {
            public var changed: Int
            public init(changed: Int) { self.changed = changed }
        }
    }

    public struct Retry: ControlCall {
        public static let method = "Retry"
        public var ids: [Int]
        public var states: [String]

        public init(ids: [Int] = [], states: [String] = []) {
            self.ids = ids
            self.states = states
        }

        public struct Reply: Codable, Sendable {
            public var retried: [Int]
            public init(retried: [Int]) { self.retried = retried }
        }
    }

    public struct Pause: ControlCall {
        public static let method = "Pause"
        @Nullable public var queue: String?
        @Nullable public var reason: String?

        public init(queue: String? = nil, reason: String? = nil) {
            self.queue = queue
            self.reason = reason
        }

        public typealias Reply = QueuesReply
    }

    public struct Resume: ControlCall {
        public static let method = "Resume"
        @Nullable public var queue: String?
        public init(queue: String? = nil) { self.queue = queue }

        public typealias Reply = QueuesReply
    }

    public struct Concurrency: ControlCall {
        public static let method = "Concurrency"
        @Nullable public var queue: String?
        @Nullable public var limit: String?
        public var save: Bool

        public init(queue: String? = nil, limit: String? = nil, save: Bool = false) {
            self.save = save
            self.queue = queue
            self.limit = limit
        }

        public typealias Reply = QueuesReply
    }

    public struct Recipes: ControlCall {
        public static let method = "Recipes"
        public init() {}

        public struct Reply: Codable, Sendable {
            public var recipes: [Control.Recipe]
            public init(recipes: [Control.Recipe]) { self.recipes = recipes }
        }
    }

    public struct Plugins: ControlCall {
        public static let method = "Plugins"
        public init() {}

        public struct Reply: Codable, Sendable {
            public var stages: [Control.Stage]
            public var skipped: [Control.SkippedPlugin]

            public init(stages: [Control.Stage], skipped: [Control.SkippedPlugin]) {
                self.stages = stages
                self.skipped = skipped
            }
        }
    }

    public struct Settings: ControlCall {
        public static let method = "Settings"
        public init() {}

        public struct Reply: Codable, Sendable {
            public var settings: [Control.Setting]
            public init(settings: [Control.Setting]) { self.settings = settings }
        }
    }

    public struct Reload: ControlCall {
        public static let method = "Reload"
        public init() {}

        public struct Reply: Codable, Sendable {
            public var problems: [Control.Problem]
            @AddedList public var skipped: [Control.SkippedPlugin]

            public init(problems: [Control.Problem], skipped: [Control.SkippedPlugin] = []) {
                self.problems = problems
                self.skipped = skipped
            }
        }
    }
}

public struct JobsReply: Codable, Sendable {
    public var jobs: [Control.Job]
    public init(jobs: [Control.Job]) { self.jobs = jobs }
}

public struct QueuesReply: Codable, Sendable {
    public var queues: [String: Control.Queue]
    public init(queues: [String: Control.Queue]) { self.queues = queues }
}
