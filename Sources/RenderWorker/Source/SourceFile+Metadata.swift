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
    /// libvips finds the XMP of a HEIF only if the packet starts with the root element of the XML. Usually a header
    /// comes first. This function finds packets with a header.
    fileprivate func findXMP() {
        guard !hasField("xmp-data") else { return }
        for name in fieldNames where name.hasPrefix("heif-mime-") {
            guard let bytes = blob(name), bytes.prefix(256).contains(text: "<?xpacket") else { continue }
            setBlob("xmp-data", bytes)
            return
        }
    }
}
