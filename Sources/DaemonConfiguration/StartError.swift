/// Why the daemon can't run, and its exit status.
package struct StartError: Error, CustomStringConvertible {
    package let status: ExitStatus
    package let description: String

    package init(status: ExitStatus, description: String) {
        (self.status, self.description) = (status, description)
    }
}
