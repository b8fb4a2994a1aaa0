import CVips

extension Picture {
    var fieldNames: [String] {
        guard let names = vips_image_get_fields(image) else { return [] }
        defer { g_strfreev(names) }
        return sequence(first: names) { $0 + 1 }.lazy.prefix { $0.pointee != nil }.compactMap { name in
            name.pointee.map { String(cString: $0) }
        }
    }

    func hasField(_ name: String) -> Bool { vips_image_get_typeof(image, name) != 0 }

    func integer(_ name: String) -> Int? {
        var value: Int32 = 0
        guard hasField(name), vips_image_get_int(image, name, &value) == 0 else { return nil }
        return Int(value)
    }

    func text(_ name: String) -> String? {
        var text: UnsafePointer<CChar>?
        guard hasField(name), vips_image_get_string(image, name, &text) == 0 else { return nil }
        return text.map { String(cString: $0) }
    }

    func blob(_ name: String) -> [UInt8]? {
        var bytes: UnsafeRawPointer?
        var length = 0
        guard hasField(name), vips_image_get_blob(image, name, &bytes, &length) == 0, let bytes else { return nil }
        return Array(UnsafeRawBufferPointer(start: bytes, count: length))
    }

    /// The value of any field: the bytes of a blob, or else its text.
    func bytes(of name: String) -> [UInt8] {
        if vips_image_get_typeof(image, name) == vips_blob_get_type(), let blob = blob(name) { return blob }
        var text: UnsafeMutablePointer<CChar>?
        guard vips_image_get_as_string(image, name, &text) == 0, let text else {
            vips_error_clear()
            return []
        }
        defer { g_free(text) }
        return Array(String(cString: text).utf8)
    }

    func setBlob(_ name: String, _ bytes: [UInt8]) {
        vips_image_set_blob_copy(image, name, bytes, bytes.count)
    }

    func setInteger(_ name: String, _ value: Int) { vips_image_set_int(image, name, Int32(value)) }

    func setText(_ name: String, _ text: String) { vips_image_set_string(image, name, text) }

    func removeField(_ name: String) {
        vips_image_remove(image, name)
    }

    func removeFields(where isUnwanted: (String) -> Bool) {
        for name in fieldNames where isUnwanted(name) { removeField(name) }
    }

    func copyField(_ name: String, from other: Picture) {
        var value = GValue()
        guard vips_image_get(other.image, name, &value) == 0 else { return vips_error_clear() }
        vips_image_set(image, name, &value)
        g_value_unset(&value)
    }

    /// A copy that shares the pixels and has its own fields. Changes to the copy's fields do not affect this picture.
    func withOwnFields() throws(VipsError) -> Picture {
        try then { cvips_copy($0, $1) }
    }
}
