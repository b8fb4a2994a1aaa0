/// The release that this source makes; daemon and clients are built together and say the same.
public enum Release {
    public static let version = "0.1.0"
    /// The day that its manual pages bear.
    public static let date = "2026-11-21"
}
