import CLinux
import CNats
import DaemonRuntime
import Foundation
import SystemCalls
import WorkerConfinement
import WorkerProtocol

/// The program `pipelined-fleet`: confines itself, and executes the supervisor's orders until the supervisor exits.
enum Program {
    static func run(_ arguments: [String]) -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            print(help)
            return EX_OK
        }
        if arguments.contains("--version") {
            print("pipelined-fleet \(Release.version)")
            return EX_OK
        }
        guard let channel = WorkerChannel.inherited() else {
            print(help)
            return EX_USAGE
        }
        // Makes a write to a closed connection fail, instead of killing this process.
        signal(SIGPIPE, SIG_IGN)
        // Hides the system's certificates from OpenSSL, which must trust only the fleet's own authority. Makes OpenSSL
        // read its configuration now, before the confinement.
        setenv("SSL_CERT_FILE", "/dev/null", 1)
        setenv("SSL_CERT_DIR", "/dev/null", 1)
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_LOAD_CONFIG), nil)
        // libnats' few threads need only small stacks; the default is 8 MB for each thread.
        _ = clinux_thread_stacks(512 << 10)
        // Begin the confinement now: all trusted files are loaded, no foreign byte has been read, and only one thread
        // runs.
        let missing = Confinement.begin(.fleet)
        let supervisor = SupervisorChannel(channel: channel)
        supervisor.send(.hello(version: Release.version, missing: missing))
        return execute(supervisor)
    }

    /// Receives orders on the main thread, until the supervisor closes the channel. Before this process exits, it gives
    /// all taken pictures back, so that other nodes get them at once.
    private static func execute(_ supervisor: SupervisorChannel) -> Int32 {
        let fleet = FleetSession(supervisor)
        do {
            while let (order, files) = try supervisor.channel.receive(FleetOrder.self) {
                Coordination.sync { fleet.execute(order, files) }
            }
        } catch {
            supervisor.say("a message can't be read: \(error)")
            _exit(EX_PROTOCOL)
        }
        Coordination.sync { fleet.leave() }
        // Calls `_exit`, because `exit` would tear down globals that libnats' threads still use.
        _exit(EX_OK)
    }

    private static let help = """
        pipelined-fleet

        Lends pictures to other nodes, and takes theirs. The daemon starts it, with a socket as descriptor 3; it is of
        no use alone. It confines itself (Landlock, seccomp): it connects to the fleet's servers, and reads and writes the
        files that the daemon opens for it.

          --version   the version
          --help      this text
        """
}
