import Foundation
import PipelineModel

extension EXIF {
    /// The first valid date of three: when the picture was taken, digitized, and changed.
    var date: PictureDate? {
        let fields: [(entries: [Entry], tag: Int, source: PictureDate.Source)] = [
            (photo, 0x9003, .original), (photo, 0x9004, .digitized), (main, 0x0132, .changed),
        ]
        return fields.lazy.compactMap { entries, tag, source in
            Self.text(tag, in: entries).flatMap { PictureDate(exif: $0, source: source) }
        }.first
    }

    static func text(_ tag: Int, in entries: [Entry]) -> String? {
        guard let entry = entries.first(where: { $0.tag == tag }), case .bytes(let bytes) = entry.value else {
            return nil
        }
        let text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self).trimmingCharacters(in: .whitespaces)
        return text.isEmpty ? nil : text
    }
}

extension Picture {
    var exif: EXIF? { blob("exif-data").flatMap(EXIF.init(block:)) }
}
