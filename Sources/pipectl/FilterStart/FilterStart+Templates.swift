extension FilterStart {
    static let swiftPackage = """
        // swift-tools-version: 6.0
        import PackageDescription

        let package = Package(
            name: "WARM_NAME",
            products: [.library(name: "WARM_NAME", type: .dynamic, targets: ["WARM_TYPE"])],
            dependencies: [.package(path: "PLUGINKIT")],
            targets: [.target(name: "WARM_TYPE", dependencies: ["PluginKit"])]
        )

        """

    static let swift = """
        import PluginKit

        struct WARM_TYPE: Filter {
            static let name = "WARM_NAME"
            static let summary = "as if the sun were low"
            // Each band of the result depends on the same band alone: several such filters in a row cost as much as one.
            static let traits: Traits = [.pointwise, .curve]

            @Parameter("how much warmer: 0 changes nothing", range: 0...1) var amount = 0.5

            func apply(to image: Image) throws -> Image {
                // Grey has no colour to warm.
                guard image.colours == 3 else { return image }
                return try image.keepingAlpha { try $0.linear([1 + amount / 5, 1, 1 - amount / 5], [0, 0, 0]) }
            }
        }

        @c(pipeline_filter) public func exported() -> ExportedFilter { export(WARM_TYPE.self) }

        """

    static let c = """
        #include <pipeline_plugin.h>
        #include <vips/vips.h>

        enum { AMOUNT, PARAMETERS };

        static const PipelineParameter parameters[PARAMETERS] = {
            [AMOUNT] =
                {.name = "amount",
                 .type = PIPELINE_NUMBER,
                 .minimum = 0,
                 .maximum = 1,
                 .default_value = "0.5",
                 .help = "how much warmer: 0 changes nothing"},
        };

        static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
            (void)host;
            double amount = values[AMOUNT].number;
            /* Grey has no colour to warm; alpha, the last band, stays as it is. */
            if (input->Bands < 3)
                return vips_copy(input, output, NULL);
            double factors[] = {1 + amount / 5, 1, 1 - amount / 5, 1}, offsets[] = {0, 0, 0, 0};
            return vips_linear(input, output, factors, offsets, input->Bands, NULL);
        }

        static const PipelineFilter filter = {
            PIPELINE_FILTER_LAYOUT,
            .name = "WARM_NAME",
            .version = "1.0.0",
            .summary = "as if the sun were low",
            /* Each band of the result depends on the same band alone: several such filters in a row cost as much as one. */
            .traits = PIPELINE_POINTWISE | PIPELINE_CURVE,
            .parameter_count = PARAMETERS,
            .parameters = parameters,
            .apply = apply,
        };

        const PipelineFilter *pipeline_filter(void) {
            return &filter;
        }

        """

    static let makefileOfC = """
        WARM_NAME.so: WARM_NAME.c
        	$(CC) -std=c11 -O3 -Wall -Wextra -Wpedantic -fPIC -shared -o $@ $< $$(pkg-config --cflags --libs pipelined)

        .PHONY: check
        check: WARM_NAME.so
        	pipectl plugins check ./WARM_NAME.so

        """

    static let cpp = """
        #include <pipeline_plugin.h>
        #include <vips/vips8>

        using vips::VImage;

        static const PipelineParameter amount = {
            "amount", PIPELINE_NUMBER, 0, 1, "0.5", nullptr, nullptr, "how much warmer: 0 changes nothing"};

        static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
            try {
                /* The host keeps its own reference. */
                VImage image(input, vips::NOSTEAL);
                double warmer = values[0].number / 5;
                /* Grey has no colour to warm; alpha, the last band, stays as it is. */
                if (image.bands() >= 3) {
                    std::vector<double> factors = {1 + warmer, 1, 1 - warmer, 1};
                    factors.resize(image.bands());
                    image = image.linear(factors, std::vector<double>(factors.size(), 0));
                }
                *output = image.get_image();
                g_object_ref(*output);
                return 0;
            } catch (const vips::VError &error) {
                host->fail(host, error.what());
                return -1;
            }
        }

        static const PipelineFilter filter = {
            PIPELINE_FILTER_LAYOUT,
            /* Each band of the result depends on the same band alone: several such filters in a row cost as much as one. */
            PIPELINE_POINTWISE | PIPELINE_CURVE,
            "WARM_NAME", "1.0.0", "as if the sun were low", 1, &amount, apply, nullptr, nullptr, nullptr,
            nullptr, nullptr};

        const PipelineFilter *pipeline_filter(void) {
            return &filter;
        }

        """

    static let makefileOfCPP = """
        WARM_NAME.so: WARM_NAME.cpp
        	$(CXX) -std=c++17 -O3 -Wall -Wextra -Wpedantic -fPIC -shared -o $@ $< $$(pkg-config --cflags --libs pipelined vips-cpp)

        .PHONY: check
        check: WARM_NAME.so
        	pipectl plugins check ./WARM_NAME.so

        """
}
