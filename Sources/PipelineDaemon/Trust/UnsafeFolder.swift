/// A folder through which others could have the daemon move files about. Nothing is done there; `description` says why,
/// and what mends it.
struct UnsafeFolder: Error, CustomStringConvertible {
    let description: String
}
