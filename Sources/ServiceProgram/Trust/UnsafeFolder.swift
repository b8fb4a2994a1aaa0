/// A folder in which another user could trick the daemon into moving files. The daemon does nothing in such a folder;
/// `description` gives the reason and the remedy.
package struct UnsafeFolder: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}
