/// The release of this source. Daemon and clients are built together and say the same.
public enum Release {
    public static let version = "0.1.0"
    public static let date = "2026-11-21"
}
