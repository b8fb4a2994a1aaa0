extension SourceFile {
    /// Adds metadata that libvips' loaders omit or store under another name, and the profile that EXIF implies.
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
        // LibRaw always develops to sRGB, even if the camera was set to another colour space.
        if format != .raw { picture.addProfileOfEXIF() }
        let attached = attachedParts(xmp: picture.blob("xmp-data") ?? [])
        picture.setDropped(AttachedPart.allCases.filter(attached.contains).map(\.rawValue))
    }
}

extension Picture {
    /// libvips finds a HEIF's XMP only if the packet begins with its first element. Usually a header precedes the
    /// element, so find such a packet here.
    fileprivate func findXMP() {
        guard !hasField("xmp-data") else { return }
        for name in fieldNames where name.hasPrefix("heif-mime-") {
            guard let bytes = blob(name), bytes.prefix(256).contains(text: "<?xpacket") else { continue }
            setBlob("xmp-data", bytes)
            return
        }
    }
}
