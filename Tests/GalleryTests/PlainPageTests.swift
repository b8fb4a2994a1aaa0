import PipelineControl
import Testing

@testable import Gallery

@Suite("The page without JavaScript")
struct PlainPageTests {
    @Test("Names from a fleet are shown as text, and a silent node keeps its place")
    func fleet() {
        let odd = Control.Node(
            name: "m<i>", version: "", places: 2, taken: 1, lent: 3, lacks: ["a\"b", "<script>"])
        let fleet = Control.Fleet(
            name: "<b>", server: "nats://a&b", problem: nil, places: 4, taken: 0, lent: 1, nodes: [odd],
            silent: ["c<u>"])
        let text = PlainPage.fleet(fleet).joined()
        #expect(text.contains("<p>Fleet: &lt;b&gt; at nats://a&amp;b.</p>"), "\(text)")
        #expect(text.contains("<tr><td>&lt;b&gt;<td>0 of 4<td>1<td>this node</tr>"), "\(text)")
        #expect(
            text.contains(
                "<tr><td>c&lt;u&gt;<td><td><td>silent</tr>"
                    + "<tr><td>m&lt;i&gt;<td>1 of 2<td>3<td>lacks a&quot;b, &lt;script&gt;</tr></table>"),
            "\(text)")
    }
}
