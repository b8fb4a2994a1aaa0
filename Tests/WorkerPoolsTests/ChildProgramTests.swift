import Glibc
import SystemCalls
import TestTools
import Testing

@Suite("A program that is started")
struct ChildProgramTests {
    @Test("it gets no descriptor but those that it is given, though another is open for every child")
    func descriptors() throws {
        let open = Descriptor(owning: fcntl(STDIN_FILENO, F_DUPFD, 100))
        let outcome = try withExtendedLifetime(open) {
            try ChildProcess("/bin/ls", ["/proc/self/fd"]).wait()
        }
        // The last is the folder that is listed.
        #expect(outcome.lines == ["0", "1", "2", "3"])
    }
}
