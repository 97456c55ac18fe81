import type { JsonObject } from '#core/platform/json.ts';
import { vendors } from '../../../plugins/upstream/vendors.ts';
import {
  createUpstream,
  type FaultyUpstream,
  type Handler,
  type RecordedRequest,
} from '../../support/faulty-upstream.ts';
import { startGateway, type TestGateway, wholePipeline } from '../../support/gateway.ts';

/** What a vendor got, and what the client was told about it. */
export interface Received {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers: RecordedRequest['headers'];
  readonly path: string;
  /** What the client got. */
  readonly answer: string;
  readonly notes: string | undefined;
}

/** A gateway with an upstream for every preset, `VENDOR/MODEL` being the names of its models. */
export interface VendorGateway extends AsyncDisposable {
  /** Sends a client's request. @param to `VENDOR/MODEL` */
  ask(to: string, path: string, body: object, headers?: Record<string, string>): Promise<Received>;
}

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, input_tokens: 1, output_tokens: 1 };
const answers: Record<string, JsonObject> = {
  completions: {
    choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
    usage,
  },
  messages: {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'ok' }],
    stop_reason: 'end_turn',
    usage,
  },
  responses: {
    object: 'response',
    status: 'completed',
    output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ok', annotations: [] }] }],
    usage,
  },
};

const answer: Handler = ({ path }, response) => response.json(200, answers[path.split('/').at(-1) ?? ''] ?? {});

/** @param models `VENDOR/MODEL`, of presets */
export async function startVendors(models: readonly string[]): Promise<VendorGateway> {
  const upstream = await createUpstream(answer);
  const gateway = await startGateway({ yaml: yamlOf(models, upstream) });
  return {
    ask: (to, path, body, headers = {}) => ask(gateway, upstream, to, path, body, headers),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** The format of each upstream is that of its preset. */
function yamlOf(models: readonly string[], { url }: FaultyUpstream): string {
  const upstreams = vendors.map(
    ({ name }) => `  ${name}: { vendor: ${name}, base_url: "${url}/${name}", api_keys: [k] }`,
  );
  const routes = models.map((to) => `  "${to}": { routes: ["${to}"] }`);
  return `${wholePipeline}\nupstreams:\n${upstreams.join('\n')}\nmodels:\n${routes.join('\n')}\n`;
}

async function ask(
  { url, key }: TestGateway,
  upstream: FaultyUpstream,
  to: string,
  path: string,
  body: object,
  headers: Record<string, string>,
): Promise<Received> {
  const count = upstream.requests.length;
  const response = await fetch(`${url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: to, ...body }),
  });
  const text = await response.text();
  const request = upstream.requests[count];
  return {
    status: response.status,
    body: request?.json<JsonObject>() ?? {},
    headers: request?.headers ?? {},
    path: request?.path ?? '',
    answer: text,
    notes: response.headers.get('x-daypass-notes') ?? undefined,
  };
}
