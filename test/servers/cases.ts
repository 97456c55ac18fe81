import { contextWindow, type TriedServer } from './servers.ts';

/** What a client got. */
export interface ClientReply {
  readonly status: number;
  readonly text: string;
  readonly notes: string;
}

/** Sends a client's request for the server's model. */
export type Ask = (path: string, body: object) => Promise<ClientReply>;

/** One thing that a client sees of a server. `run` returns what was wrong. */
interface Case {
  readonly name: string;
  run(ask: Ask): Promise<string | undefined>;
}

/** A case that expects a status and words in body or notes. */
function expects(
  name: string,
  path: string,
  body: object,
  { status = 200, words = [] as readonly (string | RegExp)[], without = [] as readonly string[] },
): Case {
  return {
    name,
    run: async (ask) => {
      const reply = await ask(path, body);
      const said = `${reply.text}\n${reply.notes}`;
      const missing = words.filter((word) => !(typeof word === 'string' ? said.includes(word) : word.test(said)));
      const excess = without.filter((word) => said.includes(word));
      const isRight = reply.status === status && missing.length === 0 && excess.length === 0;
      return isRight ? undefined : `${describe(reply)}; expected ${status}, ${[...words].join(', ')}`;
    },
  };
}

function describe({ status, text, notes }: ClientReply): string {
  return `${status} ${text.slice(0, 300)} notes: ${notes}`;
}

const hi = [{ role: 'user', content: 'hi' }];
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const picture = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } }];
const parameters = { type: 'object', properties: { a: { enum: ['x'] } }, required: ['a'] };
const chatTool = { type: 'function', function: { name: 'look', parameters } };
const long = 'hi '.repeat(3 * contextWindow);

/** Requests of each client format, whole and streamed, and what shows an answer with counted tokens. */
const answers: readonly Case[] = [false, true].flatMap((stream) => [
  expects(
    `Chat, stream ${stream}`,
    '/v1/chat/completions',
    chat({ stream, stream_options: stream ? { include_usage: true } : undefined }),
    {
      words: [/"prompt_tokens": ?[1-9]/, /"completion_tokens": ?[1-9]/, /"finish_reason": ?"length"/],
    },
  ),
  expects(
    `Responses, stream ${stream}`,
    '/v1/responses',
    { model: 'chat', input: 'hi', max_output_tokens: 16, stream },
    {
      words: [/"input_tokens": ?[1-9]/, /"output_tokens": ?[1-9]/, '"incomplete"'],
    },
  ),
  expects(`Messages, stream ${stream}`, '/v1/messages', messages({ stream }), {
    words: [/"output_tokens": ?[1-9]/, '"stop_reason":"max_tokens"'],
  }),
  expects(
    `Gemini, stream ${stream}`,
    `/v1beta/models/chat:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ parts: [{ text: 'hi' }] }], generationConfig: { maxOutputTokens: 8 } },
    { words: [/"candidatesTokenCount": ?[1-9]/, 'MAX_TOKENS'] },
  ),
]);

function chat(members: object): object {
  return { model: 'chat', messages: hi, max_tokens: 8, ...members };
}

function messages(members: object): object {
  return { model: 'chat', messages: hi, max_tokens: 8, ...members };
}

const tooLong: readonly Case[] = [
  expects('an overlong prompt, Chat', '/v1/chat/completions', chat({ messages: [{ role: 'user', content: long }] }), {
    status: 400,
    words: ['"context_length_exceeded"'],
  }),
  expects(
    'an overlong prompt, Messages',
    '/v1/messages',
    messages({ stream: true, messages: [{ role: 'user', content: long }] }),
    {
      status: 400,
      words: ['prompt is too long'],
    },
  ),
];

const ofServer: Readonly<Record<string, readonly Case[]>> = {
  'llama-cpp': [
    ...answers,
    ...tooLong,
    expects(
      'an image for a text model',
      '/v1/chat/completions',
      chat({ messages: [{ role: 'user', content: picture }] }),
      {
        status: 400,
        words: ['image input is not supported'],
      },
    ),
    expects('tool_choice none', '/v1/chat/completions', chat({ tools: [chatTool], tool_choice: 'none' }), {
      without: ['tool_calls'],
    }),
    expects('a history with calls', '/v1/chat/completions', chat({ messages: history(), tools: [chatTool] }), {}),
  ],
  vllm: [
    ...answers,
    ...tooLong,
    expects(
      'a limit above the window, Chat',
      '/v1/chat/completions',
      chat({ max_tokens: 1_000_000, stop: ['e', 'm'] }),
      {
        words: [`output token limit as ${contextWindow}`],
      },
    ),
    expects(
      'a limit above the window, Messages',
      '/v1/messages',
      messages({ max_tokens: 1_000_000, stop_sequences: ['e', 'm'] }),
      {
        words: [`output token limit as ${contextWindow}`],
      },
    ),
    expects(
      'adaptive thinking',
      '/v1/messages',
      messages({ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }),
      {
        words: ['"stop_reason":"max_tokens"'],
      },
    ),
    expects(
      'a late system message',
      '/v1/messages',
      messages({ messages: [...hi, { role: 'system', content: 'Be brief.' }, ...hi] }),
      { without: ['late system message'] },
    ),
    expects('tools without the flags', '/v1/chat/completions', chat({ tools: [chatTool] }), {
      status: 400,
      words: ['not set up'],
      without: ['--enable'],
    }),
    expects(
      'an image for a text model',
      '/v1/chat/completions',
      chat({ messages: [{ role: 'user', content: picture }] }),
      {
        status: 400,
        words: ['not a multimodal model'],
      },
    ),
  ],
  'mlx-lm': [
    ...answers,
    expects('members that it ignores', '/v1/chat/completions', chat({ n: 1, store: false, top_k: 5, adapters: 'x' }), {
      words: ['dropped adapters'],
      without: ['dropped top_k'],
    }),
    expects('tool_choice none', '/v1/chat/completions', chat({ tools: [chatTool], tool_choice: 'none' }), {
      without: ['tool_calls'],
    }),
    expects('a forced tool', '/v1/chat/completions', chat({ tools: [chatTool], tool_choice: 'required' }), {
      words: ['forced tool_choice as auto'],
    }),
    expects('a history with calls', '/v1/chat/completions', chat({ messages: history(), tools: [chatTool] }), {}),
    expects('a stop sequence', '/v1/messages', messages({ max_tokens: 400, stop_sequences: [...'aeiou'] }), {
      words: ['"stop_reason":"stop_sequence"'],
    }),
    expects(
      'an image for a text model',
      '/v1/chat/completions',
      chat({ messages: [{ role: 'user', content: picture }] }),
      { status: 400, words: ["Only 'text' content type is supported."] },
    ),
  ],
  'transformers-serve': [
    ...answers,
    expects(
      'members that it ignores or refuses',
      '/v1/chat/completions',
      chat({ logit_bias: {}, top_k: 5, n: 1, logprobs: true }),
      {
        words: ['dropped top_k', 'dropped logprobs'],
      },
    ),
    expects('tool_choice none', '/v1/chat/completions', chat({ tools: [chatTool], tool_choice: 'none' }), {
      without: ['tool_calls'],
    }),
    expects('a forced tool', '/v1/chat/completions', chat({ tools: [chatTool], tool_choice: 'required' }), {
      words: ['forced tool_choice as auto'],
    }),
    expects('a history with calls', '/v1/chat/completions', chat({ messages: history(), tools: [chatTool] }), {}),
    expects(
      'a bare 500',
      '/v1/chat/completions',
      chat({ temperature: 1, max_tokens: 8, seed: -1, messages: [{ role: 'nobody', content: 7 }] }),
      {
        status: 400,
      },
    ),
  ],
};

/** A call without arguments, as some models make them. */
function history(): object[] {
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '' } };
  return [
    ...hi,
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: 'there' },
  ];
}

const vectors: readonly Case[] = [
  expects('vectors as numbers', '/v1/embeddings', embed({}), { words: [/"embedding": ?\[-?[\d.]/] }),
  expects('vectors as base64', '/v1/embeddings', embed({ encoding_format: 'base64' }), {
    words: [/"embedding": ?"[\w+/=]{40}/],
  }),
  expects('an empty input', '/v1/embeddings', embed({ input: '' }), { status: 400, words: ['input'] }),
  expects(
    'Gemini',
    '/v1beta/models/embedding:embedContent',
    { content: { parts: [{ text: 'hi' }] } },
    { words: ['"values"'] },
  ),
];

function embed(members: object): object {
  return { model: 'embedding', input: ['hi', 'there'], ...members };
}

const ofVectors: Readonly<Record<string, readonly Case[]>> = {
  'llama-cpp': [
    ...vectors,
    expects('dimensions that are ignored', '/v1/embeddings', embed({ dimensions: 4 }), {
      words: ['dropped dimensions'],
    }),
    expects('an overlong input', '/v1/embeddings', embed({ input: long }), {
      status: 400,
      words: ['"context_length_exceeded"', 'too large to process'],
    }),
  ],
  infinity: [
    ...vectors,
    expects('dimensions', '/v1/embeddings', embed({ dimensions: 4 }), { without: ['dropped dimensions'] }),
    expects(
      'ranks',
      '/v1/rerank',
      { model: 'rerank', query: 'hi', documents: ['hi', 'there'] },
      { words: ['relevance_score'] },
    ),
  ],
};

/** What is tried of a server. */
export function casesOf({ vendor, models }: TriedServer): readonly Case[] {
  return [
    ...(models.chat === undefined ? [] : (ofServer[vendor] ?? [])),
    ...(models.embedding === undefined ? [] : (ofVectors[vendor] ?? [])),
  ];
}
