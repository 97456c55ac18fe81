/**
 * The mistake in the base URL of an upstream and its correction; undefined for a valid one. Requests use only origin and
 * path, so anything else would be dropped silently.
 */
export function baseUrlMistake(text: string): readonly [wrong: string, right: string] | undefined {
  const url = URL.parse(text);
  if (url === null)
    return ['is not a valid URL: its host or port is invalid', 'use one such as https://llm.example.com:8443/v1'];
  if (url.username !== '' || url.password !== '') {
    const right = 'put a key under api_keys, or set auth: none and put the Authorization header under headers';
    return ['contains a user or password, which would not be sent', right];
  }
  const rest = /[?#]/.exec(text)?.[0];
  if (rest === undefined) return endpointMistake(url.pathname);
  return [
    `has a ${rest === '?' ? 'query' : 'fragment'} (${rest}…), which would not be sent`,
    'remove it; keys belong under api_keys, other credentials under headers',
  ];
}

/**
 * Paths of vendors' endpoints, as their documentation shows them behind the base URL. A single word is one only behind a
 * version: without it, a proxy may use it for its own purposes.
 */
const endpoints =
  /\/(?:chat\/completions|images\/generations|api\/chat|api\/generate|models\/[^/]+:\w+|(?<=\/v\d\w*\/)(?:completions|embeddings|responses|messages))\/*$/;

/** The path of the format would follow the one that is there already, and every request would fail. */
function endpointMistake(path: string): readonly [wrong: string, right: string] | undefined {
  const [endpoint] = endpoints.exec(path) ?? [];
  if (endpoint === undefined) return undefined;
  // Ollama's endpoints follow its /api.
  const surplus = endpoint.replace(/^\/api(?=\/)/, '');
  return [`ends in ${surplus}, the path of an endpoint`, 'remove it: the gateway appends the path of the format'];
}
