import Glibc
import ServiceProgram
import SystemCalls

/// The program that `Hook=` names.
package enum HookProgram {
    /// Why the daemon's user can't run the program; nil if it can. Blocks while the program's disk does not answer.
    package static func refusal(of program: String) -> String? {
        do throws(SystemError) {
            if let refusal = try Trust.way(to: program).refusal { return refusal }
        } catch {
            if error.isMissing { return "there is no file \(program); put it there, or mend Hook=" }
            return "\(program) can't be reached by user \(User.current): \(error.reason)"
        }
        var raw = stat()
        guard stat(program, &raw) == 0, raw.st_mode & S_IFMT == S_IFREG else {
            return "\(program) is not a file; mend Hook="
        }
        guard access(program, X_OK) == 0 else {
            let reason = SystemError("access", program).reason
            return "\(program) can't be run by user \(User.current): \(reason); `chmod +x` it"
        }
        return nil
    }
}
