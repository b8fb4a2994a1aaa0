/// The version of this source. Daemon and clients are built together, so they report the same version.
public enum Release {
    public static let version = "0.1.0"
    public static let date = "2026-11-21"
}
