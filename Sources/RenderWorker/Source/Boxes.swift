/// The boxes that make up a HEIF, AVIF, JPEG XL or CR3 (Canon) file.
enum Boxes {
    struct Box {
        let name: String
        let start: Int
        /// The offset of the box's content.
        let content: Int
        /// The offset after the box. It lies past the end of the file if the file is truncated.
        let end: Int
    }

    /// Limit on boxes, far above their number in a real picture.
    private static let most = 100

    /// The file's boxes in order, up to the first box whose head is not within the file.
    static func all(size: Int, _ read: (_ offset: Int, _ count: Int) -> [UInt8]?) -> [Box] {
        let form = TIFFForm(isBigEndian: true, isBig: false)
        var boxes: [Box] = []
        var at = 0
        while at < size, boxes.count < most, let head = read(at, 8) {
            var (length, content) = (form.number(head[..<4]), at + 8)
            // A length of 1 means that the real length, of eight bytes, follows the name.
            if length == 1 { (length, content) = (read(at + 8, 8).map { form.number($0) } ?? 0, at + 16) }
            // A length of 0 means that the box reaches to the end of the file.
            let end = length < 8 ? size : at + length
            boxes.append(Box(name: String(decoding: head[4...], as: UTF8.self), start: at, content: content, end: end))
            at = end
        }
        return boxes
    }

    /// Whether the last box ends within the file.
    static func areWhole(size: Int, _ read: (_ offset: Int, _ count: Int) -> [UInt8]?) -> Bool {
        let boxes = all(size: size, read)
        guard let last = boxes.last else { return false }
        return last.end == size || (last.end < size && boxes.count == most)
    }
}
