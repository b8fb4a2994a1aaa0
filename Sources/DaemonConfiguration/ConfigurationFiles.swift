import Glibc
package import PictureFiles
package import PipelineModel
import ServiceProgram
import SystemCalls

/// The texts of all configuration files, as the initializer has read them.
package struct ConfigurationFiles: Sendable {
    /// The administrator's settings files, in reading order. Later files override earlier files.
    package var settings: [ConfigurationText] = []
    /// The daemon's own `saved.conf`, which overrides the administrator's files.
    package var saved: ConfigurationText?
    package private(set) var recipes: [ConfigurationText] = []
    /// The problems of recipe files that can't be read, one for each file.
    private(set) var unreadRecipes: [Problem] = []
    private var unreadSettings: [Problem] = []
    private var unreadFolder: [Problem] = []

    package init(_ places: Places) {
        let main = [places.mainConfiguration].filter(FileSystem.mayExist)
        let more = Self.files(in: places.moreConfiguration, suffix: ".conf", &unreadSettings)
        settings = (main + more).compactMap { Self.read($0, &unreadSettings) }
        saved = FileSystem.mayExist(places.saved) ? Self.read(places.saved, &unreadSettings) : nil
        recipes = [places.recipes, places.ownRecipes]
            .flatMap { Self.files(in: $0, suffix: ".recipe", &unreadFolder) }
            .compactMap { Self.read($0, &unreadRecipes) }
    }

    /// Read errors that concern all recipes.
    package var problems: [Problem] { unreadSettings + unreadFolder }

    package var allSettings: [ConfigurationText] { settings + (saved.map { [$0] } ?? []) }

    /// Replaces the texts of the administrator's settings files. Also drops `saved.conf` if it contains a mistake.
    mutating func replaceSettings(by texts: [ConfigurationText]) {
        (settings, unreadSettings) = (texts, [])
        guard let own = saved else { return }
        let problems = Configuration.load(settings: [own], recipes: [], catalog: .builtIn).problems
        if problems.contains(where: { $0.file == own.name }) { saved = nil }
    }

    private static func files(in folder: String, suffix: String, _ problems: inout [Problem]) -> [String] {
        guard FileSystem.mayExist(folder) else { return [] }
        do {
            return try FileSystem.names(in: folder)
                .filter { $0.hasSuffix(suffix) && !$0.hasPrefix(".") }.sorted().map { "\(folder)/\($0)" }
        } catch {
            problems.append(Problem(file: folder, line: nil, message: "can't be read: \(error.reason)"))
            return []
        }
    }

    private static func read(_ path: String, _ problems: inout [Problem]) -> ConfigurationText? {
        do {
            let way = try Trust.way(to: path)
            if let refusal = way.refusal {
                problems.append(Problem(file: path, line: nil, message: "is not read: \(refusal)"))
                return nil
            }
            let data = try FileSystem.read(try way.open(O_RDONLY), most: .max, called: path)
            guard let text = String(validating: data, as: UTF8.self) else {
                problems.append(Problem(file: path, line: nil, message: "is not UTF-8; save it as that"))
                return nil
            }
            return ConfigurationText(name: path, text: text)
        } catch {
            problems.append(Problem(file: path, line: nil, message: "can't be read: \(error.reason)"))
            return nil
        }
    }
}
