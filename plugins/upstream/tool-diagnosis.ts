import type { Catalog, Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import type { Diagnosis } from '#core/gateway/diagnosis/diagnosis.ts';
import { type Finding, ok, skipped, warning } from '#core/gateway/diagnosis/finding.ts';
import { createAuthHeaders } from '#core/gateway/model-call/upstream-credentials.ts';
import { readRefusal } from '#core/gateway/model-call/upstream-error.ts';
import { findServerMeaning } from '#core/gateway/model-call/upstream-words.ts';
import { isJsonObject } from '#core/platform/json.ts';
import { outgoingFetch } from '#core/platform/outgoing-fetch.ts';

const vendorsNeedingFlags: ReadonlySet<string | undefined> = new Set(['vllm']);

/**
 * Checks that a server runs with the flags that tool calls need. Requests zero tokens, which the server rejects at no cost, because of the
 * missing flags or because of the limit.
 */
export const toolDiagnosis: Diagnosis = {
  name: 'tools',
  checks: ({ catalog }) =>
    listRoutesToCheck(catalog).map((route) => ({ subject: route.id, run: (signal) => checkTools(route, signal) })),
};

function listRoutesToCheck({ models }: Catalog): Route[] {
  const chatRoutes = models.filter(({ kind }) => kind === 'chat').flatMap(({ routes }) => routes);
  const routesToCheck = chatRoutes.filter(
    ({ upstream, profile }) =>
      upstream.isEnabled &&
      vendorsNeedingFlags.has(upstream.vendor) &&
      upstream.formats.includes('chat') &&
      profileIn('chat', profile).capabilities.tools,
  );
  return [...new Map(routesToCheck.toReversed().map((route) => [route.upstream.name, route])).values()];
}

async function checkTools({ upstream, model }: Route, signal: AbortSignal): Promise<Finding> {
  const { baseUrl, auth, headers, apiKeys } = upstream;
  const tool = { type: 'function', function: { name: 'probe', parameters: { type: 'object', properties: {} } } };
  try {
    const response = await outgoingFetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers, ...createAuthHeaders(auth, apiKeys[0] ?? '') },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: '.' }], max_tokens: 0, tools: [tool] }),
      redirect: 'error',
      signal,
    });
    const body: unknown = await response.json();
    return describeResponse(response.status, readRefusal(isJsonObject(body) ? body : undefined).message);
  } catch {
    return skipped('not reachable, see upstreams');
  }
}

function describeResponse(status: number, message: string | undefined): Finding {
  if (findServerMeaning(message) === 'setup') {
    const advice =
      'Start the server with these flags, or declare `capabilities: { tools: false }`. Until then, requests with tools go to other routes.';
    return warning((message ?? '').slice(0, 200), advice);
  }
  // Some servers accept a limit of zero and respond with 200.
  if (status === 200 || status === 400) return ok('are called');
  return skipped(`the server responds with ${status}`);
}
