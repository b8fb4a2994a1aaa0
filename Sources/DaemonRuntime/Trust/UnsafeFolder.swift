/// A folder through which others could make the daemon move files. The daemon does nothing there; `description` gives
/// the reason and the remedy.
package struct UnsafeFolder: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}
