/// A file that is not yet quiet.
struct Candidate {
    var size: Int64
    var modified: Int64
    var deadline: UInt64
    var cancelled = false
}
