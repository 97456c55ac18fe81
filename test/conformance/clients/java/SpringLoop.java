import java.util.Base64;
import java.util.Map;
import java.util.function.Function;
import org.springframework.ai.anthropic.AnthropicChatModel;
import org.springframework.ai.anthropic.AnthropicChatOptions;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.content.Media;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.util.MimeType;

/** Spring AI's ChatClient, which runs the tool. A client is `spring-ai-API`. */
final class SpringLoop implements Loops.Client {
    private static final Map<String, Function<Loops.Loop, ChatModel>> MODELS =
            Map.of("spring-ai-openai", SpringLoop::openAi, "spring-ai-anthropic", SpringLoop::anthropic);

    /** The tool. Its call ends a turn. */
    public static final class Tools {
        private final StringBuffer text;

        Tools(StringBuffer text) {
            this.text = text;
        }

        @Tool(description = "Looks.")
        public String look() {
            text.setLength(0);
            return "nothing";
        }
    }

    @Override
    public String run(Loops.Loop loop) {
        ChatClient client = ChatClient.create(MODELS.get(loop.client()).apply(loop));
        // Of the present turn: a stream has the texts of all turns.
        StringBuffer text = new StringBuffer();
        ChatClient.ChatClientRequestSpec asked = client.prompt()
                .system(Loops.SYSTEM)
                .user(user -> {
                    user.text(loop.question()).media(media("image/png", loop.image()));
                    loop.pdf().ifPresent(data -> user.media(media("application/pdf", data)));
                })
                .tools(new Tools(text));
        if (!loop.stream()) return asked.call().content();
        asked.stream().content().doOnNext(text::append).blockLast();
        return text.toString();
    }

    private static ChatModel openAi(Loops.Loop loop) {
        OpenAiChatOptions options = OpenAiChatOptions.builder()
                .baseUrl(loop.url() + "/v1")
                .apiKey(loop.key())
                .model(loop.model())
                .maxRetries(0)
                .build();
        return OpenAiChatModel.builder().options(options).build();
    }

    private static ChatModel anthropic(Loops.Loop loop) {
        AnthropicChatOptions options = AnthropicChatOptions.builder()
                .baseUrl(loop.url())
                .apiKey(loop.key())
                .model(loop.model())
                .maxRetries(0)
                .build();
        return AnthropicChatModel.builder().options(options).build();
    }

    private static Media media(String type, String data) {
        return Media.builder()
                .mimeType(MimeType.valueOf(type))
                .data(new ByteArrayResource(Base64.getDecoder().decode(data)))
                .name("map")
                .build();
    }
}
