extension RecipeStart {
    /// The text of a recipe's file. Settings that are missing from the text have the defaults listed in
    /// `man pipelined.recipe`.
    static func text(_ kind: Kind) -> String {
        switch kind {
        case .web: head("For the web: a large WebP and a thumbnail") + web
        case .archive: head("To keep: the whole picture, without loss") + archive
        case .square: head("For a shop: squares of one size") + square
        case .print: head("For print: the whole picture, sharpened") + print
        case .noir: head("Half the size, black and white") + noir
        }
    }

    private static func head(_ description: String) -> String {
        """
        # A recipe of pipelined: `man pipelined.recipe` has every setting, `pipectl plugins` every stage of a chain.
        # After a change: pipectl reload --check, then pipectl reload.

        [Recipe]
        Description=\(description)

        # Pictures arrive in the folder below inbox/ with the recipe's name, and results go to such a folder below outbox/.
        # To use other folders, give their paths.
        #Inbox=/srv/incoming
        #Outbox=/srv/www/pictures

        # The names of the results, with / between folders. By default, they have the names of their pictures.
        #Name={date:%Y/%m}/{stem}-{output}

        # What happens to an original when its results are published: archive, delete or keep.
        #Original=archive
        # What happens when a result's name is taken: number, replace or skip.
        #Conflict=number
        # A program to run for each picture that is done. It gets the event as JSON on standard input.
        #Hook=/usr/local/bin/picture-is-done


        """
    }

    private static let web = """
        # 1600 pixels on the longer side. Keeps metadata such as date and author, but not where the picture was taken.
        # metadata=copyright would keep only author, copyright and credits.
        [Output]
        Chain=resize edge=1600 | save format=webp quality=80 metadata=keep-without-place

        # A second result of the same picture, NAME.thumb.jpg: cut to fill a square.
        [Output thumb]
        Chain=resize width=320 height=320 fit=cover | save format=jpeg quality=80 metadata=strip

        """

    private static let archive = """
        # All pixels, with 16 bits if the picture has them, and all metadata. For PNG: format=png.
        [Output]
        Chain=save format=tiff

        # A preview beside it, NAME.preview.jpg.
        [Output preview]
        Chain=resize edge=1024 | save format=jpeg quality=80 metadata=keep-without-place

        """

    private static let square = """
        # The middle of the picture, 1200 x 1200 pixels. Transparent parts become white.
        [Output]
        Chain=resize width=1200 height=1200 fit=cover | save format=jpeg quality=85 background=#ffffff metadata=strip

        # The whole picture within the same square, for pictures that must not be cropped: NAME.whole.jpg.
        [Output whole]
        Chain=resize edge=1200 | save format=jpeg quality=85 background=#ffffff metadata=strip

        """

    private static let print = """
        # 3600 pixels are 30 cm at 300 dots per inch. kernel=lanczos3 uses every pixel, but takes twice as long.
        [Output]
        Chain=resize edge=3600 kernel=lanczos3 | sharpen | save format=jpeg quality=95

        """

    private static let noir = """
        # `pipectl plugins show noir` explains contrast and brightness; docs/filters.md shows the other filters.
        [Output]
        Chain=resize scale=0.5 | noir | save format=jpeg quality=85

        """
}
