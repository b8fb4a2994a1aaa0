import Testing

@testable import FetchWorker

struct AddressTests {
    @Test(
        "A private address is not public, in any notation",
        arguments: [
            "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
            "127.255.255.255", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1",
            "192.88.99.1", "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1",
            "239.255.255.255", "240.0.0.1", "255.255.255.255",
            "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0:127.0.0.1",
            "64:ff9b::127.0.0.1", "64:ff9b::a00:1", "64:ff9b::169.254.169.254", "64:ff9b:1::1", "100::1",
            "2001::1", "2001:10::1", "2001:db8::1", "3fff::1", "2002:7f00:1::", "2002:a00:1::1", "2002:c0a8:1::1",
            "fc00::1", "fd12:3456::1", "fe80::1", "fe80::1%lo", "febf::1", "fec0::1", "feff::1", "ff02::1", "5f00::1",
        ])
    func refused(text: String) throws {
        #expect(try !#require(Address(text)).isPublic)
    }

    @Test(
        "A public address is public",
        arguments: [
            "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
            "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.0.1.1", "192.167.255.255", "198.17.255.255",
            "198.20.0.0", "223.255.255.255", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::1",
            "2606:4700:4700::1111", "2a00::1", "2001:200::1", "3ffe::1",
        ])
    func open(text: String) throws {
        #expect(try #require(Address(text)).isPublic)
    }

    @Test(
        "A name or half an address is invalid", arguments: ["", "localhost", "1.2.3", "1.2.3.4.5", "::1::", "0x7f.1"])
    func none(text: String) {
        #expect(Address(text) == nil)
    }

    @Test(
        "A download's name is read from Content-Disposition",
        arguments: [
            ("attachment; filename=a.jpg", "a.jpg"), ("attachment; filename=\"a; b.jpg\"", "a; b.jpg"),
            ("inline;filename=\"a\\\"b.jpg\" ; x=y", "a\"b.jpg"),
            ("attachment; filename*=UTF-8''%C3%A4%20b.jpg", "ä b.jpg"),
            ("attachment; filename=plain.jpg; filename*=utf-8'de'%e2%82%ac.jpg", "€.jpg"),
            ("attachment; filename=plain.jpg; filename*=utf-8''%zz.jpg", "plain.jpg"),
            ("attachment; filename=plain.jpg; filename*=latin-1''%e4.jpg", "plain.jpg"),
            ("attachment; filename=../../etc/passwd", "../../etc/passwd"), ("attachment", nil),
            ("attachment; x=y", nil),
            ("attachment; filename=\"never closed", "never closed"), ("; ; = ; filename", nil), ("", nil),
        ] as [(String, String?)])
    func disposition(header: String, name: String?) {
        #expect(ContentDisposition.fileName(header) == name)
    }
}
