/// A folder that others could use to have the daemon move files about; nothing is done there, and this says why and what mends it.
struct UnsafeFolder: Error, CustomStringConvertible {
    let description: String
}
