// AI SDK. A client is `ai-sdk-VERSION-API`.

/** Language models by the API that they speak. */
const providers = {
  anthropic: async (version, { url, key, model }) => {
    const { createAnthropic } = await import(`${version}-anthropic`);
    return createAnthropic({ baseURL: `${url}/v1`, apiKey: key })(model);
  },
  'openai-chat': async (version, loop) => (await openai(version, loop)).chat(loop.model),
  'openai-responses': async (version, loop) => (await openai(version, loop)).responses(loop.model),
  google: async (version, { url, key, model }) => {
    const { createGoogleGenerativeAI } = await import(`${version}-google`);
    return createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: key })(model);
  },
};

async function openai(version, { url, key }) {
  const { createOpenAI } = await import(`${version}-openai`);
  return createOpenAI({ baseURL: `${url}/v1`, apiKey: key });
}

export async function play(client, loop) {
  const [, version, api] = /^(ai-sdk-\d+)-(.+)$/.exec(client);
  const { generateText, jsonSchema, streamText, tool } = await import(version);
  const pdf = { type: 'file', data: loop.pdf, mediaType: 'application/pdf', filename: 'map.pdf' };
  const options = {
    model: await providers[api](version, loop),
    // Its name in AI SDK 7, which warns of the older one.
    [version === 'ai-sdk-7' ? 'instructions' : 'system']: 'Be brief.',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', image: loop.image, mediaType: 'image/png' },
          ...(loop.pdf === undefined ? [] : [pdf]),
          { type: 'text', text: loop.question },
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
  return loop.stream ? streamed(streamText, options) : (await generateText(options)).text;
}

async function streamed(streamText, options) {
  const result = streamText({ ...options, onError: () => undefined });
  for await (const part of result.fullStream) if (part.type === 'error') throw part.error;
  return result.text;
}
