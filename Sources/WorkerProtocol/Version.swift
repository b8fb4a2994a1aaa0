/// The version of the whole: supervisor and workers come from one build.
public enum Release {
    public static let version = "0.1.0"
}
