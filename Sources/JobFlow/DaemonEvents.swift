package import DaemonRuntime

/// What the daemon's owners tell the object that puts them together.
@Coordination
package protocol DaemonEvents: AnyObject {
    /// The limit of a queue has changed.
    func limitsChanged()
    /// A job has left the window, or waits; or its end is recorded.
    func jobRested()
    /// An inbox has another state.
    func inboxChanged()
    /// Another configuration is in force.
    func configurationAdopted()
    /// Something else that `status` shows may have changed.
    func statusChanged()
}
