import Glibc
import SystemCalls
import TestTools
import Testing

@Suite("Starting a program")
struct ChildProgramTests {
    @Test("a program inherits only the descriptors that it is given, even if another is not close-on-exec")
    func descriptors() throws {
        let open = Descriptor(owning: fcntl(STDIN_FILENO, F_DUPFD, 100))
        let outcome = try withExtendedLifetime(open) {
            try ChildProcess("/bin/ls", ["/proc/self/fd"]).wait()
        }
        // Descriptor 3 is the folder that `ls` is listing.
        #expect(outcome.lines == ["0", "1", "2", "3"])
    }
}
