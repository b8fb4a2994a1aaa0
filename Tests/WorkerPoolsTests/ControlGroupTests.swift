import Foundation
import TestTools
import Testing

@testable import WorkerPools

@Suite("The limits of control groups")
struct ControlGroupTests {
    private static let groups = "9:name=systemd:/\n4:memory:/nas/app\n1:cpu,cpuacct:/nas/app\n0::/nas/app\n"
    private static let tmpfs = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"

    private func mount(_ type: String, _ folder: String, root: String = "/", _ options: String) -> String {
        "35 31 0:32 \(root) \(folder) rw,relatime shared:7 - \(type) cgroup rw,\(options)\n"
    }

    @Test("the group and all its parents count, in either version")
    func hierarchy() throws {
        let mounts =
            Self.tmpfs + mount("cgroup", "/c/cpu,cpuacct", "cpu,cpuacct") + mount("cgroup", "/c/memory", "memory")
            + mount("cgroup2", "/c/unified", "nsdelegate")
        func folders(_ type: String, _ controller: String?) -> [String]? {
            ControlGroup(groups: Self.groups, mounts: mounts, type: type, controller: controller)?.folders
        }
        #expect(folders("cgroup", "memory") == ["/c/memory/nas/app", "/c/memory/nas", "/c/memory"])
        #expect(folders("cgroup", "cpu")?.last == "/c/cpu,cpuacct")
        #expect(folders("cgroup2", nil) == ["/c/unified/nas/app", "/c/unified/nas", "/c/unified"])
        #expect(folders("cgroup", "pids") == nil)
    }

    @Test(
        "a container sees part of the hierarchy",
        arguments: [("/nas", ["/m/app", "/m"]), ("/nas/app", ["/m"]), ("/other", ["/m"])])
    func container(root: String, expected: [String]) {
        let mounts = mount("cgroup", "/m", root: root, "memory")
        #expect(
            ControlGroup(groups: Self.groups, mounts: mounts, type: "cgroup", controller: "memory")?.folders == expected
        )
    }

    @Test("memory is limited by memory.max, and by memory.limit_in_bytes in the older version")
    func memory() throws {
        try withTemporaryFolder { folder in
            func group(_ type: String, _ file: String, _ own: String, _ above: String) throws -> ControlGroup? {
                let top = "\(folder)/\(type)"
                try FileManager.default.createDirectory(
                    atPath: "\(top)/nas/app", withIntermediateDirectories: true)
                try Data(own.utf8).write(to: URL(fileURLWithPath: "\(top)/nas/app/\(file)"))
                try Data(above.utf8).write(to: URL(fileURLWithPath: "\(top)/nas/\(file)"))
                return ControlGroup(
                    groups: Self.groups, mounts: mount(type, top, "memory"), type: type,
                    controller: type == "cgroup" ? "memory" : nil)
            }
            let unified = try group("cgroup2", "memory.max", "max\n", "400000000\n")
            let older = try group("cgroup", "memory.limit_in_bytes", "9223372036854771712\n", "300000000\n")
            #expect(MemoryRoom.limits(unified, nil) == [400_000_000])
            #expect(MemoryRoom.limits(nil, older) == [9_223_372_036_854_771_712, 300_000_000])
            #expect(MemoryRoom.limits(unified, older).min() == 300_000_000)
            #expect(MemoryRoom.limits(nil, nil) == [])
        }
    }
}
