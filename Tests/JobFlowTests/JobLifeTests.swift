import PipelineModel
import Testing

@testable import JobFlow

@Suite("The life of a job")
struct JobLifeTests {
    private static let stops: [JobLife.Stop] = [.cancel, .giveBack, .wait("no space")]

    private static let states: [JobLife] =
        JobLife.Stage.allCases.map { .working($0) }
        + ([nil] + stops).flatMap { stop in JobLife.Stage.allCases.map { .publishing($0, pending: stop) } }
        + stops.flatMap { stop in JobLife.Stage.allCases.map { .stopping(stop, $0) } }
        + stops.flatMap { stop in JobLife.Stage.allCases.map { .discarding(stop, $0) } } + [.ended]

    private static let events: [JobLife.Event] = [
        .cancel, .giveBack, .setAside("no space"), .withdrawn, .began, .delayed, .resumed, .intends, .resumesIntent,
        .intentRefused, .publishingFailed, .stopped(leavesFiles: true), .stopped(leavesFiles: false), .discarded,
        .leaves,
    ]

    /// Returns up to three letters: the phase (`W`orking, `P`ublishing, `S`topping, `D`iscarding or `E`nded), the stage
    /// (`q`ueued, `r`unning or `w`aiting), and the stop (`c`ancel, `g`ive back or `w`ait).
    private static func short(_ life: JobLife) -> String {
        let (letter, stage): (String, JobLife.Stage?) =
            switch life {
            case .working(let stage): ("W", stage)
            case .publishing(let stage, _): ("P", stage)
            case .stopping(_, let stage): ("S", stage)
            case .discarding(_, let stage): ("D", stage)
            case .ended: ("E", nil)
            }
        let stop: String? =
            switch life.stop {
            case .cancel: "c"
            case .giveBack: "g"
            case .wait: "w"
            case nil: nil
            }
        let stages: [JobLife.Stage: String] = [.queued: "q", .running: "r", .waiting: "w"]
        return letter + (stage.flatMap { stages[$0] } ?? "") + (stop ?? "")
    }

    /// A line for each state. The line shows, for each event, the next state, or a dot if the state stays the same, or
    /// a dash if the event can't occur.
    private static var table: [String] {
        states.map { state in
            let next = events.map { event in
                state.after(event).map { $0.next == state ? "." : short($0.next) } ?? "-"
            }
            return ([short(state)] + next).joined(separator: " ")
        }
    }

    @Test("each event leads from each state where the table says, or can't occur there")
    func pairs() {
        let expected = """
                cancel back   aside  withdr began  delay  resume intend resInt refuse fails  stop+  stop   discrd leaves
            Wq  Sqc    Sqg    Sqw    Sqg    Wr     .      .      Pq     Pq     -      .      -      -      -      E
            Wr  Src    Srg    .      -      .      Ww     .      Pr     Pr     -      .      -      -      -      E
            Ww  Swc    Swg    .      -      Wr     .      Wr     Pw     Pw     -      .      -      -      -      E
            Pq  .      .      .      -      Pr     .      .      .      .      Wq     Wq     -      -      -      E
            Pr  .      .      .      -      .      Pw     .      .      .      Wr     Wr     -      -      -      E
            Pw  .      .      .      -      Pr     .      Pr     .      .      Ww     Ww     -      -      -      E
            Pqc .      .      .      -      Prc    .      .      -      .      Sqc    Sqc    -      -      -      E
            Prc .      .      .      -      .      .      .      -      .      Src    Src    -      -      -      E
            Pwc .      .      .      -      Prc    .      Prc    -      .      Swc    Swc    -      -      -      E
            Pqg .      .      .      -      Prg    .      .      -      .      Sqg    Sqg    -      -      -      E
            Prg .      .      .      -      .      Pwg    .      -      .      Srg    Srg    -      -      -      E
            Pwg .      .      .      -      Prg    .      Prg    -      .      Swg    Swg    -      -      -      E
            Pqw .      .      .      -      Prw    .      .      -      .      Sqw    Sqw    -      -      -      E
            Prw .      .      .      -      .      Pww    .      -      .      Srw    Srw    -      -      -      E
            Pww .      .      .      -      Prw    .      Prw    -      .      Sww    Sww    -      -      -      E
            Sqc .      .      .      -      Src    .      .      -      Pqc    -      .      Dqc    E      -      E
            Src .      .      .      -      .      .      .      -      Prc    -      .      Drc    E      -      E
            Swc .      .      .      -      Src    .      Src    -      Pwc    -      .      Dwc    E      -      E
            Sqg Sqc    .      .      -      Srg    .      .      -      Pqg    -      .      Dqg    E      -      E
            Srg Src    .      .      -      .      Swg    .      -      Prg    -      .      Drg    E      -      E
            Swg Swc    .      .      -      Srg    .      Srg    -      Pwg    -      .      Dwg    E      -      E
            Sqw Sqc    Sqg    .      Sqg    Srw    .      .      -      Pqw    -      .      Dqw    E      -      E
            Srw Src    Srg    .      -      .      Sww    .      -      Prw    -      .      Drw    E      -      E
            Sww Swc    Swg    .      -      Srw    .      Srw    -      Pww    -      .      Dww    E      -      E
            Dqc .      .      .      -      Drc    .      .      -      .      -      .      -      -      E      E
            Drc .      .      .      -      .      .      .      -      .      -      .      -      -      E      E
            Dwc .      .      .      -      Drc    .      Drc    -      .      -      .      -      -      E      E
            Dqg Dqc    .      .      -      Drg    .      .      -      .      -      .      -      -      E      E
            Drg Drc    .      .      -      .      Dwg    .      -      .      -      .      -      -      E      E
            Dwg Dwc    .      .      -      Drg    .      Drg    -      .      -      .      -      -      E      E
            Dqw Dqc    Dqg    .      -      Drw    .      .      -      .      -      .      -      -      E      E
            Drw Drc    Drg    .      -      .      Dww    .      -      .      -      .      -      -      E      E
            Dww Dwc    Dwg    .      -      Drw    .      Drw    -      .      -      .      -      -      E      E
            E   .      .      .      -      .      .      .      -      .      -      .      -      -      .      -
            """
        let rows = expected.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(Self.table == Array(rows.dropFirst()))
    }

    @Test("each transition has exactly these effects")
    func effects() {
        for state in Self.states {
            for event in Self.events {
                guard let transition = state.after(event) else { continue }
                let expected: [JobLife.Effect] =
                    switch (event, transition.next) {
                    case _ where transition.next == state: []
                    case (.cancel, .stopping), (.setAside, .stopping): [.cancelOperations, .checkOperations]
                    case (.giveBack, .stopping): [.keepPart, .cancelOperations, .checkOperations]
                    case (.withdrawn, _): [.checkOperations]
                    case (.stopped, .discarding): [.discardFiles]
                    case (.stopped, .ended), (.discarded, .ended): state.stop.map { [.leave($0)] } ?? []
                    default: []
                    }
                #expect(transition.effects == expected, "\(state) \(event)")
            }
        }
    }

    @Test("a job can fail unless it has ended or leaves anyway; its next operation begins unless something stops it")
    func questions() {
        for state in Self.states {
            let (canFail, goesOn) =
                switch (state, state.stop) {
                case (.ended, _), (_, .cancel), (_, .giveBack): (false, false)
                case (_, .wait): (true, false)
                case (_, nil): (true, true)
                }
            #expect(state.canFail == canFail, "\(state)")
            #expect(state.goesOn == goesOn, "\(state)")
            let isUnbegun = [.working(.queued), .stopping(.wait("no space"), .queued)].contains(state)
            #expect(state.canBeWithdrawn == isUnbegun, "\(state)")
        }
    }

    @Test("whatever happens, a job leaves the window once, and never after it has begun to publish without a failure")
    func once() {
        for state in Self.states {
            for event in Self.events {
                guard let transition = state.after(event) else { continue }
                let ends = state != .ended && transition.next == .ended
                let leaves =
                    event == .leaves || transition.effects.contains { if case .leave = $0 { true } else { false } }
                #expect(ends == leaves, "\(state) \(event)")
                guard state.isPublishing, !transition.next.isPublishing else { continue }
                #expect([.intentRefused, .publishingFailed, .leaves].contains(event), "\(state) \(event)")
            }
        }
    }

    @Test("a job is shown as cancelling only while it is stopped after it has begun")
    func shown() {
        for state in Self.states {
            let isBegun = state != .ended && state.state != .queued
            #expect((state.state == .cancelling) == (state.stop == .cancel && isBegun), "\(state)")
        }
        #expect(JobLife.ended.state == nil)
    }
}
