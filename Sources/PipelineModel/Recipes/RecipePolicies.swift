/// The way of an original whose job is done.
public enum OriginalPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    case archive, delete, keep
}

/// The treatment of a picture whose end is missing.
public enum TruncatedPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    case fail
    /// The rest of the picture is rendered.
    case accept
}

/// The treatment of a camera's raw file.
public enum RawPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// The JPEG that the camera has embedded is the picture.
    case preview
    /// The sensor's samples are developed.
    case develop
}

/// Whether other nodes may render a recipe's pictures.
public enum FleetUse: String, Sendable, Hashable, Codable, CaseIterable {
    case yes, no
}

/// The treatment of a result whose name is taken in the outbox.
public enum ConflictPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// The new result gets `-1`, `-2`, ….
    case number
    case replace
    case skip
}
