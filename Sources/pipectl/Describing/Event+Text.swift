import PipelineControl

extension Control.Event {
    var line: Text {
        var line: Text = "\(Moment.local(time), .faint)  "
        if let job {
            switch kind {
            case "picture": line = line + "#\(job.id) \("announced", .good)  \(job.name)"
            case "priority": return line + "#\(job.id) priority \(text ?? "")  \(job.name)"
            case "removed": return line + "#\(job.id) \(text ?? "")  \(job.name)"
            default: line = line + job.line
            }
        } else if let batch {
            return line + batch.line(text)
        } else {
            line = line + Text(kind)
            if let queue { line = line + " \(queue)" }
        }
        // The job's line already shows its reason or error.
        guard let text, text != job?.reason, text != job?.error else { return line }
        return line + "  \(text)"
    }
}
