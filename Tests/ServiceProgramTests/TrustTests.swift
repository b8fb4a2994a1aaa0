import CLinux
import Foundation
import Glibc
import SystemCalls
import TestTools
import Testing

@testable import ServiceProgram

/// These tests change the owners of files, which only root may do.
@Suite("Trust in plugins, hooks, recipes and settings")
struct TrustTests {
    /// Sets an ACL that gives a user or group these rights, on top of mode 0664.
    private static func give(_ rights: UInt8, to tag: UInt8, _ id: UInt32, of path: String) throws {
        func entry(_ tag: UInt8, _ rights: UInt8, _ id: UInt32 = .max) -> [UInt8] {
            [tag, 0, rights, 0] + (0..<4).map { UInt8(truncatingIfNeeded: id >> (8 * $0)) }
        }
        let list =
            [2, 0, 0, 0] + entry(0x01, 6) + (tag == 0x02 ? entry(tag, rights, id) : []) + entry(0x04, 4)
            + (tag == 0x08 ? entry(tag, rights, id) : []) + entry(0x10, 6) + entry(0x20, 4)
        try #require(setxattr(path, "system.posix_acl_access", list, list.count, 0) == 0)
    }

    @Test(
        "a file that others may change is not used, be it by owner, mode or ACL, of the file or a parent folder",
        .enabled(if: Nobody.canOwnFiles, "only root may give files away"),
        arguments: [
            ("nothing is wrong", nil),
            ("the file is another's", "FOLDER/deep/file belongs to nobody; give it to root"),
            ("a folder above is another's", "FOLDER/deep belongs to nobody; give it to root"),
            ("everybody may write it", "everybody can write FOLDER/deep/file; `chmod o-w` it"),
            (
                "an ACL lets a user write it",
                "user nobody can write FOLDER/deep/file by its ACL; `setfacl -x u:nobody` it"
            ),
            (
                "an ACL lets a user write the folder",
                "user nobody can write FOLDER/deep by its ACL; `setfacl -x u:nobody` it"
            ),
            (
                "an ACL lets a group write it",
                "group nogroup can write FOLDER/deep/file by its ACL; `setfacl -x g:nogroup` it"
            ),
            ("an ACL lets a user read it", nil),
            ("an ACL lets root write it", nil),
            ("a link is another's", "FOLDER/link belongs to nobody; give it to root"),
            ("a link lies in another's folder", "FOLDER/theirs belongs to nobody; give it to root"),
            ("a link leads into another's folder", "FOLDER/theirs belongs to nobody; give it to root"),
        ] as [(String, String?)])
    func rules(fault: String, reason: String?) throws {
        try withTemporaryFolder { folder in
            let (deep, file) = ("\(folder)/deep", "\(folder)/deep/file")
            try FileSystem.makeFolders(deep)
            try FileSystem.write(Array("text".utf8), to: file)
            var used = file
            switch fault {
            case "the file is another's": #expect(chown(file, Nobody.number, 0) == 0)
            case "a folder above is another's": #expect(chown(deep, Nobody.number, 0) == 0)
            case "everybody may write it": #expect(chmod(file, 0o666) == 0)
            case "an ACL lets a user write it": try Self.give(6, to: 0x02, Nobody.number, of: file)
            case "an ACL lets a user write the folder": try Self.give(7, to: 0x02, Nobody.number, of: deep)
            case "an ACL lets a group write it": try Self.give(6, to: 0x08, Nobody.number, of: file)
            case "an ACL lets a user read it": try Self.give(4, to: 0x02, Nobody.number, of: file)
            case "an ACL lets root write it": try Self.give(6, to: 0x02, 0, of: file)
            case "a link is another's":
                used = "\(folder)/link"
                #expect(symlink("deep/file", used) == 0 && lchown(used, Nobody.number, 0) == 0)
            case "a link lies in another's folder":
                try FileSystem.makeFolders("\(folder)/theirs")
                used = "\(folder)/theirs/link"
                #expect(symlink("../deep/file", used) == 0 && chown("\(folder)/theirs", Nobody.number, 0) == 0)
            case "a link leads into another's folder":
                try FileSystem.makeFolders("\(folder)/theirs")
                try FileSystem.write(Array("text".utf8), to: "\(folder)/theirs/file")
                used = "\(folder)/link"
                #expect(
                    symlink("\(folder)/deep/../theirs/file", used) == 0
                        && chown("\(folder)/theirs", Nobody.number, 0) == 0)
            default: break
            }
            let refusal = Trust.refusal(of: used)
            if let reason {
                let expected = reason.replacingOccurrences(of: "FOLDER", with: FileSystem.resolved(folder))
                #expect(refusal?.hasPrefix(expected) == true, "\(refusal ?? "none")")
            } else {
                #expect(refusal == nil)
                #expect(
                    try FileSystem.read(Trust.way(to: used).open(O_RDONLY), most: 9, called: used) == Array("text".utf8)
                )
            }
        }
    }

    @Test("a missing file is no reason to refuse")
    func missing() {
        #expect(Trust.refusal(of: "/nonexistent/hook") == nil)
    }
}
