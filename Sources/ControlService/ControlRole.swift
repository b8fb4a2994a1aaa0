import PipelineControl

/// The role of a socket, which decides the calls that its clients may make.
package enum ControlRole: Sendable {
    /// All calls.
    case steer
    /// Calls that change nothing and open no picture.
    case look

    private static let looking = Set(
        [
            Call.Status.self, Call.Metrics.self, Call.WhyWaiting.self, Call.ListIgnored.self, Call.List.self,
            Call.ListIDs.self, Call.FindBatch.self, Call.Batches.self, Call.Show.self, Call.Log.self, Call.Sift.self,
            Call.Wait.self,
            Call.Watch.self, Call.Progress.self, Call.Recipes.self, Call.Plugins.self, Call.Settings.self,
            Call.GetInfo.self, Call.GetInterfaceDescription.self,
        ].map { (call: any ControlCall.Type) in call.method })

    func allows(_ method: String) -> Bool { self == .steer || Self.looking.contains(method) }

    /// The error for a client of the look socket that makes a forbidden call.
    static func refusal(_ method: String, group: String?, steering: String) -> ControlError {
        let name = method.split(separator: ".").last ?? ""
        return .refused(
            "members of the group '\(group ?? "")' may look, and \(name) goes further: join the group '\(steering)'")
    }
}
