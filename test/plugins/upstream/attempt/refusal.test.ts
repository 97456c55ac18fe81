import { describe, expect, it } from 'vitest';
import { describeFault } from '../../../../plugins/upstream/attempt/fault.ts';
import { readRetryAfter, parseRefusal } from '../../../../plugins/upstream/attempt/refusal.ts';
import { descriptors } from '../../../support/formats.ts';
import { fromServer, now, refusal } from './refusal-fixture.ts';

describe('retry-after', () => {
  it.each([
    ['12', 12],
    ['0.5', 0.5],
    [' 3 ', 3],
    ['Thu, 01 Jan 2026 00:01:30 GMT', 90],
    ['31536000', 3_600],
    ['1e300', 3_600],
    ['Fri, 01 Jan 2027 00:00:00 GMT', 3_600],
  ])('%j is a wait of %d seconds', (value, seconds) => {
    expect(readRetryAfter({ 'retry-after': value }, now)).toBe(seconds);
  });

  it.each(['', '0', '-5', 'soon', 'NaN', 'Infinity', '1e999', 'Wed, 31 Dec 2025 23:59:00 GMT'])(
    '%j is no wait',
    (value) => {
      expect(readRetryAfter({ 'retry-after': value }, now)).toBeUndefined();
    },
  );

  it('retry-after as a time is read by the clock of the vendor, which may differ from ours by hours', () => {
    const headers = { date: 'Thu, 01 Jan 2026 05:00:00 GMT', 'retry-after': 'Thu, 01 Jan 2026 05:00:30 GMT' };
    expect(readRetryAfter(headers, now)).toBe(30);
  });

  it('retry-after in milliseconds is finer, and comes first', () => {
    expect(readRetryAfter({ 'retry-after-ms': '1500', 'retry-after': '9' }, now)).toBe(1.5);
  });

  it.each(['soon', '0', '-1', 'Infinity'])(
    'retry-after in milliseconds that makes no sense (%j) leaves the seconds',
    (value) => {
      expect(readRetryAfter({ 'retry-after-ms': value, 'retry-after': '9' }, now)).toBe(9);
    },
  );

  it('retry-after that is missing means no wait', () => {
    expect(readRetryAfter({}, now)).toBeUndefined();
  });
});

describe('a refusal', () => {
  it.each([400, 401, 404, 413, 429, 503])('a refusal keeps its status %d for the record', (status) => {
    expect(refusal(status)).toMatchObject({ status });
  });

  it.each([
    ['client', [400, 415, 422]],
    ['no_model', [404]],
    ['overflow', [413]],
    ['key', [401, 402, 403]],
    ['throttled', [429]],
    ['route', [301, 304, 405, 408, 409, 418, 500, 502, 503, 504, 529]],
  ] as const)('is a fault of the %s for %j', (kind, statuses) => {
    expect(statuses.map((status) => refusal(status).kind)).toEqual(statuses.map(() => kind));
  });

  it.each(['', 'page not found', { detail: 'Not Found' }, '<html>Not Found</html>'])(
    'with status 404 and %j tells the operator to check base_url and the name of the model',
    (body) => {
      expect(describeFault(refusal(404, body))).toMatch(/^\w+: 404: check base_url and the model's name$/);
    },
  );

  it.each([
    { error: { message: 'The model `gpt-6` does not exist', code: 'model_not_found' } },
    { type: 'error', error: { type: 'not_found_error', message: 'model: claude-nope' } },
  ])('with status 404 and %j, which names the model, does not mention base_url', (body) => {
    expect(describeFault(refusal(404, body))).not.toContain('base_url');
  });

  it.each([
    [400, { error: { message: 'The engine is currently overloaded, please try again later' } }],
    [400, { error: { type: 'overloaded_error', message: 'busy' } }],
    [400, { error: { message: 'no available channel for model gpt-5 under group default' } }],
    [413, { message: 'Model is at capacity' }],
    [404, '<html><head><title>404 Not Found</title></head></html>'],
    [400, '\n<!DOCTYPE html>'],
  ])('with status %d and %j is a fault of the route', (status, body) => {
    expect(refusal(status, body)).toMatchObject({ kind: 'route', status, mayBeCausedByRequest: true });
  });

  it.each([
    'Our servers are at capacity. Please try again later',
    'Overloaded',
    'Engine overloaded, please retry',
    'We are experiencing high demand. Please try again later.',
    'Server busy, please try again later',
    'The server is busy',
    '当前分组上游负载已饱和，请稍后再试',
  ])('with status 400 and the words %j is about a lack of room', (message) => {
    expect(refusal(400, { error: { message } })).toMatchObject({ kind: 'route', error: { code: 'unavailable' } });
  });

  it('a refusal with status 400 and the message of a timeout is a timeout', () => {
    const fault = refusal(400, { error: { message: 'upstream request timeout' } });
    expect(fault).toMatchObject({ kind: 'route', error: { code: 'upstream_timeout' } });
  });

  it('a refusal of the type model_overloaded is about a lack of capacity', () => {
    expect(refusal(400, { error: { type: 'model_overloaded', message: 'no' } }).kind).toBe('route');
  });

  it.each([
    'Too many concurrent requests',
    'Concurrency limit exceeded for account, please retry later',
    'ThrottlingException: Too many requests, please wait before trying again.',
    'Resource has been exhausted (e.g. check quota).',
    'Quota exceeded for metric: requests per minute',
    '请求过于频繁，请稍后再试',
  ])('with status 400 and the words %j is about too many requests', (message) => {
    expect(refusal(400, { error: { message } }).kind).toBe('throttled');
  });

  it.each([
    'Invalid value: "overloaded". Supported values are: "a" and "b".',
    "tool 'server is busy' has no description",
    'The name `model is overloaded` is too long',
    'messages.0.content: Overloaded is no valid block',
    'tools.0.name: too many concurrent requests',
    'stop: “当前分组上游负载已饱和” is too long',
  ])('with status 400 that only quotes the client stays the client’s: %j', (message) => {
    expect(refusal(400, { error: { message } }).kind).toBe('client');
  });

  it.each([
    { error: { code: 403, message: 'Your input was flagged for "violence"', metadata: { reasons: ['violence'] } } },
    { error: { code: 403, message: 'anthropic/claude requires moderation. Your input was flagged for "harassment".' } },
    { error: { code: 'content_policy_violation', message: 'no' } },
  ])('with status 403 for the content of the request is the client’s, not the key’s: %j', (body) => {
    expect(refusal(403, body)).toMatchObject({ kind: 'client', error: { code: 'upstream_rejected' } });
  });

  it.each(['Your account was flagged for abuse', 'This key has been blocked by the administrator'])(
    'with status 403 for the account is the key’s: %j',
    (message) => {
      expect(refusal(403, { error: { message } }).kind).toBe('key');
    },
  );

  it.each([
    {
      error: { message: 'The model `gpt-9` does not exist or you do not have access to it.', code: 'model_not_found' },
    },
    { type: 'error', error: { type: 'not_found_error', message: 'model: claude-9 not found' } },
    { type: 'error', error: { type: 'not_found_error', message: 'model: claude-nope' } },
    {
      error: {
        code: 404,
        message: 'models/text is not found for API version v1beta, or is not supported for generateContent.',
        status: 'NOT_FOUND',
      },
    },
    { error: { message: 'Invalid URL (POST /v1/v1/chat/completions)', type: 'invalid_request_error' } },
    { detail: 'Not Found' },
    'page not found',
  ])('that does not know the model says that the route does not fit: %j', (body) => {
    expect(refusal(404, body).kind).toBe('no_model');
  });

  it.each([
    [400, 'messages.0: text of an overloaded operator is empty'],
    [404, 'file-123 not found'],
    [404, 'File not found: the model cannot read it'],
    [404, "Item with id 'rs_12' not found. Items are not persisted when `store` is set to false."],
    [404, "Previous response with id 'resp_12' not found."],
    [404, 'CachedContent not found (or permission denied)'],
    [400, 'the model does not support images'],
    [400, ''],
  ])('with status %d and the words %j stays the client’s', (status, message) => {
    expect(refusal(status, { error: { message } }).kind).toBe('client');
  });

  it.each([
    [
      400,
      {
        error: {
          code: 400,
          message: 'API key not valid. Please pass a valid API key.',
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
    [400, { error: { message: 'API Key not found. Please pass a valid API key.' } }],
    [
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: 'Your credit balance is too low to go on' } },
    ],
    [404, { error: { message: 'no', code: 'invalid_api_key' } }],
    [
      429,
      { error: { message: 'You exceeded your current quota', type: 'insufficient_quota', code: 'insufficient_quota' } },
    ],
    [403, { error: { message: 'forbidden' } }],
    [401, ''],
  ])('with status %d and %j is a fault of the key, and says nothing of it', (status, body) => {
    const { kind, error } = refusal(status, body);
    expect([kind, error.code]).toEqual(['key', 'upstream_account_rejected']);
    expect(error.message).toMatch(/^The provider of this model rejected this service's account\./);
  });

  it.each([
    [429, { error: { message: 'You exceeded your current quota', status: 'RESOURCE_EXHAUSTED' } }],
    [400, { error: { message: 'Rate limit exceeded for the group' } }],
    [403, { error: { message: 'no', code: 'rate_limit_exceeded' } }],
  ])('with status %d and %j is about too many requests', (status, body) => {
    expect(refusal(status, body)).toMatchObject({ kind: 'throttled', error: { code: 'rate_limited' } });
  });

  it.each([
    ['throttled', 429],
    ['client', 400],
    ['key', 401],
    ['no_model', 404],
    ['route', 503],
  ] as const)('of a gateway that answers 500 is %s by the status %d of its upstream', (kind, inner) => {
    expect(refusal(500, { error: `Error code: ${inner} - Slow down.` })).toMatchObject({ kind, status: 500 });
  });

  it('of a gateway keeps the gateway’s own status where that says more', () => {
    expect(refusal(504, { error: 'Error code: 400 - Slow down.' }).kind).toBe('route');
  });

  it.each([401, 403, 404, 413, 500, 502, 503])(
    'a refusal with status %d and a page is a fault of the route',
    (status) => {
      expect(refusal(status, '<html>no</html>').kind).toBe('route');
    },
  );

  it('a refusal for lack of capacity with 403 is not the fault of the key', () => {
    expect(refusal(403, { error: { message: 'The model is currently overloaded' } }).kind).toBe('route');
  });

  it.each([
    [403, { error: { message: 'Project `p` does not have access to model `m`', code: 'model_not_found' } }],
    [400, { error: { message: 'Model Not Exist', type: 'invalid_request_error' } }],
    [400, { error: { message: 'there/that is not a valid model ID', code: 400 } }],
    [400, { error: { message: 'The model `gpt-4.1-nope` does not exist' } }],
    [400, { message: 'The provided model identifier is invalid.' }],
    [400, { error: { message: 'The requested model is not supported.', code: 'model_not_supported' } }],
  ])('with status %d and %j says that the route does not fit', (status, body) => {
    expect(refusal(status, body).kind).toBe('no_model');
  });

  it.each([
    'API key not valid: Extra inputs are not permitted',
    'Unrecognized request argument supplied: Your credit balance is too low',
    'Invalid JSON payload received. Unknown name "rate limit exceeded": Cannot find field.',
    'currently overloaded: Extra inputs are not permitted',
  ])('that repeats names of the client’s goes by its status: %j', (message) => {
    expect(refusal(400, { error: { message } }).kind).toBe('client');
  });

  it('a refusal of the request shows no credential, account or address of the operator', () => {
    const message =
      'sk-proj-abcd1234 of org-77aabb at https://10.0.0.7:8443/v1 (10.0.0.7:443), Bearer xyz: temperature is wrong';
    expect(refusal(400, { error: { message } }).error.message).toBe(
      '[…] of […] at […] ([…]), […] temperature is wrong',
    );
  });

  it.each([
    [true, [409, 500, 502, 504]],
    [false, [503, 529]],
  ])('may be caused by the request: %j for %j', (expected, statuses) => {
    expect(statuses.map((status) => refusal(status).mayBeCausedByRequest)).toEqual(statuses.map(() => expected));
  });

  it('a refusal keeps the status for the record', () => {
    expect(refusal(503).status).toBe(503);
  });

  it('a refusal for too many requests has its Retry-After', () => {
    expect(refusal(429, '', { 'retry-after': '12' }).error.details.retryAfter).toBe(12);
  });

  it('a refusal for too many requests has the wait of its message, when no header has one', () => {
    const body = { error: { message: 'Rate limit reached. Please try again in 1m30s.' } };
    expect(refusal(429, body).error.details.retryAfter).toBe(90);
    expect(refusal(429, body, { 'retry-after': '12' }).error.details.retryAfter).toBe(12);
  });

  it('a refusal in a list is read as if it stood alone', () => {
    const error = {
      code: 400,
      message: 'API key not valid. Please pass a valid API key.',
      status: 'INVALID_ARGUMENT',
    };
    expect(refusal(400, [{ error }]).kind).toBe('key');
  });

  it('a refusal for too many requests without a wait is a wait of 5 seconds', () => {
    expect(refusal(429).error.details.retryAfter).toBe(5);
  });

  it('a refusal of the request repeats message, type, code and parameter', () => {
    const error = {
      message: 'too long',
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
      param: 'messages',
    };
    const told = refusal(400, { error }).error;
    expect(told.message).toBe('too long');
    expect(told.details).toMatchObject({
      param: 'messages',
      upstream: { status: 400, type: 'invalid_request_error', code: 'context_length_exceeded' },
    });
  });

  it.each([
    ['error is a text', { error: 'too long' }],
    ['it is an object of type error', { object: 'error', message: 'too long' }],
    ['it has a bare message', { message: 'too long' }],
    ['it has a bare detail', { detail: 'too long' }],
    ['it has a base_resp', { base_resp: { status_code: 1013, status_msg: 'too long' } }],
  ])('of the request is understood when %s', (_name, body) => {
    expect(refusal(400, body).error.message).toBe('too long');
  });

  it.each(['', 'no', '[]', 'null', '{"error":'])(
    'a refusal of the request with the body %j says the status',
    (body) => {
      expect(refusal(400, body).error.message).toBe('The upstream rejected the request with status 400.');
    },
  );

  it('a refusal of the request with 422 is 422 where SDKs know it, and 400 elsewhere', () => {
    const { error } = refusal(422);
    const statuses = (['chat', 'responses', 'images', 'messages', 'gemini'] as const).map((one) =>
      error.status(descriptors[one]),
    );
    expect(statuses).toEqual([422, 422, 422, 400, 400]);
  });

  it('a refusal of a prompt that is too long with 422 is 400, by which tools know it', () => {
    expect(refusal(422, { error: { message: 'prompt is too long' } }).error.status(descriptors.chat)).toBe(400);
  });

  it.each([
    [[{ type: 'missing', loc: ['body', 'messages', 0, 'role'], msg: 'Field required', input: {} }], 'messages[0].role'],
    [{ message: 'Field required' }, undefined],
    [{ error: 'Field required' }, undefined],
  ])('of the request with the detail %j is put in words', (detail, param) => {
    const { error } = refusal(422, { detail });
    expect([error.message, error.details.param]).toEqual([
      param === undefined ? 'Field required' : `${param}: Field required`,
      param,
    ]);
  });

  it('a refusal of the request with several details has all of them', () => {
    const detail = [
      { loc: ['body', 'model'], msg: 'Field required' },
      { loc: ['body', 'n'], msg: 'Input should be a valid integer' },
    ];
    expect(refusal(422, { detail }).error.message).toBe('model: Field required; n: Input should be a valid integer');
  });

  it.each([{ detail: [1, 2] }, { detail: { reason: { a: 1 } } }, { detail: [] }])(
    'of the request with a detail without words (%j) says the status',
    (body) => {
      expect(refusal(422, body).error.message).toBe('The upstream rejected the request with status 422.');
    },
  );

  it.each([
    [{ error: { type: 'invalid_request_error', message: 'no', param: null } }, 'client'],
    [{ error: { code: 'conversation_locked', message: 'another process works on it' } }, 'client'],
    [{ error: { message: 'the resource is being updated' } }, 'route'],
    [{ error: { status: 'ABORTED', code: 409, message: 'the operation was aborted' } }, 'route'],
  ])('with 409 and %j is a fault of the %s', (body, kind) => {
    expect(refusal(409, body).kind).toBe(kind);
  });

  it.each([
    [503, 'unavailable'],
    [529, 'unavailable'],
    [504, 'upstream_timeout'],
    [524, 'upstream_timeout'],
    [500, 'upstream_failed'],
    [502, 'upstream_failed'],
  ])('with status %d of the route is %s to the client', (status, code) => {
    expect(refusal(status).error.code).toBe(code);
  });

  it('a refusal for lack of capacity is reported as that, whatever its status', () => {
    const body = { error: { message: 'The engine is currently overloaded, please try again later' } };
    expect([400, 500].map((status) => refusal(status, body).error.code)).toEqual(['unavailable', 'unavailable']);
  });

  it('a refusal of the route has the wait that the upstream names', () => {
    expect(refusal(503, '', { 'retry-after': '12' }).error.details.retryAfter).toBe(12);
  });

  it('a refusal of a request that is too large has the type that clients of Messages know', () => {
    const { error } = refusal(413, { error: { type: 'invalid_request_error', message: 'too large' } });
    expect([error.status(descriptors.messages), error.wording('anthropic').type]).toEqual([413, 'request_too_large']);
  });

  it('a refusal of the request with a huge message is cut', () => {
    expect(refusal(400, { error: 'x'.repeat(10_000) }).error.message).toHaveLength(4_000);
  });

  it('a refusal of the key shows nothing of the upstream’s message', () => {
    const { error } = refusal(401, { error: { message: 'sk-abc is wrong', type: 't', code: 'c' } });
    expect(JSON.stringify([error.message, error.details])).not.toContain('sk-abc');
  });
});

it.each(['‘', '“', '「', 'input token count ', 'model '])('a refusal that repeats %j is read quickly', (text) => {
  const message = text.repeat(65_000 / text.length);
  const begin = process.threadCpuUsage();
  refusal(404, { error: { message } });
  expect(process.threadCpuUsage(begin).user).toBeLessThan(100_000);
});

describe('a server’s refusal of what it does not support', () => {
  it.each([
    [500, 'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj'],
    [500, 'audio input is not supported - hint: if this is unexpected, you may need to provide the mmproj'],
    [500, 'Failed to parse tools: Unsupported tool type: {"type":"custom"}; tools = []'],
    [400, 'tiny is not a multimodal model'],
    [400, 'Multimodal input is not supported by this model.'],
    [400, '"gemma3:latest" does not support thinking'],
    [400, 'registry.ollama.ai/library/gemma3:latest does not support tools'],
    [404, "Only 'text' content type is supported."],
    [404, 'Conversation roles must alternate user/assistant/user/assistant/...'],
    [500, 'Error: Jinja Exception: Conversation roles must alternate user and assistant roles except for tool calls'],
  ])('with status %d leaves it to another route, and is a 400 for the client: %s', (status, message) => {
    const fault = refusal(status, fromServer(status, 'server_error', message));
    expect(fault).toMatchObject({ kind: 'unsupported', status, error: { code: 'upstream_rejected', message } });
    expect(fault.error.status(descriptors.messages)).toBe(400);
    expect(fault.error.wording('openai').type).not.toBe(status === 500 ? 'server_error' : '');
  });

  it.each([
    [400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
    [400, 'tool_choice=function "get_weather" requires --tool-call-parser to be set'],
    [501, 'This server does not support embeddings. Start it with `--embeddings`'],
    [400, "Pooling type 'none' is not OAI compatible. Please use a different pooling type"],
    [501, 'This server does not support reranking. Start it with `--reranking`'],
    [500, 'tools param requires --jinja flag'],
    [400, 'Please launch the api_server with --tool-call-parser if you want to use tools.'],
  ])('with status %d because a flag is missing is a mistake of the operator: %s', (status, message) => {
    const fault = refusal(status, { error: { message } });
    expect(fault).toMatchObject({ kind: 'setup', status, error: { code: 'not_supported' } });
    expect(fault.error.message).not.toContain('--');
    expect(describeFault(fault)).toBe(`setup: ${status} ${message}`);
  });

  it.each([
    [503, 'image input is not supported'],
    [504, 'input (600 tokens) is too large to process. increase the physical batch size'],
    [500, 'Loading model'],
    [500, 'Internal Server Error'],
  ])('does not excuse a server that is out of service: %d %s', (status, message) => {
    expect(refusal(status, { error: { message } }).kind).toBe('route');
  });

  it.each([
    ['transformers serve', "Server is pinned to 'tiny'; requested 'nope'."],
    ['mlx-vlm', 'Failed to load model: 404 Client Error. Repository Not Found for url: …'],
  ])('of the name of a model is about the route, which %s answers with 400', (_server, detail) => {
    expect(refusal(400, { detail }).kind).toBe('no_model');
  });

  it('a limit of output tokens above the window of a server is not an overlong prompt', () => {
    const message =
      'max_completion_tokens=5000 cannot be greater than max_model_len=1024. Please request fewer output tokens.';
    const fault = refusal(400, fromServer(400, 'BadRequestError', message, { param: 'max_tokens' }));
    expect(fault).toMatchObject({ kind: 'unsupported', error: { message, details: { outputLimit: 1_024 } } });
    expect(fault.error.messageFor('anthropic')).toBe(message);
  });
});

function closed(status: number, error: object, vendor: string) {
  const { kind, closing } = parseRefusal(status, {}, Buffer.from(JSON.stringify({ error })), now, [], vendor);
  return [kind, closing?.vendor];
}

it('an account that its vendor has closed is the fault of the key, whatever the status', () => {
  const disabled = { type: 'invalid_request_error', message: 'This organization has been disabled.' };
  expect(closed(400, disabled, 'anthropic')).toEqual(['key', 'Anthropic']);
  expect(closed(429, { code: '1121', message: 'locked' }, 'zhipu')).toEqual(['key', 'Z.AI']);
  expect(closed(429, { code: '1302', message: 'rate limit' }, 'zhipu')).toEqual(['throttled', undefined]);
  expect(closed(401, { message: 'Unauthorized' }, 'openai')).toEqual(['key', undefined]);
  expect(closed(400, { code: 'organization_restricted', message: 'restricted' }, 'groq')).toEqual(['key', undefined]);
});
