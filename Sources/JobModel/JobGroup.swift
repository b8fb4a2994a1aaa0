/// The jobs that a query, or a waiting client, concerns.
package enum JobGroup: Sendable {
    case all
    case batch(Int)
    case these([Int])
}
