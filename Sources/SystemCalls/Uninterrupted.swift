import Glibc

/// Makes the call once more when a signal came in between.
func uninterrupted(_ call: () -> Int32) -> Int32 {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}
