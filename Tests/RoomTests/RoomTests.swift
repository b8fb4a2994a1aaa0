import Testing

struct RoomTests {
    @Test("Every room keeps its rule", arguments: RoomRule.all)
    func kept(rule: RoomRule) throws {
        for file in try SourceFile.all() {
            let offences = rule.offences(file)
            #expect(offences.isEmpty, "Sources/\(file.path) draws in \(offences.joined(separator: ", "))")
        }
    }

    @Test("The rules cover all rooms, Swift and C")
    func nothingIsOverlooked() throws {
        let files = try SourceFile.all()
        let rooms = Set(files.map(\.room))
        #expect(
            rooms.isSuperset(of: [
                "CCurl", "CLinux", "CNats", "CPipelinePlugin", "CSQLite", "CSeccomp", "CSystemd", "CTurboJPEG",
                "CVips", "CWebP", "ControlService", "DaemonConfiguration", "DaemonInterface", "DaemonRuntime",
                "FetchWorker", "FilterConformance", "FleetSharing", "FleetWorker", "InboxWatching", "JobFlow",
                "JobLedger", "JobModel", "ManualPages", "OperationGraph", "PictureFiles", "PipelineControl",
                "PipelineDaemon", "PipelineModel", "Plugins", "Previewing", "RenderWorker", "SamplePictures",
                "ServiceProgram", "SystemCalls", "WorkerConfinement", "WorkerPools", "WorkerProtocol", "pipectl",
            ]))
        #expect(files.contains { $0.imports == ["PipelineModel"] })
        #expect(files.contains { $0.includes.contains("<vips/vips.h>") })
    }

    @Test(
        "An offence is found in every notation",
        arguments: [
            ("OperationGraph/Gate.swift", "package import PipelineModel"),
            ("PipelineModel/Chain.swift", "import Dispatch"),
            ("PipelineModel/Chain.swift", "  public import CLinux"),
            ("ControlService/ControlServer.swift", "import CSQLite"),
            ("PipelineDaemon/main.swift", "@preconcurrency internal import CVips"),
            ("WorkerPools/Pool.swift", "import func CTurboJPEG.tjInitDecompress"),
            ("WorkerPools/WorkerProcess.swift", "import CSeccomp"),
            ("WorkerPools/FetchPool.swift", "import CCurl"),
            ("WorkerPools/WorkerPool.swift", "import CNats"),
            ("RenderWorker/Program.swift", "import CSeccomp"),
            ("ServiceProgram/Log.swift", "import CSystemd"),
            ("ManualPages/ManualPage.swift", "private import PipelineModel"),
            ("PluginKit/Host.swift", "@_spi(Host) import PipelineModel"),
            ("Plugins/Noir/noir.c", "#include \"../../RenderWorker/host.h\""),
            ("Plugins/Noir/noir.c", "#include <unistd.h>"),
            ("CLinux/linux.c", "# include <sqlite3.h>"),
            ("CPipelinePlugin/pipeline_plugin.h", "#include <vips/vips.h>"),
            ("CVips/Wrapper.swift", ""),
            ("PluginKit/Image.swift", "let text = \"\"\"\n    words\n    \"\"\"\nimport PipelineModel"),
            ("PluginKit/Image.swift", "import PipelineModel"),
            ("ManualPages/ManualPage.swift", "import PipelineControl"),
            ("WorkerPools/WorkerProcess.swift", "let source = DispatchSource.makeReadSource(fileDescriptor: 3)"),
            (
                "JobFlow/Hooks/Hooks.swift",
                "let queue = DispatchQueue(label: \"hooks\", attributes: .concurrent)"
            ),
            ("JobFlow/Hooks/Hooks.swift", "DispatchQueue.global().async {}"),
            ("JobFlow/JobRunner/Job.swift", "    Task { await ledger.look() }"),
            ("pipectl/main.swift", "let task = Task.detached(priority: .low) { await look() }"),
            ("WorkerPools/Pool.swift", "tasks[id] = Task<Void, Never>{ await look() }"),
            ("PipelineDaemon/Daemon.swift", "let source = DispatchSource.makeSignalSource(signal: SIGHUP)"),
        ])
    func offenceIsFound(path: String, line: String) {
        let file = SourceFile(path: path, text: "// first\n\(line)\n")
        #expect(RoomRule.all.contains { !$0.offences(file).isEmpty })
    }

    @Test(
        "Code that looks similar is accepted",
        arguments: [
            ("JobLedger/Database.swift", "import CSQLite\npackage import PipelineModel"),
            ("ServiceProgram/Systemd/Journal.swift", "import CSystemd"),
            ("RenderWorker/Decoder.swift", "import CTurboJPEG\nimport CVips"),
            ("Plugins/Noir/noir.c", "#include \"noir.h\"\n#include <math.h>\n#include <vips/vips.h>"),
            ("pipectl/main.swift", "import Foundation\nimport PipelineControl"),
            ("WorkerPools/Pool.swift", "func next() -> RenderTask { RenderTask(number) } // no Task {"),
            ("RenderWorker/Arguments.swift", "    enum Task { case work }"),
            (
                "WorkerPools/Pool.swift",
                "await withTaskGroup(of: Void.self) { group in group.addTask { await look() } }"
            ),
            ("pipectl/main.swift", "// import CVips\nlet important = CVips"),
            ("CSQLite/shim.h", "#include <sqlite3.h>"),
            ("PluginKit/Image.swift", "let text = \"\"\"\n    import PipelineModel\n    \"\"\""),
        ])
    func innocence(path: String, text: String) {
        let file = SourceFile(path: path, text: text)
        #expect(RoomRule.all.allSatisfy { $0.offences(file).isEmpty })
    }
}
