// Tool loops of three turns with AI SDK and its defaults. The argument names the client, `ai-sdk-VERSION-PROVIDER`. Prints
// one JSON line for each loop.
import process from 'node:process';

const [, version, api] = /^(ai-sdk-\d+)-(.+)$/.exec(process.argv[2]);
const { generateText, jsonSchema, streamText, tool } = await import(version);
const environment = process.env;
const readers = environment.LOOP_PDF_MODELS.split(',');

/** Language models by the API that they speak. */
const providers = {
  anthropic: async (name) => {
    const { createAnthropic } = await import(`${version}-anthropic`);
    return createAnthropic({ baseURL: `${environment.LOOP_URL}/v1`, apiKey: environment.LOOP_KEY })(name);
  },
  'openai-chat': async (name) => (await openai()).chat(name),
  'openai-responses': async (name) => (await openai()).responses(name),
  google: async (name) => {
    const { createGoogleGenerativeAI } = await import(`${version}-google`);
    return createGoogleGenerativeAI({ baseURL: `${environment.LOOP_URL}/v1beta`, apiKey: environment.LOOP_KEY })(name);
  },
};

async function openai() {
  const { createOpenAI } = await import(`${version}-openai`);
  return createOpenAI({ baseURL: `${environment.LOOP_URL}/v1`, apiKey: environment.LOOP_KEY });
}

async function play(name, stream) {
  const pdf = { type: 'file', data: environment.LOOP_PDF, mediaType: 'application/pdf', filename: 'map.pdf' };
  const options = {
    model: await providers[api](name),
    // Its name in AI SDK 7, which warns of the older one.
    [version === 'ai-sdk-7' ? 'instructions' : 'system']: 'Be brief.',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', image: environment.LOOP_IMAGE, mediaType: 'image/png' },
          ...(readers.includes(name) ? [pdf] : []),
          { type: 'text', text: environment.LOOP_QUESTION },
        ],
      },
    ],
    tools: {
      look: tool({
        description: 'Looks.',
        inputSchema: jsonSchema({ type: 'object', properties: {} }),
        execute: async () => 'nothing',
      }),
    },
    stopWhen: ({ steps }) => steps.length >= 4,
    maxRetries: 0,
  };
  return stream ? streamed(options) : (await generateText(options)).text;
}

async function streamed(options) {
  const result = streamText({ ...options, onError: () => undefined });
  for await (const part of result.fullStream) if (part.type === 'error') throw part.error;
  return result.text;
}

for (const model of environment.LOOP_MODELS.split(',')) {
  for (const stream of [false, true]) {
    const answer = await play(model, stream).catch((error) => `${error} ${error.cause ?? ''}`.replaceAll('\n', ' '));
    console.log(JSON.stringify({ model, stream, answer }));
  }
}
