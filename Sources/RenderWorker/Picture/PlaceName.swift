/// Names of properties, in any namespace, that reveal where a picture was taken.
enum PlaceName {
    private static let parts = ["gps", "latitude", "longitude", "longtitude", "altitude", "location", "geotag"]
    private static let whole: Set = [
        "city", "state", "province", "provincestate", "provincename", "stateprovince", "country", "countrycode",
        "countryname", "worldregion", "locality", "county", "municipality", "coordinates",
    ]
    /// All names in this namespace are about a place.
    private static let space = "http://www.w3.org/2003/01/geo/wgs84_pos#"

    static func matches(_ name: XMPPacket.Name) -> Bool { name.space == space || matches(name.local) }

    static func matches(_ name: String) -> Bool {
        let name = name.lowercased()
        return whole.contains(name) || parts.contains(where: name.contains)
    }
}
