package import DaemonInterface
package import DaemonRuntime
import JobLedger
package import JobModel
import PictureFiles
import Previewing
import SystemCalls

extension Owners {
    package func tryChains(
        _ wish: TrialWish, done: @escaping @Coordination @Sendable (TrialOutcome) -> Void
    ) -> Withdrawal {
        let trial = trials.begin(wish, done: done)
        return { trial.cancel() }
    }

    package func preview(
        _ result: Int?, of job: JobRecord, size: Int,
        done: @escaping @Sendable (Result<OpenedPicture, any Error>) -> Void
    ) -> Withdrawal {
        let wish = PreviewWish(job, result: result, size: size, answer: done)
        previews.ask(wish)
        return { [previews] in previews.withdraw(wish) }
    }

    package func lane(of result: Int?, of job: JobRecord) -> FileLane { pictures.lane(of: result, of: job) }

    package nonisolated func open(_ result: Int?, of job: JobRecord) throws -> OpenedPicture {
        let picture = try pictures.open(result, of: job)
        return (picture.name, picture.file)
    }
}
