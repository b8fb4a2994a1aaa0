extension SourceFile {
    /// Adds metadata that libvips' loaders omit or rename, and the profile that EXIF implies.
    func addMetadata(to picture: Picture) {
        camera?.addMetadata(to: picture)
        switch format {
        case .tiff:
            if let exif = EXIF(tiffDirectory) { picture.setBlob("exif-data", exif.block) }
        case .heif, .avif:
            picture.findXMP()
        case .jpeg, .png, .webp, .gif, .bmp, .raw:
            break
        }
        // LibRaw always develops to sRGB, whatever colour space the camera was set to.
        if format != .raw { picture.addProfileOfEXIF() }
        let attached = attachedParts(xmp: picture.blob("xmp-data") ?? [])
        picture.setDropped(AttachedPart.allCases.filter(attached.contains).map(\.rawValue))
    }
}

extension Picture {
    /// libvips accepts XMP of a HEIF only if it begins with the first element. Usually the packet's header comes first.
    fileprivate func findXMP() {
        guard !hasField("xmp-data") else { return }
        for name in fieldNames where name.hasPrefix("heif-mime-") {
            guard let bytes = blob(name), bytes.prefix(256).contains(text: "<?xpacket") else { continue }
            setBlob("xmp-data", bytes)
            return
        }
    }
}
