import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonTypeName;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Tool loops of three turns with Java SDKs and their defaults. The argument names the client. Prints one JSON line for
 * each loop.
 */
public final class Loops {
    static final String SYSTEM = "Be brief.";
    /** Turns after which a loop without an answer ends. */
    static final int MAX_TURNS = 4;

    /** One conversation. `image` and `pdf` are base64; `pdf` is empty where the model reads none. */
    record Loop(
            String client,
            String url,
            String key,
            String model,
            boolean stream,
            String question,
            String image,
            Optional<String> pdf) {}

    interface Client {
        String run(Loop loop);
    }

    /** The tool. */
    @JsonTypeName("look")
    @JsonClassDescription("Looks.")
    public static final class Look implements Supplier<String> {
        /** The SDKs refuse a class without properties. */
        public String direction;

        @Override
        public String get() {
            return "nothing";
        }
    }

    /** Classes of clients: only those of one installation are compiled. */
    private static final Map<String, String> CLIENTS = Map.of(
            "anthropic-java", "AnthropicLoop",
            "openai-java", "OpenAiLoop",
            "openai-java-socket", "OpenAiSocketLoop",
            "spring-ai-openai", "SpringLoop",
            "spring-ai-anthropic", "SpringLoop");

    public static void main(String[] parameters) throws Exception {
        Client client = (Client) Class.forName(CLIENTS.get(parameters[0]))
                .getDeclaredConstructor()
                .newInstance();
        List<String> readers = List.of(System.getenv("LOOP_PDF_MODELS").split(","));
        for (String model : System.getenv("LOOP_MODELS").split(",")) {
            Optional<String> pdf = readers.contains(model) ? Optional.of(System.getenv("LOOP_PDF")) : Optional.empty();
            for (boolean stream : new boolean[] {false, true}) {
                Loop loop = new Loop(
                        parameters[0],
                        System.getenv("LOOP_URL"),
                        System.getenv("LOOP_KEY"),
                        model,
                        stream,
                        System.getenv("LOOP_QUESTION"),
                        System.getenv("LOOP_IMAGE"),
                        pdf);
                Map<String, Object> line = Map.of("model", model, "stream", stream, "answer", answer(client, loop));
                System.out.println(new ObjectMapper().writeValueAsString(line));
            }
        }
        // The SDKs leave threads of their connection pools behind.
        System.exit(0);
    }

    private static String answer(Client client, Loop loop) {
        try {
            return client.run(loop);
        } catch (RuntimeException error) {
            return error.toString();
        }
    }
}
