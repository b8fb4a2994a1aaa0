/// What happens to the original when its job is done.
public enum OriginalPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    case archive, delete, keep
}

/// What happens to a truncated picture, whose file lacks its end.
public enum TruncatedPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    case fail
    /// Render the part of the picture that the file contains.
    case accept
}

/// How a camera's raw file is read.
public enum RawPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// Use the JPEG preview that the camera embedded.
    case preview
    /// Develop the sensor data.
    case develop
}

/// Whether other nodes may render a recipe's pictures.
public enum FleetUse: String, Sendable, Hashable, Codable, CaseIterable {
    case yes, no
}

/// What happens if the outbox already has a file with the result's name.
public enum ConflictPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// Append `-1`, `-2`, … to the new result's name.
    case number
    case replace
    case skip
}
