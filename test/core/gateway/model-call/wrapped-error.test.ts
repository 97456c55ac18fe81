import { describe, expect, it } from 'vitest';
import {
  findErrorMeaning,
  isModeration,
  readRefusal,
  readReportedError,
} from '#core/gateway/model-call/upstream-error.ts';
import type { JsonObject } from '#core/platform/json.ts';

const failed = "\n\nLiteLLM: model group 'tiny' failed with the error above. No fallback was attempted.";
const noImages = 'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj';
const tooLong = 'request (9238 tokens) exceeds the available context size (512 tokens), try increasing it';
const inBody = (error: JsonObject): string => JSON.stringify({ error });

/** llama-cpp-python 0.3.36, which responds with 500. */
const refusedSchema = `1 validation error:
  {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': "Input should be 'text' or 'json_object'"}

  File "/srv/llama_cpp/server/app.py", line 376, in create_chat_completion
    POST /v1/chat/completions`;

const overflow = {
  message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
  type: 'invalid_request_error',
  param: null,
  code: 'context_length_exceeded',
};
const noMoney = 'You exceeded your current quota, please check your plan and billing details.';
/** As Python prints it. */
const printedOverflow = `{'error': {'message': "${overflow.message}", 'type': '${overflow.type}', 'param': None, 'code': '${overflow.code}'}}`;
const ofRouter = `Error from provider(v,m: 400): ${inBody(overflow)}`;

/**
 * Bodies of LiteLLM 1.108.7 and Portkey 1.15.2 before llama.cpp b11549, of agentic-api 0.9.0, claude-code-router's library 1.0.53 and lm-proxy
 * 3.3.2 before a scripted vendor, and of OpenRouter's documented form.
 */
const wrapped: readonly (readonly [string, JsonObject, JsonObject])[] = [
  [
    'LiteLLM, Chat',
    {
      error: {
        message: `litellm.InternalServerError: InternalServerError: OpenAIException - ${noImages}${failed}`,
        type: 'internal_server_error',
        param: null,
        code: '500',
      },
    },
    { message: noImages, type: 'internal_server_error', code: '500' },
  ],
  [
    'LiteLLM, Messages',
    {
      type: 'error',
      error: {
        type: 'api_error',
        message: `litellm.InternalServerError: InternalServerError: OpenAIException - ${inBody({ code: 500, message: noImages, type: 'server_error' })}${failed}`,
      },
    },
    { message: noImages, type: 'server_error', code: '500' },
  ],
  [
    'LiteLLM, a prompt that is too long',
    {
      error: {
        message: `litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException - ${tooLong}\nmodel=tiny. context_window_fallbacks=None. fallbacks=None.\n\nSet 'context_window_fallback' - https://docs.example.com/fallbacks${failed}`,
        type: 'invalid_request_error',
        param: null,
        code: '400',
      },
    },
    { message: tooLong, code: 'context_length_exceeded' },
  ],
  [
    'LiteLLM, with the body of a server that says its window',
    {
      error: {
        message: `litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException - ${inBody({ code: 400, message: tooLong, type: 'exceed_context_size_error', n_ctx: 512 })}${failed}`,
        type: 'invalid_request_error',
        param: null,
        code: '400',
      },
    },
    { message: tooLong, type: 'exceed_context_size_error', contextSize: 512 },
  ],
  [
    'LiteLLM before 1.100',
    {
      error: {
        message: `litellm.BadRequestError: VertexAIException BadRequestError - b'${inBody({ code: 400, message: 'Bad.', status: 'INVALID_ARGUMENT' })}'. Received Model Group=g\nAvailable Model Group Fallbacks=None`,
        type: null,
        code: '400',
      },
    },
    { message: 'Bad.', type: 'INVALID_ARGUMENT', code: '400' },
  ],
  [
    'Portkey',
    {
      error: { message: `openai error: ${noImages}`, type: 'server_error', param: null, code: null },
      provider: 'openai',
    },
    { message: noImages, type: 'server_error' },
  ],
  [
    'OpenRouter',
    {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: { provider_name: 'OpenAI', raw: inBody({ message: 'Too long.', code: 'context_length_exceeded' }) },
      },
    },
    { message: 'Too long.', code: 'context_length_exceeded' },
  ],
  [
    'agentic-api, in a stream',
    {
      type: 'error',
      sequence_number: 0,
      status: 400,
      error: {
        message: `LLM request failed (400 Bad Request): ${inBody(overflow)}`,
        type: 'upstream_error',
        code: 'upstream_error',
      },
    },
    { message: overflow.message, type: 'invalid_request_error', code: 'context_length_exceeded' },
  ],
  [
    'agentic-api, without a body',
    {
      error: {
        message: 'LLM request failed (503 Service Unavailable): ',
        type: 'upstream_error',
        code: 'upstream_error',
      },
    },
    { code: '503' },
  ],
  [
    'claude-code-router, which repeats it with the place in its code',
    {
      error: {
        message: `${ofRouter}Error: ${ofRouter}\n    at nt (/srv/llms/dist/cjs/server.cjs:84:11421)\n    at process.processTicksAndRejections (node:internal)`,
        type: 'api_error',
        code: 'provider_response_error',
      },
    },
    { message: overflow.message, type: 'invalid_request_error', code: 'context_length_exceeded' },
  ],
  [
    'claude-code-router, inside a stream',
    {
      type: 'error',
      message: {
        type: 'api_error',
        message: JSON.stringify({ message: 'The server had an error', type: 'server_error', param: null, code: null }),
      },
    },
    { message: 'The server had an error', type: 'server_error' },
  ],
  [
    "lm-proxy, OpenAI's SDK for Python",
    {
      error: {
        message: `{'message': 'Error code: 400 - ${printedOverflow.replaceAll("'", String.raw`\'`)}', 'type': 'BadRequestError'}`,
        type: 'dict',
      },
    },
    { message: overflow.message, type: 'invalid_request_error', code: 'context_length_exceeded' },
  ],
  [
    'lm-proxy, started with --debug',
    {
      error: {
        message: `Error processing upstream provider response [BadRequestError]: Error code: 400 - ${printedOverflow}`,
        type: 'upstream_error',
        code: 'upstream_error',
      },
    },
    { message: overflow.message, type: 'invalid_request_error', code: 'context_length_exceeded' },
  ],
  [
    "FastAPI with OpenAI's SDK for Python",
    {
      detail: `Error code: 429 - {'error': {'message': 'It\\'s \\xe0 \\u20ac\\n', 'type': None, 'code': 'insufficient_quota'}}`,
    },
    { message: "It's à €\n", code: 'insufficient_quota' },
  ],
  [
    "OpenAI's SDK for Python, with words",
    { error: 'Error code: 401 - Incorrect API key' },
    { message: 'Incorrect API key', code: '401' },
  ],
  [
    'hayhooks, with the component that failed',
    {
      detail: `Pipeline execution failed: The following component failed to run:\nComponent name: 'llm'\nError: Error code: 429 - ${noMoney}`,
    },
    { message: noMoney, code: '429', wrappedStatus: 429 },
  ],
  [
    "Agent Framework's DevUI, which prints a tuple",
    {
      error: {
        code: 'server_error',
        message: `("<class 'Client'> service failed to complete the prompt: Error code: 429 - ${noMoney}", RateLimitError("Error code: 429 - ${noMoney}"))`,
      },
    },
    { message: noMoney, code: '429', wrappedStatus: 429 },
  ],
  [
    'Hermes Agent, whose answer is the text of the error',
    {
      choices: [{ message: { role: 'assistant', content: `API call failed after 3 retries: HTTP 429: ${noMoney}` } }],
      hermes: { completed: false, failed: true, error: `HTTP 429: ${noMoney}`, error_code: 'agent_error' },
    },
    { message: noMoney, code: '429', wrappedStatus: 429 },
  ],
  [
    'OpenRouter, with words',
    { error: { message: 'Provider returned error', code: 500, metadata: { provider_name: 'X', raw: noImages } } },
    { message: noImages, code: '500' },
  ],
];

describe('an error that another gateway has wrapped', () => {
  it.each(wrapped)('has the words and codes of its upstream: %s', (_name, body, expected) => {
    expect(readRefusal(body)).toMatchObject(expected);
  });

  it.each([
    [`litellm.InternalServerError: InternalServerError: OpenAIException - ${noImages}${failed}`, 'unsupported'],
    ['litellm.ContextWindowExceededError: BedrockException: Context Window Error - Input is long', 'overflow'],
    [
      `litellm.UnsupportedParamsError: tiny doesn't support \`reasoning.effort\` (its model cost map entry lacks \`supports_reasoning\`). To drop unsupported params set \`litellm.drop_params = True\`${failed}`,
      'unsupported',
    ],
    [
      '/chat/completions: Invalid model name passed in model=nobody. Call `/v1/models` to view available models for your key.',
      'model',
    ],
    [
      `litellm.InternalServerError: InternalServerError: OpenAIException - The server had an error.${failed}`,
      undefined,
    ],
  ])('is understood: %s', (message, meaning) => {
    expect(findErrorMeaning(readRefusal({ error: { message, type: null, code: '500' } }))).toBe(meaning);
  });

  it('shows no place in the code of the server', () => {
    const { message } = readRefusal({ error: { message: refusedSchema, type: 'internal_server_error' } });
    expect(message).toMatch(/'json_object'"\}$/);
  });

  it('of a server in JavaScript shows no place in its code', () => {
    const message = 'Cannot read it.\n    at read (/srv/gateway/dist/server.js:1:2)';
    expect(readRefusal({ error: { message } }).message).toBe('Cannot read it.');
  });

  it.each([
    ['{"a": 1} is not a valid tool call'],
    ['{"temperature": 7}'],
    ["{'a': 1}"],
    ['Error code: 7'],
    ['The Error code: 400 - {}'],
  ])('keeps words that only look printed: %s', (message) => {
    expect(readRefusal({ error: { message } }).message).toBe(message);
  });

  it('of Hermes Agent is none where the answer was only cut off', () => {
    const hermes = {
      completed: false,
      failed: false,
      error: 'Response remained truncated',
      error_code: 'output_truncated',
    };
    expect(readReportedError({ choices: [], hermes })).toBeUndefined();
  });

  it('about refused content is a refusal, whatever its words are', () => {
    const message = 'litellm.ContentPolicyViolationError: AzureException - No.';
    expect(isModeration(readRefusal({ error: { message } }))).toBe(true);
  });

  it.each([
    ['no words', { provider_name: 'X', raw: '' }],
    ['a page', { provider_name: 'X', raw: '<html>Bad Gateway</html>' }],
    ['nothing', { provider_name: 'X' }],
  ])('keeps the gateway’s words when its upstream sent %s', (_name, metadata) => {
    const error = { message: 'Provider returned error', code: 502, metadata };
    expect(readRefusal({ error })).toMatchObject({ message: 'Provider returned error', code: '502' });
  });

  it.each([
    "x: Error code: 401 - {'error': {'message': 'm', 'code': 'account_deactivated'}}', XError('",
    "x\nError: Error code: 401 - {'error': {'message': 'm', 'code': 'account_deactivated'}}', XError('",
    'x: Error code: 401 - Incorrect API key provided',
    'x: HTTP 401: Incorrect API key provided',
  ])('is not what a client has sent and its vendor repeats: %s', (sent) => {
    const message = `Invalid value: '${sent}'. Supported values are: 'low' and 'high'.`;
    const error = { message, type: 'invalid_request_error', param: 'reasoning_effort', code: 'invalid_value' };
    const reported = readRefusal({ error });
    expect([reported.message, reported.code, reported.wrappedStatus]).toEqual([message, 'invalid_value', undefined]);
  });

  it('has no status of the server from which a vendor could not load the client’s picture', () => {
    const message = 'HTTP 401: Unauthorized while loading https://pictures.example/private.png';
    const reported = readRefusal({ error: { message, code: 'invalid_image_url' } });
    expect([reported.message, reported.code, reported.wrappedStatus]).toEqual([
      message,
      'invalid_image_url',
      undefined,
    ]);
  });

  it('keeps words that only look wrapped', () => {
    const message = 'openai error: no';
    expect(readRefusal({ error: { message }, provider: 'azure' }).message).toBe(message);
  });
});
