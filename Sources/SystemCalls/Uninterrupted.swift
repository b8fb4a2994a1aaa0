import Glibc

/// Repeats a call for as long as signals interrupt it (`EINTR`).
public func uninterrupted<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}
