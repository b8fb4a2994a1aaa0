import Foundation
import Glibc
import SystemCalls
import TestTools
import Testing

/// A headless Chromium, driven over WebDriver by Debian's `chromedriver`.
final class Browser {
    private let driver: ChildProcess
    private let profile = FileManager.default.temporaryDirectory.path + "/pipelined-browser-\(UUID().uuidString)"
    private let port: UInt16
    private var session = ""

    /// `width` and `height` are the window's dimensions. Chromium's windows are at least 500 pixels wide, so a narrower
    /// screen, such as a phone's, is emulated.
    init(width: Int = 1200, height: Int = 900) async throws {
        let driver = try ChildProcess("/usr/bin/chromedriver", ["--port=0"])
        self.driver = driver
        // The line may arrive in pieces. The full stop shows that the number is complete.
        let said = { driver.output.firstMatch(of: #/successfully on port (\d+)\./#) }
        await driver.until { said() != nil || driver.status != nil }
        port = try #require(said().flatMap { UInt16($0.1) }, "\(driver.output)")
        let options: [String: Any] = [
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--disable-extensions", "--disable-background-networking", "--disable-component-update",
                "--force-prefers-reduced-motion", "--window-size=\(width),\(height)",
                "--user-data-dir=\(profile)",
            ]
        ]
        let patience = Int(ChildProcess.patience / .milliseconds(1))
        let wish: [String: Any] = [
            "capabilities": ["alwaysMatch": ["goog:chromeOptions": options, "timeouts": ["script": patience]]]
        ]
        let made = try ask("POST", "", wish) as? [String: Any]
        session = "/" + (try #require(made?["sessionId"] as? String, "\(String(describing: made))"))
        guard width < 500 else { return }
        let screen = ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false] as [String: Any]
        try ask("POST", "/goog/cdp/execute", ["cmd": "Emulation.setDeviceMetricsOverride", "params": screen])
    }

    deinit {
        _ = try? ask("DELETE", "")
        driver.signal(SIGTERM)
        try? FileManager.default.removeItem(atPath: profile)
    }

    func go(to address: String) throws { try ask("POST", "/url", ["url": address]) }

    func reload() throws { try ask("POST", "/refresh", [:]) }

    /// Returns the value of a JavaScript expression in the page.
    @discardableResult
    func value(_ expression: String) throws -> Any? {
        try ask("POST", "/execute/sync", ["script": "return \(expression)", "args": []])
    }

    /// Runs a script in the page.
    func run(_ script: String) throws { try ask("POST", "/execute/sync", ["script": script, "args": []]) }

    /// Returns the value of a JavaScript promise in the page.
    func promise(_ expression: String) throws -> Any? {
        let script = """
            const done = arguments[arguments.length - 1]; (\(expression)).then(done, why => done(String(why)))
            """
        return try ask("POST", "/execute/async", ["script": script, "args": []])
    }

    func number(_ expression: String) throws -> Int { try #require(value(expression) as? Int, "\(expression)") }

    func text(_ expression: String) throws -> String { try #require(value(expression) as? String, "\(expression)") }

    /// Waits until the expression is true in the page.
    func until(_ condition: String, _ location: SourceLocation = #_sourceLocation) async throws {
        // Poll the page. A script that waits in the page would be lost when the page goes to another address.
        let script = "try { return Boolean(\(condition)); } catch { return false; }"
        let end = ContinuousClock.now + ChildProcess.patience
        do {
            while try ask("POST", "/execute/sync", ["script": script, "args": []]) as? Bool != true {
                try #require(ContinuousClock.now < end, "nothing has changed for a long time")
                await Look.again()
            }
        } catch {
            let page = (try? value("document.querySelector('#grid')?.outerHTML")) ?? "a browser that has gone"
            Issue.record("\(condition) did not become true of \(page)", sourceLocation: location)
            throw error
        }
    }

    /// Presses keys one after the other. The focused element receives them.
    func press(_ keys: Key...) throws { for key in keys { try press(key.rawValue) } }

    func type(_ text: String) throws { for letter in text { try press(String(letter)) } }

    private func press(_ key: String) throws {
        let actions = [["type": "keyDown", "value": key], ["type": "keyUp", "value": key]]
        try ask("POST", "/actions", ["actions": [["type": "key", "id": "keys", "actions": actions] as [String: Any]]])
    }

    enum Key: String {
        case tab = "\u{e004}"
        case enter = "\u{e007}"
        case escape = "\u{e00c}"
        case space = " "
        case left = "\u{e012}"
        case up = "\u{e013}"
        case right = "\u{e014}"
        case down = "\u{e015}"
        case home = "\u{e011}"
        case end = "\u{e010}"
        case question = "?"
    }

    /// Clicks the first element that the selector matches.
    func click(_ selector: String) throws {
        let found = try ask("POST", "/element", ["using": "css selector", "value": selector]) as? [String: String]
        try ask("POST", "/element/\(try #require(found?.values.first))/click", [:])
    }

    /// Selects files in a file input.
    func choose(_ files: [String], in selector: String) throws {
        let found = try ask("POST", "/element", ["using": "css selector", "value": selector]) as? [String: String]
        let field = try #require(found?.values.first)
        try ask("POST", "/element/\(field)/value", ["text": files.joined(separator: "\n")])
    }

    @discardableResult
    private func ask(_ method: String, _ path: String, _ body: [String: Any]? = nil) throws -> Any? {
        let text =
            try body.map { String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self) } ?? ""
        let socket = try Loopback.connect(to: Int(port))
        let request = """
            \(method) /session\(session)\(path) HTTP/1.1\r
            Host: 127.0.0.1:\(port)\r
            Content-Type: application/json\r
            Content-Length: \(text.utf8.count)\r
            \r
            \(text)
            """
        var rest = Array(request.utf8)
        while !rest.isEmpty { rest.removeFirst(try Socket.send(rest, to: socket)) }
        // The driver keeps the connection open, so read only as far as Content-Length says.
        var answer: [UInt8] = []
        var whole = Int.max
        let end = Array("\r\n\r\n".utf8)
        var start = 0
        while answer.count < whole {
            let part = try Socket.receive(room: 65536, from: socket).bytes
            try #require(!part.isEmpty, "the driver has gone")
            answer += part
            guard whole == .max, let head = answer.indices.first(where: { answer[$0...].starts(with: end) }) else {
                continue
            }
            let lines = String(decoding: answer[..<head], as: UTF8.self).lowercased().split(whereSeparator: \.isNewline)
            let length = lines.first { $0.hasPrefix("content-length:") }.flatMap {
                Int($0.dropFirst(15).filter(\.isNumber))
            }
            start = head + end.count
            whole = start + (try #require(length))
        }
        let json = try JSONSerialization.jsonObject(with: Data(answer[start..<whole]))
        let value = (json as? [String: Any])?["value"]
        if let failure = value as? [String: Any], let error = failure["error"] as? String {
            throw Failure(description: "\(path): \(error): \(failure["message"] ?? "")")
        }
        return value is NSNull ? nil : value
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }
}
