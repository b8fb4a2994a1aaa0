/// The jobs that a query or a waiting client refers to.
package enum JobGroup: Sendable {
    case all
    case batch(Int)
    case these([Int])
}
