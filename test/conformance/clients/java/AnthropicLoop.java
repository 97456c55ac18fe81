import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.http.StreamResponse;
import com.anthropic.helpers.BetaMessageAccumulator;
import com.anthropic.helpers.BetaToolRunner;
import com.anthropic.models.beta.messages.BetaBase64ImageSource;
import com.anthropic.models.beta.messages.BetaBase64PdfSource;
import com.anthropic.models.beta.messages.BetaContentBlock;
import com.anthropic.models.beta.messages.BetaContentBlockParam;
import com.anthropic.models.beta.messages.BetaMessage;
import com.anthropic.models.beta.messages.BetaRawMessageStreamEvent;
import com.anthropic.models.beta.messages.MessageCreateParams;
import com.anthropic.models.models.ModelInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The beta tool runner, which begins message threads. Answers and models satisfy the SDK's strict checks. */
final class AnthropicLoop implements Loops.Client {
    @Override
    public String run(Loops.Loop loop) {
        AnthropicClient client = AnthropicOkHttpClient.builder()
                .baseUrl(loop.url())
                .apiKey(loop.key())
                .maxRetries(0)
                .build();
        client.models().list().items().forEach(ModelInfo::validate);
        client.models().retrieve(loop.model()).validate();
        MessageCreateParams params = MessageCreateParams.builder()
                .model(loop.model())
                .maxTokens(100)
                .system(Loops.SYSTEM)
                .addUserMessageOfContentBlockParams(blocks(loop))
                .addTool(Loops.Look.class)
                .build();
        BetaToolRunner runner = client.beta().messages().toolRunner(params);
        return text((loop.stream() ? lastStreamed(runner) : last(runner)).validate());
    }

    private static BetaMessage last(BetaToolRunner runner) {
        BetaMessage last = null;
        for (BetaMessage message : runner) last = message;
        return last;
    }

    private static BetaMessage lastStreamed(BetaToolRunner runner) {
        BetaMessage last = null;
        for (StreamResponse<BetaRawMessageStreamEvent> turn : runner.streaming()) {
            BetaMessageAccumulator accumulator = BetaMessageAccumulator.create();
            try (turn) {
                turn.stream().forEach(accumulator::accumulate);
            }
            last = accumulator.message();
        }
        return last;
    }

    private static List<BetaContentBlockParam> blocks(Loops.Loop loop) {
        List<BetaContentBlockParam> blocks = new ArrayList<>();
        blocks.add(BetaContentBlockParam.ofImage(BetaBase64ImageSource.builder()
                .mediaType(BetaBase64ImageSource.MediaType.IMAGE_PNG)
                .data(loop.image())
                .build()));
        loop.pdf()
                .map(data -> BetaBase64PdfSource.builder().data(data).build())
                .map(BetaContentBlockParam::ofDocument)
                .ifPresent(blocks::add);
        blocks.add(BetaContentBlockParam.ofText(loop.question()));
        return blocks;
    }

    private static String text(BetaMessage message) {
        return message.content().stream()
                .filter(BetaContentBlock::isText)
                .map(block -> block.asText().text())
                .collect(Collectors.joining());
    }
}
