import CLinux
import SystemCalls

/// Recognises file systems that need polling, because inotify does not report changes by other machines.
package enum FileSystemType {
    /// The name of the folder's file system if it needs polling, else nil.
    static func polled(_ folder: String) throws(SystemError) -> String? { names[try number(folder)] }

    /// The name of the folder's file system, if it belongs to the kernel and users can't create files in it, such as
    /// /proc; nil for any other file system.
    package static func withoutFiles(_ folder: String) -> String? { (try? number(folder)).flatMap { kernels[$0] } }

    private static func number(_ folder: String) throws(SystemError) -> UInt32 {
        var status = statfs()
        guard uninterrupted({ statfs(folder, &status) }) == 0 else { throw SystemError("statfs", folder) }
        return UInt32(truncatingIfNeeded: status.f_type)
    }

    // The magic numbers are listed in statfs(2).
    private static let names: [UInt32: String] = [
        0x6969: "NFS", 0x517b: "SMB", 0xff53_4d42: "CIFS", 0xfe53_4d42: "SMB2", 0x6573_5546: "FUSE",
        0x0102_1997: "9P", 0x00c3_6400: "Ceph", 0x786f_4256: "VirtualBox shared folder", 0x5346_414f: "AFS",
        0x7375_7245: "Coda", 0x0bd0_0bd0: "Lustre", 0x4750_4653: "GPFS",
    ]

    private static let kernels: [UInt32: String] = [
        0x9fa0: "the kernel's /proc", 0x6265_6572: "the kernel's /sys", 0x27e0eb: "a control group",
        0x6367_7270: "a control group", 0x1cd1: "the terminals' folder",
    ]
}
