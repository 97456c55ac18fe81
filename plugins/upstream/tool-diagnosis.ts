import type { Catalog, Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import type { Diagnosis } from '#core/gateway/diagnosis/diagnosis.ts';
import { type Finding, ok, skipped, warning } from '#core/gateway/diagnosis/finding.ts';
import { meaningOfServerWords } from '#core/gateway/model-call/upstream-words.ts';
import { readRefusal } from '#core/gateway/model-call/upstream-error.ts';
import { outgoingFetch } from '#core/platform/outgoing-fetch.ts';
import { isJsonObject } from '#core/platform/json.ts';
import { authHeaders } from '#core/gateway/model-call/upstream-credentials.ts';

const flagged: ReadonlySet<string | undefined> = new Set(['vllm']);

/**
 * Whether a server that needs flags to call tools has them. It is asked for an answer without room for a token, which it refuses either
 * way: for want of the flags, or because of the room. That costs nothing.
 */
export const toolDiagnosis: Diagnosis = {
  name: 'tools',
  checks: ({ catalog }) =>
    routesWithTools(catalog).map((route) => ({ subject: route.id, run: (signal) => checkTools(route, signal) })),
};

function routesWithTools({ models }: Catalog): Route[] {
  const talking = models.filter(({ kind }) => kind === 'chat').flatMap(({ routes }) => routes);
  const declared = talking.filter(
    ({ upstream, profile }) =>
      upstream.isEnabled &&
      flagged.has(upstream.vendor) &&
      upstream.formats.includes('chat') &&
      profileIn('chat', profile).capabilities.tools,
  );
  return [...new Map(declared.toReversed().map((route) => [route.upstream.name, route])).values()];
}

async function checkTools({ upstream, model }: Route, signal: AbortSignal): Promise<Finding> {
  const { baseUrl, auth, headers, apiKeys } = upstream;
  const tool = { type: 'function', function: { name: 'probe', parameters: { type: 'object', properties: {} } } };
  try {
    const response = await outgoingFetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers, ...authHeaders(auth, apiKeys[0] ?? '') },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: '.' }], max_tokens: 0, tools: [tool] }),
      redirect: 'error',
      signal,
    });
    const body: unknown = await response.json();
    return describe(response.status, readRefusal(isJsonObject(body) ? body : undefined).message);
  } catch {
    return skipped('not reachable, see upstreams');
  }
}

function describe(status: number, message: string | undefined): Finding {
  if (meaningOfServerWords(message) === 'setup') {
    const advice =
      'Start the server with these flags, or declare `capabilities: { tools: false }`. Until then, requests with tools go to other routes.';
    return warning((message ?? '').slice(0, 200), advice);
  }
  // 200 is of a server that takes a limit of zero.
  if (status === 200 || status === 400) return ok('are called');
  return skipped(`the server answers ${status}`);
}
