import { createAccount } from '#core/business/accounts/accounts.ts';
import type { Logger } from '#core/platform/logger.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../../../../support/faulty-upstream.ts';
import { startGateway, type TestGateway, yamlFor } from '../../../../support/gateway.ts';

export interface Item {
  readonly type?: string;
  readonly id?: string;
  readonly role?: string;
  readonly content?: unknown;
}

export interface ResponseBody {
  readonly id: string;
  readonly status: string;
  readonly store: boolean;
  readonly previous_response_id: string | null;
  readonly output: readonly Item[];
}

/** Texts that are told apart by their number: the upstream's nth answer says `answer n`. */
export const answerText = (count: number) => `answer ${count}`;

export const outputItem = (count: number) => ({
  id: `msg_${count}`,
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: answerText(count), annotations: [], logprobs: [] }],
});

const usage = {
  input_tokens: 3,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 2,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 5,
};

export const responseBody = (count: number, changes: object = {}) => ({
  id: `resp_${count}`,
  object: 'response',
  created_at: 1_760_000_000,
  status: 'completed',
  error: null,
  incomplete_details: null,
  model: 'model-there',
  output: [outputItem(count)],
  previous_response_id: null,
  store: false,
  usage,
  metadata: {},
  ...changes,
});

/** The events of an answer up to the one that ends it. */
export function eventsBefore(count: number): { type: string }[] {
  const begun = responseBody(count, { status: 'in_progress', output: [], usage: null });
  const item = outputItem(count);
  const at = { item_id: item.id, output_index: 0, content_index: 0 };
  return [
    { type: 'response.created', response: begun },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
    { type: 'response.content_part.added', ...at, part: { type: 'output_text', text: '', annotations: [] } },
    { type: 'response.output_text.delta', ...at, delta: answerText(count), logprobs: [] },
    { type: 'response.output_item.done', output_index: 0, item },
  ].map((event, index) => ({ ...event, sequence_number: index }));
}

/** Answers as the Responses API does, in a stream when one is wanted. `changes` are made to the final response object. */
export function responsesUpstream(changes: object = {}): Promise<FaultyUpstream> {
  let count = 0;
  const answer: Handler = (request, response) => {
    const body = responseBody(++count, changes);
    if (request.json()['stream'] !== true) return response.json(200, body);
    response.sse(...eventsBefore(count));
    void response.event({ type: `response.${body.status}`, sequence_number: 5, response: body });
    response.end();
  };
  return createUpstream(answer);
}

export interface StoreGateway extends TestGateway {
  readonly upstream: FaultyUpstream;
  /** Calls the gateway; as the account of the gateway's key unless another is given. */
  call(method: string, path: string, body?: object, key?: string): Promise<Response>;
  /** Creates a response and reads it, whether it is a stream or not. */
  create(body: object): Promise<ResponseBody>;
  /** The items that the upstream got with its nth request. */
  sent(count: number): Promise<readonly Item[]>;
  /** The key of another account with a day to go. */
  otherKey(): Promise<string>;
}

/** A gateway whose model `test` is served by this upstream, in these formats. */
export async function startStore(
  upstream: FaultyUpstream,
  { yaml = '', formats = '[responses]', log }: { yaml?: string; formats?: string; log?: Logger } = {},
): Promise<StoreGateway> {
  const text = `${yamlFor(`${upstream.url}/v1`, formats)}\n${yaml}`;
  const gateway = await startGateway({ yaml: text, ...(log && { log }) });
  const call: StoreGateway['call'] = (method, path, body, key = gateway.key) =>
    fetch(`${gateway.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  return {
    ...gateway,
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
    upstream,
    call,
    async create(body) {
      const reply = await call('POST', '/v1/responses', { model: 'test', ...body });
      const said = await reply.text();
      if (reply.status !== 200) throw new Error(`${reply.status}: ${said}`);
      return said.startsWith('{') ? JSON.parse(said) : finalResponse(said);
    },
    async sent(count) {
      const { input } = (await upstream.waitForRequest(count)).json<{ input: readonly Item[] }>();
      return input;
    },
    async otherKey() {
      const period = { days: 1, reason: 'grant' } as const;
      return (await createAccount(gateway.database, 'dp', { name: 'Other', period })).key;
    },
  };
}

/** The response object of the event that ends a stream. */
export function finalResponse(stream: string): ResponseBody {
  const last = stream.trim().split('\n\n').at(-1) ?? '';
  return JSON.parse(/^data: (.*)$/m.exec(last)?.[1] ?? '{}').response;
}

export const user = (content: string): Item => ({ type: 'message', role: 'user', content });
