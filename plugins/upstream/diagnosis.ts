import type { Catalog, Upstream } from '#core/config/catalog/catalog.ts';
import type { Diagnosis, DiagnosticCheck } from '#core/gateway/diagnosis/diagnosis.ts';
import { failed, type Finding, ok, skipped, warning } from '#core/gateway/diagnosis/finding.ts';
import { checkOrigin, explainNetworkError } from '#core/gateway/diagnosis/network.ts';
import { createAuthHeaders, listSecrets } from '#core/gateway/model-call/upstream-credentials.ts';
import { readRefusal, removeSecrets } from '#core/gateway/model-call/upstream-error.ts';
import { type JsonObject, parseObject, listObjects } from '#core/platform/json.ts';
import { outgoingFetch } from '#core/platform/outgoing-fetch.ts';
import { createTokenReader } from './credentials/read-token.ts';

const maxListBytes = 8_388_608;
const maxMessageLength = 200;
const maxListedModels = 5;

const listCheckedUpstreams = ({ upstreams }: Catalog) =>
  upstreams.filter(({ isEnabled, isDemo }) => isEnabled && !isDemo);

/** Checks that the host names of upstreams resolve, and that the upstreams accept connections and present a valid certificate. */
export const upstreamDiagnosis: Diagnosis = {
  name: 'upstreams',
  checks: ({ catalog }) =>
    listCheckedUpstreams(catalog).map(({ name, baseUrl }) => ({
      subject: name,
      run: (signal) => checkOrigin(baseUrl, signal),
    })),
};

/** Checks that upstreams accept each API key, by requesting the list of models, which is free. */
export const keyDiagnosis: Diagnosis = {
  name: 'api_keys',
  checks: ({ catalog }) => listCheckedUpstreams(catalog).flatMap((upstream) => createKeyChecks(upstream, catalog)),
};

function createKeyChecks(upstream: Upstream, catalog: Catalog): DiagnosticCheck[] {
  const { name, apiKeys, credentials } = upstream;
  if (credentials !== undefined) return [{ subject: name, run: () => checkCredentials(upstream) }];
  const keys = apiKeys.length > 0 ? [...new Set(apiKeys)] : [''];
  return keys.map((key, index) => ({
    subject: keys.length === 1 ? name : `${name}, key ${index + 1} of ${keys.length}`,
    run: (signal) => checkKey(upstream, key, catalog, signal),
  }));
}

async function checkCredentials({ credentials = {} }: Upstream): Promise<Finding> {
  // Calls no model, because a token may be allowed to use some models of a cloud and not others.
  const readToken = createTokenReader(credentials);
  if (credentials.aws !== undefined)
    return skipped('AWS keys sign requests on this machine; only a model call shows whether AWS accepts them');
  try {
    await readToken();
    return ok('the cloud issues tokens');
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
      headers: { accept: 'application/json', ...version, ...headers, ...createAuthHeaders(auth, key) },
      redirect: 'error',
      signal,
    });
    if (response.ok) return checkModels(upstream, await readBody(response), catalog);
    const message = await readMessage(response, listSecrets(upstream));
    return appendMessage(describeRefusal(response.status), response.status === 404 ? '' : message);
  } catch (error) {
    // The check of the upstream already reports an origin that cannot be reached. `fetch` also rejects some ports without connecting.
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
  if (status === 429) return warning('throttled (429)', 'Add a key from another account, or wait.');
  if (status >= 500) return warning(`the upstream responds with ${status}`, 'Look at the vendor’s status page.');
  if (status === 404) {
    const advice =
      'If requests fail with 404 as well, correct `base_url`, which ends in the version (/v1). Otherwise the upstream has no list of models, and only a model call shows whether it takes the key.';
    return warning('404 for the list of models: check base_url', advice);
  }
  return skipped(`the upstream has no list of models (${status}), so only a model call shows whether it takes the key`);
}

function appendMessage(finding: Finding, message: string): Finding {
  return message === '' ? finding : { ...finding, text: `${finding.text}: ${message}` };
}

async function readMessage(response: Response, secrets: readonly string[]): Promise<string> {
  const { message } = readRefusal(await readBody(response));
  return removeSecrets((message ?? '').replace(/\s+/g, ' ').trim(), maxMessageLength, secrets);
}

function checkModels({ name }: Upstream, body: JsonObject | undefined, { models }: Catalog): Finding {
  const ids = body && readModelIds(body);
  // A list that is invalid or may have more pages passes the check.
  if (ids === undefined || ids.length === 0) return ok('accepted');
  // Ollama lists the model `name` as `name:latest`.
  const listedIds = new Set(ids.flatMap((id) => [id, id.replace(/:latest$/, '')]));
  const upstreamRoutes = models.flatMap(({ routes }) => routes.filter(({ upstream }) => upstream.name === name));
  const routeModels = new Set(upstreamRoutes.map(({ model }) => model));
  const unlisted = [...routeModels].filter((model) => !listedIds.has(model));
  if (unlisted.length === 0) return ok(`accepted; ${ids.length} models`);
  const more = unlisted.length > maxListedModels ? ', …' : '';
  return warning(
    `accepted, but its list lacks ${unlisted.slice(0, maxListedModels).join(', ')}${more}`,
    'Some vendors do not list all models. If requests fail with "model not found", correct the name in `routes`.',
  );
}

function readModelIds(body: JsonObject): string[] | undefined {
  if (body['has_more'] === true || body['nextPageToken'] !== undefined) return undefined;
  const list = body['data'] ?? body['models'];
  if (!Array.isArray(list)) return undefined;
  return listObjects(list).flatMap(({ id, name }) => {
    const text = id ?? name;
    return typeof text === 'string' ? [text.replace(/^models\//, '')] : [];
  });
}

async function readBody(response: Response): Promise<JsonObject | undefined> {
  if (Number(response.headers.get('content-length') ?? 0) > maxListBytes) return undefined;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxListBytes) return undefined;
    chunks.push(chunk);
  }
  return parseObject(Buffer.concat(chunks).toString());
}
