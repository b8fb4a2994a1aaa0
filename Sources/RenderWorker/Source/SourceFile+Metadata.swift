extension SourceFile {
    /// Adds metadata that libvips' loaders leave out, or rename.
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
    }
}

extension Picture {
    /// libvips takes a HEIF's block for XMP only if it begins with the first element. Usually a packet's header comes
    /// first.
    fileprivate func findXMP() {
        guard !hasField("xmp-data") else { return }
        for name in fieldNames where name.hasPrefix("heif-mime-") {
            guard let bytes = blob(name), bytes.prefix(256).contains(text: "<?xpacket") else { continue }
            setBlob("xmp-data", bytes)
            return
        }
    }
}
