/// A folder through which others could have the daemon move files about. Nothing is done there; `description` says why,
/// and what mends it.
package struct UnsafeFolder: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}
