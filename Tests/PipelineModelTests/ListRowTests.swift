import Testing

@testable import PipelineModel

struct ListRowTests {
    private func entries(_ text: String, _ kind: AddressList.Kind = .table) throws -> [AddressList.Entry] {
        try AddressList(Array(text.utf8), kind, most: 100).entries
    }

    private func row(_ url: String, _ row: ListRow) throws -> AddressList.Entry { .row(try WebAddress(url), row) }

    @Test(
        "Commas, semicolons and tabs separate columns, in any order and case",
        arguments: ["URL,Caption,name", "url;caption;Name", "\u{feff}url\tcaption\tname\r"])
    func separators(header: String) throws {
        let separator = header.contains("\t") ? "\t" : header.contains(";") ? ";" : ","
        let rows = ["https://a/1.jpg", "A lion", "lion.jpg"].joined(separator: separator) + "\r\nhttps://a/2.jpg"
        let wanted = [
            try row("https://a/1.jpg", ListRow(line: 2, texts: PictureTexts(name: "lion.jpg", caption: "A lion"))),
            .address(try WebAddress("https://a/2.jpg")),
        ]
        for kind in [AddressList.Kind.table, .lines] { #expect(try entries("\(header)\n\(rows)", kind) == wanted) }
    }

    @Test("Quotes enclose separators, quotes and line breaks; blank lines and comments are skipped")
    func quotes() throws {
        let text = """
            # for Monday; "urgent,"b, "c

            url,caption,credit,recipe,,
            "https://a/1.jpg" , "A ""lion"", and
            a bear", Ada , web,,
            # the second, "b
            ,,,,,
            https://a/2.jpg,,"Ada, Bob",,,
            """
        #expect(
            try entries(text.replacing("\n", with: "\r\n")) == [
                try row(
                    "https://a/1.jpg",
                    ListRow(
                        line: 4, texts: PictureTexts(caption: "A \"lion\", and\na bear", credit: "Ada"),
                        recipe: "web")),
                try row("https://a/2.jpg", ListRow(line: 8, texts: PictureTexts(credit: "Ada, Bob"))),
            ])
    }

    @Test("A wrong row costs itself alone, and names its line")
    func wrong() throws {
        let good = "https://a/good.jpg,,,"
        let long = String(repeating: "ä", count: 1001)
        let rows: [(row: String, reason: String)] = [
            ("ftp://a/b.jpg,,,", "'ftp://a/b.jpg' is not an http or https URL; a URL begins with https://"),
            (",lion,,", "the row has no URL"),
            ("https://a/1.jpg,a,b,c,d", "the row has 5 fields for 4 columns; put a text that has a separator in it"),
            ("https://a/1.jpg" + String(repeating: ",", count: 100_000), "the row has more than 50 fields"),
            ("https://a/1.jpg,\"open,,", "the row opens a quote and does not close it; write a quote within"),
            ("https://a/1.jpg,\"a\"b,,", "the row has text after a closing quote; write a quote within quotes as"),
            ("https://a/1.jpg,../lion.jpg,,", "the row has a name that is not a plain file name; 'lion.jpg' would be"),
            ("https://a/1.jpg,,\(long),", "the row has a caption of 2002 bytes; 2000 are"),
            ("https://a/1.jpg,,,\"a\nb\"", "the row has a line break or a control character in its credit; take it"),
            ("https://a/1.jpg,,\u{7}bell,", "the row has a control character in its caption; take it out"),
            ("https://a/1.jpg,,\u{fffd},", "the row has a caption that is not UTF-8; save the list in UTF-8"),
        ]
        for (text, reason) in rows {
            let found = try entries("url,name,caption,credit\n\(good)\n\(text)\n\(good)\n")
            #expect(found.count == 3, "\(text)")
            #expect(found.first == .address(try WebAddress("https://a/good.jpg")) && found.first == found.last)
            guard found.count == 3, case .wrong(3, let said) = found[1] else {
                Issue.record("\(found)")
                continue
            }
            #expect(said.hasPrefix(reason), "\(said)")
        }
    }

    @Test("An unknown, doubled or missing column is a mistake of the whole list, and says what was meant")
    func columns() throws {
        let mistakes = [
            "url,captoin": "has an unknown column 'captoin'; did you mean 'caption'?",
            "url,title": "has an unknown column 'title'; it may be url, name, caption, credit, recipe",
            "url,name,URL": "has the column 'url' twice",
            "name,caption": "has no column 'url'; its first line names the columns, as in url,name,caption",
            "url,\"name": "has a first line that opens a quote and does not close it; it names the columns,",
            "url,name": "contains no URL; write one a line", "": "has no header; its first line names the columns,",
        ]
        for (header, sentence) in mistakes {
            let refusal = #expect(throws: Refusal.self) { try entries(header + "\n") }
            #expect(refusal?.sentence.hasPrefix(sentence) == true, "\(header): \(refusal?.sentence ?? "")")
        }
    }

    @Test("A list without a header stays a list of lines, and its name decides about the others")
    func kinds() throws {
        #expect(AddressList.kind(of: "a.CSV") == .table && AddressList.kind(of: "a.tsv") == .table)
        #expect(try !AddressList("https://a/url,b.jpg\n", .lines, most: 10).isTable)
        #expect(try AddressList("# x\n\nurl\nhttps://a/b.jpg\n", .lines, most: 10).isTable)
    }

    @Test("Rows that name a refused recipe become mistakes, and the other rows stay")
    func recipes() throws {
        var list = try AddressList("url,recipe\nhttps://a/1,web\nhttps://a/2,wbe\nhttps://a/3,\n", .table, most: 9)
        #expect(list.recipes == ["web", "wbe"] && list.wrong == 0)
        list.refuse(recipes: ["wbe": "there is no recipe 'wbe'"])
        #expect(list.wrong == 1)
        #expect(list.entries[1] == .wrong(line: 3, reason: "there is no recipe 'wbe'"))
    }

    @Test("A name gets the suffix of the download if it has none of a picture")
    func names() {
        #expect(DownloadName.given("St. Moritz", else: "a.png") == "St. Moritz.png")
        #expect(DownloadName.given("lion.JPG", else: "a.png") == "lion.JPG")
        #expect(DownloadName.given("lion", else: "download") == "lion")
        #expect(DownloadName.given(nil, else: "a.png") == "a.png")
    }
}
