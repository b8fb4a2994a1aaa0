import Foundation
import PipelineModel

/// Author and copyright that `save` adds if the picture has none.
struct Credit {
    private let texts: [(tag: Int, field: String, text: CreditText)]

    init(_ stage: Stage) {
        texts = [("artist", 0x013b, "exif-ifd0-Artist"), ("copyright", 0x8298, "exif-ifd0-Copyright")]
            .compactMap { name, tag, field in
                // The chain was validated when it was parsed, so no invalid text is expected here.
                stage.arguments[name]?.text.flatMap { try? CreditText($0) }.map { (tag, field, $0) }
            }
    }

    /// Adds the missing texts to `result`, a copy of `picture` with the metadata that the result keeps. Sets libvips'
    /// field as well as the EXIF block. If the two differed, libvips would rewrite the block's text in ASCII.
    func add(to result: Picture, of picture: Picture) {
        let exif = picture.blob("exif-data").flatMap(EXIF.init(block:))
        let missing = texts.filter { exif?.text($0.tag) == nil }
        guard !missing.isEmpty, let date = exif?.date ?? Self.now else { return }
        var kept =
            result.blob("exif-data").flatMap(EXIF.init(block:)) ?? EXIF(TIFFForm(isBigEndian: false, isBig: false))
        for (tag, field, text) in missing {
            let text = text.text(on: date)
            kept.set(tag, text)
            // libvips gives this format to texts that it reads from EXIF.
            let length = text.utf8.count + 1
            result.setText(field, "\(text) (\(text), ASCII, \(length) components, \(length) bytes)")
        }
        result.setBlob("exif-data", kept.block)
    }

    private static var now: PictureDate? {
        let now = Calendar(identifier: .gregorian).dateComponents(
            [.year, .month, .day, .hour, .minute, .second], from: Date())
        return PictureDate(
            year: now.year ?? 0, month: now.month ?? 0, day: now.day ?? 0, hour: now.hour ?? 0, minute: now.minute ?? 0,
            second: now.second ?? 0, source: .clock)
    }
}

extension EXIF {
    /// A text of the first directory. Nil if the text is missing or blank; many cameras write blank texts.
    fileprivate func text(_ tag: Int) -> String? { Self.text(tag, in: main) }

    fileprivate mutating func set(_ tag: Int, _ text: String) {
        let bytes = Array(text.utf8) + [0]
        main.removeAll { $0.tag == tag }
        main.append(Entry(tag: tag, type: 2, count: bytes.count, value: .bytes(bytes)))
    }
}
