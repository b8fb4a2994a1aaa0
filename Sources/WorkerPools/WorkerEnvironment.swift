import Glibc
import WorkerProtocol

/// The environment variables of workers. Only LD_LIBRARY_PATH is copied from the daemon's environment.
enum WorkerEnvironment {
    static var variables: [String] {
        let memory = WorkerMemory.environment.map { "\($0)=\($1)" }
        // Switches off Swift's backtracer, which would start a program from inside the sandbox.
        let own = memory + ["LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin", "SWIFT_BACKTRACE=enable=no"]
        guard let libraries = getenv("LD_LIBRARY_PATH") else { return own }
        return own + ["LD_LIBRARY_PATH=\(String(cString: libraries))"]
    }
}
