import JobModel
import PipelineModel
import SystemCalls

extension JobStory: JSONWritten {
    func write(to line: inout JSONLine) {
        line.object { line in
            line.member("after", after)
            line.member("before", before)
            line.member("chapters", chapters)
            line.member("header", header)
            line.member("stage", stage)
        }
    }
}

extension JobStory.Picture: JSONWritten {
    func write(to line: inout JSONLine) {
        line.object { line in
            line.member("bytes", bytes)
            line.member("format", format)
            line.member("height", height)
            line.member("pages", pages)
            line.member("width", width)
        }
    }
}

extension JobStory.Chapter: JSONWritten {
    func write(to line: inout JSONLine) {
        line.object { line in
            line.member("account", account)
            line.member("attempt", attempt)
            line.member("detail", detail)
            line.member("failure", failure?.rawValue)
            line.member("finished", finished)
            line.member("kind", kind)
            line.member("queue", queue)
            line.member("segment", segment)
            line.member("started", started)
            line.member("state", state)
        }
    }
}

extension JobStory.Account: JSONWritten {
    func write(to line: inout JSONLine) {
        line.object { line in
            line.member("read", read)
            line.member("worker", worker)
            line.member("written", written)
        }
    }
}

extension PublishIntent: JSONWritten {
    func write(to line: inout JSONLine) {
        line.object { line in
            line.member("left", left)
            line.member("steps", steps)
        }
    }
}

extension PublishIntent.Step: JSONWritten {
    func write(to line: inout JSONLine) {
        line.object { line in
            line.member("conflict", conflict.rawValue)
            line.member("file", file)
            line.member("replaces", replaces)
            line.member("staging", staging)
            line.member("target", target)
        }
    }
}

extension PublishedFile: JSONWritten {
    func write(to line: inout JSONLine) {
        line.object { line in
            line.member("file", file)
            line.member("path", path)
        }
    }
}

extension FileStatus.Identity: JSONWritten {
    func write(to line: inout JSONLine) {
        line.object { line in
            line.member("inode", inode)
            line.member("modified", modified)
            line.member("size", size)
        }
    }
}
