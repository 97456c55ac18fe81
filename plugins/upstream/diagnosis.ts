import type { Catalog, Upstream } from '#core/config/catalog/catalog.ts';
import type { Diagnosis, DiagnosticCheck } from '#core/gateway/diagnosis/diagnosis.ts';
import { failed, type Finding, ok, skipped, warning } from '#core/gateway/diagnosis/finding.ts';
import { checkOrigin, explainNetworkError } from '#core/gateway/diagnosis/network.ts';
import { isJsonObject, type JsonObject, parseObject } from '#core/platform/json.ts';
import { outgoingFetch } from '#core/platform/outgoing-fetch.ts';
import { tokenReader } from './credentials/read-token.ts';
import { readRefusal, removeSecrets } from '#core/gateway/model-call/upstream-error.ts';
import { authHeaders, secretsOf } from '#core/gateway/model-call/upstream-credentials.ts';

const maxListBytes = 8_388_608;
const maxWordsLength = 200;
const maxListedModels = 5;

const inUse = ({ upstreams }: Catalog) => upstreams.filter(({ isEnabled, isDemo }) => isEnabled && !isDemo);

/** Checks that the host names of upstreams resolve, and that they accept connections with a valid certificate. */
export const upstreamDiagnosis: Diagnosis = {
  name: 'upstreams',
  checks: ({ catalog }) =>
    inUse(catalog).map(({ name, baseUrl }) => ({ subject: name, run: (signal) => checkOrigin(baseUrl, signal) })),
};

/** Checks that upstreams accept each API key, by requesting the model list, which is free. */
export const keyDiagnosis: Diagnosis = {
  name: 'api_keys',
  checks: ({ catalog }) => inUse(catalog).flatMap((upstream) => checksOf(upstream, catalog)),
};

function checksOf(upstream: Upstream, catalog: Catalog): DiagnosticCheck[] {
  const { name, apiKeys, credentials } = upstream;
  if (credentials !== undefined) return [{ subject: name, run: () => checkCredentials(upstream) }];
  const keys = apiKeys.length > 0 ? [...new Set(apiKeys)] : [''];
  return keys.map((key, index) => ({
    subject: keys.length === 1 ? name : `${name}, key ${index + 1} of ${keys.length}`,
    run: (signal) => checkKey(upstream, key, catalog, signal),
  }));
}

/** Fetches a token without a model call, because a token's permissions differ between the models of a cloud. */
async function checkCredentials({ credentials = {} }: Upstream): Promise<Finding> {
  const read = tokenReader(credentials);
  if (credentials.aws !== undefined)
    return skipped('keys of AWS sign requests on this machine; only a model call shows whether it takes them');
  try {
    await read();
    return ok('the cloud hands out tokens');
  } catch (error) {
    const advice = 'Correct `credentials` in gateway.yaml; the cloud may also have revoked them.';
    return failed(error instanceof Error ? error.message.slice(0, 200) : 'no token', advice);
  }
}

async function checkKey(upstream: Upstream, key: string, catalog: Catalog, signal: AbortSignal): Promise<Finding> {
  const { baseUrl, auth, headers, formats } = upstream;
  const path = formats.includes('ollama') ? '/tags' : '/models';
  const version = formats.includes('messages') ? { 'anthropic-version': '2023-06-01' } : {};
  try {
    const response = await outgoingFetch(baseUrl + path, {
      headers: { accept: 'application/json', ...version, ...headers, ...authHeaders(auth, key) },
      redirect: 'error',
      signal,
    });
    if (response.ok) return describeModels(upstream, await readList(response), catalog);
    const words = await readWords(response, secretsOf(upstream));
    return withWords(describeRefusal(response.status), response.status === 404 ? '' : words);
  } catch (error) {
    // The check of the upstream already reports an unreachable origin. `fetch` also rejects some ports without trying.
    const origin = await checkOrigin(baseUrl, signal);
    return origin.state === 'failed' ? skipped('not reachable, see upstreams') : explainNetworkError(error);
  }
}

function describeRefusal(status: number): Finding {
  if (status === 401 || status === 403) {
    const advice = 'Make a new key at the vendor, or allow this one to use models, and put it into `api_keys`.';
    return failed(`rejected (${status})`, advice);
  }
  if (status === 402) return failed('out of credit (402)', 'Pay the vendor.');
  if (status === 429) return warning('throttled (429)', 'Add a key of another account, or wait.');
  if (status >= 500) return warning(`the upstream answers ${status}`, 'Look at the status page of the vendor.');
  if (status === 404) {
    const advice =
      'If requests fail with 404 as well, correct `base_url`, which ends in the version (/v1). Otherwise the upstream has no list of models, and only a model call shows whether it takes the key.';
    return warning('404 for the list of models: check base_url', advice);
  }
  return skipped(`the upstream has no list of models (${status}), so only a model call shows whether it takes the key`);
}

/** The upstream's own message is often the best explanation. */
function withWords(finding: Finding, words: string): Finding {
  return words === '' ? finding : { ...finding, text: `${finding.text}: ${words}` };
}

async function readWords(response: Response, secrets: readonly string[]): Promise<string> {
  const { message } = readRefusal(await readList(response));
  return removeSecrets((message ?? '').replace(/\s+/g, ' ').trim(), maxWordsLength, secrets);
}

/** Compares the routes with a model list of OpenAI, Anthropic, Gemini or Ollama; accepts it if it is invalid or may have another page. */
function describeModels({ name }: Upstream, body: JsonObject | undefined, { models }: Catalog): Finding {
  const ids = body && idsOf(body);
  if (ids === undefined || ids.length === 0) return ok('accepted');
  // Ollama lists `name:latest` for a model called `name`.
  const listedIds = new Set(ids.flatMap((id) => [id, id.replace(/:latest$/, '')]));
  const routesHere = models.flatMap(({ routes }) => routes.filter(({ upstream }) => upstream.name === name));
  const missing = [...new Set(routesHere.map(({ model }) => model))].filter((model) => !listedIds.has(model));
  if (missing.length === 0) return ok(`accepted; ${ids.length} models`);
  return warning(
    `accepted, but its list lacks ${missing.slice(0, maxListedModels).join(', ')}${missing.length > maxListedModels ? ', …' : ''}`,
    'Some vendors do not list all models. If requests fail with "model not found", correct the name in `routes`.',
  );
}

function idsOf(body: JsonObject): string[] | undefined {
  if (body['has_more'] === true || body['nextPageToken'] !== undefined) return undefined;
  const list = body['data'] ?? body['models'];
  if (!Array.isArray(list)) return undefined;
  return list.filter(isJsonObject).flatMap(({ id, name }) => {
    const text = id ?? name;
    return typeof text === 'string' ? [text.replace(/^models\//, '')] : [];
  });
}

async function readList(response: Response): Promise<JsonObject | undefined> {
  if (Number(response.headers.get('content-length') ?? 0) > maxListBytes) return undefined;
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > maxListBytes) return undefined;
    pieces.push(piece);
  }
  return parseObject(Buffer.concat(pieces).toString());
}
